"""Sphinx extension for the search page: one script with the sections of all pages and the ranking."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search import IndexBuilder

HERE = Path(__file__).parent

_UNREAD = (
    *(nodes.raw, nodes.comment, nodes.math_block, nodes.image, nodes.target, nodes.substitution_definition, nodes.meta),
    *(addnodes.toctree, addnodes.index),
)
_CODE = (nodes.literal_block, nodes.doctest_block)
_MEMBERS = {"method", "property", "attribute"}
LINKED = 300
"""Characters of a row or list item around a link that describe its target."""


def synonyms() -> list[list[str]]:
    """Return the groups of words that stand for each other."""
    lines = (HERE / "synonyms.txt").read_text(encoding="utf-8").splitlines()
    return [line.split(", ") for line in lines if line and not line.startswith("#")]


def sections(page: str, tree: nodes.document) -> Iterator[dict[str, str]]:
    """Yield the searchable fields of each section and documented object of a page.

    The fields are the page and its title, an anchor (``""`` for the page itself), a heading or the name of the object,
    the headings above it, index entries, its text, and further words of its code. `everything` adds the words of links.
    """
    places = {each for node in tree.findall(nodes.section) for each in node["ids"]}
    entries: dict[str, list[str]] = {}
    for index in tree.findall(addnodes.index):
        above = next((each for each in _parents(index) if isinstance(each, nodes.section)), None)
        for _, text, target, main, _ in index["entries"]:
            if main:  # of the section that it stands before, or else of the one that it stands in
                of = target if target in places or above is None else above["ids"][0]
                entries.setdefault(of, []).append(text)
    title = ""

    def entry(ids: list[str], anchor: str, body: list[nodes.Node], **named: str) -> dict[str, str]:
        code: list[str] = []
        text = _plain(" ".join(_own(node, code) for node in body))
        also = "; ".join(text for each in ids for text in entries.get(each, []))
        more = " ".join(sorted(set(re.findall(r"\w+", " ".join(code))) - set(re.findall(r"\w+", text))))
        made = {"page": page, "title": title, "anchor": anchor, **named, "also": also, "text": text, "code": more}
        return {name: value for name, value in made.items() if value or name == "anchor"}

    def walk(node: nodes.Element, above: list[str]) -> Iterator[dict[str, str]]:
        nonlocal title
        for child in node.children:
            if isinstance(child, nodes.section):
                found = child.next_node(nodes.title)
                heading = _plain(found.astext()) if found is not None else ""
                anchor = child["ids"][0] if title else ""
                title = title or heading
                yield entry(child["ids"], anchor, child.children, heading=heading, above=" > ".join(above))
                yield from walk(child, [*above, heading] if anchor else above)
            elif isinstance(child, addnodes.desc) and (signature := _anchored(child)) is not None:
                name = signature.get("fullname") or next(signature.findall(addnodes.desc_name)).astext()
                parameters = " ".join(_parameters(signature))
                body = [part for part in child.children if isinstance(part, addnodes.desc_content)]
                anchor, kind = signature["ids"][0], child["objtype"]
                made = entry(signature["ids"], anchor, body, name=name, kind=kind)
                yield {**made, "code": f"{parameters} {made.get('code', '')}".strip()}
                yield from walk(child, above)
            elif isinstance(child, nodes.Element) and not isinstance(child, _UNREAD):
                yield from walk(child, above)

    yield from walk(tree, [])


def _parents(node: nodes.Node) -> Iterator[nodes.Element]:
    while node.parent is not None:
        node = node.parent
        yield node


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _anchored(description: addnodes.desc) -> addnodes.desc_signature | None:
    """Return the signature that links lead to, of objects that have one."""
    return next((each for each in description.findall(addnodes.desc_signature) if each["ids"]), None)


def _parameters(signature: addnodes.desc_signature) -> Iterator[str]:
    for parameter in signature.findall(addnodes.desc_parameter):
        name = parameter.next_node(addnodes.desc_sig_name)
        if name is not None:
            yield name.astext()


def _own(node: nodes.Node, code: list[str]) -> str:
    """Return the text of a node without that of the sections and objects in it; add blocks of code to those found."""
    if isinstance(node, (nodes.section, nodes.title, *_UNREAD)):
        return ""
    if isinstance(node, _CODE):
        code.append(node.astext())
        return ""
    if isinstance(node, addnodes.desc) and _anchored(node) is not None:
        return ""
    if isinstance(node, nodes.math) and "\\" in node.astext():
        return "…"  # commands of LaTeX are no words
    if isinstance(node, nodes.Element):
        apart = "" if isinstance(node, nodes.TextElement | nodes.Inline) else " "
        return apart.join(_own(child, code) for child in node.children)
    return node.astext()


def links(trees: dict[str, nodes.document]) -> dict[tuple[str, str], str]:
    """Return the words with which other pages link to a section, by page and anchor without punctuation."""
    texts: dict[tuple[str, str], dict[str, None]] = {}
    for page, tree in trees.items():
        for link in tree.findall(addnodes.pending_xref):
            if link["reftype"] in {"myst", "doc"} and link["reftarget"] != page:
                around = next((each for each in _parents(link) if isinstance(each, (nodes.row, nodes.list_item))), link)
                words = " ".join(text for text in around.findall(nodes.Text) if _link_of(text) in {None, link})
                key = (link["reftarget"], _bare(link.get("reftargetid") or ""))
                texts.setdefault(key, {})[_plain(words)[:LINKED]] = None
    return {key: "; ".join(found) for key, found in texts.items()}


def _link_of(text: nodes.Text) -> nodes.Element | None:
    return next((each for each in _parents(text) if isinstance(each, addnodes.pending_xref)), None)


def _bare(anchor: str) -> str:
    return re.sub(r"[\W_]", "", anchor)


def everything(app: Sphinx) -> list[dict[str, str]]:
    """Return the searchable fields of all pages, with inherited methods once."""
    found: list[dict[str, str]] = []
    seen = set()
    trees = {page: app.env.get_doctree(page) for page in sorted(app.env.found_docs)}
    linked = links(trees)
    for page, tree in trees.items():
        for each in sections(page, tree):
            if text := linked.get((page, _bare(each["anchor"]))):
                each["links"] = text
            told = (each.get("name", "").rpartition(".")[2], each.get("text"))
            inherited = each.get("kind") in _MEMBERS and told in seen
            without_text = page.startswith("reference/generated/") and not each["anchor"]  # the page of the object
            if not inherited and not without_text:
                seen.add(told)
                found.append(each)
    return found


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    language = IndexBuilder(app.env, "en", {}, "").context_for_searchtool()
    data = {
        "sections": everything(app),
        "synonyms": synonyms(),
        "unasked": json.loads(language["search_language_stop_words"]),
    }
    parts = [
        (HERE / "minisearch.js").read_text(encoding="utf-8"),
        language["search_language_stemming_code"],
        f"window.SEARCHED = {json.dumps(data, ensure_ascii=False, separators=(',', ':'))};",
    ]
    (Path(app.outdir) / "_static" / "searched.js").write_text("\n".join(parts), encoding="utf-8")


def _replace_the_search(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.builder.search = False
        app.config.html_additional_pages = {**app.config.html_additional_pages, "search": "search.html"}
        app.config.html_static_path = [*app.config.html_static_path, str(HERE / "search.js")]
        app.add_js_file("search.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace the search of Sphinx."""
    app.connect("builder-inited", _replace_the_search)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
