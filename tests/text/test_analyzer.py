"""Terms of texts: stop words and stems."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from Stemmer import Stemmer

from structsvm.exceptions import DataFormatError, InputError, UnknownNameError
from structsvm.text import Analyzer, tokens
from structsvm.text.analyzer import STOP_LISTS, named_stop_words, read_stop_words

WORDS = "the relational generalizations of oscillators' theories were happily oscillating hopping skies s y ies"

# Published with the algorithms: the lists of words and stems at snowballstem.org.
PUBLISHED = {
    "porter": {"consistency": "consist", "knightly": "knightli", "generously": "gener", "skies": "ski", "dying": "dy"},
    "porter2": {"consistency": "consist", "knightly": "knight", "generously": "generous", "skies": "sky"},
}


def test_a_term_is_a_token_where_nothing_else_is_said():
    assert Analyzer(None, None).terms(WORDS) == tokens(WORDS)


@pytest.mark.parametrize("stemmer", PUBLISHED)
def test_stems_are_those_published(stemmer):
    for word, stem in PUBLISHED[stemmer].items():
        assert Analyzer(stemmer, None).terms(word) == [stem]


@pytest.mark.parametrize(("stemmer", "algorithm"), [("porter", "porter"), ("porter2", "english")])
@given(text=st.text(alphabet="abeilngosty' -é"))
def test_stems_are_those_of_the_library(stemmer, algorithm, text):
    theirs = Stemmer(algorithm)
    assert Analyzer(stemmer, None).terms(text) == [theirs.stemWord(token) or token for token in tokens(text)]


def test_a_stem_is_never_empty():
    assert Stemmer("porter").stemWord("s") == ""
    assert Analyzer("porter", None).terms("s S's") == ["s", "s", "s"]


def test_stop_words_are_looked_for_before_stemming():
    assert Analyzer("porter", ("flow",)).terms("Flow flows FLOW") == ["flow"]
    assert Analyzer("porter", ("flows",)).terms("flow flows") == ["flow"]


@pytest.mark.parametrize(("name", "count"), [("glasgow", 318), ("lucene", 33), ("snowball", 149)])
def test_named_lists(name, count):
    assert len(named_stop_words(name)) == count
    assert Analyzer(None, stop_words=name).terms("The wing and its flow")[-1] == "flow"
    assert "the" not in Analyzer(None, stop_words=name).terms("The wing and its flow")
    assert all(tokens(word) == [word] for word in named_stop_words(name))


def test_the_lists_are_those_named():
    assert set(STOP_LISTS) == {"glasgow", "lucene", "snowball"}
    with pytest.raises(UnknownNameError, match=r"unknown list of stop words 'glasgo'. Did you mean 'glasgow'\?"):
        Analyzer(None, stop_words="glasgo")


@pytest.mark.parametrize(
    ("words", "stopped"),
    [
        (["The", "the", "OF"], ("of", "the")),
        (["don't", "it’s"], ("don", "it", "s", "t")),
        (["come-on", "no-one", "a"], ("a",)),
        (["vis-à-vis"], None),
        ([], None),
        (["Straße"], ("strasse",)),
    ],
)
def test_stop_words_are_tokens(words, stopped):
    assert Analyzer(None, stop_words=words).stop_words == stopped


@pytest.mark.parametrize(
    "settings",
    [
        {"stemmer": "lovins"},
        {"stemmer": 3},
        {"stemmer": "none"},
        {"stop_words": 3},
        {"stop_words": [3]},
        {"stop_words": [b"the"]},
    ],
)
def test_settings_that_cannot_be_used(settings):
    with pytest.raises(InputError, match=rf"Analyzer\({next(iter(settings))}=\.\.\.\) must be "):
        Analyzer(**settings)


def test_text_must_be_text():
    with pytest.raises(InputError, match="text must be a text, got b'wing'"):
        Analyzer(None, None).terms(b"wing")


def test_analyzers_are_values():
    one, other = Analyzer("porter", ["of", "The"]), Analyzer("porter", ("the", "of", "of"))
    assert one == other
    assert hash(one) == hash(other)
    one.terms(WORDS)
    assert pickle.loads(pickle.dumps(one)) == other
    assert repr(one) == "Analyzer(stemmer='porter', stop_words=('of', 'the'))"


def test_threads_share_an_analyzer():
    texts = [" ".join(f"{word}{k}ing" for word in tokens(WORDS)) for k in range(40)]
    expected = [Analyzer("porter2", None).terms(text) for text in texts]
    fresh = Analyzer("porter2", ("nothing",))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fresh.terms, texts)) == expected


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("the\nof\n", "of the"),
        ("the of, and;or", "and of or the"),
        ("# English\nThe  | the commonest\n| of\n\nit's\r\n", "it s the"),
        ("\ufeffthe\n", "the"),
        ("come-on the", "the"),
    ],
)
def test_files_of_stop_words(tmp_path, content, words):
    (tmp_path / "words").write_text(content, encoding="utf-8")
    assert read_stop_words(tmp_path / "words") == tuple(words.split())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "words: the file has no stop words"),
        (b"# none\n| none\n", "words: the file has no stop words"),
        (b"--- ...\n", "words: the file has no stop words"),
        (b"the\nfa\xe7on\n", "words, line 2: this is not UTF-8"),
        (b"\xff\xfet\0h\0e\0", "words, line 1: this is UTF-16"),
        (b"the\0", "words, line 1: this is binary"),
        (b"PK\x03\x04", "words, line 1: this is a zip archive"),
        (b"\x1f\x8b\x08\x00", "words: the gzip stream is damaged"),
    ],
)
def test_unreadable_files_are_errors(tmp_path, content, message):
    (tmp_path / "words").write_bytes(content)
    with pytest.raises(DataFormatError, match=message):
        read_stop_words(tmp_path / "words")
