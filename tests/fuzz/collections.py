"""Collections and topics for their readers, mostly damaged, and the expected results."""

import ast
import json
from collections.abc import Mapping
from random import Random
from typing import Any

from tests.fuzz import reference
from tests.fuzz.case import Case, Special
from tests.fuzz.mutations import damaged

_FORMS = ("trec", "smart", "lisa", "jsonl", "tsv", "tsv-header")
_WORDS = ("wing", "slip & stream", "café", "1 < 2", "<P>", "</P>", "&amp;", "&eacute;", ".a", "{}", '"x"', "<!-- y -->")


def make(rng: Random, files: Mapping[str, bytes]) -> Case:
    """Return a call of a reader, mostly with a damaged file."""
    reader = rng.choice(["read_documents", "read_documents", "read_topics"])
    form = rng.choice(_FORMS)
    content = _written(rng, form, "topic" if reader == "read_topics" else "document").encode()
    if form == "smart" and rng.random() < 0.05:
        content += rng.choice([b".I", b".I\n", b".I \n.T\n"])
    elif rng.random() < 0.9:
        content = damaged(rng, content)
    result: dict[str, bytes | Special] = {"a.txt": content}
    path = "a.txt"
    draw = rng.random()
    if draw < 0.02:
        result["a.txt"] = rng.choice(list(Special))
    elif draw < 0.1:
        path, result = "all", {"all/a.txt": content, "all/b/c.txt": _written(rng, form, "document").encode()}
    arguments = [repr(path), repr(form if rng.random() < 0.8 else rng.choice(["auto", "auto", *_FORMS]))]
    if reader == "read_topics" and rng.random() < 0.3:
        arguments.append("numbering='position'")
    if reader == "read_documents" and rng.random() < 0.1:
        arguments.append("fields=['title']")
    if rng.random() < 0.1:
        arguments.append(f"encoding={rng.choice(['latin-1', 'ascii', 'utf-16', 'cp1252', 'big5'])!r}")
    return Case("collections", result, f"structsvm.data.{reader}", tuple(arguments))


def _written(rng: Random, form: str, kind: str) -> str:
    rows = [
        (str(number), {name: " ".join(rng.choices(_WORDS, k=rng.randint(1, 4))) for name in ("title", "text")})
        for number in rng.sample(range(1, 30), rng.randint(1, 4))
    ]
    match form:
        case "lisa" if kind == "topic":
            return "".join(f"{name}\n{_plain(fields['text'])}\nof wings #\n\n" for name, fields in rows)
        case "lisa":
            return "".join(
                f"Document {name:>4}\n{fields['title']}\n\n{fields['text']}\n{'*' * 44}\n" for name, fields in rows
            )
        case "trec" if kind == "topic":
            return "".join(
                f"<top>\n<num> Number: {name}\n<title> {_plain(fields['title'])}\n<desc> Description:\n"
                f"{_plain(fields['text'])}\n</top>\n"
                for name, fields in rows
            )
        case "trec":
            return "".join(
                f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TITLE>{fields['title']}</TITLE>\n<TEXT>\n{fields['text']}\n</TEXT>\n"
                "</DOC>\n"
                for name, fields in rows
            )
        case "smart":
            return "".join(f".I {name}\n.T\n{fields['title']}\n.W\n{fields['text']}\n" for name, fields in rows)
        case "jsonl":
            return "".join(json.dumps({"id": name, **fields}) + "\n" for name, fields in rows)
        case "tsv":
            return "".join(f"{name}\t{fields['text']}\n" for name, fields in rows)
    return "id\ttitle\ttext\n" + "".join(f"{name}\t{fields['title']}\t{fields['text']}\n" for name, fields in rows)


def _plain(text: str) -> str:
    return text.replace("<", "(").replace(">", ")")


def check(case: Case, value: Any, refused: bool) -> str:
    """Describe how an answer differs from the slow reader's; "" if it does not, or without such a reader."""
    if not refused and len({each.id for each in value}) < len(value):
        return "an id is there twice"
    content = case.files.get("a.txt")
    form = ast.literal_eval(case.arguments[1]) if len(case.arguments) == 2 else ""
    if form not in reference.COLLECTIONS or not isinstance(content, bytes):
        return ""
    try:
        wanted = reference.read_collection(content, form, topics=case.what.endswith("topics"))
    except reference.Refused as error:
        return "" if refused else f"it was read, and {error}"
    if refused:
        return "it was refused, and is valid"
    result = {each.id: dict(each.fields) for each in value}
    return "" if result == wanted else f"{result}, not {wanted}"
