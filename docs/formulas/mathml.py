"""Convert formulas to MathML while the site is built, so that browsers run no script for them."""

import re
from html import escape
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number

FONT = "_static/math.woff2"
TEX = re.compile(r"\$[^\s$][^$]*\$|\\[A-Za-z]{2,}")
"""TeX that Markdown left as text."""

_to_mathml = LatexToMathML(annotation=True, fancy_error=False)
_logger = getLogger(__name__)


def _mathml(node: nodes.Element) -> str:
    tex = node.astext().strip()
    try:
        return _to_mathml.convert_with_local_state(tex, displaystyle=isinstance(node, nodes.math_block))
    except LatexError as error:
        _logger.warning("no MathML for %s, at character %s", tex, error, location=node, type="formula")
        return f"<code>{escape(tex)}</code>"


def _write_inline(writer: Any, node: nodes.math) -> None:
    writer.body += [writer.starttag(node, "span", "", CLASS="math notranslate"), _mathml(node), "</span>"]
    raise nodes.SkipNode


def _write_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", "", CLASS="math notranslate"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body += [_mathml(node), "</div>\n"]
    raise nodes.SkipNode


def _is_code(node: nodes.Node | None) -> bool:
    apart = isinstance(node, nodes.literal | nodes.FixedTextElement | nodes.math | nodes.raw)
    return apart or (node is not None and _is_code(node.parent))


def _look_for_tex(app: Sphinx, tree: nodes.document, page: str) -> None:
    for text in tree.findall(nodes.Text):
        if (found := TEX.search(text)) and not _is_code(text.parent):
            _logger.warning("a formula that is not one: %s", found[0], location=text.parent, type="formula")


def _load_font(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """The font comes with the style that asks for it, so that text does not move when it is there."""
    if "<math" in context.get("body", ""):
        address = context["pathto"](FONT, resource=True)
        context["metatags"] += f'<link rel="preload" href="{address}" as="font" type="font/woff2" crossorigin />\n'


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this the way in which HTML has its formulas."""
    app.add_html_math_renderer("mathml", (_write_inline, None), (_write_block, None))
    app.connect("doctree-resolved", _look_for_tex)
    app.connect("html-page-context", _load_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
