"""The digits as queries by example."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from structsvm.data import RankingData, load_digits_queries, load_digits_sequences
from structsvm.data.digits import pair_features
from structsvm.exceptions import InputError
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import AP


@cache
def queries() -> tuple[RankingData, RankingData]:
    return load_digits_queries()


def columns(data: RankingData) -> Matrix:
    assert isinstance(data.X, np.ndarray)
    return data.X


def mean_average_precision(scores: Vector, data: RankingData) -> float:
    return AP().mean(scores, data.y, data.qid)


def test_has_the_queries_that_were_asked_for() -> None:
    for data in queries():
        assert repr(data) == "RankingData(40 queries, 8000 documents, 25 features, dense)"
        assert 0.08 < data.y.mean() < 0.12
        assert set(data.y.tolist()) == {0.0, 1.0}
    assert not set(queries()[0].qid.tolist()) & set(queries()[1].qid.tolist())
    small = load_digits_queries(n_train=3, n_test=2, n_candidates=10)
    assert [data.X.shape for data in small] == [(30, 25), (20, 25)]


def test_features_are_standardized_by_the_training_rows() -> None:
    X = columns(queries()[0])
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert np.isfinite(columns(queries()[1])).all()


@pytest.mark.slow
def test_the_seed_decides_the_data() -> None:
    again, other = load_digits_queries(), load_digits_queries(random_state=1)
    np.testing.assert_array_equal(columns(again[1]), columns(queries()[1]))
    assert not np.array_equal(other[1].y, again[1].y)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_a_generator_goes_on_from_call_to_call(kind: Callable[[int], Any]) -> None:
    small, state = partial(load_digits_queries, n_train=2, n_test=2, n_candidates=9), kind(1)
    first, second, again = (columns(small(random_state=seed)[1]) for seed in (state, state, kind(1)))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


def test_a_random_state_is_refused() -> None:
    with pytest.raises(InputError, match="random_state must be an integer of at least 0, a numpy.random.Generator, a "):
        load_digits_queries(random_state=-1)


def test_an_image_is_most_similar_to_itself() -> None:
    images = load_digits().images[:50] / 16
    alike, apart = pair_features(images, images), pair_features(images, np.roll(images, 1, axis=0))
    np.testing.assert_array_equal(alike[:, :21], 0.0)
    np.testing.assert_allclose(alike[:, 21:].max(axis=1), 1.0)
    assert (apart <= alike + 1e-12).all()


def test_a_learned_combination_beats_every_single_feature() -> None:
    train, test = queries()
    single = max(mean_average_precision(column, test) for column in columns(test).T)
    model = LogisticRegression().fit(columns(train), train.y)
    assert mean_average_precision(model.decision_function(columns(test)), test) > single + 0.1


@pytest.mark.parametrize("name", ["n_train", "n_test", "n_candidates"])
@pytest.mark.parametrize("value", [0, 898])
def test_more_than_there_are_images_is_refused(name: str, value: int) -> None:
    with pytest.raises(InputError, match=f"{name} must be from 1 to 897, got {value}"):
        load_digits_queries(**{name: value})


def test_sequences_count_up_in_images_of_their_digits():
    (xs, ys), (new_xs, _) = load_digits_sequences(n_train=20, n_test=3, length=5, noise=0.0)
    assert (len(xs), len(new_xs), xs[0].shape) == (20, 3, (5, 64))
    assert {int(step) for y in ys for step in np.diff(y) % 10} == {1, 2, 3}
    pixels, digits = load_digits(return_X_y=True)
    of_image = {tuple(row): digit for row, digit in zip(pixels / 16, digits, strict=True)}
    assert all(
        of_image[tuple(row)] == digit for x, y in zip(xs, ys, strict=True) for row, digit in zip(x, y, strict=True)
    )
    assert {tuple(row) for x in xs for row in x}.isdisjoint(tuple(row) for x in new_xs for row in x)
