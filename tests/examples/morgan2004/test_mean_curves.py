"""Means over topics are drawn with their intervals."""

import numpy as np
import pytest

from examples.papers.morgan2004.report.mean_curves import MeanCurvesDisplay
from structsvm.exceptions import InputError

pytest.importorskip("matplotlib")

VALUES = np.array([[0.1, 0.2, 0.6], [0.3, 0.4, 0.2], [0.2, 0.6, 0.7]])


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


def test_means_and_intervals(axes):
    from scipy.stats import ttest_1samp

    display = MeanCurvesDisplay([1, 2, 3], {"a": VALUES, "b": VALUES[:1]}, xlabel="terms").plot(axes)
    assert display.lines_[0].get_ydata() == pytest.approx([0.2, 0.4, 0.5])
    (area,) = display.intervals_
    low, high = ttest_1samp(VALUES, 0.0).confidence_interval()
    corners = area.get_paths()[0].vertices[:, 1]
    assert corners.min() == pytest.approx(low.min())
    assert corners.max() == pytest.approx(high.max())
    assert axes.get_xlabel() == "terms"


def test_means_alone(axes):
    display = MeanCurvesDisplay([1, 2, 3], {"a": VALUES}, interval=False).plot(axes, color="red")
    assert display.intervals_ == []


@pytest.mark.parametrize(
    ("curves", "said"),
    [
        ({"a": [0.1, 0.2]}, "in one or more rows of 3 numbers"),
        ({"a": [[0.1, 0.2, np.inf]]}, "must be finite"),
        ({}, "curves is empty"),
    ],
)
def test_what_cannot_be_drawn(curves, said):
    with pytest.raises(InputError, match=said):
        MeanCurvesDisplay([1, 2, 3], curves)
