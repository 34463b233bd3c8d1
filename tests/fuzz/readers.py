"""Files for the readers of data, and the expected results."""

import ast
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp

from tests.fuzz import corpus, reference
from tests.fuzz.case import Case, Files, Special
from tests.fuzz.mutations import damaged, odd_judgments

_NAMES = ("a.txt", "a.txt", "a.txt.gz", "a", "-a", "a b.txt", "é.txt", "a\x1b[31m.txt", "a\n.txt", "=a.txt", "x" * 200)


def make(rng: Random, files: Mapping[str, bytes]) -> Case:
    """Return a call of a reader, mostly with a damaged file."""
    reader = rng.choice(["load_letor", "load_letor", "load_letor", "load_letor", "load_run", "load_runs", "load_qrels"])
    match reader:
        case "load_letor":
            contents = [
                corpus.letor(rng, 10 * k, queries=2, documents=3, features=3) for k in range(rng.choice([1, 1, 2]))
            ]
        case "load_qrels":
            contents = [corpus.qrels(2, 3) if rng.random() < 0.6 else corpus.other_judgments(rng)]
        case _:
            contents = [corpus.run(rng, "one", 2, 4)]
    if reader == "load_runs":
        contents.append(corpus.run(rng, "two", 2, 4))
    if rng.random() < 0.95:
        k = rng.randrange(len(contents))
        if reader == "load_qrels" and rng.random() < 0.15:
            contents[k] = odd_judgments(rng, contents[k])
        else:
            contents[k] = damaged(rng, contents[k])
    name = rng.choice(_NAMES)
    names = [name, *(f"b{k}.txt" for k in range(1, len(contents)))]
    result: dict[str, bytes | Special] = dict(zip(names, contents, strict=True))
    if rng.random() < 0.02:
        result[name] = rng.choice(list(Special))
    if rng.random() < 0.01:
        del result[name]
    return Case("readers", result, f"structsvm.data.{reader}", (_paths(rng, reader, names), *_options(rng, reader)))


def _paths(rng: Random, reader: str, names: list[str]) -> str:
    if reader == "load_runs" or len(names) > 1:
        return repr(names)
    return repr(names[0]) if reader != "load_letor" or rng.random() < 0.8 else repr(names)


def _options(rng: Random, reader: str) -> list[str]:
    options = []
    if reader == "load_letor":
        if rng.random() < 0.3:
            options.append(f"n_features={rng.choice([1, 3, 4, 1000, 10**7, 2**31 - 1, 10**12])}")
        if rng.random() < 0.2:
            options.append("doc_ids=True")
        if rng.random() < 0.3:
            options.append(f"sparse={rng.choice([True, False])}")
    return options


def check(case: Case, value: Any, refused: bool) -> str:
    """Describe how an answer differs from the slow reader's; "" if it does not, or without such a reader."""
    options = dict(
        ast.literal_eval(f"({text.partition('=')[0]!r}, {text.partition('=')[2]})") for text in case.arguments[1:]
    )
    given = ast.literal_eval(case.arguments[0])
    names = [given] if isinstance(given, str) else given
    contents = [_content(case.files, name) for name in names]
    if any(content is None for content in contents):
        return "" if refused else "it was read, and is no file"
    try:
        wanted = [_expected(case.what, content) for content in contents if content is not None]
    except reference.Refused as error:
        return "" if refused else f"it was read, and {error}"
    if refused:
        return "" if options or len(names) > 1 or _refusable(wanted[0]) else "it was refused, and is valid"
    match case.what.rpartition(".")[2]:
        case "load_letor":
            return _difference(value, wanted)
        case "load_qrels":
            grades = dict(
                zip(zip(value.qid.tolist(), value.doc_ids.tolist(), strict=True), value.grades.tolist(), strict=True)
            )
            return (
                ""
                if grades == {pair: float(grade) for pair, grade in wanted[0].items()}
                else f"{grades}, not {wanted[0]}"
            )
    runs = value if isinstance(value, list) else [value]
    return "".join(_difference_of_runs(run, *one) for run, one in zip(runs, wanted, strict=True))


def _content(files: Files, name: str) -> bytes | None:
    content = files.get(name)
    return content if isinstance(content, bytes) else b"" if content is Special.NULL else None


def _expected(what: str, content: bytes) -> Any:
    if "letor" in what:
        return reference.read_letor(content)
    return reference.read_qrels(content) if "qrels" in what else reference.read_run(content)


def _refusable(wanted: Any) -> bool:
    """Say whether a reader may refuse data that are written as they should be: no feature at all."""
    return isinstance(wanted, reference.Letor) and not any(wanted.features)


def _difference(data: Any, files: list[reference.Letor]) -> str:
    labels = [label for file in files for label in file.labels]
    queries = [query for file in files for query in file.queries]
    rows = [row for file in files for row in file.features]
    if data.y.tolist() != labels:
        return f"labels {data.y.tolist()}, not {labels}"
    if data.qid.tolist() != queries:
        return f"queries {data.qid.tolist()}, not {queries}"
    X = sp.csr_array(data.X)
    result = [
        dict(zip((X.indices[a:b] + 1).tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    result = [{index: value for index, value in row.items() if value} for row in result]
    wanted = [{index: value for index, value in row.items() if value} for row in rows]
    return "" if result == wanted else f"features {result}, not {wanted}"


def _difference_of_runs(run: Any, name: str, wanted: dict[tuple[str, str], float]) -> str:
    result = dict(zip(zip(run.qid.tolist(), run.doc_ids.tolist(), strict=True), run.scores.tolist(), strict=True))
    if run.name != name or result != wanted:
        return f"run {run.name!r} {result}, not {name!r} {wanted}"
    topics = {topic for topic, _ in wanted}
    for topic in topics:
        mine = np.flatnonzero(run.qid == topic)
        keys = [(run.scores[k], run.doc_ids[k]) for k in mine]
        if keys != sorted(keys, reverse=True):
            return f"topic {topic} is not in trec_eval's order"
    return ""
