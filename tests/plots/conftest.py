"""Draw plots without a window, and close the figures that a test leaves open."""

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
