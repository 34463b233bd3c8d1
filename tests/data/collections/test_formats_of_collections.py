"""Each format: fields, ids, white space, references, labels; detection of formats, and search for files."""

import gzip
import os
import threading

import pytest

from structsvm.data import Document, Topic, blocks, read_documents, read_topics
from structsvm.data.collections.reading import FORMATS
from structsvm.exceptions import DataFormatError, InputError


def documents(path, form="auto", **options):
    return {document.id: dict(document.fields) for document in read_documents(path, form, **options)}


def topics(path, form="auto", numbering="given", **options):
    return {topic.id: dict(topic.fields) for topic in read_topics(path, form, numbering, **options)}


LA_TIMES = """\
<!-- two documents -->
<DOC id="x">
<DOCNO> LA010189-0001 </DOCNO>
<HEADLINE>
<P>AT&amp;T, caf&eacute; &#233;&#xE9; &hyph; R&D &lt;b&gt; &#0; &#xD800;</P>
</HEADLINE>
outside
<TEXT>
<P>
One<!-- not this
--> two, 1 < 2.
</P>
<P>Three.
</P>
</TEXT>
<TEXT></TEXT><GRAPHIC/>
  behind
</DOC>
<doc><docno>2&amp;3</docno></doc>
"""


def test_an_empty_last_record_is_skipped_with_a_warning(write):
    text = ".I 1\n.W\nwings\n.I 2\n"
    with pytest.warns(UserWarning, match=r"file.txt, line 5: skipped the last \.I, which has no id and no text"):
        assert documents(write(f"{text}.I\n \n")) == {"1": {"text": "wings"}, "2": {}}
    with pytest.raises(DataFormatError, match=r"line 5: \.I has no id"):
        documents(write(f"{text}.I\n.W\nflow\n"))


def test_sgml_has_a_field_a_tag_and_tags_in_it_are_left_out(write):
    documents_of_file = documents(write(LA_TIMES))
    assert list(documents_of_file) == ["LA010189-0001", "2&amp;3"]  # ids are copied from the file
    first = {name: text.split() for name, text in documents_of_file["LA010189-0001"].items()}
    assert first["headline"] == ["AT&T,", "café", "éé", "&hyph;", "R&D", "<b>", "&#0;", "&#xD800;"]
    assert first["text"] == ["outside", "One", "two,", "1", "<", "2.", "Three.", "behind"]
    assert set(first) == {"headline", "text"}
    assert documents_of_file["2&amp;3"] == {}


CLASSIC = """\
<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus &amp; Subsidies

<desc> Description:
Document will discuss
government assistance.

<narr> Narrative:
A relevant document.
<con> Concept(s):
1. Airbus Industrie
<fac> Factor(s):
<nat> Nationality: U.S.
</fac>
<def> Definition(s):

</top>
"""


def test_labels_of_classic_topics_are_dropped(write):
    assert topics(write(CLASSIC)) == {
        "051": {
            "head": "Tipster Topic Description",
            "domain": "International Economics",
            "title": "Airbus & Subsidies",
            "description": "Document will discuss\ngovernment assistance.",
            "narrative": "A relevant document.",
            "concepts": "1. Airbus Industrie",
            "nationality": "U.S.",
        }
    }


@pytest.mark.parametrize(
    "text",
    [
        "<top>\n<num> Number: 301\n<title> Crime\n\n<desc> Description: \nIdentify it.\n<narr> Narrative: All.\n</top>",
        "<top><num>301</num><title>Crime</title><desc>Identify it.</desc><narr>All.</narr></top>",
        "<TOP lang='en'>\n<NUM> 301\n</NUM><!-- x --><TITLE>\nCrime</TITLE><x/><DESC>Identify it.<narr>All.</TOP>\n",
    ],
)
def test_topics_with_and_without_closing_tags(write, text):
    assert topics(write(text)) == {"301": {"title": "Crime", "description": "Identify it.", "narrative": "All."}}


def test_numbering_by_position(write):
    text = ".I 001\n.W\r\nwings\r\n.I 004\n.W\n.a wing\n. of a bird\n.T\n birds \n.X\n1 2 3\n.W\nmore\n"
    assert topics(write(text)) == {
        "001": {"text": "wings"},
        "004": {"text": ".a wing\n. of a bird\nmore", "title": "birds"},
    }
    assert list(topics(write(text), numbering="position")) == ["1", "2"]
    assert list(topics(write("1\ta\n1\tb\n"), "tsv", "position")) == ["1", "2"]  # whatever ids the file gives


@pytest.mark.parametrize("name", ["\u2028", "\xa0a", "\x0b"])
def test_blanks_tabs_and_line_ends_alone_surround_ids(write, name):
    """Other white space is part of an id, as in runs."""
    assert list(documents(write(f".I 1\n.W\na\n.I  {name} \t\n.W\nb\n"))) == ["1", name]
    assert list(documents(write(f"<DOC><DOCNO>\n{name}\t</DOCNO></DOC>"))) == [name]
    assert list(documents(write(f" {name} \ta\n"), "tsv")) == [name]
    assert list(topics(write(f"<top><num> Number: {name}\n<title>a</top>"))) == [name]


def test_the_query_of_a_topic():
    topic = Topic("7", {"title": "a", "narrative": "c"})
    assert (topic.query(), topic.query("all"), topic.query("narrative")) == ("a", "a\nc", "c")
    assert Topic("7", {"text": "d", "description": "b", "title": "a"}).query() == "a"
    assert Topic("7", {"text": "d", "description": "b"}).query() == "b"
    assert Topic("7", {"narrative": "c", "text": "d"}).query() == "d"
    assert Topic("7", {"keywords": "e", "narrative": "c"}).query() == "e\nc"
    with pytest.raises(
        InputError, match="topic '7' has no part 'description'; its parts: title, narrative, or 'all' for all"
    ):
        topic.query("description")
    with pytest.raises(InputError, match="part must be the name of a part, or None, got 1"):
        topic.query(1)


def test_json_lines(write):
    text = (
        '{"_id": 12, "title": " A ", "text": "B\\n", "metadata": {}, "year": 2007, "by": ["X, Y", "Z"], "no": null}\n'
        '\n{"text": "\\u00e9 &amp;", "_id": " b "}\r\n'
    )
    assert documents(write(text)) == {
        "12": {"title": "A", "text": "B", "by": "X, Y\nZ"},
        "b": {"text": "é &amp;"},
    }
    assert topics(write('{"qid": "1", "query": "a"}\n')) == {"1": {"query": "a"}}
    assert documents(write('{"id": "1", "pid": "2"}\n'), id_field="pid") == {"2": {"id": "1"}}


def test_tables(write):
    assert documents(write('7\t"a" b \n\n8\t\n'), "tsv") == {"7": {"text": '"a" b'}, "8": {}}
    text = "pid\ttitle \ttext\nx\t\tb\n\ny\ta\tb\r\n"
    assert documents(write(text), "tsv-header") == {"x": {"text": "b"}, "y": {"title": "a", "text": "b"}}
    assert topics(write("text\tnumber\na\t1\n"), "tsv-header", id_field="number") == {"1": {"text": "a"}}


def test_fields_are_chosen(write):
    text = ".I 1\n.T\na\n.A\nb\n.W\nc\n.I 2\n.A\nb\n"
    stream = read_documents(write(text), fields=["title", "text"])
    assert [dict(document.fields) for document in stream] == [{"title": "a", "text": "c"}, {}]
    assert (stream.n_read, stream.n_empty) == (2, 1)


def test_empty_documents_are_kept_and_counted(write):
    text = (
        "<DOC><DOCNO>1</DOCNO><TEXT> <P> </P>\n</TEXT></DOC>\n<DOC><DOCNO>2</DOCNO>a</DOC><DOC><DOCNO>3</DOCNO></DOC>"
    )
    stream = read_documents(write(text))
    assert [document.is_empty for document in stream] == [True, False, True]
    assert (stream.n_read, stream.n_empty) == (3, 2)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (("", {}), "the id of the document is empty"),
        ((1, {}), "the id of the document must be text, got 1"),
        (("1\t", {}), "the id of the document, '1.*', must not contain a blank"),
        (("1\0", {}), "must not contain a blank, tab, line end or NUL"),
        (("1", []), r"the fields of document '1' must be text by name, got \[\]"),
        (("1", {"text": None}), "the fields of document '1' must be text by name, got 'text': None"),
        (("1", {"text": "\ud800"}), "a field of document '1' contains half a character"),
    ],
)
def test_values_that_are_none(fields, message):
    with pytest.raises(InputError, match=message):
        Document(*fields)


def test_encodings(write):
    path = write("<DOC><DOCNO>é</DOCNO>\nna\u00efve</DOC>".encode("latin-1"))
    assert documents(path, encoding="latin-1") == {"é": {"text": "naïve"}}
    with pytest.raises(DataFormatError, match=r"line 1: byte 0xe9 in .* name another encoding, such as lat"):
        documents(path)
    path = write("<DOC><DOCNO>1</DOCNO>\nвода</DOC>".encode("koi8-r"))
    assert documents(path, encoding="koi8-r") == {"1": {"text": "вода"}}
    with pytest.raises(DataFormatError, match=r"line 2: byte 0x.* is not text in ascii: .* such as utf-8"):
        documents(path, encoding="ascii")
    assert documents(write("\ufeff<DOC><DOCNO>1</DOCNO>é</DOC>")) == {"1": {"text": "é"}}


def test_a_folder_is_read_in_the_order_of_names(write, tmp_path):
    for name, number in (("b/2.txt", 3), ("b/1.gz", 2), ("a.txt", 1), ("c/d/e", 4), (".hidden", 5), ("b/.f/x", 6)):
        text = f"<DOC><DOCNO>{number}</DOCNO>x</DOC>"
        write(gzip.compress(text.encode()) if name.endswith("gz") else text, f"all/{name}")
    folder = tmp_path / "all"
    assert list(documents(folder)) == ["1", "2", "3", "4"]
    write("<DOC><DOCNO>2</DOCNO></DOC>", "all/z")
    with pytest.raises(DataFormatError, match=r"z, line 1: document '2' occurs twice, first in .*1\.gz, line 1: leave"):
        documents(folder)
    write("How to read this", "all/README")
    with pytest.raises(DataFormatError, match=r"README, line 1: the beginning 'How to read this' matches no format"):
        documents(folder)
    (folder / "README").unlink()
    (folder / "0").symlink_to("nothing")
    with pytest.raises(InputError, match="0 is neither a file nor a folder: remove it from the collection"):
        documents(folder)
    (folder / "0").unlink()
    (folder / "b" / "0").symlink_to(folder)
    with pytest.raises(InputError, match="the folder .*0 is a link to a folder that contains it: remove the link"):
        documents(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_once_and_gzip_told_by_its_content(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = gzip.compress(LA_TIMES.encode())
    thread = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    thread.start()
    assert list(documents(tmp_path / "pipe")) == ["LA010189-0001", "2&amp;3"]
    thread.join()


def test_documents_come_before_the_file_is_read_to_its_end(write, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    text = "".join(f"<DOC><DOCNO>{k}</DOCNO>\nx\n</DOC>\n" for k in range(1000))
    for content in (text, text.encode() + b"\xff", gzip.compress(text.encode() + b"\xff")):
        with read_documents(write(content)) as stream:
            assert [next(stream).id for _ in range(3)] == ["0", "1", "2"]
        assert list(stream) == []


@pytest.mark.parametrize(
    ("kind", "text", "form"),
    [
        ("document", LA_TIMES, "trec"),
        ("topic", CLASSIC, "trec"),
        ("document", ".I 1\n.W\na\n", "smart"),
        ("document", '\n{"id": "1", "text": "a"}\n', "jsonl"),
    ],
)
def test_auto_is_the_format_of_the_beginning(write, kind, text, form):
    read = {"document": documents, "topic": topics}[kind]
    assert read(write(text)) == read(write(text), form)
    for other in set(FORMATS) - {form}:
        with pytest.raises(DataFormatError):
            read(write(text), other)


ASTERISKS = "*" * 44
LISA = (
    f"\nDocument    1\nA TITLE OF\nTWO LINES.\n\nTEXT.\n\nMORE TEXT.\n{ASTERISKS}\nDocument   10\nTITLE\n{ASTERISKS}\n"
)


@pytest.mark.parametrize("form", ["auto", "lisa"])
def test_documents_and_topics_of_lisa(write, form):
    assert documents(write(LISA), form) == {
        "1": {"title": "A TITLE OF\nTWO LINES.", "text": "TEXT.\n\nMORE TEXT."},
        "10": {"title": "TITLE"},
    }
    topics_of_file = topics(write("1\nI AM INTERESTED\nIN INDEXES. #\n\n2\nC# IS # 3\n4 #\n"), form)
    assert topics_of_file == {"1": {"text": "I AM INTERESTED\nIN INDEXES."}, "2": {"text": "C# IS # 3\n4"}}


def test_damaged_files_of_lisa(write):
    with pytest.raises(DataFormatError, match="line 10: the document that begins here is not closed by a line of ast"):
        documents(write(LISA.removesuffix(f"{ASTERISKS}\n")))
    with pytest.raises(
        DataFormatError, match="line 10: 'more' is outside of any document, which begins with a line suc"
    ):
        documents(write(LISA.replace("Document   10", "more")))
    with pytest.raises(DataFormatError, match="line 1: the topic that begins here is not closed by '#'"):
        topics(write("1\nwings\n2\nflow\n/\n"))
    with pytest.raises(DataFormatError, match="line 13: document '1' occurs twice, first in line 1"):
        documents(write(f"{LISA[1:]}{LISA}"))
