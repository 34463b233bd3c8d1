"""Queries whose relevant documents no linear function of features tells."""

import numpy as np


def product_of_two(queries=40, documents=25, seed=0):
    """Make documents of four normal features that are relevant if the product of the first two is large."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((queries * documents, 4))
    y = (X[:, 0] * X[:, 1] > 0.8).astype(np.float64)
    return X, y, np.repeat(np.arange(queries), documents)
