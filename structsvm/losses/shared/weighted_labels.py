"""Labels of a query whose documents have weights."""

from typing import Any

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Vector


@frozen(eq=False)
class WeightedLabels:
    """The true output of a query with a weight of at least 0 for each document; NumPy reads it as the labels."""

    labels: Vector
    weights: Vector

    def __len__(self) -> int:
        return len(self.labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vector:
        return np.array(self.labels, dtype=dtype, copy=copy)


def weights_of(y: Any) -> Vector:
    """Return the weights of documents, by default 1."""
    return y.weights if isinstance(y, WeightedLabels) else np.ones(len(y))


def labels_that_count(y: Any) -> Any:
    """Return the labels of documents with a positive weight."""
    return y.labels[y.weights > 0.0] if isinstance(y, WeightedLabels) else y
