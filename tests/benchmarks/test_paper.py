"""The reproduction of the paper: the page follows from its numbers, and can be made again."""

import json

import click
import pytest

from benchmarks.paper import experiments, statements
from benchmarks.paper.__main__ import PAGE, main
from benchmarks.paper.document import page
from benchmarks.paper.printed import SVM_MAP, TABLES
from structsvm.cli import main as structsvm

NUMBERS = PAGE.with_suffix("") / "numbers.json"


def test_the_page_is_that_of_the_numbers():
    kept = json.loads(NUMBERS.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8") == page(kept, PAGE.stem), "python -m benchmarks.paper --again"
    for picture in ("figure_2.svg", "models.svg"):
        assert (NUMBERS.parent / picture).exists()


def test_numbers_are_of_certified_fits():
    for kept in json.loads(NUMBERS.read_text(encoding="utf-8"))["sets"].values():
        for fits in kept["fits"].values():
            assert all(fit["largest_gap"] is None or fit["largest_gap"] < 2e-3 for fit in fits.values())


def test_printed_tables_agree_with_each_other():
    """The tables of one training set have one SVM-map, and W/L are of 50 queries at most."""
    for one, other in ((6, 9), (7, 10), (8, 11)):
        assert TABLES[one][SVM_MAP] == TABLES[other][SVM_MAP]
    for rows in TABLES.values():
        for years in rows.values():
            assert all(row.wins is None or row.wins + row.losses == 50 for row in years)


def test_statements():
    assert statements._toy(statements.TABLE_1)["h1"]["map"] == pytest.approx(0.5873, abs=1e-4)
    step = statements.figure_1()
    assert step["change"] == pytest.approx(step["with_factor"])
    assert step["change"] != pytest.approx(step["as_printed"])


def test_algorithm_2_in_some_cases(monkeypatch):
    monkeypatch.setattr(statements, "CASES", 40)
    result = statements.argmax()
    assert result["library"] == result["with_factor"] == 40 > result["as_printed"]


@pytest.mark.parametrize("each", experiments.REAL, ids=lambda each: each.name)
def test_commands_are_ones_that_there_are(each, tmp_path):
    """Each is parsed by the command it names; no file of it is there."""
    for name, *arguments in experiments.commands(each, tmp_path / "data", tmp_path / "out", ("--trials", "2")):
        command = structsvm.get_command(click.Context(structsvm), name)
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in arguments if word.startswith("--")} <= options
        assert arguments[arguments.index("--out") + 1].startswith(str(tmp_path / "out"))


@pytest.mark.slow
def test_one_command_makes_it_without_data(tmp_path):
    """On images that come with scikit-learn, in one trial; a second call resumes."""
    target = tmp_path / "page.md"
    arguments = ["--data", "nowhere", "--work", str(tmp_path / "work"), "--page", str(target), "--trials", "1"]
    main([*arguments, "--jobs", "1"])
    first = target.read_text(encoding="utf-8")
    assert "Digits (made)" in first
    assert "(page/models.svg)" in first
    main([*arguments, "--jobs", "1"])
    assert (tmp_path / "page" / "numbers.json").exists()
