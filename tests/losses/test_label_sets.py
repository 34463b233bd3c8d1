"""Classes and states keep their type, and must be sets of labels."""

import math
from typing import Any

import numpy as np
import pytest

from structsvm import StructuralSVM
from structsvm.exceptions import InputError
from structsvm.losses import ChainHamming, Multiclass
from structsvm.losses.shared.label_sets import label_array

MIXED = [1, "a", (0, 1), (1, 0), None, 2.5]


@pytest.mark.parametrize(("make", "field"), [(ChainHamming, "states"), (Multiclass, "classes")])
def test_labels_keep_their_types(make: Any, field: str) -> None:
    assert getattr(make(MIXED), field) == tuple(MIXED)
    numbers = getattr(make(np.array([3, 1])), field)
    assert numbers == (3, 1)
    assert {type(number) for number in numbers} == {int}
    assert {type(label) for label in getattr(make(np.array(["x", "y"])), field)} == {str}
    for values in ([1, 1, 2], [1, True], ["a", "b", "a"], []):
        with pytest.raises(InputError, match=rf"{field}=...\) must be different labels, at least one"):
            make(values)
    with pytest.raises(InputError, match=rf"{field}=...\) must be a list of hashable labels.*unhashable type: 'list'"):
        make([[0, 1], [1, 0]])
    with pytest.raises(InputError, match=rf"{field}=...\) must be a list of hashable labels, got 3"):
        make(3)
    for nan in (math.nan, np.nan, np.float32("nan")):
        with pytest.raises(InputError, match=rf"{field}=...\) must not contain NaN"):
            make([0.0, nan])


def test_states_of_the_training_set_keep_their_types() -> None:
    assert ChainHamming().bind([[(1, 0), (0, 1)], [(1, 0)]]).states == ((0, 1), (1, 0))
    assert ChainHamming().bind([np.array([2, 1]), [np.int64(1), 0]]).states == (0, 1, 2)
    for y in ([[1], [2]], [{}]):
        with pytest.raises(InputError, match="labels must be hashable.* Flatten labels that are nested too deeply"):
            ChainHamming().bind([y])
    with pytest.raises(InputError, match=r"states=...\) must not contain NaN"):
        ChainHamming().bind([[0.0, math.nan]])
    with pytest.raises(InputError, match="cannot be looked up among the states"):
        ChainHamming("ab").numbers([["a"]])


def test_classes_of_several_types_are_learned_and_predicted() -> None:
    X, y = np.repeat(np.eye(3), 4, axis=0), label_array([label for label in (1, "a", (0, 1)) for _ in range(4)])
    svm = StructuralSVM(Multiclass(classes=[1, "a", (0, 1)]), C=100.0).fit(X, y)
    assert svm.predict(X).tolist() == y.tolist()
    assert Multiclass().bind([2, 1, 2]).classes == (1, 2)
    with pytest.raises(InputError, match=r"cannot be sorted .*: give Multiclass\(classes=...\)"):
        Multiclass().bind(y)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([1, 2], "i"), ([1, 2.5], "f"), (["a", "b"], "U"), ([True, False], "b"), ([True, 2], "O"), ([1, "a"], "O")],
)
def test_a_vector_of_labels(labels: list[Any], kind: str) -> None:
    assert label_array(labels).dtype.kind == kind
    assert label_array(label_array(labels)).tolist() == labels
