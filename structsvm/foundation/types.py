"""Array types for the package's signatures."""

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    # SciPy takes as long to import as NumPy itself.
    import scipy.sparse as sp

Vector: TypeAlias = NDArray[np.float64]
"""One-dimensional, float64."""

Matrix: TypeAlias = NDArray[np.float64]
"""Two-dimensional, float64."""

IntVector: TypeAlias = NDArray[np.int64]
"""One-dimensional, int64."""

BoolVector: TypeAlias = NDArray[np.bool_]
"""One-dimensional, bool."""

Features: TypeAlias = "Matrix | sp.csr_array | sp.csr_matrix"
"""Rows of features, dense or sparse."""
