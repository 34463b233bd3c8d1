"""Multiclass with a table of costs."""

import json
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structsvm import StructuralSVM
from structsvm.estimators.written_settings import read_object, written_object
from structsvm.exceptions import InputError
from structsvm.foundation.types import Matrix
from structsvm.losses import Multiclass
from structsvm.registry import losses
from structsvm.testing import check_loss
from tests.losses.test_kernels import assert_kernel_agrees
from tests.small_problems import score_vectors

ASYMMETRIC = [[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 0.0, 0.0]]


@st.composite
def costs(draw: st.DrawFn, most: int = 5) -> Matrix:
    """A table with ties and zeros, of 1 to 5 classes."""
    K = draw(st.integers(1, most))
    table = draw(hnp.arrays(np.float64, (K, K), elements=st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.5])))
    return table * (1 - np.eye(K))


@given(table=costs(), seed=st.integers(0, 1000))
def test_check_loss_finds_nothing_wrong(table: Matrix, seed: int) -> None:
    check_loss(Multiclass(range(len(table)), table), range(len(table)), trials=2, random_state=seed)


@given(data=st.data(), table=costs(), plain=st.booleans())
def test_the_kernel_agrees(data: Any, table: Matrix, plain: bool) -> None:
    K = len(table)
    loss = Multiclass(range(K), None if plain else table)
    assert_kernel_agrees(loss, list(range(K)), [data.draw(score_vectors(K)) for _ in range(K)])


def test_costs_follow_the_order_of_the_classes() -> None:
    given_order = Multiclass(["b", "c", "a"], ASYMMETRIC)
    assert given_order.loss("b", "a") == 2.0
    assert given_order.loss("a", "b") == 3.0
    assert Multiclass(cost=ASYMMETRIC).bind(list("cabb")).loss("a", "c") == 2.0  # sorted, as always


def test_score_is_one_minus_the_mean_cost() -> None:
    X, y = np.eye(3), [0, 1, 2]
    model = StructuralSVM(Multiclass(cost=ASYMMETRIC), C=100.0).fit(X, y)
    # The weights take 0 for 1, 1 for 2, and 2 for 0.
    model.model_ = attrs.evolve(model.model_, coef=np.roll(np.eye(3), 1, axis=0).ravel())
    assert model.score(X, y) == pytest.approx(1 - (1.0 + 1.0 + 3.0) / 3)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([[0, 1]], r"must be a K x K matrix, a row for each true label .*; its shape is \(1, 2\)"),
        ([0, 1], r"its shape is \(2,\)"),
        ([], r"its shape is \(0,\)"),
        ([[0, 1], [1]], "must be a K x K matrix of numbers"),
        ("costs", "must be a K x K matrix of numbers"),
        ([[0, 1], [-0.5, 0]], r"cost\[1\]\[0\] must be a finite number of at least 0, got -0.5"),
        ([[0, np.nan], [1, 0]], r"cost\[0\]\[1\] must be a finite number of at least 0, got nan"),
        ([[0, np.inf], [1, 0]], r"got inf"),
        ([[0, 1], [1, 2]], r"cost\[1\]\[1\] must be 0, the cost of the true label, got 2"),
        ([[np.nan, 1], [1, 0]], r"cost\[0\]\[0\] must be 0"),
    ],
)
def test_malformed_costs_are_errors(cost: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Multiclass(cost=cost)


def test_a_table_of_another_size_than_the_classes_is_refused() -> None:
    message = r"\(cost=...\) is 3 x 3, but there are 2 classes, 'a', 'b': give a row and a column for each"
    with pytest.raises(InputError, match=message):
        Multiclass(["a", "b"], ASYMMETRIC)
    with pytest.raises(InputError, match=message):
        StructuralSVM(Multiclass(cost=ASYMMETRIC)).fit(np.eye(2), ["a", "b"])


def test_a_loss_with_costs_is_a_value() -> None:
    loss = Multiclass(cost=np.array(ASYMMETRIC))
    assert loss == Multiclass(cost=ASYMMETRIC) != Multiclass()
    assert hash(loss) == hash(Multiclass(cost=ASYMMETRIC))
    assert "cost=((0.0, 1.0, 2.0), (0.5, 0.0, 1.0), (3.0, 0.0, 0.0))" in repr(loss)
    assert attrs.evolve(loss, cost=None) == Multiclass()


def test_costs_survive_being_written_as_text() -> None:
    loss = Multiclass(classes=["x", "y", "z"], cost=ASYMMETRIC)
    assert read_object(losses, json.loads(json.dumps(written_object(losses, loss)))) == loss
