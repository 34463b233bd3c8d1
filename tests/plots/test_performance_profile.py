"""The performance profile, against values by hand."""

import pytest

from structsvm.exceptions import InputError
from structsvm.plots import performance_profile
from structsvm.solvers.comparison import Comparison
from structsvm.solvers.comparison.table import ComparisonRow


def comparison(*rows: tuple[float, str | None, float | None, str, int]) -> Comparison:
    return Comparison(
        tuple(
            ComparisonRow(
                loss="map",
                solver="n-slack",
                tol=1e-3,
                C=C,
                backend=backend,
                solver_seconds=s,
                status=status,
                handovers=handed,
            )
            for C, backend, s, status, handed in rows
        ),
        len(rows),
    )


FOUR_FITS = comparison(
    (1.0, "a", 1.0, "converged", 0),
    (1.0, "b", 3.0, "converged", 0),
    (2.0, "a", 4.0, "converged", 0),
    (2.0, "b", 2.0, "converged", 0),
    (3.0, "a", 5.0, "time limit", 0),
    (3.0, "b", 1.0, "converged", 0),
    # b left programs to the built-in solver.
    (4.0, "a", 2.0, "converged", 0),
    (4.0, "b", 1.0, "converged", 7),
    # The comparison ended before b ran.
    (5.0, "a", 2.0, "converged", 0),
    (5.0, None, 1.0, "converged", 0),
)


def test_the_lines_are_the_fractions_of_fits_within_each_ratio():
    (axes,) = performance_profile(FOUR_FITS).axes
    lines = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}
    assert lines == {
        "a": ([1.0, 1.0, 1.0, 2.0, pytest.approx(3.3)], [0.0, 0.25, 0.5, 0.75, 0.75]),
        "b": ([1.0, 1.0, 1.0, 3.0, pytest.approx(3.3)], [0.0, 0.25, 0.5, 0.75, 0.75]),
        # Programs handed over.
        "_": ([1.0, 1.0, 1.0, 1.0, 3.0, pytest.approx(3.3)], [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]),
        "thin: with programs\nhanded over": ([], []),
    }
    assert len({line.get_color() for line in axes.lines[1:3]}) == 1
    assert axes.get_xscale() == "log"
    assert axes.get_title() == "fits: 4"


def test_a_fit_that_no_backend_solves_counts():
    rows = [(1.0, name, None, "crashed", 0) for name in "ab"] + [(2.0, name, 1.0, "converged", 0) for name in "ab"]
    (axes,) = performance_profile(comparison(*rows)).axes
    assert [line.get_ydata()[-1] for line in axes.lines] == [0.5, 0.5]


def test_a_comparison_without_backends_is_an_error():
    with pytest.raises(InputError, match="no fit that all its backends ran"):
        performance_profile(comparison((1.0, None, 1.0, "converged", 0)))


def test_the_legend_names_backends_that_solve_no_fit():
    rows = [(C, name, None, "crashed", 0) for C in (1.0, 2.0) for name in "ab"]
    rows[0] = (1.0, "a", 1.0, "converged", 0)
    (legend,) = performance_profile(comparison(*rows)).legends
    assert [text.get_text() for text in legend.texts] == ["a", "b: solves none"]
