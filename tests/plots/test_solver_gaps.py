"""Plots of gaps: panels, lines, crosses, formats."""

import sys
from pathlib import Path

import pytest
from attrs import evolve

from structsvm.exceptions import InputError, NotInstalledError
from structsvm.plots import gap_against_time
from structsvm.plots.files import require_plot_format
from structsvm.solvers.comparison import Comparison, compare
from structsvm.solvers.comparison.table import ComparisonRow
from tests.small_problems import small_problem


@pytest.fixture(scope="module")
def table() -> Comparison:
    problems = {"map": small_problem("map"), "roc_area": small_problem("roc_area")}
    return compare(problems, ["one-slack", "frank-wolfe"], ["active-set", "highs"], [1.0, 10.0, 100.0])


def curves(axes):
    return [line for line in axes.lines if line.get_drawstyle() == "steps-post"]


def test_a_panel_for_each_loss_and_C(table):
    figure = gap_against_time(table)
    assert [axes.get_title() for axes in figure.axes] == [
        f"{loss}, C = {C}" for loss in ("map", "roc_area") for C in (1, 10, 100)
    ]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.texts] == ["one-slack, active-set", "one-slack, highs", "frank-wolfe"]
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in figure.axes} == {("log", "log")}


def test_lines_are_the_curves_of_the_rows(table):
    rows = iter(table)
    for axes in gap_against_time(table).axes:
        lines = curves(axes)
        assert len(lines) == 3
        assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 3
        for line, row in zip(lines, rows, strict=False):
            assert list(line.get_xdata()) == [*(seconds for seconds, _ in row.curve), row.seconds]
            assert list(line.get_ydata()) == pytest.approx(
                [max(gap, 1e-12) for gap in (*(gap for _, gap in row.curve), row.gap)]
            )


def test_a_cross_where_a_run_ended_early(table):
    rows = [evolve(row, status="time limit" if k == 1 else row.status) for k, row in enumerate(table.rows[:3])]
    (axes,) = gap_against_time(Comparison(tuple(rows), 3)).axes
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert [line.get_color() for line in crosses] == [curves(axes)[1].get_color()]
    assert axes.get_title() == "C = 1"


def test_the_legend_matches_the_lines_if_backends_fail(table):
    rows = list(table.rows[:9])
    # The first backend fails at C = 10, the second at all C.
    for k in (1, 3, 4, 7):
        rows[k] = evolve(rows[k], status="crashed", history=(), gap=None, seconds=None)
    figure = gap_against_time(Comparison(tuple(rows), 9))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.texts] == [
        "one-slack, active-set",
        "one-slack, highs: crashed",
        "frank-wolfe",
    ]
    styles = [
        [(line.get_color(), line.get_linestyle(), line.get_linewidth()) for line in lines]
        for lines in (legend.get_lines(), *map(curves, figure.axes))
    ]
    one, highs, other = styles[0]
    assert highs[0] not in (one[0], other[0])
    assert styles[1:] == [[one, other], [other], [one, other]]


def test_many_backends_have_different_lines(table):
    rows = tuple(evolve(table.rows[0], backend=f"backend {k}") for k in range(20))
    lines = curves(gap_against_time(Comparison(rows, 20)).axes[0])
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 20


def test_a_gap_of_nothing_can_be_drawn(table, tmp_path):
    row = table.rows[0]
    exact = evolve(row.history[-1], dual=row.primal)
    figure = gap_against_time(Comparison((evolve(row, gap=0.0, history=(exact,)),), 1))
    figure.savefig(tmp_path / "gaps.png")
    assert min(curves(figure.axes[0])[0].get_ydata()) == 1e-12


def test_rows_without_a_result_are_left_out(table):
    nothing = ComparisonRow(loss="map", solver="n-slack", backend="osqp", C=7.0, tol=1e-3, status="failed")
    assert len(gap_against_time(Comparison((nothing, table.rows[0]), 2)).axes) == 1
    with pytest.raises(InputError, match="no combination has a result to draw"):
        gap_against_time(Comparison((nothing,), 1))


def test_without_matplotlib(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(NotInstalledError, match=r"pip install 'structural-svm\[plot\]'"):
        gap_against_time(table)
    with pytest.raises(NotInstalledError):
        require_plot_format(Path("gaps.svg"))


def test_formats():
    for name in ("gaps.svg", "gaps.PDF", "a.b.png"):
        require_plot_format(Path(name))
    for name in ("gaps", "gaps.txt", "gaps."):
        with pytest.raises(InputError, match=f"{name} cannot be written: choose a name that ends in .* .png,"):
            require_plot_format(Path(name))
