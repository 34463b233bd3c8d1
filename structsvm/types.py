"""The array types that the signatures of the package speak of."""

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse as sp  # which takes as long to load as NumPy itself

Vector: TypeAlias = NDArray[np.float64]
"""One-dimensional, float64."""

Matrix: TypeAlias = NDArray[np.float64]
"""Two-dimensional, float64."""

IntVector: TypeAlias = NDArray[np.int64]
"""One-dimensional, int64."""

BoolVector: TypeAlias = NDArray[np.bool_]
"""One-dimensional, of truth values."""

Features: TypeAlias = "Matrix | sp.csr_array | sp.csr_matrix"
"""Rows of features, dense or sparse."""
