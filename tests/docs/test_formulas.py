"""docs/formulas: every formula becomes MathML with its TeX, or a warning, which ends `make docs`."""

import io
import re

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install --group docs")
pytest.importorskip("math_core", reason="math-core is not installed: pip install --group docs")

PAGE = r"""
Formulas
========

A line with :math:`\hat y_i < 1`, and :eq:`objective`.

.. math:: P(w) = \tfrac12 \lVert w \rVert^2
   :label: objective

Code has what it likes: ``$a$`` and ``\frac``, and $5 is a price.
"""


@pytest.fixture
def built(tmp_path):
    """Build a page; return its HTML and the warnings."""
    from sphinx.application import Sphinx

    def build(text):
        (tmp_path / "index.rst").write_text(text, encoding="utf-8")
        warnings = io.StringIO()
        settings = {"html_theme": "basic", "extensions": ["docs.formulas.mathml"]}
        Sphinx(tmp_path, None, tmp_path / "html", tmp_path, "html", settings, None, warnings).build()
        # A second site in one process registers the nodes of Sphinx again, which it warns of.
        ours = [line for line in warnings.getvalue().splitlines(keepends=True) if "already registered" not in line]
        return (tmp_path / "html" / "index.html").read_text(encoding="utf-8"), "".join(ours)

    return build


@pytest.mark.slow
def test_formulas_are_mathml_with_their_tex(built):
    page, warnings = built(PAGE)
    assert warnings == ""
    inline, block = re.findall(r"<math.*?</math>", page)
    assert "<mfrac" in block
    assert '<annotation encoding="application/x-tex">\\hat y_i &lt; 1</annotation>' in inline
    assert re.search(
        r'<div class="math[^>]* id="equation-objective">\s*<span class="eqno">\(1\)<a class="headerlink"', page
    )
    assert 'href="#equation-objective">(1)</a>' in page
    assert page.index('rel="preload" href="_static/math.woff2"') < page.index("<body")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r":math:`a + \unknown`", r"no MathML for a + \unknown, at character 4: "),
        (r":math:`\frac{1}{`", r"no MathML for \frac{1}{, at character 9: "),
        ("The mean of $x_i$", "a formula that is not one: $x_i$"),
        (r"So \\hat y is", r"a formula that is not one: \hat"),
    ],
)
def test_invalid_formulas_are_warnings_at_their_line(built, text, said):
    _, warnings = built(f"Page\n====\n\n{text}\n")
    assert re.search(r"index\.rst:4: WARNING: " + re.escape(said), warnings)


def test_no_page_without_formulas_loads_their_font(built):
    assert "math.woff2" not in built("Page\n====\n\nText.\n")[0]
