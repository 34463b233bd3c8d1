"""The hinge of the labels that a framework handed over last."""

from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import ArrayLike, NDArray

from structsvm.losses import ScoreLoss
from structsvm.objectives.hinges import Hinge, score_loss


@define(eq=False)
class Recent:
    """Makes a `Hinge` for labels and groups, and keeps the last one: trainers hand over the same ones at each step.

    Parameters
    ----------
    loss : name or object.
    none_usable : as in `Hinge`.
    """

    loss: str | ScoreLoss[Any]
    none_usable: bool = False
    _last: tuple[NDArray[Any], NDArray[Any] | None, Hinge] | None = field(default=None, init=False, repr=False)

    def __reduce__(self) -> tuple[type["Recent"], tuple[Any, bool]]:
        """Leave the labels out of copies and files."""
        return type(self), (self.loss, self.none_usable)

    def __attrs_post_init__(self) -> None:
        """Refuse a loss that has no hinge of scores, before anything is trained."""
        score_loss(self.loss)

    @property
    def score_loss(self) -> ScoreLoss[Any]:
        """The loss as an object."""
        return score_loss(self.loss)

    def of(self, y: ArrayLike, qid: ArrayLike | None) -> Hinge:
        """Return the hinge of these labels."""
        labels, ids = np.asarray(y), None if qid is None else np.asarray(qid)
        last = self._last  # another thread may bring other labels meanwhile
        if last is not None and _same(last[0], labels) and _same(last[1], ids):
            return last[2]
        made = Hinge(self.loss, labels, ids, none_usable=self.none_usable)
        self._last = labels.copy(), None if ids is None else ids.copy(), made
        return made


def _same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
