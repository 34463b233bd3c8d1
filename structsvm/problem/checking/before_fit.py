"""A short check of a user's loss on the data of its first fit, because a wrong loss gets a wrong certificate."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np
from attrs import define, field, frozen

from structsvm.exceptions import CheckError, InputError
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import ScoreLoss
from structsvm.losses.base import Examples, InScoreSpace, Wrapper, of_inner
from structsvm.losses.user_methods import RAISED_AS_IS, SparseVector, encoded
from structsvm.problem.checking.example import ExampleCheck, copied
from structsvm.problem.checking.methods import Malformed, Methods, Raised
from structsvm.problem.checking.trial import evenly, learns_from, require_safe_kernel
from structsvm.problem.checks import failed, lead_of_unreachable, run_check, unreachable
from structsvm.problem.oracle import CompiledOracle, PlaneOracle, make_oracle

_OWN = "structsvm."

_MOST_TRUTHS = 100
"""Largest number of true outputs whose Python loss is checked if the fit itself uses a kernel."""

_ROUNDING = 1e-8

_SECONDS = 0.4
"""CPU seconds for the check; it ends with the first method call after that time."""

_WALL_SECONDS = 1.0
"""Wall-clock seconds for the check, in case the loss waits without computing."""

_SMALL = 5
"""Largest number of documents of a query whose outputs are listed."""

_PARTS = (4, 3, 9, 16, 2, 5, 4, 3)
"""Documents in the parts of queries; the most revealing sizes come first."""

_MOST_SCORES = 100
"""Largest number of documents of a query that are checked together."""

_MOST_NUMBERS = 200_000
"""Largest product of a generic loss's number of weights and the number of vectors tried."""

_FEW = 6
"""Number of examples to check if outputs are not labels of queries."""

_WIDE = 1000
"""Number of sparse joint features up to which a check reads all weights."""

_MOST_LABELS = 16
_MOST_QUERIES = 2_000
"""Largest number of queries whose labels are read to choose among them."""

_checked: set[Any] = set()


def is_own(loss: Any) -> bool:
    """Return True if a loss and its inner losses belong to this library, whose tests cover them."""
    return type(loss).__module__.startswith(_OWN) and all(map(is_own, _inner(loss)))


def _inner(loss: Any) -> list[Any]:
    """Return the inner losses of a loss of this library."""
    built_in = type(loss).__module__.startswith(_OWN)
    return [loss.inner] if built_in and hasattr(loss, "inner") else []


def trusted_oracle(examples: Examples, n_jobs: int | None) -> PlaneOracle:
    """Return the oracle of a loss, after checks if the loss is not of this library."""
    loss = examples.loss
    oracle = make_oracle(loss, examples.ys, n_jobs)
    if is_own(loss):
        return oracle
    require_free_truths(examples)
    if loss.kernel is not None:
        require_safe_kernel(examples)
    if loss.check_before_fit:
        params = oracle.params if isinstance(oracle, CompiledOracle) else np.zeros(0)
        _Check(examples, params).run()
    return oracle


def require_free_truths(examples: Examples) -> None:
    """Require ``Δ(y, y) = 0``; otherwise a correctly separated example would have a non-zero hinge."""
    loss, ys, which = examples.loss, examples.ys, examples.usable_indices()
    if isinstance(ys, np.ndarray) and ys.ndim == 1 and ys.dtype != object:
        which = which[np.unique(ys[which], return_index=True)[1]]
    losses = np.zeros(1)
    for i in which[: None if loss.kernel is None else _MOST_TRUTHS].tolist():
        try:
            losses[0] = loss.loss(ys[i], ys[i])
        except Exception as error:
            # The fit uses the kernel, which reads labels; the Python method may not support these outputs.
            if loss.kernel is not None:
                return
            if isinstance(error, RAISED_AS_IS):
                raise
            raise failed(loss, "loss", error, ys[i], example=i) from error
        if not abs(losses[0]) <= _ROUNDING:
            raise InputError(
                f"{loss.title}.loss returned {losses[0]:.6g} for the true output of example {i}: Δ(y, y) must be 0. "
                f"{run_check(loss)}"
            )


@define
class _Limit:
    """The time limit of a check."""

    computed: float = field(factory=time.thread_time)
    passed: float = field(factory=time.perf_counter)

    def reached(self) -> bool:
        return time.thread_time() - self.computed > _SECONDS or time.perf_counter() - self.passed > _WALL_SECONDS


@frozen(eq=False)
class _OnColumns(Wrapper, ScoreLoss[Any]):
    """A loss at weights that are 0 outside of some columns: ``w·Ψ`` needs only these columns of Ψ."""

    inner: ScoreLoss[Any]
    columns: IntVector
    d: int

    loss = of_inner("loss")
    unwrap = of_inner("unwrap")
    called = of_inner("called")
    outputs = of_inner("outputs")

    def weight_bounds(self, d: int) -> None:
        """Return None: losses with bounds are checked at all weights."""

    def encode(self, y_hat: Any, y: Any) -> Vector:
        code, values = encoded(self.inner, y_hat, y), np.zeros(len(self.columns))
        if not isinstance(code, SparseVector):
            return code[self.columns]
        some = np.isin(code.index, self.columns)
        values[np.searchsorted(self.columns, code.index[some])] = code.value[some]
        return values

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Any:
        return self.inner.loss_augmented_argmax(self._wide(scores), y)

    def argmax(self, scores: Vector) -> Any:
        return self.inner.argmax(self._wide(scores))

    def prediction(self, scores: Vector, y: Any) -> Any:
        return self.inner.prediction(self._wide(scores), y)

    def _wide(self, scores: Vector) -> Vector:
        w = np.zeros(self.d)
        w[self.columns] = scores
        w.flags.writeable = False
        return w


@frozen(eq=False)
class _Check:
    """A check of a loss on the examples of a fit, with the kernel's shared parameters."""

    data: Examples
    params: Vector

    def run(self) -> None:
        """Check the loss on examples and parts of them, once per process for the same loss and labels."""
        rng = np.random.default_rng(0)
        which = self.data.usable_indices()
        which = which[np.argsort(self.data.sizes[which], kind="stable")]
        if not len(which):
            return
        spread = evenly(which, _MOST_QUERIES)
        labels = self._labels(spread)
        # Small examples may hide a mistake, so check the same loss again in a fit with larger examples.
        largest = min(int(self.data.sizes[which[-1]]), _SMALL)
        labels_key = None if labels is None or len(labels) > _MOST_LABELS else labels.tobytes()
        key = (_identity(self.data.loss), labels_key, largest)
        loss = self.data.loss
        # Labels are in the key, but other true outputs may be new.
        covered = labels is not None or not (loss.exact or loss.bounded) or loss.unreachable_truths
        if key in _checked and covered:
            return
        with _randomness_kept():
            try:
                loss = self._narrowed(copied(loss), spread)
            except Malformed:
                return
            if key in _checked:
                self._require_reachable(loss, self._examples(loss, spread, None, rng))
                return
            if not self._runs(loss, int(spread[0])):
                return
            limit = _Limit()
            for place, y, listed in self._examples(loss, spread, labels, rng):
                self._check_one(loss, place, y, listed, rng, limit)
                if limit.reached():
                    break
        _checked.add(key)

    def _require_reachable(self, loss: ScoreLoss[Any], examples: Iterator[tuple[str, Any, bool]]) -> None:
        """Reject true outputs that the argmaxes cannot return."""
        limit = _Limit()
        for place, y, _ in examples:
            lead = lead_of_unreachable(loss, copied(y))
            if lead:
                raise self._found(CheckError(unreachable(loss, place, lead)), place)
            if limit.reached():
                return

    def _runs(self, loss: ScoreLoss[Any], i: int) -> bool:
        """Return False if the loss cannot be called (and compiled) for an example, so that the fit reports it."""
        methods, y = _methods(loss), copied(self.data.ys[i])
        length = len(loss.columns) if isinstance(loss, _OnColumns) else int(self.data.sizes[i])
        try:
            if loss.kernel is not None:
                methods.kernel(y, np.zeros(length), methods.labels(y), self.params, np.zeros(length + loss.bounded))
                return True
            maximizer, _ = methods.augmented(np.zeros(length), y)
            for output in (y, maximizer):
                methods.encode(output, y, length)
                methods.delta(y, output)
        except (Malformed, NotImplementedError):
            return False
        return True

    def _narrowed(self, loss: ScoreLoss[Any], which: IntVector) -> ScoreLoss[Any]:
        """Return a loss of sparse joint features for weights of few columns, so that checks do not read all weights."""
        d = self.data.operator.d
        if loss.sparse_entries is None or d <= _WIDE or loss.weight_bounds(d) is not None:
            return loss
        w, methods = np.zeros(d), _methods(loss)
        ys = [copied(self.data.ys[i]) for i in evenly(which, _FEW).tolist()]
        outputs = [(y, output) for y in ys for output in (y, methods.augmented(w, y)[0])]
        codes = [methods.sparse(output, y) for y, output in outputs]
        return _OnColumns(loss, np.unique(np.concatenate([code.index for code in codes])), d)

    def _labels(self, which: IntVector) -> Vector | None:
        """Return the distinct labels of queries; None if examples are not queries or labels not numbers."""
        if not self.data.of_queries or self.data.loss.per_row or not self.data.loss.scores_rows:
            return None
        sizes = self.data.sizes
        ys = [np.asarray(self.data.ys[i]) for i in which.tolist()]
        if any(y.dtype.kind not in "biuf" or y.shape != (sizes[i],) for i, y in zip(which, ys, strict=True)):
            return None
        return np.unique(np.concatenate(ys).astype(np.float64))

    def _examples(
        self, loss: ScoreLoss[Any], which: IntVector, labels: Vector | None, rng: np.random.Generator
    ) -> Iterator[tuple[str, Any, bool]]:
        """Yield examples, small ones first, each with its name and whether to list its outputs."""
        if labels is None:
            rows = evenly(which, _FEW)
            # Outputs are numbers, so check the distinct ones.
            if isinstance(self.data.ys, np.ndarray) and self.data.ys.ndim == 1:
                rows = which[np.unique(self.data.ys[which], return_index=True)[1]][:20]
            yield from ((f"example {i}", self.data.ys[i], False) for i in rows.tolist())
            return
        queries = self._with_labels(which, labels)
        sizes = self.data.sizes
        short = which[sizes[which] <= _MOST_SCORES]
        whole = [(f"example {i}", self.data.ys[i], False) for i in evenly(short, 3).tolist()] if len(short) else []
        if not len(short) and learns_from(loss, y := _part(self.data.ys[which[0]], _MOST_SCORES, rng)):
            whole = [(f"{_MOST_SCORES} documents of example {which[0]}", y, False)]
        for turn, size in enumerate(_PARTS):
            if size == _SMALL:
                yield from whole
            for attempt in range(4):
                i = queries[(turn + attempt) % len(queries)]
                y = _part(self.data.ys[i], size, rng)
                if len(y) == size and learns_from(loss, y):
                    yield f"{size} documents of example {i}", y, size <= _SMALL
                    break

    def _with_labels(self, which: IntVector, labels: Vector) -> list[int]:
        """Return a few queries that contain all of the labels together, if possible."""
        missing = set(labels.tolist())
        rows = []
        for i in which.tolist():
            met = missing.intersection(np.asarray(self.data.ys[i]).tolist())
            if met:
                rows.append(i)
                missing -= met
            if not missing or len(rows) >= _MOST_LABELS:
                break
        # Queries that bring rare labels come first.
        return rows[::-1]

    def _check_one(
        self, loss: ScoreLoss[Any], place: str, y: Any, listed: bool, rng: np.random.Generator, limit: _Limit
    ) -> None:
        """Check the loss on one example; skip examples that it cannot compute, because the fit reports them."""
        whole = place.startswith("example")
        methods = _methods(loss)
        try:
            params = self.params if whole or loss.kernel is None else methods.params([y])
            check = ExampleCheck.of(methods, y, None, _ROUNDING, params, listed=listed, predicts=False, place=place)
            length = loss.d if isinstance(loss, _OnColumns) else len(check.known.truth)
            trials = min(3 if listed else 5, _MOST_NUMBERS // (8 * max(length, 1)))
            check.run(rng, trials, interpreted=0, ended=limit.reached)
        except Malformed as error:
            if whole and loss.kernel is not None and not isinstance(error, Raised):
                raise self._found(error, place) from None
        except CheckError as error:
            if whole or _free(methods, y):
                raise self._found(error, place) from None
        # Tables may be undefined for a part of a query.
        except (NotImplementedError, InputError):
            return

    def _found(self, error: CheckError, place: str) -> CheckError:
        return CheckError(
            f"{error}\n  found before the fit, on {place}: its bounds would be wrong. {run_check(self.data.loss)}\n"
            "  check_before_fit = False in the class skips this check"
        )


def _identity(loss: Any) -> Any:
    """Return a key of a loss: its value if it is hashable, else its class, kernel and parts."""
    parts = tuple(map(_identity, _inner(loss)))
    if not parts and attrs.has(type(loss)):
        try:
            hash(loss)
            return loss
        except TypeError:
            pass
    return type(loss), loss.kernel if isinstance(loss, ScoreLoss) else None, parts


@contextmanager
def _randomness_kept() -> Iterator[None]:
    """Restore the global random states, which a loss may change."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


def _methods(loss: ScoreLoss[Any]) -> Methods:
    generic = loss.inner if isinstance(loss, _OnColumns) else loss
    return Methods(loss, generic.inner if isinstance(generic, InScoreSpace) else None)


def _part(y: Any, size: int, rng: np.random.Generator) -> Any:
    """Return some labels of a query, with as many distinct ones as fit."""
    y = np.asarray(y)[rng.permutation(len(y))]
    first = np.zeros(len(y), dtype=np.bool_)
    first[np.unique(y, return_index=True)[1]] = True
    order = np.argsort(~first, kind="stable")
    return y[rng.permutation(order[:size])]


def _free(methods: Methods, y: Any) -> bool:
    """Return True if Δ(y, y) = 0; if it is not 0 for a part of a query, the loss does not support parts."""
    try:
        return methods.delta(y, y) <= _ROUNDING
    except Malformed:
        return False
