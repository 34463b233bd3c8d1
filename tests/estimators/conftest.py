"""A small ranking problem that a linear model can learn in part."""

import numpy as np
import pytest
import sklearn


@pytest.fixture(scope="session")
def queries():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(30), 12)
    X = rng.standard_normal((len(qid), 6))
    y = (X[:, 0] - X[:, 1] + rng.standard_normal(len(qid)) > 1.0).astype(float)
    y[::12] = 1.0
    y[qid == 29] = 0.0
    return X, y, qid


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield
