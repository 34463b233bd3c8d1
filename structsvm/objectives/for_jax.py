"""Train JAX models: hinges as a loss function."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.extras import needed
from structsvm.losses import ScoreLoss
from structsvm.objectives.hinges import Hinge, Recent

with needed("structsvm.objectives.for_jax needs JAX", "jax"):
    import jax
    import jax.numpy as jnp


@frozen
class JaxHinge:
    """The hinges of a loss as a differentiable JAX function: ``JaxHinge("map")(scores, labels, segments=qid)``.

    The signature follows the losses of Rax. A host callback computes the hinges, also under ``jit`` and ``vmap``.
    Only the callback sees traced values, such as scores under ``jit``, and it cannot raise: if they are invalid, the
    result is NaN. Other arguments are validated before.

    Parameters
    ----------
    loss : name or object; see `structsvm.objectives.Hinge`.
    """

    loss: str | ScoreLoss[Any] = "map"
    _recent: Recent = field(init=False, eq=False, repr=False)

    @_recent.default
    def _of_loss(self) -> Recent:
        return Recent(self.loss, none_usable=True)

    def __call__(
        self, scores: Any, labels: Any, *, where: Any = None, segments: Any = None, reduce_fn: Any = jnp.mean
    ) -> Any:
        """Return the hinges, reduced by ``reduce_fn`` unless it is None.

        Without ``reduce_fn``, the result is the hinge of each list, shape (...). With segments, it has shape (..., n):
        the hinge of each query at its first document and 0 elsewhere.

        Parameters
        ----------
        scores : floats, shape (..., n); each last axis is a list.
        labels : same shape.
        where : boolean mask of the items that are documents, same shape. Default: all.
        segments : integer query ids, same shape: items of a list with equal ids belong to one query. Default: each list
            is one query.
        reduce_fn : called as ``reduce_fn(values, where=usable)``; `jax.numpy.mean` and `jax.numpy.sum` fit. The result
            is 0 if no query is usable. None: no reduction.
        """
        scores, labels = jnp.asarray(scores), jnp.asarray(labels)
        real = jnp.ones(scores.shape, dtype=bool) if where is None else jnp.asarray(where)
        parts = jnp.zeros(scores.shape, dtype=jnp.int32) if segments is None else jnp.asarray(segments)
        _require(scores, labels, real, parts)
        if not any(isinstance(array, jax.core.Tracer) for array in (labels, real, parts)):
            self._prepared(np.asarray(labels), np.asarray(real), np.asarray(parts))
        values, usable = self._hinges(scores, labels, real, parts)
        if segments is None:
            values, usable = values.sum(axis=-1), usable.any(axis=-1)
        if reduce_fn is None:
            return values
        return reduce_fn(values, where=usable | ~usable.any())

    def _hinges(self, scores: Any, labels: Any, real: Any, parts: Any) -> tuple[Any, Any]:
        shape = jax.ShapeDtypeStruct
        results = (
            *(shape(scores.shape, scores.dtype) for _ in range(2)),
            shape(scores.shape, np.bool_),
            shape(scores.shape, np.int32),
        )

        def outside(scores: Any, labels: Any, real: Any, parts: Any) -> Any:
            return jax.pure_callback(self._outside, results, scores, labels, real, parts, vmap_method="sequential")

        @jax.custom_vjp
        def hinges(scores: Any, labels: Any, real: Any, parts: Any) -> Any:
            values, _, usable, _ = outside(scores, labels, real, parts)
            return values, usable

        def forward(scores: Any, labels: Any, real: Any, parts: Any) -> Any:
            values, gradient, usable, first = outside(scores, labels, real, parts)
            return (values, usable), (gradient, first)

        def backward(residuals: Any, incoming: Any) -> Any:
            gradient, first = residuals
            return gradient * incoming[0].ravel()[first], None, None, None

        hinges.defvjp(forward, backward)
        pair: tuple[Any, Any] = hinges(scores, labels, real, parts)
        return pair

    def _outside(self, scores: Any, labels: Any, real: Any, parts: Any) -> tuple[NDArray[Any], ...]:
        """Return hinges and usable mask, both at first documents of queries, the gradient, and first documents."""
        scores = np.asarray(scores)
        values, gradient = np.zeros_like(scores), np.zeros_like(scores)
        usable, first = np.zeros(scores.shape, dtype=np.bool_), np.zeros(scores.shape, dtype=np.int32)
        try:
            hinge, rows = self._prepared(np.asarray(labels), np.asarray(real), np.asarray(parts))
            hinges = hinge(scores.ravel()[rows])
        # An exception that leaves a callback is undefined behavior, so return NaN instead.
        except Exception:
            values.fill(np.nan)
            gradient.fill(np.nan)
            usable.fill(True)
            return values, gradient, usable, first
        places = rows[hinge.ids]
        values.ravel()[places] = hinges.values
        usable.ravel()[places] = True
        gradient.ravel()[rows] = hinges.gradient
        first.ravel()[rows] = hinge.per_row(places.astype(np.float64)).astype(np.int32)
        return values, gradient, usable, first

    def _prepared(self, labels: NDArray[Any], real: NDArray[Any], parts: NDArray[Any]) -> tuple[Hinge, NDArray[Any]]:
        """Return the documents' hinge and their rows; a query's id is the index of its first document."""
        rows = np.flatnonzero(real)
        lists = rows // max(real.shape[-1], 1)
        _, begins, number = np.unique([lists, parts.ravel()[rows]], axis=1, return_index=True, return_inverse=True)
        return self._recent.of(labels.ravel()[rows].astype(np.float64), begins[number]), rows


def _require(scores: Any, labels: Any, real: Any, parts: Any) -> None:
    shapes = {"labels": labels.shape, "where": real.shape, "segments": parts.shape}
    wrong = [f"{name} {shape}" for name, shape in shapes.items() if shape != scores.shape]
    if wrong or scores.ndim == 0:
        raise InputError(
            f"scores, labels, where and segments must have one shape (..., n): scores are {scores.shape}, "
            f"{', '.join(wrong) or 'not lists'}"
        )
    for name, array, kind, words in (
        ("scores", scores, jnp.floating, "floats"),
        ("where", real, jnp.bool_, "truth values"),
        ("segments", parts, jnp.integer, "integers"),
    ):
        if not jnp.issubdtype(array.dtype, kind):
            raise InputError(f"{name} must be {words}, got {array.dtype}")
