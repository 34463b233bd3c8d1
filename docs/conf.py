"""The site: pages in Markdown, a reference from docstrings, a gallery from scripts."""

import json
import os
import re
import sys
import tokenize
from html import escape
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
from docutils import nodes
from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.images import get_image_size
from sphinx.util.typing import stringify_annotation

HERE = Path(__file__).parent
COMMANDS = HERE / "reference" / "generated" / "commands"
sys.path.insert(0, str(HERE.parent))

from tests.docs.parameters import tables  # noqa: E402
from tests.docs.reference import listed, thing  # noqa: E402
from tests.docs.values import docstring_of, is_value  # noqa: E402

FIELD = type(tokenize.TokenInfo.type)  # a field of a named tuple
GALLERY = HERE.parent / "examples" / "gallery"

project = "structsvm"
author = copyright = "The structsvm developers"
release = version_of("structural-svm")
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
    "docs.formulas.mathml",
    "docs.search.site_search",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_update_mathjax = False
myst_heading_anchors = 4

smartquotes = False  # "--loss" and quotation marks are copied into terminals

# Docstrings: `name` is a link if a page documents the name, and plain otherwise.
default_role = "autolink"
autosummary_generate = True
autosummary_context = {"values": {path for path in listed() if is_value(thing(path))}}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: f"numpy.typing.{name}" for name in ("ArrayLike", "DTypeLike")}
maximum_signature_line_length = 88
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # types of signatures, many of which no page is about

# Other sites that pages link to. Without a network, inventories/ has the names that are used.
intersphinx_mapping = {
    name: (address, (None, str(HERE / "inventories" / f"{name}.inv")))
    for name, address in {
        "python": "https://docs.python.org/3",
        "numpy": "https://numpy.org/doc/stable",
        "scipy": "https://docs.scipy.org/doc/scipy",
        "sklearn": "https://scikit-learn.org/stable",
        "dask": "https://docs.dask.org/en/stable",
        "distributed": "https://distributed.dask.org/en/stable",
    }.items()
}
intersphinx_timeout = 5

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

# The address of the site, which a deployment sets; a local build does not need it.
html_baseurl = os.environ.get("STRUCTSVM_DOCS_URL", "")
ogp_site_url = html_baseurl or "/"
ogp_site_name = "structsvm"
ogp_image = "_static/proved.png"  # proved.svg, for programs that show no SVG
ogp_enable_meta_description = True
ogp_social_cards = {"enable": False}

html_theme = "pydata_sphinx_theme"
html_title = "structsvm"
html_static_path = ["_static"]
html_favicon = "_static/mark.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_context = {"default_mode": "auto"}  # light or dark, as the system is
html_theme_options = {
    "logo": {"image_light": "_static/mark.svg", "image_dark": "_static/mark.svg", "text": "structsvm", "alt_text": ""},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "switcher": {"json_url": "_static/switcher.json", "version_match": version},
    "check_switcher": False,
    "show_toc_level": 2,
    "collapse_navigation": True,  # hundreds of pages would each list all the others
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "coming_from": [], "gallery/*": []}

if any(GALLERY.glob("*.py")):
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": [str(GALLERY)],
        "gallery_dirs": ["gallery"],
        "filename_pattern": r"\.py$",
        "image_scrapers": ["tests.docs.gallery.figures"],
        "within_subsection_order": "tests.docs.gallery.AsAsked",
        "abort_on_example_error": True,
        "capture_repr": ("_repr_html_",),
        "show_memory": False,
        "write_computation_times": False,
        "doc_module": ("structsvm",),
        "backreferences_dir": "reference/generated/backreferences",
        "reference_url": {"structsvm": None},
    }


def _lead_to_pages_of_the_site(app: Sphinx, page: str, source: list[str]) -> None:
    """Link files above docs/ as the pages that include them, and name files that are in the repository only."""
    source[0] = re.sub(r"\[([^\]]+)\]\((?:\.\./)+benchmarks/[^)]*\)", r"\1", source[0])
    source[0] = re.sub(
        r"\]\((?:\.\./)+(CONTRIBUTING|CHANGELOG)\.md", lambda found: f"](/{found[1].lower()}.md", source[0]
    )


def _find_by_last_name(app: Sphinx, env: Any, node: Any, shown: Any) -> Any:
    """Find names of other modules of the package: docstrings omit the module."""
    if node.get("reftype") != "obj":
        return None
    python, target = env.get_domain("py"), node["reftarget"]
    found = {name for name in python.objects if name.endswith(f".{target}") and name.startswith("structsvm.")}
    if len(found) == 1:
        return python.resolve_xref(env, node["refdoc"], app.builder, "obj", found.pop(), node, shown)
    return shown


def _describe_values(app: Sphinx, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Replace the docstring of the type, such as tuple, by the docstring of the value."""
    if what == "data":
        lines[:] = [*docstring_of(name).splitlines(), ""]


def _part_entries(app: Sphinx, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """``name : text`` is a name with its text below: types are in signatures, and numpydoc takes the text for one."""
    section, made = "", []
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        if line and re.fullmatch("-+", below):
            section = line
        entry = re.fullmatch(r"(\*{0,2}\w[\w, *.]*) : (\S.*)", line)
        if entry and section in {"Parameters", "Attributes", "Raises", "Returns", "Yields", "Warns"}:
            made += [entry[1], f"    {entry[2]}"]
        else:
            made.append(line)
    lines[:] = made


def _leave_out_members(app: Sphinx, what: str, name: str, of: Any, skip: bool, options: Any) -> bool | None:
    """Leave out scikit-learn's methods, methods of tuples, and fields of named tuples, which are parameters."""
    if isinstance(of, FIELD) or of in (tuple.count, tuple.index):
        return True
    module = getattr(of, "__module__", None) or getattr(getattr(of, "fget", None), "__module__", None)
    return True if module is not None and module.split(".")[0] == "sklearn" else None


def _name_aliases(
    app: Sphinx, what: str, name: str, of: Any, options: Any, arguments: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Aliases of types are shown by their names in unions, too."""

    def named(text: str | None) -> str | None:
        if text is None:
            return None
        text = re.sub(r"TypeAliasForwardRef\('([\w.]+)'\)", r"~\1", text)
        text = text.replace(stringify_annotation(ArrayLike, "smart"), "~numpy.typing.ArrayLike")
        any_shape = r"(?:tuple\[~typing\.Any, \.\.\.\]|~typing\.Any)"
        return re.sub(rf"ndarray\[{any_shape}, ~numpy\.dtype\[(.*?)\]\]", r"ndarray[\1]", text)

    return named(arguments), named(returned)


def _write_generated_pages(app: Sphinx) -> None:
    """Write a page for each command, the table of commands, and the tables of parameters."""
    from structsvm.cli import _HOMES, main

    COMMANDS.mkdir(parents=True, exist_ok=True)
    context = click.Context(main, info_name="structsvm")
    rows = []
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        page = f".. click:: structsvm.cli.{_HOMES[name]}\n   :prog: structsvm {name}\n   :nested: full\n"
        _write_if_changed(COMMANDS / f"{name}.rst", page)
        rows.append(f"   * - :doc:`{name} <generated/commands/{name}>`\n     - {command.get_short_help_str(200)}\n")
    _write_if_changed(COMMANDS / "table.txt", ".. list-table::\n\n" + "".join(rows))
    _write_if_changed(COMMANDS.parent / "parameters.txt", tables())


def _write_if_changed(path: Path, text: str) -> None:
    """Leave the time of an unchanged file, so that Sphinx does not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _remove_mail_links(app: Sphinx, tree: nodes.document) -> None:
    """Show ``ndcg@10`` and ``p@5`` as text: docutils takes them for mail addresses."""
    for link in list(tree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:") and "." not in link["refuri"]:
            link.replace_self(nodes.Text(link.astext()))


def _copy_as_they_are(app: Sphinx, context: Any, lines: list[str]) -> None:
    """Show the commands in the examples of the command line as a block of code."""
    example = "| Example:" in lines
    plain = [line.removeprefix("| ") for line in lines]
    if example:
        after = ["Example:", "", ".. code-block:: console", ""]
        commands = [line.strip() for line in plain[plain.index("Example:") + 1 :] if line.strip()]
        lines[:] = (
            after + [f"   $ {line}" if line.startswith("structsvm") else f"     {line}" for line in commands] + [""]
        )


# Parts of names of style sheets and scripts that extensions put on every page, each with a mark of pages that use them.
_USED_WITH = {
    "sg_gallery": "sphx-glr-",
    "sg-tags": "sphx-glr-",
    "sphinx-design": "sd-",
    "design-tabs": "sd-tab-",
    "clipboard": "highlight",
    "copybutton": "highlight",
}
_WAITED_FOR = "documentation_options.js"  # a script within each page adds to what it says


def _load_what_a_page_uses(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Defer scripts, and leave out styles and scripts of elements that a page does not have."""
    body = context.get("body", "")

    def is_used(file: Any) -> bool:
        return not any(part in str(file.filename) and mark not in body for part, mark in _USED_WITH.items())

    def as_loaded(script: Any) -> Any:
        inside = not script.filename or str(script.filename).endswith(_WAITED_FOR)
        if inside or {"async", "defer"} & script.attributes.keys():
            return script
        return type(script)(script.filename, priority=script.priority, **script.attributes, defer="defer")

    context["css_files"][:] = filter(is_used, context["css_files"])
    context["script_files"][:] = map(as_loaded, filter(is_used, context["script_files"]))
    sized = re.sub(r"<img [^>]*>", lambda found: _sized(app, found[0]), body)
    context["body"] = sized.replace('loading="lazy" ', "", 1)  # the first image is often on the first screen


def _describe_page(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Describe a page to search engines: by its first paragraph, or by its title if it has no text."""
    tags = context.setdefault("metatags", "")
    if 'name="description"' not in tags:
        first = next(tree.findall(nodes.paragraph), None) if tree else None
        text = " ".join((first.astext() if first else f"{html_title}: {context.get('title', page)}").split())
        context["metatags"] = f'{tags}<meta name="description" content="{escape(text)}" />\n'


def _sized(app: Sphinx, image: str) -> str:
    """Give an image its size, so that the text below does not move, and load it when the reader scrolls near it."""
    source = re.search(r'src="(?:\.\./)*_images/([^"]*)"', image)
    if source is None or re.search(r"\b(width|height|style)=", image):
        return image
    name = unquote(source[1])
    known = (Path(app.srcdir, file) for file, (_, called) in app.env.images.items() if called == name)
    size = get_image_size(next(known, Path(app.srcdir, "gallery", "images", name)))
    if size is None:
        return image
    return image.replace("<img ", f'<img loading="lazy" width="{size[0]}" height="{size[1]}" ', 1)


def _write_versions(app: Sphinx, error: Exception | None) -> None:
    static = Path(app.outdir) / "_static"
    if error is not None or not static.is_dir():
        return
    here = {"name": f"{version} (this)", "version": version, "url": html_baseurl or "/", "preferred": True}
    (static / "switcher.json").write_text(json.dumps([here]), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the functions above to events of Sphinx."""
    app.connect("builder-inited", _write_generated_pages)
    app.connect("doctree-read", _remove_mail_links)
    app.connect("source-read", _lead_to_pages_of_the_site)
    app.connect("autodoc-process-docstring", _describe_values, priority=50)
    app.connect("autodoc-process-docstring", _part_entries, priority=100)  # before numpydoc
    app.connect("autodoc-process-signature", _name_aliases)
    app.connect("missing-reference", _find_by_last_name)
    app.connect("autodoc-skip-member", _leave_out_members)
    app.connect("sphinx-click-process-epilog", _copy_as_they_are)
    app.connect("html-page-context", _describe_page, priority=600)  # after sphinxext.opengraph
    app.connect("html-page-context", _load_what_a_page_uses, priority=900)  # after those who put something there
    app.connect("build-finished", _write_versions)
