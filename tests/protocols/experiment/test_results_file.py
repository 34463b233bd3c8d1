"""The file of results: reading returns the written results, or an error with the name and the place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from structsvm.exceptions import InputError
from structsvm.foundation.storage.records import FORMAT
from structsvm.protocols import Results
from structsvm.protocols.experiment.report.page import findings
from structsvm.protocols.experiment.report.tables import experiment_tables, path_table, query_table
from tests.protocols.experiment.report.conftest import made_up


def put(*places: Any) -> Callable[[Any], None]:
    *keys, last, value = places

    def edit(content: Any) -> None:
        for key in keys:
            content = content[key]
        content[last] = value

    return edit


FIT = ("trials", 0, "fits", "with-best", "SVM-map")
WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no queries": (put("queries", []), "at least one query, base function, trial and model"),
    "no functions": (put("functions", []), "at least one query, base function, trial and model"),
    "no trials": (put("trials", []), "at least one query, base function, trial and model"),
    "no models": (put("header", "settings", "models", {}), "at least one query, base function, trial and model"),
    "models a list": (put("header", "settings", "models", ["a"]), "the settings of each model by name"),
    "no variants": (put("header", "settings", "variants", []), "its variants must be with-best or without-best"),
    "variants by name": (put("header", "settings", "variants", "with-best"), "its variants must be"),
    "variants nested": (put("header", "settings", "variants", [[]]), "its variants must be"),
    "bins": (put("header", "settings", "bins", "many"), "the number of bins must be an integer"),
    "nothing judged": (put("queries", 0, "judged", 0), "the counts of query 'q0' contradict each other"),
    "text for a number": (put("queries", 0, "judged", "4"), "it must be int, got '4' @ $.queries[0].judged"),
    "a number for text": (put("functions", 1, "name", 4), "it must be str, got 4 @ $.functions[1].name"),
    "true for a number": (
        put("trials", 0, "seconds", True),
        "must be float, got True @ $.trials[0].seconds",
    ),
    "null for a list": (put("trials", None), "@ $.trials"),
    "further field": (put("queries", 0, "color", 1), "extra fields found (color) @ $.queries[0]"),
    "a function of fewer queries": (
        lambda content: [values.pop() for values in content["functions"][0]["queries"].values()],
        "base function 'alpha_1' must rank the 4 queries",
    ),
    "fewer shares of ties": (
        lambda content: content["functions"][0]["queries"]["tied"].pop(),
        "must rank the 4 queries",
    ),
    "query beyond": (put("trials", 0, "test", ["q0", "q4"]), "trial 0 refers to queries beyond the 4 known ones"),
    "query before": (put("trials", 0, "train", ["q-1"]), "trial 0 refers to queries beyond the 4 known ones"),
    "no test queries": (put("trials", 0, "test", []), "a trial must have fits and test queries"),
    "other test queries": (put("trials", 0, "test", ["q0"]), "every fit must rank the 1 test queries of its trial"),
    "model missing": (lambda content: content["trials"][0]["fits"]["with-best"].popitem(), "a fit of every variant"),
    "variant missing": (lambda content: content["trials"][1]["fits"].popitem(), "a fit of every variant"),
    "chosen beyond": (put(*FIT, "chosen", 3), "chosen must be from 0 to 2, got 3 @ $.trials[0].fits"),
    "fewer gaps": (put(*FIT, "gaps", []), "must have as many entries"),
    "fewer tests": (put(*FIT, "test", [0.5]), "must have as many entries"),
    "no mean": (
        lambda content: content["functions"][0]["measures"].pop("map"),
        "base function 'alpha_1' must have MAP",
    ),
    "no values of ties": (
        lambda content: content["trials"][0]["fits"]["with-best"]["SVM-map"]["queries"].pop("tied"),
        "SVM-map in trial 0 must rank the 2 queries",
    ),
    "not tested at each value": (put(*FIT, "test", []), "SVM-map must be tested at each value in trial 0"),
    "a query twice": (put("queries", 1, "id", "q0"), "its queries must have different ids"),
    "fewer weights": (put(*FIT, "weights", [0.5]), "SVM-map must weigh the 2 base functions in trial 0"),
    "other values": (
        lambda content: (
            [
                content["trials"][1]["fits"]["with-best"]["SVM-map"][name].pop(0)
                for name in ("values", "validation", "test", "seconds", "gaps")
            ]
            + [put("trials", 1, "fits", "with-best", "SVM-map", "chosen", 1)(content)]
        ),
        "SVM-map tries another number of values in trial 1",
    ),
    "older": (put("header", "format", 2), "another version of structural-svm wrote this file (format 2;"),
    "newer, with more in it": (
        lambda content: [put("header", "format", FORMAT + 1)(content), put("queries", 0, "color", 1)(content)],
        f"another version of structural-svm wrote this file (format {FORMAT + 1}; this version reads format {FORMAT}): "
        "use that version",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_invalid_results_are_errors_with_the_place(tmp_path: Path, kind: str) -> None:
    edit, message = WRONG[kind]
    path = tmp_path / "results.json"
    made_up().save(path)
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        Results.load(path)
    assert str(caught.value).startswith(f"{path} does not hold the results of an experiment: ")
    assert message in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "Expecting value"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"header": 1, "header": 2}', "'header' occurs twice"),
        (b'{"header": NaN}', "NaN is not a finite number"),
        (b'{"header": 1e999}', "1e999 is not a finite number"),
        (b'{"header": ' + b"9" * 5000 + b"}", "4300"),
        (b"\xff\xfe", "decode"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
    ],
)
def test_malformed_json_is_an_error(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(text)
    with pytest.raises(InputError, match="does not hold the results of an experiment") as caught:
        Results.load(path)
    assert message in str(caught.value)


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        Results.load(tmp_path)


def test_a_changed_bit_gives_an_error_or_complete_tables(tmp_path: Path) -> None:
    """Numbers may be others, since text has no check sum; but there is never anything else than a refusal by name."""
    path, whole = tmp_path / "results.json", bytearray()
    made_up(variants=("with-best",)).save(path)
    whole[:] = path.read_bytes()
    for bit in range(5, 8 * len(whole), 97):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            results = Results.load(path)
        except InputError:
            continue
        assert experiment_tables(results)
        assert findings(results)
        assert [(query_table(results, variant), path_table(results, variant)) for variant in results.variants]
