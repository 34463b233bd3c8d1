"""Scores of base functions, with gaps and ties, and queries whose rows do not stand together."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st


class Scores(NamedTuple):
    X: Any
    qid: Any


@st.composite
def scores(draw: st.DrawFn, functions: int | None = None) -> Scores:
    """One to thirty rows of one to three functions; scores of any size, or of few values that tie often."""
    rows = draw(st.integers(1, 30))
    functions = draw(st.integers(1, 3)) if functions is None else functions
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    if draw(st.booleans()):
        X = rng.integers(-2, 3, (rows, functions)) / 4.0
    else:
        X = rng.standard_normal((rows, functions)) * 10.0 ** draw(st.sampled_from([-200, -3, 0, 5, 307]))
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3, 0.9]))] = np.nan
    return Scores(X, rng.integers(0, draw(st.integers(1, 6)), rows))
