"""Damaged collections and topics: each is refused in a line that names the file, the line and the fault."""

import gzip

import pytest

from structsvm.data import read_documents, read_topics
from structsvm.exceptions import DataFormatError, InputError

DOC = "<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>a wing</TEXT>\n</DOC>\n"
TOP = "<top>\n<num> Number: 1\n<title> wings\n</top>\n"
SMART = ".I 1\n.T\nwings\n.W\na wing\n"
JSON = '{"id": "1", "text": "a wing"}\n'
LONG = "x" * 1001

DOCUMENTS = [
    # of any format
    ("auto", "", "the file is empty: it must have a document"),
    ("auto", "\n \n\t\n", "the file is empty: it must have a document"),
    ("auto", "wings are long\n", "line 1: the beginning 'wings are long' matches no format: name one of"),
    ("auto", "\n\n1\ta wing\n", "line 3: .* is a table: name its format"),
    ("auto", '[{"id": "1"}]\n', "line 1: .* is a JSON array: jq"),
    ("auto", "<html>\n", "line 1: the beginning '<html>' matches no format"),
    ("auto", TOP, "line 1: <top> begins topics, but documents are read, which begin with <DOC>"),
    ("auto", DOC.encode("utf-16"), "line 1: this is UTF-16, not text in UTF-8"),
    ("auto", gzip.compress(DOC.encode() * 100)[:-30], "the gzip stream is damaged or cut short"),
    ("auto", DOC.replace("a wing", "a w\0ing"), "line 3: this is binary or UTF-16"),
    ("auto", DOC.replace("\n", "\r"), "line 1: a carriage return within a line"),
    (
        "auto",
        DOC.encode().replace(b"wing", b"w\xefng"),
        r"line 3: byte 0xef in '<TEXT>a w\\xefng</TEXT>' is not text in utf",
    ),
    ("trec", "", "the file has no document"),
    ("smart", "\n", "the file has no document"),
    ("jsonl", "\n", "the file has no document"),
    ("tsv", "\n", "the file has no document"),
    ("tsv-header", "id\ttext\n", "the file has no document"),
    # ids
    ("trec", DOC + DOC, "line 5: document '1' occurs twice, first in line 1: leave one out"),
    ("smart", SMART + SMART, "line 6: document '1' occurs twice, first in line 1"),
    ("jsonl", JSON + "\n" + JSON, "line 3: document '1' occurs twice, first in line 1"),
    ("tsv", "1\ta\n1\tb\n", "line 2: document '1' occurs twice, first in line 1"),
    ("trec", DOC.strip() + DOC, "line 4: document '1' occurs twice, first in line 1"),
    ("trec", DOC.replace("\n", " ") + DOC, "line 1: document '1' occurs twice, first in line 1"),
    (
        "trec",
        DOC.replace(">1<", ">1 2<"),
        "line 1: the id of the document, '1 2', must not contain a blank, tab, line end or NUL",
    ),
    ("trec", DOC.replace(">1<", "> <"), "line 1: the id of the document is empty"),
    ("smart", ".I 1 2\n.W\na\n", "line 1: the id of the document, '1 2', must not contain a blank"),
    ("tsv", "\ttext\n", "line 1: the id of the document is empty"),
    (
        "tsv",
        f"{LONG}\ttext\n",
        r"line 1: the id of the document has 1001 characters, 'xxx.*\(1,001 characters\): it may have 1000",
    ),
    # SGML
    (
        "trec",
        DOC.replace("<DOCNO>1</DOCNO>\n", ""),
        "line 1: the document that begins here has no <DOCNO>: write one",
    ),
    ("trec", DOC.replace("<TEXT>", "<DOCNO>2</DOCNO><TEXT>"), "line 1: the document .* has 2 <DOCNO>"),
    ("trec", DOC.replace("</DOCNO>", ""), "line 2: <DOCNO> is not closed by </DOCNO> before </DOC>"),
    ("trec", DOC.replace("</TEXT>", ""), "line 3: <TEXT> is not closed by </TEXT> before </DOC>"),
    ("trec", DOC.replace("<TEXT>", ""), "line 3: </TEXT> closes <TEXT>, which is not open"),
    ("trec", DOC.replace("<TEXT>", "<TEXT><TEXT>"), "line 3: <TEXT> is not closed by </TEXT>"),
    ("trec", DOC.replace("</DOC>\n", ""), "line 1: <DOC> is not closed by </DOC> before the file ends"),
    (
        "trec",
        "\n" + DOC.replace("</DOC>\n", "") + DOC,
        "line 2: <DOC> is not closed by </DOC> before the next one begins",
    ),
    ("trec", DOC.replace("</DOC>\n", "") * 2, "line 1: <DOC> is not closed by </DOC> before the next one begins"),
    ("trec", DOC + "wings\n", "line 5: 'wings' is outside of any <DOC>: put it into one"),
    ("trec", "<?xml?>\n" + DOC, r"line 1: '<\?xml\?>' is outside of any <DOC>"),
    ("trec", "README\n" + DOC, "line 1: 'README' is outside of any <DOC>"),
    ("trec", DOC + "</DOC>\n", "line 5: '</DOC>' is outside of any <DOC>"),
    ("trec", DOC + "<DO", "line 5: '<DO' is outside of any <DOC>"),
    ("trec", DOC.replace("a wing", "<!-- a wing"), "line 3: the comment is not closed by -->: '<!-- a wing"),
    ("trec", DOC.replace("a wing", "<![CDATA[a]]>"), r"line 3: a CDATA section cannot be read: '<!\[CDATA\["),
    ("trec", DOC.replace(">1<", "><b>1</b><"), "line 1: <DOCNO> contains a tag, '<b>1</b>'"),
    ("trec", "<!-- never closed\n" + DOC, "line 1: '<!-- never closed.* is outside of any <DOC>"),
    # SMART
    ("smart", "wings\n" + SMART, "line 1: 'wings' is before the first .I, which begins a document"),
    ("smart", ".T\nwings\n", "line 1: section .T comes before the first .I"),
    ("smart", ".I\n.T\n", "line 1: .I has no id"),
    ("smart", ".I 1\nwings\n", "line 2: 'wings' is outside of the sections, such as .W"),
    (
        "smart",
        ".I 1\n.Q\nwings\n",
        r"line 2: unknown section .Q; choose .T \(title\), .*.X \(references, which are left out\)",
    ),
    # JSON lines
    (
        "jsonl",
        JSON + '{"id": "2", "text": "a wi\n',
        "line 2: this is not JSON: Unterminated string starting at: column 21",
    ),
    ("jsonl", "{\n", "line 1: this is not JSON: Expecting property name"),
    ("jsonl", '["1", "wing"]\n', "line 1: .* is not a JSON object: write"),
    (
        "jsonl",
        '{"text": "wing"}\n',
        "line 1: the object has no id: it lacks the fields id, _id, docno, doc_id, docid",
    ),
    (
        "jsonl",
        '{"id": "1", "docno": "2"}\n',
        "line 1: both 'id' and 'docno' may be the id. Name the field with id_field",
    ),
    ("jsonl", JSON + '{"docno": "2"}\n', "line 2: the object has no field 'id' for the id; its fields: 'docno'"),
    ("jsonl", JSON + "{}\n", "line 2: the object has no field 'id' for the id; its fields: none"),
    ("jsonl", '{"id": 1.5}\n', "line 1: the id '1.5' in field 'id' is not text"),
    ("jsonl", '{"id": null}\n', "line 1: the id 'null' in field 'id' is not text"),
    ("jsonl", '{"id": true}\n', "line 1: the id 'true' in field 'id' is not text"),
    ("jsonl", '{"id": "1", "text": "a", "text": "b"}\n', "line 1: the JSON object cannot be read: 'text' occ"),
    (
        "jsonl",
        '{"id": "1", "text": "\\ud800"}\n',
        r"line 1: a field of document '1' contains half a character, the lone surrogate U\+D800",
    ),
    (
        "jsonl",
        '{"id": "\\udc00"}\n',
        r"line 1: the id of the document contains half a character, the lone surrogate U\+DC00",
    ),
    ("jsonl", '{"id": "1", "\\ud800": "a"}\n', "line 1: the name of a field of document '1' contains half a character"),
    ("jsonl", f'{{"id": {"9" * 5000}}}\n', "line 1: the JSON object cannot be read: Exceeds the limit"),
    ("jsonl", '{"id": ' + "[" * 100_000 + "\n", "line 1: the JSON object cannot be read: it is nested"),
    # tables
    ("tsv", "1\n", "line 1: there is 1 column in '1', but a line reads '<id> TAB <text>'"),
    ("tsv", "1\ta\n2\ta\tb\n", "line 2: there are 3 columns in .*use tsv-header"),
    ("tsv-header", "id\n1\n", "line 1: the header 'id' names one column"),
    ("tsv-header", "id\t\n1\ta\n", "line 1: column 2 has no name: the first line names the columns"),
    ("tsv-header", "id\ttext\ttext\n", "line 1: two columns are named 'text'"),
    ("tsv-header", "id\ttext\n1\n", "line 2: there is 1 column in '1', but the header names 2"),
    ("tsv-header", "id\ttext\n1\ta\tb\n", r"line 2: there are 3 columns in '1\\ta\\tb', but the header names 2"),
]

TOPICS = [
    ("auto", "", "the file is empty: it must have a topic"),
    ("auto", DOC, "line 1: <DOC> begins documents, but topics are read, which begin with <top>"),
    ("auto", TOP.encode("utf-32"), "line 1: this is UTF-32"),
    ("trec", TOP + TOP, "line 5: topic '1' occurs twice, first in line 1"),
    (
        "trec",
        TOP.replace("<num> Number: 1\n", ""),
        "line 1: the topic that begins here has no <num>: write one, with its id",
    ),
    ("trec", TOP.replace(" 1\n", "\n"), "line 1: the id of the topic is empty"),
    (
        "trec",
        TOP.replace(" 1\n", " #1\n"),
        "line 1: the id of the topic, '#1', begins with '#', which makes lines of runs comm",
    ),
    (
        "trec",
        TOP.replace(" 1\n", " \ufeff1\n"),
        r"line 1: the id of the topic, '\\ufeff1', begins with a byte order mark, U\+FEFF: remove it",
    ),
    ("trec", TOP.replace(" 1\n", " 1 and 2\n"), "line 1: the id of the topic, '1 and 2', must not contain a blank"),
    ("trec", TOP.replace("<title> wings\n", ""), "line 1: topic '1' has no text to search with"),
    ("trec", TOP.replace("wings", ""), "line 1: topic '1' has no text to search with"),
    ("trec", TOP.replace("</top>\n", ""), "line 1: <top> is not closed by </top> before the file ends"),
    ("trec", TOP.replace("</top>\n", "") + TOP, "line 1: <top> is not closed by </top> before the next one begins"),
    ("trec", TOP.replace("<title>", "<title> a <title>"), "line 3: the topic has <title> twice: leave one out"),
    ("trec", TOP.replace("</top>", "</desc></top>"), "line 4: </desc> closes <desc>, which is not open"),
    ("trec", TOP.replace("wings", "wings</title> of birds"), "line 3: 'of birds' is outside of the parts of the topic"),
    ("trec", TOP.replace("<num>", "wings <num>"), "line 2: 'wings' is outside of the parts of the topic"),
    ("trec", TOP + "wings", "line 5: 'wings' is outside of any <top>"),
    ("trec", TOP.replace("wings", "<!-- wings"), "line 3: the comment is not closed by -->"),
    ("smart", ".I 1\n.I 2\n.W\na\n", "line 1: topic '1' has no text to search with"),
    ("smart", ".I 1\n.W\n.I 2\n.W\na\n", "line 1: topic '1' has no text to search with"),
    ("smart", ".W\na\n", "line 1: section .W comes before the first .I, which begins a topic"),
    ("jsonl", '{"qid": 1}\n', "line 1: topic '1' has no text to search with"),
    ("jsonl", '{"docno": 1}\n', "line 1: the object has no id: it lacks the fields id, _id, qid, query_id, topic_id"),
    ("tsv", "1\t \n", "line 1: topic '1' has no text to search with"),
    ("tsv", "1\ta\n2\n", "line 2: there is 1 column in '2'"),
]


@pytest.mark.parametrize(
    ("read", "form", "content", "message"),
    [(read, *row) for read, rows in ((read_documents, DOCUMENTS), (read_topics, TOPICS)) for row in rows],
    ids=map(str, range(len(DOCUMENTS) + len(TOPICS))),
)
def test_it_is_refused_with_file_and_line(write, read, form, content, message):
    path = write(content)
    with pytest.raises(DataFormatError, match=message) as caught:
        list(read(path, form))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "format must be 'auto' or 'trec' or .*, got 'xml'"),
        ({"format": None}, "format must be"),
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'; choose for example utf-8, latin-1 or cp1252"),
        ({"encoding": "rot13"}, "unknown encoding 'rot13'"),
        ({"encoding": "a\0b"}, "unknown encoding"),
        ({"encoding": "utf-16"}, "files in utf-16 cannot be read, because it does not extend ASCII: 'iconv -f utf-16"),
        ({"encoding": "utf-7"}, "files in utf-7 cannot be read"),
        ({"encoding": "idna"}, "unknown encoding 'idna'; choose for example utf-8, latin-1 or cp1252"),
        ({"encoding": "unicode_escape"}, "unknown encoding 'unicode_escape'"),
        ({"encoding": "Raw-Unicode-Escape"}, "unknown encoding 'Raw-Unicode-Escape'"),
        ({"encoding": 8}, "encoding must be the name of an encoding, got 8"),
        ({"id_field": 1}, "id_field must be the name of a field, or None, got 1"),
        ({"id_field": "id", "format": "smart"}, "id_field='id' is only for the formats jsonl and tsv-header, but"),
        ({"id_field": "id", "format": "tsv-header"}, r"line 1: there is no column 'id': the header names <.*, x"),
        (
            {"id_field": "id"},
            "id_field='id' is only for the formats jsonl and tsv-header, but .*file.txt is trec: leave it out",
        ),
    ],
)
def test_options_that_are_none(write, options, message):
    for read, content in ((read_documents, "<DOC>\tx\n<DOCNO>1</DOCNO> </DOC>"), (read_topics, "<top>\tx</top>")):
        with pytest.raises(InputError, match=message):
            list(read(write(content), **options))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("title", r"fields must be a list of names, such as \['title'\]"),
        (["text", "text"], "fields has 'text' twice: leave one out"),
        ([], "fields is empty: name one at least"),
        ([1], "fields must be a list of names"),
        (1, "fields must be a list of names"),
        (["title", "txet"], "no document of .*file.txt has the field 'txet'; their fields: text, title"),
    ],
)
def test_fields_that_are_none(write, fields, message):
    path = write(SMART)
    with pytest.raises(InputError, match=message):
        list(read_documents(path, fields=fields))


def test_numbering_that_is_none(write):
    with pytest.raises(InputError, match="numbering must be 'given' or 'position', got 'rank'"):
        read_topics(write(TOP), numbering="rank")


def test_an_element_without_end_does_not_fill_memory(write, monkeypatch):
    monkeypatch.setattr("structsvm.data.collections.trec.LONGEST", 1000)
    monkeypatch.setattr("structsvm.data.blocks.BLOCK", 100)
    path = write("<DOC>\n" + "wing\n" * 10**4)
    with pytest.raises(DataFormatError, match="line 1: <DOC> is longer than 1,000 characters: is it closed by </DOC>"):
        list(read_documents(path))


def test_files_that_are_not_there(tmp_path):
    for read in (read_documents, read_topics):
        with pytest.raises(InputError, match="there is no file .*none"):
            list(read(tmp_path / "none"))
        with pytest.raises(InputError, match="the folder .* has no files"):
            list(read(tmp_path))
        with pytest.raises(InputError, match="source must be a path, got 7"):
            list(read(7))
