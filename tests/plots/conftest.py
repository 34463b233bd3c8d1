"""Plots are drawn without a window, and what a test leaves open is closed."""

import pytest

pytest.importorskip("matplotlib", reason="Matplotlib is not installed: nothing can be drawn")

import matplotlib

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed_after():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()
