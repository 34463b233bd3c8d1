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


def test_the_summary_counts_solved_fits_and_adds_up_their_costs():
    def row(C, backend, seconds, status="converged", handovers=0, gap=1e-4):
        return ComparisonRow(
            loss="map", solver="n-slack", backend=backend, C=C, tol=1e-3, status=status, gap=gap, iterations=2, qps=5,
            handovers=handovers, solver_seconds=seconds, seconds=seconds + 1,
            peak_memory=None if backend == "a" else 200.0 + C,
        )  # fmt: skip

    rows = (
        row(1.0, "a", 1.0), row(1.0, "b", 3.0),
        row(2.0, "a", 4.0), row(2.0, "b", 2.0),
        row(3.0, "a", 5.0, "time limit", gap=0.5), row(3.0, "b", 1.0, handovers=7),
        row(4.0, "a", 5.0),  # b did not run
    )  # fmt: skip
    a, b = Comparison(rows, 8).summary().records
    sums = {"solver": "n-slack", "fits": 3, "iterations": 6, "qps": 15, "ratio": 2.0, "fastest": 1}
    assert a == {
        **sums,
        "backend": "a",
        "converged": 2,
        "solver_seconds": 10.0,
        "seconds": 13.0,
        "handovers": 0,
        "gap": 0.5,
        "peak_memory": None,
    }
    assert b == {
        **sums,
        "ratio": 3.0,
        "backend": "b",
        "converged": 3,
        "solver_seconds": 6.0,
        "seconds": 9.0,
        "handovers": 7,
        "gap": 1e-4,
        "peak_memory": 203.0,
    }
