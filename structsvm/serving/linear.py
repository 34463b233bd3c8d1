"""Linear models: `Ranker`, `RankSVM`, `MaximumEntropy` and `WeightSearch`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from structsvm.result import columns_of, wide
from structsvm.serving.scorer import Description, Scorer
from structsvm.settings import require_number
from structsvm.storage.archives import finite_numbers, require_numbers, shape
from structsvm.types import Vector

if TYPE_CHECKING:
    from structsvm.normalisation import Normalisation


@frozen(eq=False)
class LinearScorer(Scorer):
    """Scores ``X w + b``; the features are first normalised within queries if the model was trained so.

    Parameters
    ----------
    about : see `Scorer`.
    coef : w, shape (d,), of normalised features where there is a normaliser.
    intercept : b.
    normaliser : what is done to the features of a query; None: nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Ranker, load
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ranker().fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).save(Path(folder) / "model.npz")
    ...     scorer = load(Path(folder) / "model.npz")
    >>> type(scorer).__name__
    'LinearScorer'
    """

    takes_sparse: ClassVar[bool] = True

    coef: Vector = field(repr=False)
    intercept: float = 0.0
    normaliser: "Normalisation | None" = None

    @classmethod
    def of(cls, about: Description, arrays: Mapping[str, Any], coef: Vector, intercept: float = 0.0) -> Self:
        """Make a scorer from weights and the normalisation in a file."""
        if "normaliser" not in arrays:
            return cls(about, coef, intercept)
        from structsvm.normalisation import read_normaliser

        return cls.made(about, coef, intercept, read_normaliser(arrays, about.n_features))

    @classmethod
    def made(cls, about: Description, coef: Vector, intercept: float, normaliser: "Normalisation | None") -> Self:
        """Make a scorer; a normalisation that does not look at queries is merged into the weights."""
        if normaliser is not None:
            from structsvm.normalisation import Standardised

            if isinstance(normaliser, Standardised):
                coef, constant = normaliser.folded(coef)
                return cls(about, coef, intercept + constant)
        return cls(about, coef, intercept, normaliser)

    @property
    def spreads(self) -> bool:
        """See `Scorer`."""
        return self.normaliser is None

    def _scores(self, X: Any, qid: Any) -> Vector:
        if self.normaliser is None:
            scores = _product(X, self.coef)
        else:
            from structsvm.queries import Queries

            queries = None if qid is None or not X.shape[0] else Queries.of(qid, X.shape[0])
            scores = self.normaliser.scores(X, queries, self.coef, _product)
        return scores + self.intercept if self.intercept else scores


def _product(X: Any, w: Vector) -> Vector:
    """Return ``X w``, each row summed in float64 in an order that depends on the number of features alone."""
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ w)
    # Not X @ w, by which BLAS sums the last rows in another order: equal rows would get unequal scores.
    if X.dtype == w.dtype:
        return np.asarray(np.vecdot(X, w))
    scores = np.empty(len(X))
    step = max(1, _AT_ONCE // max(1, len(w)))
    for start in range(0, len(X), step):  # so that no copy of all rows is made as float64
        np.vecdot(X[start : start + step].astype(np.float64), w, out=scores[start : start + step])
    return scores


_AT_ONCE = 2**16
"""Values that are converted to float64 at a time."""


def weights_of_result(arrays: Mapping[str, Any], n_features: int, scaling: float) -> tuple[Vector, float]:
    """Return the weights and the intercept in the arrays of a `Result`, all of which are checked.

    Parameters
    ----------
    arrays : those of the file.
    n_features : number of features.
    scaling : value of the constant feature; 0 without one.
    """
    columns = columns_of(arrays)
    if columns is not None and columns[-1] >= n_features:
        raise ValueError(f"its weights are of feature {columns[-1] + 1}, and it has {n_features}")
    require_numbers(arrays, "w", ((n_features if columns is None else len(columns)) + bool(scaling),))
    w = wide(finite_numbers(arrays, "w"), columns, n_features)
    return (w[:-1], float(w[-1]) * scaling) if scaling else (w, 0.0)


def weights_and_intercept(
    arrays: Mapping[str, Any], n_features: int, fitted: Mapping[str, Any]
) -> tuple[Vector, float]:
    """Return ``coef`` and the intercept of a model that has no certificate; see `weights_of_result`."""
    intercept = fitted["intercept_"]
    require_number("intercept_", intercept)
    require_numbers(arrays, "coef", (n_features,))
    return finite_numbers(arrays, "coef"), float(intercept)


def weights_of_path(arrays: Mapping[str, Any], n_features: int) -> tuple[Vector, Vector]:
    """Return the weights of each stage of a search, whose last are those of the model, and what each was worth."""
    stages = shape(arrays, "coef_path")[0]
    if stages < 1:
        raise ValueError("'coef_path' has no weights")
    require_numbers(arrays, "coef_path", (stages, n_features))
    require_numbers(arrays, "map_path", (stages,))
    return finite_numbers(arrays, "coef_path"), finite_numbers(arrays, "map_path")
