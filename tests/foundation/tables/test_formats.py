import csv
import io
import json

import pytest
from markdown_it import MarkdownIt

from structsvm.foundation.tables.formats import as_json, as_latex, as_markdown, escape_latex, escape_markdown
from structsvm.foundation.tables.table import Column, Table, as_csv, as_text

ODD = r"a_b & 50% of $x^2 #{1}~\n|<i> *[q]* `c`"


def table(names, notes=()):
    """A row for each name, the last one in a separate section."""
    rows = [{"name": name, "map": 0.25 / (k + 1), "stars": k > 0} for k, name in enumerate(names)]
    columns = (
        Column("Model", lambda record: record["name"], right=False),
        Column("MAP", lambda record: f"{record['map']:.3f}"),
        Column("", lambda record: "**" if record["stars"] else "", right=False),
    )
    return Table("Two & three", columns, (tuple(rows[:-1]), tuple(rows[-1:])), notes)


def test_text():
    expected = """\
Two & three
Model        MAP
─────────────────────
SVM-map    0.250
SVM-roc    0.125   **

best_run   0.083   **

Stars are stars.
"""
    assert as_text(table(["SVM-map", "SVM-roc", "best_run"], ["Stars are stars."])) == expected


def test_text_is_never_cut_off():
    name = "n" * 500
    assert name in as_text(table(["short", name]))


def test_markdown():
    expected = r"""
**Two & three**

| Model | MAP |  |
|---|---:|---|
| SVM-map | 0.250 |  |
| best\_run | 0.125 | \*\* |

Stars are stars.
"""
    assert as_markdown([table(["SVM-map", "best_run"], ["Stars are stars."])]) == expected.lstrip("\n")


def test_what_is_markdown_already_is_not_escaped_and_needs_no_title():
    columns = (Column.text("of `what`", "name"), Column.number("MAP", "map", ".2f", missing="–"))
    table = Table("", columns, (({"name": "**a**", "map": 0.5}, {"name": None, "map": None}),), ("*note*",))
    expected = "| of `what` | MAP |\n|---|---:|\n| **a** | 0.50 |\n|  | – |\n\n*note*\n"
    assert as_markdown([table], escaped=False) == expected


def test_markdown_shows_what_the_cells_hold():
    tokens = MarkdownIt().enable("table").parse(as_markdown([table([ODD, "b"]), table(["c", "d"])]))
    texts = ["".join(child.content for child in token.children) for token in tokens if token.type == "inline"]
    assert [text for text in texts if text] == [
        *("Two & three", "Model", "MAP", ODD, "0.250", "b", "0.125", "**"),
        *("Two & three", "Model", "MAP", "c", "0.250", "d", "0.125", "**"),
    ]


def test_latex():
    expected = r"""
% Needs \usepackage{booktabs} and \usepackage[T1]{fontenc}.

\begin{table}
  \centering\small
  \caption{Two \& three}
  \begin{tabular}{lrl}
    \toprule
    Model & MAP &  \\
    \midrule
    SVM-map & 0.250 &  \\
    \midrule
    best\_run & 0.125 & \textasteriskcentered{}\textasteriskcentered{} \\
    \bottomrule
  \end{tabular}

  \medskip
  \parbox{\linewidth}{\footnotesize
    Stars are stars.
  }
\end{table}
"""
    assert as_latex([table(["SVM-map", "best_run"], ["Stars are stars."])]) == expected.lstrip("\n")


@pytest.mark.parametrize(
    ("character", "escaped"),
    [
        *((character, "\\" + character) for character in "&%$#_{}"),
        ("\\", r"\textbackslash{}"),
        ("~", r"\textasciitilde{}"),
        ("^", r"\textasciicircum{}"),
        ("[", "{[}"),
        ("a-b", "a-b"),
    ],
)
def test_what_latex_takes_for_commands_is_escaped(character, escaped):
    assert escape_latex(character) == escaped


def test_a_cell_of_markdown_is_one_line():
    assert escape_markdown("a\n b") == "a b"


def test_csv_and_json_give_the_records_back():
    first, second = table([ODD, 'quote " and, comma'], ["note"]), table(["c", "d\ne"])
    read = list(csv.DictReader(io.StringIO(as_csv([first, second]), newline="")))
    assert [(row["name"], float(row["map"]), row["stars"] == "True") for row in read] == [
        tuple(record.values()) for record in first.records + second.records
    ]
    assert json.loads(as_json([first, second])) == [
        {"title": "Two & three", "rows": first.records, "notes": ["note"]},
        {"title": "Two & three", "rows": second.records, "notes": []},
    ]


def test_what_is_missing_is_empty_in_csv_and_null_in_json():
    missing = Table("t", (), (({"a": None, "b": 1.5},),))
    assert as_csv([missing]) == "a,b\n,1.5\n"
    assert json.loads(as_json([missing]))[0]["rows"] == [{"a": None, "b": 1.5}]


def test_csv_refuses_records_of_other_names():
    with pytest.raises(ValueError, match="b"):
        as_csv([Table("t", (), (({"a": 1}, {"b": 2}),))])


def test_json_refuses_what_it_cannot_say():
    with pytest.raises(ValueError, match="JSON"):
        as_json([Table("t", (), (({"a": float("nan")},),))])


NASTY = "\x1b]0;owned\x07\u202e\u2028\udce9"
SHOWN = r"\x1b]0;owned\x07\u202e\u2028\udce9"


def test_no_format_has_what_a_terminal_acts_on():
    column = Column.text(f"{NASTY}a", "name")
    tables = [Table(f"{NASTY}b", (column,), (({"name": f"{NASTY}c"},),), (f"{NASTY}d",))]
    for text in (as_text(tables[0]), as_markdown(tables), as_latex(tables), as_csv(tables), as_json(tables)):
        assert all(line.isprintable() for line in text.split("\n"))
        text.encode()
    assert [name for name in "abcd" if SHOWN + name in as_text(tables[0])] == list("abcd")
    assert as_csv(tables) == f"name\n{SHOWN}c\n"
    (read,) = json.loads(as_json(tables))
    assert read == {"title": f"{NASTY}b", "rows": [{"name": f"{NASTY}c"}], "notes": [f"{NASTY}d"]}


@pytest.mark.parametrize("text", ["plain", "Äé 検索", "\U000e0041\U0001f600", '"\\\n\t', NASTY])
def test_json_holds_texts_as_they_are(text):
    (table,) = json.loads(as_json([Table("", (), (({"name": text},),))]))
    assert table["rows"] == [{"name": text}]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (-0.5, "-0.5"),
        (-3, "-3"),
        ("-0.5", "-0.5"),
        ("+5", "+5"),
        ("-inf", "-inf"),
        ("plain", "plain"),
        ("a=b", "a=b"),
        ("'quoted'", "'quoted'"),
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-baseline", "'-baseline"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("\uff1d1", "'\uff1d1"),
        ("\t=1", r"\t=1"),
        ("\r=1", r"\r=1"),
        ("\n=1", "'\n=1"),
        ("two\nlines", "two\nlines"),
        ("'=1", "''=1"),
        ("''-5", "'''-5"),
    ],
)
def test_no_cell_of_csv_is_a_formula_and_numbers_stay(value, cell):
    text = as_csv([Table("", (), (({"value": value},),))])
    assert list(csv.reader(io.StringIO(text))) == [["value"], [cell]]
