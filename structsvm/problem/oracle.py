"""Compute the loss-augmented argmaxes of examples, in compiled code or in Python."""

import os
import pickle
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from attrs import evolve, field, frozen
from joblib import Parallel, delayed, effective_n_jobs

from structsvm.features.operators.base import scores_of_examples
from structsvm.foundation.compute.threads import over_blocks
from structsvm.foundation.compute.workers import run_in_worker
from structsvm.foundation.signals import held
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import ScoreLoss
from structsvm.losses.user_methods import (
    ONE_AT_A_TIME,
    RAISED_AS_IS,
    SparseVector,
    at_example,
    coefficients,
    dense,
    encoded,
)
from structsvm.problem.checks import checked_output, failed, require_code
from structsvm.problem.loops import (
    LOSS_ROUNDING,
    SMALL_LOSS,
    SparseCodes,
    argmax_sweep,
    compiled_kernel,
    line_sweep,
)
from structsvm.problem.points import Planes, sparse_differences
from structsvm.problem.program import constants, methods, program

_LATEST = 5
"""Number of outputs of each example whose sparse codes are stored: the true one and as many as `NSlack` has cuts."""


class PlaneOracle(ABC):
    """Find the plane of every example.

    True outputs replace planes that are worse, if argmaxes are not ``exact`` or there are ``unreachable_truths``.
    Argmaxes that are ``bounded`` come with bounds of the part that they missed.

    Scores are the scores of the examples, followed by the shared scores.
    """

    exact: bool
    bounded: bool
    unreachable_truths: bool

    @property
    def tries_truths(self) -> bool:
        """True if true outputs replace worse planes."""
        return self.unreachable_truths or not self.exact

    @property
    @abstractmethod
    def content(self) -> Any:
        """Content that identifies these examples and this loss, for the `fingerprint`."""

    def planes(self, scores: Vector, ptr: IntVector, cap: Vector) -> Planes:
        """Return the planes at these scores; example i has ``scores[ptr[i]:ptr[i + 1]]``, and zeros if its cap is 0."""
        planes = self._without_rounding(self.argmaxes(scores, ptr, cap), scores, ptr)
        if not self.tries_truths:
            return planes
        violation = planes.loss - planes.dots(scores, ptr)
        truth = Planes.none(planes)
        if planes.missed is not None:
            missed = violation + planes.missed
            # A truth that the argmax cannot return may exceed its bound.
            truth = evolve(truth, missed=np.maximum(missed, 0.0) if self.unreachable_truths else missed)
        return planes.replaced(truth, (planes.loss >= 0.0) & (violation < 0.0), ptr)

    def on_line(
        self, base: Vector, along: Vector, t: float, ptr: IntVector, cap: Vector, value: Vector, slope: Vector
    ) -> None:
        """Write the hinges at the scores ``base + t along``, and their slopes, of the examples whose cap is not 0."""
        planes, some = self.planes(base + t * along, ptr, cap), cap != 0.0
        value[some] = (planes.loss - planes.dots(base + t * along, ptr))[some]
        slope[some] = -planes.dots(along, ptr)[some]

    def _without_rounding(self, planes: Planes, scores: Vector, ptr: IntVector) -> Planes:
        """Replace losses that rounding made negative by 0: they are small beside the example's loss at scores of 0."""
        negative = np.flatnonzero(planes.loss < 0.0).tolist()
        if not negative:
            return planes
        loss = planes.loss.copy()
        for i in negative:
            scale = float(planes.loss.max())
            if loss[i] < -LOSS_ROUNDING * scale:
                own_part = scores_of_examples(scores, ptr, i, i + 1)
                at_zero = self.block(i, i + 1).argmaxes(0.0 * own_part, ptr[i : i + 2] - ptr[i], np.ones(1))
                scale = max(scale, abs(float(at_zero.loss[0])))
            if loss[i] >= -LOSS_ROUNDING * max(scale, SMALL_LOSS):
                loss[i] = 0.0
        return evolve(planes, loss=loss)

    @abstractmethod
    def argmaxes(self, scores: Vector, ptr: IntVector, cap: Vector) -> Planes:
        """Return the planes of the loss's argmaxes; see `planes`."""

    @abstractmethod
    def block(self, start: int, stop: int) -> Self:
        """Return the oracle of the examples ``start`` to ``stop − 1``."""


def make_oracle(loss: ScoreLoss[Any], ys: Sequence[Any], n_jobs: int | None = None) -> PlaneOracle:
    """Choose the compiled loop for a loss with a kernel, and the Python loop otherwise."""
    if loss.kernel is None:
        return PythonOracle(loss, ys, n_jobs)
    labels, label_ptr = _flat_labels(loss, ys)
    params = np.array(loss.params(ys), dtype=np.float64)
    return CompiledOracle(loss.kernel, labels, label_ptr, params, loss.exact, loss.bounded, loss.unreachable_truths)


def per_output(function: Any, ys: Sequence[Any]) -> list[Any]:
    """Apply a function to every output; if outputs are numbers, once per distinct number."""
    if isinstance(ys, np.ndarray) and ys.ndim == 1 and ys.dtype != object:
        values, inverse = np.unique(ys, return_inverse=True)
        results = np.empty(len(values), dtype=object)
        results[:] = [function(value) for value in values.tolist()]
        return list(results[inverse])
    return [at_example(i, function, y) for i, y in enumerate(ys)]


def _flat_labels(loss: ScoreLoss[Any], ys: Sequence[Any]) -> tuple[Vector, IntVector]:
    try:
        parts = per_output(lambda y: np.array(loss.labels(y), dtype=np.float64), ys)
    except RAISED_AS_IS:
        raise
    except Exception as error:
        raise failed(loss, "labels", error, None) from error
    ptr = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=ptr[1:])
    return np.concatenate(parts), ptr


@frozen(eq=False)
class CompiledOracle(PlaneOracle):
    """Run a loss's kernel in one compiled loop."""

    kernel: Any
    labels: Vector
    label_ptr: IntVector
    params: Vector
    exact: bool
    bounded: bool
    unreachable_truths: bool

    @property
    def content(self) -> Any:
        """The kernel's program and inputs, and whether true outputs replace worse planes."""
        return program(self.kernel), self.labels, self.label_ptr, self.params, self.unreachable_truths

    def argmaxes(self, scores: Vector, ptr: IntVector, cap: Vector) -> Planes:
        n, shared = len(ptr) - 1, len(scores) - int(ptr[-1])
        coef, loss, missed = np.empty(ptr[-1]), np.empty(n), np.zeros(n * self.bounded)
        kernel = compiled_kernel(self.kernel)
        loop = argmax_sweep()
        data = scores, ptr, cap, self.labels, self.label_ptr, self.params, coef, loss, missed
        # Most codes of structures have a few coefficients per label at shared scores.
        places = min(shared, 4 * int(np.diff(self.label_ptr).max(initial=0)))
        while True:
            codes = SparseCodes.of(n, places)

            def write(bounds: IntVector, counters: IntVector, codes: SparseCodes = codes) -> None:
                with held():
                    loop(kernel, bounds, counters, *data, codes)

            over_blocks(write, ptr)
            places = int(codes.used.max(initial=0))
            if places <= codes.value.shape[1]:
                return Planes(coef, loss, codes.matrix(shared) if shared else None, missed if self.bounded else None)

    def on_line(
        self, base: Vector, along: Vector, t: float, ptr: IntVector, cap: Vector, value: Vector, slope: Vector
    ) -> None:
        kernel = compiled_kernel(self.kernel)
        loop = line_sweep()
        data = base, along, t, ptr, cap, self.labels, self.label_ptr, self.params, value, slope, self.bounded

        def write(bounds: IntVector, counters: IntVector) -> None:
            with held():
                loop(kernel, bounds, counters, *data)

        over_blocks(write, ptr)
        if self.tries_truths:
            worse = (value < 0.0) & (cap != 0.0)
            value[worse] = slope[worse] = 0.0

    def block(self, start: int, stop: int) -> Self:
        first, last = self.label_ptr[start], self.label_ptr[stop]
        ptr = self.label_ptr[start : stop + 1] - first
        return evolve(self, labels=self.labels[first:last], label_ptr=ptr)


@frozen(eq=False)
class PythonOracle(PlaneOracle):
    """Call a loss's Python methods example by example, in ``n_jobs`` joblib processes; ``first`` is for messages."""

    loss: ScoreLoss[Any]
    ys: Sequence[Any]
    n_jobs: int | None = None
    first: int = 0
    codes: dict[int, dict[bytes | None, SparseVector]] = field(factory=dict)

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """True if the loss's argmax is exact."""
        return self.loss.exact

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """True if the loss's argmax returns bounds."""
        return self.loss.bounded

    @property
    def unreachable_truths(self) -> bool:  # type: ignore[override]
        """True if the loss's argmaxes may be unable to return true outputs."""
        return self.loss.unreachable_truths

    @property
    def content(self) -> Any:
        """The loss with its program, and the true outputs."""
        ys: Any = self.ys
        kinds = [type(loss) for loss in (self.loss, getattr(self.loss, "wrapped", None)) if loss is not None]
        computed = tuple((program(*methods(kind)), constants(kind)) for kind in kinds)
        return self.loss, computed, ys if isinstance(ys, np.ndarray) else tuple(ys)

    def argmaxes(self, scores: Vector, ptr: IntVector, cap: Vector) -> Planes:
        jobs = min(effective_n_jobs(self.n_jobs), len(self.ys))
        if jobs == 1:
            return self._planes(scores, ptr, cap)
        bounds = np.linspace(0, len(self.ys), jobs + 1).astype(np.int64).tolist()
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(run_in_worker)(
                *(os.getpid(), evolve(self.block(start, stop), codes={})._planes),
                *(scores_of_examples(scores, ptr, start, stop), ptr[start : stop + 1] - ptr[start], cap[start:stop]),
            )
            for start, stop in pairwise(bounds)
        )
        coef, loss = (np.concatenate([getattr(part, name) for part in parts]) for name in ("coef", "loss"))
        shared = None if parts[0].shared is None else sp.vstack([part.shared for part in parts])
        return Planes(coef, loss, shared, np.concatenate([part.missed for part in parts]) if self.bounded else None)

    def _planes(self, scores: Vector, ptr: IntVector, cap: Vector) -> Planes:
        coef, losses, missed = np.zeros(ptr[-1]), np.zeros(len(ptr) - 1), np.zeros(len(ptr) - 1)
        none = SparseVector(len(scores) - len(coef), np.zeros(0, dtype=np.int64), np.zeros(0))
        truths: list[SparseVector] = []
        outputs: list[SparseVector] = []
        scores = scores.view()
        # A loss that writes to scores would make bounds wrong.
        scores.flags.writeable = False
        for i, y in enumerate(self.ys):
            length = int(ptr[i + 1] - ptr[i])
            truth: Vector | SparseVector = none
            code: Vector | SparseVector = none
            if cap[i] > 0.0:
                method, y_hat = "loss_augmented_argmax", None
                try:
                    with ONE_AT_A_TIME:
                        own_scores = scores_of_examples(scores, ptr, i, i + 1)
                        y_hat, bound = checked_output(self.loss, self.loss.loss_augmented_argmax(own_scores, y))
                        method = "loss"
                        losses[i] = self.loss.loss(y, y_hat)
                        method = "encode"
                        code = self._code(i, y_hat, length, len(own_scores))
                        truth = self._code(i, y, length, len(own_scores))
                        missed[i] = 0.0 if bound is None else bound - (losses[i] + _dot(code, own_scores))
                except RAISED_AS_IS:
                    raise
                except Exception as error:
                    raise failed(self.loss, method, error, y, y_hat, self.first + i) from error
            if not (isinstance(truth, SparseVector) and isinstance(code, SparseVector)):
                plane = dense(truth) - dense(code)
                coef[ptr[i] : ptr[i + 1]] = plane[:length]
                truth, code = SparseVector.of_dense(plane[length:]), none
            truths.append(truth)
            outputs.append(code)
        rows = sparse_differences(truths, outputs) if none.length else None
        return Planes(coef, losses, rows, missed if self.bounded else None)

    def _code(self, i: int, y_hat: Any, length_own: int, length: int) -> Vector | SparseVector:
        """Return the code of an output of example i; sparse codes of its latest outputs are stored."""
        y = self.ys[i]
        latest = self.codes.setdefault(self.first + i, {})
        key = _identity(self.loss.unwrap(y_hat)) if self.loss.sparse_entries is not None else None
        code: Vector | SparseVector | None = latest.pop(key, None)
        if code is None:
            code = coefficients(self.loss, y_hat, y) if length_own else encoded(self.loss, y_hat, y)
            require_code(self.loss, code.shape, length, y, y_hat)
        if key is not None and isinstance(code, SparseVector):
            latest[key] = code
            if len(latest) > _LATEST:
                del latest[next(iter(latest))]
        return code

    def block(self, start: int, stop: int) -> Self:
        return evolve(self, ys=self.ys[start:stop], first=self.first + start)


def _identity(output: Any) -> bytes | None:
    """Return bytes that identify an output; None if it cannot be pickled."""
    try:
        return pickle.dumps(output, protocol=5)
    # Pickling runs the output's own code, which may raise anything.
    except Exception:
        return None


def _dot(code: Vector | SparseVector, scores: Vector) -> float:
    return float(code.value @ scores[code.index] if isinstance(code, SparseVector) else code @ scores)
