"""Colors that all eyes distinguish on light and dark pages, and lines that differ without colors."""

from itertools import combinations

import matplotlib
import numpy as np
import pytest

from structsvm.plots import COLORS, STYLE
from structsvm.plots.style import INK, artist_settings, as_label, line_style, measure_label

# Linear RGB as a protanope, a deuteranope and a tritanope see it: Machado, Oliveira and Fernandes (IEEE TVCG 2009),
# table 1 at full severity.
EYES = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color):
    part = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """Contrast ratio of WCAG 2."""
    low, high = sorted(float(TO_XYZ[1] @ linear(each)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    ratio = TO_XYZ @ np.clip(rgb, 0.0, 1.0) / [0.9505, 1.0, 1.089]
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16.0 / 116.0)
    return np.array([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


@pytest.mark.parametrize("paper", ["#ffffff", "#14171a"], ids=["light", "dark"])
def test_colors_are_seen_on_the_page(paper):
    assert min(contrast(color, paper) for color in COLORS if color != INK) >= 3.0


@pytest.mark.parametrize("eye", EYES)
def test_colors_are_told_apart(eye):
    """Ten units of CIELAB are some five times the least visible difference of two patches side by side."""
    seen = [lab(EYES[eye] @ linear(color)) for color in COLORS]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 10.0


def test_no_two_lines_look_alike():
    looks = [line_style(k) for k in range(24)]
    assert len({(each["color"], each["linestyle"]) for each in looks}) == 24
    assert len({each["linestyle"] for each in looks[:4]}) == 4


def test_the_style_is_one_of_matplotlib():
    with matplotlib.rc_context(STYLE):
        assert matplotlib.rcParams["axes.prop_cycle"].by_key()["color"] == list(COLORS)


def test_labels_are_drawn_literally():
    assert as_label("$C$\x00") == r"\$C\$" + as_label("\x00")


def test_settings_of_users_are_known_by_long_and_short_names():
    assert artist_settings("lines.Line2D", {"color": "red", "linewidth": 1.0}, {"c": "blue", "lw": 2}) == {
        "color": "blue",
        "linewidth": 2,
    }


def test_measures_are_written_as_people_do():
    written = [measure_label(each) for each in ("map", "ndcg@10", "p@5", "recall@5")]
    assert written == ["MAP", "NDCG@10", "P@5", "recall@5"]
