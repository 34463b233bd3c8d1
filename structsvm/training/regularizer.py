"""The regularizer ``½ Σ_j λ_j (w_j − center_j)²`` with bounds on the weights of features."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError, brief
from structsvm.foundation.arrays import numbers_alone
from structsvm.foundation.settings import is_number, place
from structsvm.foundation.types import IntVector, Vector
from structsvm.problem.base import AbstractProblem
from structsvm.problem.coordinates import Bounds, checked_bounds

AnyProblem = TypeVar("AnyProblem", bound=AbstractProblem)


@frozen(eq=False)
class Regularizer:
    """Settings of the regularizer, as in `Ranker`; the checks need the features of the data.

    Parameters
    ----------
    owner : name of the estimator for messages.
    center, feature_penalty, bounds, monotonic_cst : as for `Ranker`.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> Regularizer.of(Ranker(bounds=(0.0, None))).limits(2, None)
    (array([0., 0.]), array([inf, inf]))
    """

    owner: str
    center: ArrayLike | None = None
    feature_penalty: ArrayLike | None = None
    bounds: Bounds | None = None
    monotonic_cst: ArrayLike | dict[str, int] | None = None

    @classmethod
    def of(cls, estimator: Any) -> "Regularizer":
        """Return the regularizer of an estimator, which may lack some of the parameters."""
        names = ("center", "feature_penalty", "bounds", "monotonic_cst")
        return cls(type(estimator).__name__, **{name: getattr(estimator, name, None) for name in names})

    @property
    def plain(self) -> bool:
        """True for ``½‖w‖²`` without bounds: a column without entries then has weight 0."""
        settings = (self.center, self.feature_penalty, self.bounds, self.monotonic_cst)
        return all(setting is None for setting in settings)

    def applied(self, problem: AnyProblem, names: Sequence[str] | None, *, intercept: bool = False) -> AnyProblem:
        """Return the problem with this regularizer; an intercept is the last weight, and has no center or bounds."""
        settings: dict[str, Any] = {}
        for name, argument, constant in (("center", "center", 0.0), ("feature_penalty", "penalty", 1.0)):
            value = getattr(self, name)
            if value is not None:
                self._require_feature_order(name, value, names)
                vector = numbers_alone(value, place(self.owner, name))
                settings[argument] = np.append(vector, constant) if intercept and vector.ndim == 1 else vector
        limits = self.limits(problem.d - intercept, names)
        if limits is not None:
            low, high = limits
            settings["bounds"] = (np.append(low, -np.inf), np.append(high, np.inf)) if intercept else limits
        return problem.regularized(**settings) if settings else problem

    def limits(self, d: int, names: Sequence[str] | None) -> tuple[Vector, Vector] | None:
        """Return the smallest and largest weights of d features; None without bounds."""
        if self.bounds is None and self.monotonic_cst is None:
            return None
        bounds = (None, None) if self.bounds is None else self.bounds
        for name, settings in (("monotonic_cst", [self.monotonic_cst]), ("bounds", bounds)):
            for setting in settings if isinstance(settings, tuple | list) else ():
                self._require_feature_order(name, setting, names)
        low, high = checked_bounds(bounds, d, place(self.owner, "bounds"), names)
        if self.monotonic_cst is None:
            return low, high
        signs = self._signs(d, names)
        low, high = np.where(signs > 0, np.maximum(low, 0.0), low), np.where(signs < 0, np.minimum(high, 0.0), high)
        if (low > high).any():
            first = int(np.argmax(low > high))
            whose = f"feature {first}" if names is None else repr(names[first])
            raise InputError(
                f"{place(self.owner, 'bounds')} and monotonic_cst contradict each other: the weight of {whose} cannot "
                f"be between {low[first]:g} and {high[first]:g}"
            )
        return low, high

    def _require_feature_order(self, name: str, value: Any, names: Sequence[str] | None) -> None:
        """Reject a pandas Series whose index has names of features in another order: settings have positions."""
        index: Any = getattr(value, "index", None)
        labels = index.tolist() if hasattr(index, "tolist") else []
        if names is not None and set(labels).intersection(names) and labels != list(names):
            raise InputError(
                f"{place(self.owner, name)} is a Series whose index does not list the features of X in their order: it "
                f"begins with {labels[0]!r}, X with {names[0]!r}. Use series[list(X.columns)]"
            )

    def _signs(self, d: int, names: Sequence[str] | None) -> IntVector:
        """Return the sign of ``monotonic_cst`` for each of d features: 1, 0 or -1."""
        setting, what = self.monotonic_cst, place(self.owner, "monotonic_cst")
        if isinstance(setting, dict):
            if names is None:
                raise InputError(
                    f"{what} has names of features, but X has no names: fit a data frame, or give 1, 0 or -1 for each "
                    f"of the {d} features"
                )
            positions = {name: k for k, name in enumerate(names)}
            strange = [name for name in setting if name not in positions]
            if strange:
                raise InputError(f"{what} has {strange[0]!r}, and no feature of X has that name")
            values = np.zeros(d)
            for name, sign in setting.items():
                if not (is_number(sign) and sign in (-1, 0, 1)):
                    raise InputError(f"{what}: the sign of {name!r} must be the number 1, -1 or 0, got {brief(sign)}")
                values[positions[name]] = sign
        else:
            values = numbers_alone(setting, what)
        if values.shape != (d,) or not np.isin(values, (-1.0, 0.0, 1.0)).all():
            raise InputError(
                f"{what} must be 1 (scores rise with the feature), -1 (they fall) or 0 (either) for each of the {d} "
                f"features, got {brief(setting)}"
            )
        return values.astype(np.int64)
