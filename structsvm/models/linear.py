"""Models of `Ranker`, `RankSVM`, `MaximumEntropy` and `WeightSearch`: weighted sums of features."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers
from structsvm.foundation.settings import require_number
from structsvm.foundation.storage.archives import finite_numbers
from structsvm.foundation.types import IntVector, Vector
from structsvm.models.base import Parts, TrainedModel, at_limits
from structsvm.models.explanation import Explanation
from structsvm.result import columns_of, full_coef

if TYPE_CHECKING:
    from structsvm.features.scaling.scalings import Scaling
    from structsvm.foundation.queries import Queries

_AT_ONCE = 2**16
"""Number of values converted to float64 at a time."""


def _vector(coef: Any) -> Vector:
    return numbers(coef, "coef")


def _number(_model: "LinearModel", _attribute: object, intercept: Any) -> None:
    if not isinstance(intercept, float | int):
        raise InputError(f"intercept must be a number, got {brief(intercept)}")


def _one_a_feature(model: "LinearModel", _attribute: object, coef: Vector) -> None:
    if coef.shape != (model.n_features,):
        raise InputError(f"coef must have a weight for each of {model.n_features} features, got shape {coef.shape}")


@frozen(eq=False, slots=False, kw_only=True)
class LinearModel(TrainedModel):
    """A linear model: scores ``X w + b`` of features X, normalized first if there is a scaling.

    Parameters
    ----------
    n_features, feature_names, categories, fill, training, calibration : see `TrainedModel`.
    coef : w, shape (d,); weights of normalized features if there is a scaling.
    intercept : b.
    scaling : normalization of the features; None: no normalization.
    columns : features whose weights files store, ascending; weights of other features are 0. None: all.

    Examples
    --------
    >>> model = LinearModel(n_features=2, coef=[2.0, -1.0])
    >>> model.predict([[1.0, 1.0], [3.0, 0.0]]).tolist()
    [1.0, 6.0]
    """

    form: ClassVar[str] = "linear"
    array_names: ClassVar[tuple[str, ...]] = ("coef", "columns", "scaling", "scaling_mean", "scaling_deviation")
    takes_sparse: ClassVar[bool] = True

    coef: Vector = field(repr=False, converter=_vector, validator=_one_a_feature)
    intercept: float = field(default=0.0, validator=_number)
    scaling: "Scaling | None" = None
    columns: IntVector | None = field(default=None, repr=False)

    @property
    def stored(self) -> Vector:
        """Weights of `columns`."""
        return self.coef if self.columns is None else self.coef[self.columns]

    @property
    def propagates_nan(self) -> bool:
        return not self.by_query

    @property
    def by_query(self) -> bool:
        return self.scaling is not None and self.scaling.by_query

    @cached_property
    def folded(self) -> "LinearModel":
        """The same model for the original features: standardization is merged into weights and intercept.

        A model that normalizes by query has no such form and is returned unchanged.
        """
        if self.scaling is None or self.by_query:
            return self
        scaling: Any = self.scaling
        coef, constant = scaling.folded(self.coef)
        return evolve(self, coef=coef, intercept=self.intercept + constant, scaling=None)

    def parts(self) -> Parts:
        notes = []
        if self.scaling is not None:
            notes.append(f"Weights are of normalized features ({self.scaling.name}).")
        if self.intercept:
            notes.append(f"The intercept is {self.intercept:.6g}.")
        return Parts.of("weight", self.coef, *notes)

    def limits(self) -> "list[str | None]":
        return at_limits(self.coef, self.training.weight_limits(len(self.coef), self.feature_names))

    @classmethod
    def read(cls, numbers: Mapping[str, Any], arrays: Mapping[str, Any], common: Mapping[str, Any]) -> Self:
        d = common["n_features"]
        require_number("intercept", numbers["intercept"])
        columns = columns_of(arrays)
        if columns is not None and columns[-1] >= d:
            raise ValueError(f"a weight is for feature {columns[-1] + 1}, but the model has {d} features")
        stored = finite_numbers(arrays, "coef", (d if columns is None else len(columns),))
        return cls(
            coef=full_coef(stored, columns, d),
            intercept=float(numbers["intercept"]),
            scaling=_read_scaling(arrays, d) if "scaling" in arrays else None,
            columns=columns,
            **common,
        )

    def _arrays(self) -> dict[str, Any]:
        columns = {} if self.columns is None else {"columns": self.columns}
        return {"coef": self.stored, **columns, **({} if self.scaling is None else self.scaling.arrays())}

    def _numbers(self) -> dict[str, Any]:
        return {"intercept": self.intercept}

    def _scores(self, X: Any, qid: Any) -> Vector:
        model = self.folded
        if model.scaling is None:
            scores = product(X, model.coef)
        else:
            scores = model.scaling.scores(X, _queries(X, qid), model.coef, product)
        return scores + model.intercept if model.intercept else scores

    def _explained(self, X: NDArray[Any], qid: Any) -> Explanation:
        X = X if self.by_query else X.astype(np.float64, copy=False)
        rows = X if self.scaling is None else self.scaling.rows(X, _queries(X, qid))
        return Explanation(rows * self.coef, self.intercept)


# Most models do without the next two imports, and a process that serves starts faster.
def _read_scaling(arrays: Mapping[str, Any], d: int) -> "Scaling":
    from structsvm.features.scaling.scalings import read_scaling

    return read_scaling(arrays, d)


def _queries(X: Any, qid: Any) -> "Queries | None":
    from structsvm.foundation.queries import Queries

    return None if qid is None or not X.shape[0] else Queries.of(qid, X.shape[0])


def product(X: Any, w: Vector) -> Vector:
    """Return ``X w``, each row summed in float64 in an order that depends on the number of features alone."""
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ w)
    # BLAS, which X @ w calls, sums the last rows in another order: equal rows would get unequal scores.
    if X.dtype == w.dtype:
        return np.asarray(np.vecdot(X, w))
    scores = np.empty(len(X))
    step = max(1, _AT_ONCE // max(1, len(w)))
    # Blocks keep the copy as float64 small.
    for start in range(0, len(X), step):
        np.vecdot(X[start : start + step].astype(np.float64), w, out=scores[start : start + step])
    return scores
