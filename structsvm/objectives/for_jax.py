"""Hinges as a loss of JAX."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError, NotInstalledError
from structsvm.losses import ScoreLoss
from structsvm.objectives.hinges import Hinge
from structsvm.objectives.recent import Recent

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise NotInstalledError("structsvm.objectives.for_jax needs JAX: pip install 'structural-svm[jax]'.") from error


@frozen
class HingeLoss:
    """The hinges of a loss as a function that JAX differentiates: ``HingeLoss("map")(scores, labels, segments=qid)``.

    Arguments are those of the losses of Rax. The hinges are computed outside of JAX, by a callback, also under ``jit``
    and ``vmap``. What is wrong with arguments is said before, as far as it is known then: values that are traced, such
    as scores under ``jit``, are seen in the callback only, where nothing may be raised. The result is then NaN.

    Parameters
    ----------
    loss : name or object; see `Hinge`.
    """

    loss: str | ScoreLoss[Any] = "map"
    _recent: Recent = field(init=False, eq=False, repr=False)

    @_recent.default
    def _of_loss(self) -> Recent:
        return Recent(self.loss, none_usable=True)

    def __call__(
        self, scores: Any, labels: Any, *, where: Any = None, segments: Any = None, reduce_fn: Any = jnp.mean
    ) -> Any:
        """Return the hinge.

        Parameters
        ----------
        scores : floats, each last axis a list, shape (..., n).
        labels : of the same shape.
        where : which items are documents, True or False, of the same shape. None: all.
        segments : ids, integers: items of a list are of one query where theirs are equal. Of the same shape. None: a
            list is a query.
        reduce_fn : is called as ``reduce_fn(values, where=usable)``, as `jax.numpy.mean` and `jax.numpy.sum` can be;
            0 is returned where no query is usable. None: nothing is reduced.

        Returns
        -------
        What ``reduce_fn`` returns, or the hinges: one a list, shape (...); with segments, shape (..., n), at the
        first document of each query. 0 where there is none.

        Raises
        ------
        InputError : shapes or types do not fit, or labels that are not traced cannot be used.
        """
        scores, labels = jnp.asarray(scores), jnp.asarray(labels)
        kept = jnp.ones(scores.shape, dtype=bool) if where is None else jnp.asarray(where)
        parts = jnp.zeros(scores.shape, dtype=jnp.int32) if segments is None else jnp.asarray(segments)
        _require(scores, labels, kept, parts)
        if not any(isinstance(given, jax.core.Tracer) for given in (labels, kept, parts)):
            self._prepared(np.asarray(labels), np.asarray(kept), np.asarray(parts))
        values, usable = self._hinges(scores, labels, kept, parts)
        if segments is None:
            values, usable = values.sum(axis=-1), usable.any(axis=-1)
        if reduce_fn is None:
            return values
        return reduce_fn(values, where=usable | ~usable.any())

    def _hinges(self, scores: Any, labels: Any, kept: Any, parts: Any) -> tuple[Any, Any]:
        shape = jax.ShapeDtypeStruct
        results = (
            *(shape(scores.shape, scores.dtype) for _ in range(2)),
            shape(scores.shape, np.bool_),
            shape(scores.shape, np.int32),
        )

        def outside(scores: Any, labels: Any, kept: Any, parts: Any) -> Any:
            return jax.pure_callback(self._outside, results, scores, labels, kept, parts, vmap_method="sequential")

        @jax.custom_vjp
        def hinges(scores: Any, labels: Any, kept: Any, parts: Any) -> Any:
            values, _, usable, _ = outside(scores, labels, kept, parts)
            return values, usable

        def forward(scores: Any, labels: Any, kept: Any, parts: Any) -> Any:
            values, gradient, usable, first = outside(scores, labels, kept, parts)
            return (values, usable), (gradient, first)

        def backward(found: Any, incoming: Any) -> Any:
            gradient, first = found
            return gradient * incoming[0].ravel()[first], None, None, None

        hinges.defvjp(forward, backward)
        found: tuple[Any, Any] = hinges(scores, labels, kept, parts)
        return found

    def _outside(self, scores: Any, labels: Any, kept: Any, parts: Any) -> tuple[NDArray[Any], ...]:
        """Return values at the first document of each query, the gradient, where values are, and the place of each's.

        All are of the shape of the scores; the last are places among the scores as one vector.
        """
        scores = np.asarray(scores)
        values, gradient = np.zeros_like(scores), np.zeros_like(scores)
        usable, first = np.zeros(scores.shape, dtype=np.bool_), np.zeros(scores.shape, dtype=np.int32)
        try:
            hinge, rows = self._prepared(np.asarray(labels), np.asarray(kept), np.asarray(parts))
            found = hinge(scores.ravel()[rows])
        except Exception:  # one that leaves a callback is undefined behaviour
            values.fill(np.nan)
            gradient.fill(np.nan)
            usable.fill(True)
            return values, gradient, usable, first
        places = rows[hinge.ids]
        values.ravel()[places] = found.values
        usable.ravel()[places] = True
        gradient.ravel()[rows] = found.gradient
        first.ravel()[rows] = hinge.per_row(places.astype(np.float64)).astype(np.int32)
        return values, gradient, usable, first

    def _prepared(self, labels: NDArray[Any], kept: NDArray[Any], parts: NDArray[Any]) -> tuple[Hinge, NDArray[Any]]:
        """Return the hinge of the documents, whose queries' ids are the numbers of their first ones, and their rows."""
        rows = np.flatnonzero(kept)
        lists = rows // max(kept.shape[-1], 1)
        _, begins, number = np.unique([lists, parts.ravel()[rows]], axis=1, return_index=True, return_inverse=True)
        return self._recent.of(labels.ravel()[rows].astype(np.float64), begins[number]), rows


def _require(scores: Any, labels: Any, kept: Any, parts: Any) -> None:
    shapes = {"labels": labels.shape, "where": kept.shape, "segments": parts.shape}
    wrong = [f"{name} {shape}" for name, shape in shapes.items() if shape != scores.shape]
    if wrong or scores.ndim == 0:
        raise InputError(
            f"scores, labels, where and segments must be of one shape (..., n): scores are {scores.shape}, "
            f"{', '.join(wrong) or 'which is no list'}"
        )
    for name, given, kind, words in (
        ("scores", scores, jnp.floating, "floats"),
        ("where", kept, jnp.bool_, "truth values"),
        ("segments", parts, jnp.integer, "integers"),
    ):
        if not jnp.issubdtype(given.dtype, kind):
            raise InputError(f"{name} must be {words}, got {given.dtype}")
