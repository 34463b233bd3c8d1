"""The table as text, read back by others."""

import csv
import io
import json
import math

import pandas as pd
import pytest

from structsvm.solvers.comparison import Comparison, compare
from structsvm.solvers.comparison.table import ComparisonRow


@pytest.fixture(scope="module")
def table(problem) -> Comparison:
    rows = compare(problem, ["one-slack", "frank-wolfe"], "active-set", [1.0, 10.0]).rows
    failed = ComparisonRow(
        loss="map", solver="n-slack", backend="osqp", C=1.0, tol=1e-3, status="failed", note='a "b", c\nd'
    )
    return Comparison((*rows, failed), 5)


def test_csv(table):
    text = table.to_csv()
    read = list(csv.DictReader(io.StringIO(text)))
    assert len(read) == len(table) == 5
    for line, record in zip(read, table.records(), strict=True):
        assert list(line) == list(record)
        for name, value in record.items():
            assert line[name] == ("" if value is None else str(value)), name


def test_csv_of_nothing_has_headings():
    assert Comparison((), 3).to_csv().startswith("loss,solver,backend,C,tol,status,note,gap,primal,dual,")


def test_json(table):
    read = json.loads(table.to_json())
    for one, row in zip(read, table, strict=True):
        curve = one.pop("curve")
        assert one == row.record()
        assert [tuple(point) for point in curve] == row.curve
    assert pd.read_json(io.StringIO(table.to_json())).shape == (5, 22)


def test_a_curve_is_the_gap_against_time(table):
    for row in table.rows[:-1]:
        seconds, gaps = zip(*row.curve, strict=True)
        assert list(seconds) == sorted(seconds)
        assert list(gaps) == sorted(gaps, reverse=True)
        assert math.isclose(gaps[-1], row.gap)
        assert len(gaps) == row.iterations + 1
    assert table.rows[-1].curve == []


def test_headings_say_which_seconds_they_show(table):
    headings = [column.heading for column in table.table("map", 1.0, "").columns if column.heading.endswith(" s")]
    assert headings == ["oracle wall s", "solver wall s", "wall s", "compile s"]
