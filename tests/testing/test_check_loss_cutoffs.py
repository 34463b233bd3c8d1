"""A cut-off that the small examples of check_loss do not reach."""

import warnings
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import InterleavingLoss, PrecisionAtK
from structsvm.testing import check_loss


@frozen
class Hits(InterleavingLoss):
    """The relevant documents that are not among the first k, for all there are."""

    k: int = 10

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return ((k <= self.k) * 1.0 - (k + j <= self.k)) / self.k


class Forgetful(Hits):
    """Right if all documents are among the first k: every ranking has loss 0 then."""

    kernel = None

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return scores


class Growing(Hits):
    """Its costs continue beyond the cut-off."""

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return np.maximum(k + j - self.k, 0) - np.maximum(k - self.k, 0)


def test_a_mistake_beyond_the_cutoff_is_found() -> None:
    check_loss(Hits(), trials=2)
    with pytest.raises(AssertionError, match=r"Forgetful.loss_aug[\s\S]*with the cut-off k=2 instead of 10$"):
        check_loss(Forgetful(), trials=4)
    with pytest.raises(InputError, match=r"Growing has[\s\S]*with the cut-off k=2 instead of 5$"):
        check_loss(Growing(k=5), trials=4)
    check_loss(Forgetful(), [np.array([1.0, 0.0, 0.0])])  # what is given is what is checked


@pytest.mark.parametrize(("cutoff", "tried"), [(4, {4}), (5, {5, 2})])
def test_only_a_cutoff_that_no_example_exceeds_is_replaced(cutoff: int, tried: set[int]) -> None:
    seen = set()

    class Seen(PrecisionAtK):
        def usable(self, y: Vector) -> bool:
            seen.add(self.k)
            return super().usable(y)

    check_loss(Seen(k=cutoff, truncated=True), trials=1)
    assert seen == tried


def test_a_cutoff_that_cannot_be_replaced_is_told_of() -> None:
    class Fixed(InterleavingLoss):
        k = 10

        def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
            return ((k <= self.k) * 1.0 - (k + j <= self.k)) / self.k

    with pytest.warns(
        UserWarning, match="Fixed has the cut-off k=10, .* up to 5 documents .* check it with k=2"
    ) as told:
        check_loss(Fixed(), trials=1)
    assert [each.filename for each in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_loss(type("Small", (Fixed,), {"k": 2})(), trials=1)
