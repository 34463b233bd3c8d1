import numpy as np
import pytest

from structsvm.exceptions import InputError, UnknownNameError

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from structsvm.objectives.for_jax import JaxHinge  # noqa: E402
from tests.small_problems import hinge  # noqa: E402

Y = np.array([1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0])
QID = np.array([3, 3, 1, 1, 1, 2, 2, 3, 1, 9])
S = np.random.default_rng(0).standard_normal(10).astype(np.float32)
LISTS = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
LABELS = np.array([[1, 0, -1, -1], [0, 0, 0, -1], [2, 0, 1, 0]])


def of_segments(scores, labels=Y, segments=QID, loss="map"):
    return JaxHinge(loss)(scores, labels, segments=segments, reduce_fn=jnp.sum)


@pytest.mark.parametrize("loss", ["map", "ndcg@10", "roc_area"])
@pytest.mark.parametrize("compiled", [False, True])
def test_values_and_gradients_are_those_of_hinge(loss, compiled):
    function = jax.value_and_grad(lambda scores: of_segments(scores, loss=loss))
    value, gradient = (jax.jit(function) if compiled else function)(S)
    expected = hinge(loss, S, Y, QID)
    assert value == pytest.approx(expected.values.sum(), rel=1e-6)
    np.testing.assert_allclose(gradient, expected.gradient, rtol=1e-6)


def test_incoming_gradients_are_multiplied():
    gradient = jax.grad(lambda scores: 3.0 * of_segments(scores) ** 2)(S)
    expected = hinge("map", S, Y, QID)
    np.testing.assert_allclose(gradient, 6.0 * expected.values.sum() * expected.gradient, rtol=1e-5)


def test_a_list_is_a_query_of_the_items_that_are_documents():
    kept = LABELS >= 0
    expected = hinge("map", LISTS[kept], LABELS[kept].astype(float), np.nonzero(kept)[0])
    per_list = JaxHinge()(LISTS, LABELS, where=kept, reduce_fn=None)
    np.testing.assert_allclose(per_list, [expected.values[0], 0.0, expected.values[1]], rtol=1e-6)
    mean = jax.jit(jax.value_and_grad(lambda scores, labels: JaxHinge()(scores, labels, where=labels >= 0)))
    value, gradient = mean(LISTS, LABELS)
    assert value == pytest.approx(expected.values.mean(), rel=1e-6)
    np.testing.assert_allclose(gradient[kept], expected.gradient / 2, rtol=1e-6)
    assert not gradient[~kept].any()
    each = jax.vmap(lambda scores, labels: JaxHinge()(scores, labels, where=labels >= 0, reduce_fn=None))
    np.testing.assert_allclose(each(LISTS, LABELS), per_list)


def test_values_of_segments_are_at_their_first_documents():
    values = JaxHinge()(S, Y, segments=QID, reduce_fn=None)
    expected = hinge("map", S, Y, QID).values
    np.testing.assert_allclose(values, np.r_[expected[0], 0, expected[1], 0, 0, expected[2], 0, 0, 0, 0], rtol=1e-6)


def test_nothing_usable_is_nothing():
    value, gradient = jax.value_and_grad(lambda scores: JaxHinge()(scores, np.zeros((3, 4))))(LISTS)
    assert value == 0.0
    assert not gradient.any()


def test_many_scores_reach_the_callback():
    """A callback that waits for its arguments would wait for ever."""
    n = 100_000
    y, qid = (np.arange(n) % 7 == 0).astype(np.float32), np.arange(n) // 100
    scores = np.random.default_rng(2).standard_normal(n).astype(np.float32)
    value, gradient = jax.jit(jax.value_and_grad(lambda s: of_segments(s, y, qid)))(scores)
    expected = hinge("map", scores, y, qid)
    assert value == pytest.approx(expected.values.sum(), rel=1e-4)
    np.testing.assert_allclose(gradient, expected.gradient, rtol=1e-5)


def test_late_errors_become_nan():
    value, gradient = jax.jit(jax.value_and_grad(of_segments))(S * np.nan)
    assert np.isnan(value)
    assert np.isnan(gradient).all()
    assert np.isnan(jax.jit(of_segments)(S, Y * np.nan))


def test_mistakes_are_told_before():
    loss = JaxHinge("map")
    with pytest.raises(UnknownNameError):
        JaxHinge("mapp")
    with pytest.raises(InputError, match="first in row 0"):
        loss(S, Y * np.nan, segments=QID)
    with pytest.raises(InputError, match=r"labels \(9,\)"):
        loss(S, Y[:9])
    with pytest.raises(InputError, match="not lists"):
        loss(1.0, 1.0)
    with pytest.raises(InputError, match="scores must be floats"):
        loss(QID, Y)
    with pytest.raises(InputError, match="where must be truth values"):
        loss(S, Y, where=Y)
    with pytest.raises(InputError, match="segments must be integers"):
        loss(S, Y, segments=S)
