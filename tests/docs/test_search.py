"""docs/search in a small site: its index of pages, and questions find their pages."""

import json
import shutil

import pytest

from tests.docs.questions import ask

sphinx = pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install --group docs")

PAGES = {
    "index": """
        Rankers
        =======

        * Teach a bespoke objective: :doc:`own`
        * Other things: :doc:`choose`

        .. toctree::

           choose
           own
           reference/all
    """,
    "choose": """
        Values of parameters
        ====================

        Words of another *kind*, :math:`a` and :math:`\\frac{a}{b}`.

        Choosing C
        ----------

        Try several values of the parameter, and pick by validation. It is normalised::

           Ranker(early_stopping=True)

        Files
        -----

        None are written.

        .. toctree::
    """,
    "own": """
        .. index:: ! custom loss

        Write a loss
        ============

        .. index:: ! plug-in

        A subclass with a few methods.

        Files
        -----

        One module.
    """,
    "reference/all": """
        All names
        =========

        Choosing values of the parameter C, a subclass with methods, validation, validation, loss, loss.

        .. py:class:: Ranker(penalty: float)

           It chooses nothing by itself.

           .. py:method:: fit(self, X)

              Learn from rows.

        .. py:class:: OtherRanker(penalty: float)

           .. py:method:: fit(self, X)

              Learn from rows.
    """,
}


@pytest.fixture(scope="module")
def extension():
    from docs.search import site_search

    return site_search


@pytest.fixture(scope="module")
def site(tmp_path_factory, extension):
    """A site of four pages with our search."""
    from sphinx.application import Sphinx

    folder = tmp_path_factory.mktemp("site")
    source, built = folder / "source", folder / "built"
    for name, text in PAGES.items():
        page = source / f"{name}.rst"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("\n".join(line.removeprefix(8 * " ") for line in text.splitlines()), encoding="utf-8")
    settings = {"html_theme": "basic", "extensions": ["docs.search.site_search"]}
    Sphinx(source, None, built, folder / "read", "html", settings, status=None, warningiserror=True).build()
    return built


@pytest.fixture(scope="module")
def searched(site):
    """The index that the script of the site searches."""
    script = (site / "_static" / "searched.js").read_text(encoding="utf-8")
    return json.loads(script.rpartition("window.SEARCHED = ")[2].removesuffix(";"))


@pytest.fixture(scope="module")
def found(site):
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed: it runs the script of the search")
    return lambda question: ask(site, [question])[0]


def test_it_takes_the_place_of_sphinx_own_search(site):
    """The licence of vendored code is above the code."""
    assert not (site / "searchindex.js").exists()
    assert "search.js" in (site / "search.html").read_text(encoding="utf-8")
    script = (site / "_static" / "searched.js").read_text(encoding="utf-8")
    assert script.startswith("/*! MiniSearch ")
    assert "Permission is hereby granted" in script[:1500]
    assert "window.Stemmer = EnglishStemmer;" in script


def test_sections_and_objects_are_what_is_searched(searched):
    sections = {(each["page"], each["anchor"]): each for each in searched["sections"]}
    assert sections["choose", "choosing-c"] == {
        "page": "choose",
        "title": "Values of parameters",
        "anchor": "choosing-c",
        "heading": "Choosing C",
        "text": "Try several values of the parameter, and pick by validation. It is normalised:",
        "code": "Ranker True early_stopping",
    }
    assert sections["choose", ""]["text"] == "Words of another kind, a and …."
    assert sections["own", ""]["also"] == "plug-in; custom loss"
    ranker = sections["reference/all", "Ranker"]
    assert (ranker["name"], ranker["kind"], ranker["code"]) == ("Ranker", "class", "penalty")
    assert ranker["text"] == "It chooses nothing by itself."


def test_a_method_that_several_classes_have_is_there_once(searched):
    assert [each["name"] for each in searched["sections"] if each.get("kind") == "method"] == ["Ranker.fit"]


def test_groups_of_synonyms_have_no_word_twice(extension):
    groups = extension.synonyms()
    assert [group for group in groups if len(group) < 2 or len({word.lower() for word in group}) < len(group)] == []


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("custom loss", ["own"]),  # an entry of the index
        ("bespoke objective", ["own", "index"]),  # the words of a link to a page
        ("Normalization", ["choose"]),  # stems, and the spelling of Oxford
        ("stopping early", ["choose"]),  # parts of a name
        ("valid", ["choose"]),  # what somebody has typed so far
        ("standardise", ["choose"]),  # normalised
        ("pick the values of a parameter by bananas", ["choose"]),  # most of the words
        ("subclass with methods", ["own", "reference/all"]),  # pages that explain before those that list
    ],
)
def test_questions_find_pages_in_their_order(found, question, pages):
    assert [page for page, *_ in found(question)][: len(pages)] == pages


def test_a_name_or_heading_as_it_is_written_comes_first(found):
    assert found("Ranker")[0][:2] == ("reference/all", "Ranker")
    assert found("ranker")[0][0] == "index"
    assert found("Ranker.fit")[0][1] == "Ranker.fit"
    assert found("choosing C")[0][:3] == ("choose", "Choosing C", "#choosing-c")
    assert {(page, anchor) for page, _, anchor, _ in found("files")} == {("choose", "#files"), ("own", "#files")}
    assert found("bananas") == []
