"""docs/search.js in Sphinx as it is installed: what it replaces is there, and what is asked finds its page."""

import re
import shutil

import pytest

from tests.docs.pages import ROOT
from tests.docs.questions import ask

sphinx = pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install '.[docs]'")

SCORER = ROOT / "docs" / "search.js"
PAGES = {
    "index": """
        Rankers
        =======

        .. toctree::

           choose
           own
           reference/all
    """,
    "choose": """
        Values of parameters
        ====================

        Words of another kind.

        Choosing C
        ----------

        Try several values of the parameter, and pick by validation.
    """,
    "own": """
        .. index:: ! custom loss

        Write a loss
        ============

        A subclass with a few methods.
    """,
    "reference/all": """
        All names
        =========

        Choosing values of the parameter C, a subclass with methods, validation, validation, loss, loss.

        .. py:class:: Ranker

           It chooses nothing by itself.
    """,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of four pages with our order of results."""
    from sphinx.application import Sphinx

    folder = tmp_path_factory.mktemp("site")
    source, built = folder / "source", folder / "built"
    for name, text in PAGES.items():
        page = source / f"{name}.rst"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("\n".join(line.removeprefix(8 * " ") for line in text.splitlines()), encoding="utf-8")
    settings = {"html_theme": "basic", "html_search_scorer": str(SCORER)}
    Sphinx(source, None, built, folder / "read", "html", settings, status=None, warningiserror=True).build()
    return built


@pytest.fixture(scope="module")
def found(site):
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed: it runs the script of the search")
    return lambda question: ask(site, [question])[0]


def test_what_it_replaces_and_reads_is_in_sphinx(site):
    """So that another Sphinx does not undo it in silence; node is not needed for that."""
    tools = " ".join((site / "_static" / "searchtools.js").read_text(encoding="utf-8").split())
    assert "performTermsSearch: (searchTerms, excludedTerms) =>" in tools
    assert "Search.performTermsSearch(searchTerms, excludedTerms)" in tools
    assert "if (Scorer.score)" in tools
    assert "[docname, title, anchor, descr, score, filename, kind]" in tools
    assert re.search(r"class SearchResultKind \{.*?static get index\(\).*?static get text\(\)", tools)
    assert re.search(r"\bvar splitQuery = \(query\) =>", tools)
    language = (site / "_static" / "language_data.js").read_text(encoding="utf-8")
    assert SCORER.read_text(encoding="utf-8").strip() in language
    assert "const stopwords = new Set(" in language
    assert "window.Stemmer = " in language
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    read = re.search(r"const \{ (.*?) \} = Search\._index", SCORER.read_text(encoding="utf-8"))
    assert read is not None
    assert [name for name in read[1].split(", ") if f'"{name}":' not in index] == []


def test_most_of_the_words_will_do(found):
    assert found("pick the values of a parameter by bananas")[0][0] == "choose"
    assert found("bananas") == []


def test_a_section_whose_heading_has_the_words_comes_first(found):
    assert found("choosing C")[0][:3] == ("choose", "Values of parameters > Choosing C", "#choosing-c")


def test_pages_that_explain_come_before_those_that_list(found):
    assert [page for page, *_ in found("subclass with methods")] == ["own", "reference/all"]


def test_an_entry_of_the_index_is_found_and_shown(found):
    page, text, *_ = found("custom loss")[0]
    assert (page, text) == ("own", "Write a loss > custom loss")


def test_a_name_as_it_is_written_comes_first(found):
    assert found("Ranker")[0][0] == "reference/all"
    assert found("ranker")[0][0] == "index"
