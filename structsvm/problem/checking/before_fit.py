"""A short check of a user's loss on the data of its first fit, without which a wrong loss gets a false certificate."""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np
from attrs import define, field, frozen

from structsvm.exceptions import CheckError, InputError
from structsvm.losses import ScoreLoss
from structsvm.losses.base import RAISED_AS_IS, InScoreSpace
from structsvm.operators import Operator
from structsvm.problem.checking.example import ExampleCheck, copied
from structsvm.problem.checking.methods import Malformed, Methods, Raised
from structsvm.problem.checks import failed, run_check
from structsvm.problem.oracle import CompiledOracle, NotBelowTruth, Oracle, make_oracle
from structsvm.problem.trial import require_safe_kernel
from structsvm.types import BoolVector, IntVector, Vector

_OWN = "structsvm."
_INNER = ("wrapped", "inner", "latent")
"""Attributes in which losses of this library keep a loss that they are made of."""

_MOST_TRUTHS = 100
"""True outputs whose loss is asked for where the fit itself does not call the Python methods."""

_ROUNDING = 1e-8

_SECONDS = 0.4
"""Computing time of the check. It ends after the call of a method in which this is exceeded."""

_WALL_SECONDS = 1.0
"""The same by the clock, for losses that wait for something."""

_SMALL = 5
"""Documents of a query up to which its outputs are listed."""

_PARTS = (4, 3, 9, 16, 2, 5, 4, 3)
"""Documents of the parts of queries, those that find most first."""

_MOST_SCORES = 100
"""Documents of a query that are looked at together."""

_MOST_NUMBERS = 200_000
"""Weights of a generic loss times the vectors of them that are tried."""

_MOST_LABELS = 16
_MOST_QUERIES = 2_000
"""Queries whose labels are looked at, to choose among them."""

_checked: set[Any] = set()


def is_own(loss: Any) -> bool:
    """Return whether a loss, with the losses that it is made of, is one of this library, which its tests have tried."""
    return type(loss).__module__.startswith(_OWN) and all(map(is_own, _inner(loss)))


def _inner(loss: Any) -> list[Any]:
    """Return the losses that a loss of this library is made of."""
    own = type(loss).__module__.startswith(_OWN)
    return [getattr(loss, name) for name in _INNER if hasattr(loss, name)] if own else []


def trusted_oracle(
    loss: ScoreLoss[Any],
    operator: Operator,
    ys: Sequence[Any],
    usable: BoolVector | None,
    n_jobs: int | None,
    *,
    of_queries: bool = False,
) -> Oracle:
    """Return the argmaxes of a loss, which is tried first if it is not of this library.

    Parameters
    ----------
    loss, operator, ys, usable, n_jobs : as in `Problem.make`.
    of_queries : whether an example is a query, some of whose documents make up a query too.
    """
    oracle = make_oracle(loss, ys, n_jobs)
    if is_own(loss):
        return oracle
    require_free_truths(loss, ys, usable)
    if loss.kernel is not None:
        require_safe_kernel(loss, ys, usable, operator.ptr)
    if loss.check_before_fit:
        inner = oracle.inner if isinstance(oracle, NotBelowTruth) else oracle
        params = inner.params if isinstance(inner, CompiledOracle) else np.zeros(0)
        _Data(loss, ys, usable, operator.ptr, params, of_queries).check()
    return oracle


def require_free_truths(loss: ScoreLoss[Any], ys: Sequence[Any], usable: BoolVector | None) -> None:
    """Require ``Δ(y, y) = 0``, without which a correctly separated example would have a non-zero hinge.

    Parameters
    ----------
    loss, ys : the loss and the true outputs; numbers that occur again are looked at once.
    usable : which examples the loss can learn from; None: all.

    Raises
    ------
    InputError : when one is not; it names the example.
    """
    which = np.arange(len(ys)) if usable is None else np.flatnonzero(usable)
    if isinstance(ys, np.ndarray) and ys.ndim == 1 and ys.dtype != object:
        which = which[np.unique(ys[which], return_index=True)[1]]
    found = np.zeros(1)
    for i in which[: None if loss.kernel is None else _MOST_TRUTHS].tolist():
        try:
            found[0] = loss.loss(ys[i], ys[i])
        except Exception as error:
            if loss.kernel is not None:  # which reads labels, where the Python methods may know of numbers alone
                return
            if isinstance(error, RAISED_AS_IS):
                raise
            raise failed(loss, "loss", error, ys[i], example=i) from error
        if not abs(found[0]) <= _ROUNDING:
            raise InputError(
                f"{loss.title}.loss returned {found[0]:.6g} for the true output of example {i}: Δ(y, y) must be 0. "
                f"{run_check(loss)}"
            )


@define
class _Limit:
    """The time that a check may take."""

    computed: float = field(factory=time.thread_time)
    passed: float = field(factory=time.perf_counter)

    def reached(self) -> bool:
        return time.thread_time() - self.computed > _SECONDS or time.perf_counter() - self.passed > _WALL_SECONDS


@frozen(eq=False)
class _Data:
    """The examples of a fit, as in `trusted_oracle`, with what kernels read of all."""

    loss: ScoreLoss[Any]
    ys: Sequence[Any]
    usable: BoolVector | None
    ptr: IntVector
    params: Vector
    of_queries: bool

    def check(self) -> None:
        """Check the loss on examples and parts of them, once a process for the same loss and labels.

        Raises
        ------
        CheckError : when a method returned something that cannot be right; it names the example.
        """
        rng = np.random.default_rng(0)
        which = np.arange(len(self.ys)) if self.usable is None else np.flatnonzero(self.usable)
        which = which[np.argsort(np.diff(self.ptr)[which], kind="stable")]
        if not len(which):
            return
        spread = which[np.unique(np.linspace(0, len(which) - 1, _MOST_QUERIES).astype(np.int64))]
        labels = self._labels(spread)
        # Examples that are too small show no mistake, so larger ones are checked anew.
        largest = min(int(np.diff(self.ptr)[which[-1]]), _SMALL)
        known = None if labels is None or len(labels) > _MOST_LABELS else labels.tobytes()
        key = (_identity(self.loss), known, largest)
        if key in _checked:
            return
        with _randomness_kept():
            loss = copied(self.loss)
            if not self._runs(loss, int(spread[0])):
                return
            limit = _Limit()
            for place, y, listed in self._examples(loss, spread, labels, rng):
                self._check_one(loss, place, y, listed, rng, limit)
                if limit.reached():
                    break
        _checked.add(key)

    def _runs(self, loss: ScoreLoss[Any], i: int) -> bool:
        """Return whether the loss can be called for an example, which compiles it: if not, the fit reports it."""
        methods, y, length = _methods(loss), copied(self.ys[i]), int(self.ptr[i + 1] - self.ptr[i])
        try:
            if loss.kernel is not None:
                methods.kernel(y, np.zeros(length), methods.labels(y), self.params, np.zeros(length))
                return True
            found = methods.augmented(np.zeros(length), y)
            for output in (y, found):
                methods.encode(output, y, length)
                methods.delta(y, output)
        except (Malformed, NotImplementedError):
            return False
        return True

    def _labels(self, which: IntVector) -> Vector | None:
        """Return the distinct labels of queries; None if examples are others, or labels no numbers."""
        if not self.of_queries or self.loss.per_row or not self.loss.scores_rows:
            return None
        sizes = np.diff(self.ptr)
        ys = [np.asarray(self.ys[i]) for i in which.tolist()]
        if any(y.dtype.kind not in "biuf" or y.shape != (sizes[i],) for i, y in zip(which, ys, strict=True)):
            return None
        return np.unique(np.concatenate(ys).astype(np.float64))

    def _examples(
        self, loss: ScoreLoss[Any], which: IntVector, labels: Vector | None, rng: np.random.Generator
    ) -> Iterator[tuple[str, Any, bool]]:
        """Yield examples, each with what messages call it, and whether its outputs are listed: small ones first."""
        if labels is None:
            chosen = which[np.unique(np.linspace(0, len(which) - 1, 6).astype(np.int64))]
            if isinstance(self.ys, np.ndarray) and self.ys.ndim == 1:  # numbers: the distinct ones
                chosen = which[np.unique(self.ys[which], return_index=True)[1]][:20]
            yield from ((f"example {i}", self.ys[i], False) for i in chosen.tolist())
            return
        queries = self._with_labels(which, labels)
        sizes = np.diff(self.ptr)
        short = [i for i in which.tolist() if sizes[i] <= _MOST_SCORES]
        spread = np.unique(np.linspace(0, len(short) - 1, 3).astype(np.int64)) if short else ()
        whole = [(f"example {short[k]}", self.ys[short[k]], False) for k in spread]
        if not short and _usable(loss, y := _part(self.ys[which[0]], _MOST_SCORES, rng)):
            whole = [(f"{_MOST_SCORES} documents of example {which[0]}", y, False)]
        for turn, size in enumerate(_PARTS):
            if size == _SMALL:
                yield from whole
            for attempt in range(4):
                i = queries[(turn + attempt) % len(queries)]
                y = _part(self.ys[i], size, rng)
                if len(y) == size and _usable(loss, y):
                    yield f"{size} documents of example {i}", y, size <= _SMALL
                    break

    def _with_labels(self, which: IntVector, labels: Vector) -> list[int]:
        """Return a few queries that have all of the labels together, if few do."""
        missing = set(labels.tolist())
        chosen = []
        for i in which.tolist():
            met = missing.intersection(np.asarray(self.ys[i]).tolist())
            if met:
                chosen.append(i)
                missing -= met
            if not missing or len(chosen) >= _MOST_LABELS:
                break
        # Queries that bring rare labels come first.
        return chosen[::-1]

    def _check_one(
        self, loss: ScoreLoss[Any], place: str, y: Any, listed: bool, rng: np.random.Generator, limit: _Limit
    ) -> None:
        """Check the loss on one example; pass over those that it cannot compute with, which a fit reports itself."""
        whole = place.startswith("example")
        methods = _methods(loss)
        try:
            params = self.params if whole or loss.kernel is None else methods.params([y])
            check = ExampleCheck.of(methods, y, None, _ROUNDING, params, listed=listed, predicts=False)
            length = len(check.known.truth)
            trials = min(3 if listed else 5, _MOST_NUMBERS // (8 * max(length, 1)))
            check.run(rng, trials, interpreted=0, ended=limit.reached)
        except Malformed as error:
            if whole and loss.kernel is not None and not isinstance(error, Raised):
                raise self._found(error, place) from None
        except CheckError as error:
            if whole or _free(methods, y):
                raise self._found(error, place) from None
        except (NotImplementedError, InputError):  # of tables that cannot be made for a part
            return

    def _found(self, error: CheckError, place: str) -> CheckError:
        return CheckError(
            f"{error}\n  found before the fit, on {place}: no bound of a fit would hold. {run_check(self.loss)}\n"
            "  check_before_fit = False in the class leaves this check out"
        )


def _identity(loss: Any) -> Any:
    """Return what tells a loss from others: its value if it has one, else its class and those of its parts."""
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
    """Restore the global random states, which a loss may draw from."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


def _methods(loss: ScoreLoss[Any]) -> Methods:
    return Methods(loss, loss.wrapped if isinstance(loss, InScoreSpace) else None)


def _part(y: Any, size: int, rng: np.random.Generator) -> Any:
    """Return some labels of a query, of as many kinds as fit."""
    y = np.asarray(y)[rng.permutation(len(y))]
    first = np.zeros(len(y), dtype=np.bool_)
    first[np.unique(y, return_index=True)[1]] = True
    order = np.argsort(~first, kind="stable")
    return y[rng.permutation(order[:size])]


def _usable(loss: ScoreLoss[Any], y: Any) -> bool:
    try:
        return bool(loss.usable(y))
    except Exception:  # it is not made for parts
        return False


def _free(methods: Methods, y: Any) -> bool:
    """Return whether the truth has no loss: if a part of a query has one, the loss is not made for parts."""
    try:
        return methods.delta(y, y) <= _ROUNDING
    except Malformed:
        return False
