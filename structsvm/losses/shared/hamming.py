"""Base of losses that compare the labels of an output one by one."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from attrs import Converter, evolve, field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.settings import truth_value
from structsvm.foundation.types import IntVector, Matrix
from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.label_sets import as_labels, label_array, label_costs, sorted_labels


def _states(values: Iterable[Any] | None, loss: Any) -> tuple[Any, ...] | None:
    return as_labels(values, f"{type(loss).__name__}(states=...)")


def _costs(values: Any, loss: Any) -> tuple[tuple[float, ...], ...] | None:
    return label_costs(values, f"{type(loss).__name__}(cost=...)")


@frozen(eq=False)
class Labeled:
    """The labels of an output, with the labels that each position may have, shape (T, K); None for all."""

    labels: Any
    allowed: Any = None


def allowed_labels(y: Any) -> Any:
    """Return the mask of a true output; None if all labels are allowed."""
    return y.allowed if isinstance(y, Labeled) else None


@frozen
class HammingLoss(ScoreLoss[Any]):
    """The share, number or cost of wrong labels in an output, which is a list of labels.

    A derived class predicts the labels together; see `ChainHamming` for the settings.
    """

    # mypy's plugin for attrs does not know converters that take self.
    states: tuple[Any, ...] | None = field(
        default=None,
        converter=Converter(_states, takes_self=True),  # type: ignore[misc]
    )
    average: bool = field(default=True, validator=truth_value)
    cost: tuple[tuple[float, ...], ...] | None = field(
        default=None,
        converter=Converter(_costs, takes_self=True),  # type: ignore[misc]
    )

    scores_rows = False
    _place: ClassVar[str] = "position"
    """Name of the place of a label in messages."""

    def __attrs_post_init__(self) -> None:
        """Reject costs that do not match the states."""
        if self.states is not None and self.cost is not None and len(self.cost) != len(self.states):
            raise InputError(
                f"{type(self).__name__}(cost=...) is {len(self.cost)} x {len(self.cost)}, but there are "
                f"{len(self.states)} states: give a row and a column for each"
            )

    def bind(self, ys: Sequence[Any]) -> Self:
        """Fill in the labels of the training set."""
        if self.states is not None:
            return self
        labels = chain.from_iterable(y if isinstance(y, list | tuple) else np.ravel(y) for y in ys)
        return evolve(self, states=sorted_labels(labels, f"{type(self).__name__}(states=...)"))

    def numbers(self, y: Any) -> IntVector:
        """Return the state indices of an output, from 0.

        Raises
        ------
        InputError : the output is not a list of labels, or a label is not a state.
        """
        numbers = self._looked_up(y)
        if (numbers < 0).any():
            label = self._sequence(y)[int(np.argmax(numbers < 0))]
            raise InputError(f"{label!r} is not among the states {self._known()}")
        return numbers

    def usable(self, y: Any) -> bool:
        return len(self.numbers(y)) > 0

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return the share, number or cost of wrong labels; a true label outside the states has the largest cost."""
        truth, guess, table = self._looked_up(y), self.numbers(y_hat), self._table()
        if len(truth) != len(guess):
            raise InputError(f"the outputs have {len(truth)} and {len(guess)} labels: they must have equal lengths")
        costs = np.where(truth < 0, max(float(table.max(initial=0.0)), 1.0 * (self.cost is None)), table[truth, guess])
        return float(costs.sum()) * self._unit(len(truth))

    def _states_at(self, y: Any) -> list[Any]:
        """Return the indices of the states that each position may have."""
        mask = allowed_labels(y)
        if mask is None:
            mask = np.ones((len(self._sequence(y)), len(self._known())), dtype=np.bool_)
        return [np.flatnonzero(row).tolist() for row in mask]

    def unwrap(self, y_hat: Any) -> Any:
        return y_hat.labels if isinstance(y_hat, Labeled) else y_hat

    def _checked_mask(self, allowed: Any, length: int, y: Any = None) -> Any:
        """Require a label for each position, and that true labels are among the allowed ones."""
        if allowed is None:
            return None
        shape = (length, len(self._known()))
        if allowed.shape != shape:
            raise InputError(
                f"the allowed labels have shape {allowed.shape}; give truth values of shape {shape}, a "
                f"row for each {self._place} and a column for each state"
            )
        wrong = ~allowed.any(axis=1) if y is None else ~allowed[np.arange(length), self.numbers(y)]
        if wrong.any():
            t = int(np.argmax(wrong))
            what = "no label is allowed" if y is None else f"the true label {y[t]!r} is not allowed"
            raise InputError(f"{what} at {self._place} {t}: correct the allowed labels")
        return allowed

    def _costs_at(self, truth: IntVector) -> Matrix:
        """Return the cost of each state at each position, shape (T, K)."""
        return self._unit(len(truth)) * self._table()[truth]

    def _table(self) -> Matrix:
        K = len(self._known())
        return 1.0 - np.eye(K) if self.cost is None else np.array(self.cost)

    def _unit(self, length: int) -> float:
        return 1.0 / max(length, 1) if self.average else 1.0

    def _looked_up(self, y: Any) -> IntVector:
        """Return the state indices of an output; -1 for labels that are not states."""
        labels, number = self._sequence(y), _numbers(self._known())
        try:
            return np.fromiter((number.get(label, -1) for label in labels), dtype=np.int64, count=len(labels))
        except TypeError as error:
            raise InputError(f"a label cannot be looked up among the states {self._known()}: {error}") from None

    def _labeled(self, numbers: IntVector) -> NDArray[Any]:
        return label_array(self._known())[numbers]

    def _sequence(self, y: Any) -> Sequence[Any]:
        y = self.unwrap(y)
        dimensions = 1 if isinstance(y, list | tuple) else np.ndim(y)
        if dimensions != 1:
            raise InputError(
                f"an output of {self.title} is a list or an array with a label for each row of its input, got "
                + _remedy(y, dimensions)
            )
        return y  # type: ignore[no-any-return]

    def _known(self) -> tuple[Any, ...]:
        if self.states is None:
            raise InputError(f"the states are not known yet: give {type(self).__name__}(states=...) or bind(ys) them")
        return self.states

    def _number_of(self, state: Any) -> int:
        return _numbers(self._known())[state]


def _remedy(y: Any, dimensions: int) -> str:
    """Describe an output that is not a list of labels, with a remedy."""
    if isinstance(y, str):
        return f"{y!r}: give a list of its letters or words"
    if dimensions == 0:
        return f"{y!r}: give X as a list of inputs and y as a list with the labels of each, [x] and [y] for one example"
    return f"shape {np.shape(y)}: flatten it with ravel(), or use argmax(axis=1) if it contains indicators of labels"


@lru_cache(maxsize=16)
def _numbers(states: tuple[Any, ...]) -> dict[Any, int]:
    return {state: number for number, state in enumerate(states)}
