"""What a solver returns: the model, the proof of how good it is, and what a restart needs."""

import json
import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Self

import numpy as np
from attrs import Factory, asdict, evolve, field, fields, frozen

from structsvm.exceptions import InputError, ModelFileError, TooLargeError
from structsvm.memory import in_units
from structsvm.settings import is_integer, is_number, require_choice, require_integer, require_number, require_switch
from structsvm.storage.archives import finite_numbers, record, require_names, require_numbers, shape, texts
from structsvm.storage.files import read_archive, write_archive
from structsvm.types import IntVector, Matrix, Vector

_FORMAT = 3
"""That of a result of data spread over a cluster; 2 is of some columns only, 1 of others, as older versions read."""

_NUMBERS_OF_ONE_MACHINE = 10
"""Numbers of a step that are written where nothing was sent over a network."""

_WRITTEN = ("primal", "dual", "exact", "C", "tol", "status", "solver", "handovers", "groups", "history")

_ESTIMATE = "The argmax is inexact: the primal is an estimate, too low if anything"


class Status(Enum):
    """Why a solver stopped, as a sentence.

    From a result that is ``UNFINISHED`` a solver goes on as the same run: with its bounds, history and iterations.

    Examples
    --------
    >>> from structsvm import Status
    >>> Status.CONVERGED.value
    'the certified gap is within tol * C'
    """

    CONVERGED = "the certified gap is within tol * C"
    ESTIMATED = (
        "the gap is within tol * C by an estimate only: the argmax is inexact, so the primal may be too low, "
        "and nothing but the dual is certain"
    )
    ITERATION_LIMIT = "the limit of iterations was reached before the gap was within tol * C"
    STALLED = (
        "the gap no longer shrinks: rounding or an inexact QP backend forbids this tol at this C and scale of the "
        "features. Scale the features (Ranker: normalise='standard'), or choose a smaller C or a larger tol"
    )
    INTERRUPTED = "interrupted: this is the best result so far"
    STOPPED = "stopped by the callback: this is the best result so far"
    UNFINISHED = "kept in a checkpoint while the solver was running: this is the best result so far"


@frozen
class Step:
    """One iteration of a solver.

    Parameters
    ----------
    iteration : number of the iteration; 0 is the start.
    C : weight of the mean hinge in the problem.
    passes : passes over the data so far; one evaluates all scores and combines all features.
    primal, dual : best certified upper and lower bound so far.
    cuts, active_cuts : cuts in the working set, and those with a positive multiplier.
    oracle_seconds, seconds : time so far in scores and argmaxes, and in all.
    solver_seconds : time so far in the solver itself: in QPs, or in steps of Frank-Wolfe on the planes that it keeps.
    calls : how often the workers of a cluster were asked something so far; 0 where the data are in one process.
    sent : bytes of numbers sent to them, and by them, so far.
    """

    iteration: int
    C: float
    passes: float
    primal: float
    dual: float
    cuts: int
    active_cuts: int
    oracle_seconds: float
    solver_seconds: float
    seconds: float
    calls: int = 0
    sent: int = 0

    @property
    def gap(self) -> float:
        """Best primal less best dual."""
        return self.primal - self.dual


def columns_of(arrays: Mapping[str, Any]) -> IntVector | None:
    """Return the columns that the weights in a file are of; None: of all.

    Raises
    ------
    ValueError : when they are no numbers of columns, ascending.
    """
    if "columns" not in arrays:
        return None
    require_numbers(arrays, "columns", (shape(arrays, "columns")[0],), np.int64)
    columns = finite_numbers(arrays, "columns")
    if len(columns) == 0 or columns[0] < 0 or (np.diff(columns) <= 0).any():
        raise ValueError("'columns' must be numbers of columns, ascending")
    return columns


def wide(w: Vector, columns: IntVector | None, n_features: int) -> Vector:
    """Return weights of all features, 0 for those of no column; see `Result.wide`.

    Parameters
    ----------
    w : weights of the columns, and what follows them.
    columns : the columns; None: all.
    n_features : number of features.

    Raises
    ------
    TooLargeError : when there is no memory for them.
    """
    if columns is None:
        return w
    known = len(columns)
    try:
        full = np.zeros(n_features + len(w) - known)
    except (MemoryError, ValueError):  # ValueError: more than an index can count
        raise TooLargeError(
            f"a vector of {n_features:,} weights takes {in_units(8.0 * n_features)}, which cannot be had: number the "
            "features afresh, without gaps"
        ) from None
    full[columns], full[n_features:] = w[:known], w[known:]
    return full


def _step(row: Any) -> Step:
    """Return a step that a file holds as a list of numbers."""
    known = (_NUMBERS_OF_ONE_MACHINE, len(fields(Step)))
    if not (isinstance(row, list) and len(row) in known and all(map(is_number, row))):
        raise ValueError(f"a step of 'history' must be {known[0]} or {known[1]} numbers, got {row!r}")
    return Step(*row)


def require_known_format(found: Any, known: int) -> None:
    """Require the number of a format that is known.

    Raises
    ------
    ModelFileError : when it is of a newer version.
    ValueError : when it is none.
    """
    if not is_integer(found, 1):
        raise ValueError(f"the number of its format is {found!r}")
    if found > known:
        raise ModelFileError("it was written by a newer version of structural-svm: upgrade to read it")


def rounding(norm: float, error: float) -> float:
    """Return ``½(‖w‖ + e)² − ½‖w‖²``: by how much a dual value is to be lowered where w is known within e.

    Parameters
    ----------
    norm : ``‖w‖``, where ``w = Σ a g`` of cuts as they are kept.
    error : e, the sum of ``a`` times their errors.
    """
    return float(error * (norm + 0.5 * error))


@frozen(eq=False)
class CutSet:
    """The working set at the end: enough to start any cutting-plane solver again.

    Parameters
    ----------
    G, L : the cuts ``w·G[k] ≥ L[k] − ξ``, shapes (K, d) and (K,).
    group : group of each cut, shape (K,): all 0 for 1-slack, the example for n-slack.
    a : multipliers, shape (K,), not negative.
    groups : number of groups.
    error : how far, at most, each row of ``G`` is from the vector that it was rounded from, for which the cut
        holds: as it stands it does within ``error ‖w‖``, shape (K,). 0 where it was not rounded.
    """

    G: Matrix = field(repr=False)
    L: Vector = field(repr=False)
    group: IntVector = field(repr=False)
    a: Vector = field(repr=False)
    groups: int
    error: Vector = field(repr=False, default=Factory(lambda self: np.zeros(len(self.L)), takes_self=True))

    def __len__(self) -> int:
        return len(self.L)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], groups: Any) -> Self:
        """Make it of the arrays of a result and the number of groups, as `Result.from_arrays`."""
        require_integer("groups", groups, 0)
        (K,), (d,) = shape(arrays, "L"), shape(arrays, "w")
        for name in ("L", "a", *(["error"] if "error" in arrays else [])):  # older files have no errors
            require_numbers(arrays, name, (K,))
        require_numbers(arrays, "group", (K,), np.int64)
        require_numbers(arrays, "G", (K, d))
        group, a = finite_numbers(arrays, "group"), finite_numbers(arrays, "a")
        error = finite_numbers(arrays, "error") if "error" in arrays else np.zeros(K)
        if (a < 0.0).any() or (error < 0.0).any():
            raise ValueError("'a' and 'error' must not be negative")
        if K and not (group.min() >= 0 and group.max() < groups):
            raise ValueError(f"'group' must be from 0 to {groups - 1}, and is from {group.min()} to {group.max()}")
        return cls(finite_numbers(arrays, "G"), finite_numbers(arrays, "L"), group, a, groups, error)

    def most_error(self, cap: Vector) -> float:
        """Return the largest sum of ``a`` times the errors that multipliers within these caps can make."""
        from structsvm.compute.groups import largest_of_groups

        return float(cap @ largest_of_groups(self.error, self.group, len(cap)))

    def scaled(self, cap: Vector) -> Vector:
        """Return the multipliers times the number that makes them best for other caps.

        Parameters
        ----------
        cap : caps of the groups, shape (groups,).
        """
        total = np.bincount(self.group, weights=self.a, minlength=len(cap))
        largest = np.divide(cap, total, out=np.full(len(cap), np.inf), where=total > 0.0).min()
        w = self.a @ self.G
        norm = float(w @ w)
        scale = min(largest, float(self.a @ self.L) / norm if norm > 0.0 else np.inf)
        return np.asarray(self.a * scale) if 0.0 < scale < np.inf else np.zeros_like(self.a)


@frozen(eq=False, kw_only=True)
class Result:
    """The best weights found, with bounds that prove how good they are.

    The optimum lies between ``dual`` and ``primal``; both are computed in float64 by the
    engine, never taken from a QP backend. Where the argmax of the loss is inexact, ``dual`` is
    still a lower bound of the optimum, and ``primal`` is only an estimate, too low if anything.

    Parameters
    ----------
    w : weights with the best primal value, shape (d,).
    primal : ``P(w)``, an upper bound of the optimum; where not ``exact``, the largest lower bound of ``P(w)``
        that is known.
    dual : the best lower bound of the optimum.
    C : weight of the mean hinge in this problem.
    tol : gap asked for, in units of the loss: converged when ``primal − dual ≤ tol · C``.
    status : why the solver stopped; `message` says it in words.
    solver : the settings of the solver, as text.
    solver_name : name of the solver that ran; None: that of its class, ``"one-slack"`` of ``"OneSlack(tol=0.1)"``.
    handovers : how often a QP backend did not reach the accuracy that was needed and the
        built-in one finished its work.
    history : one row for the start and one an iteration.
    cuts : the working set at the end.
    fingerprint : numbers that tell these data and this loss from all others; empty where the run was interrupted
        before it had them.
    exact : whether the argmax of the loss is exact, so that ``primal`` is an upper bound and the gap a certificate.
    columns : the columns of the features that ``w`` and the cuts are of, ascending, where an estimator left out those
        that have no entry in sparse data; None: all.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers import OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> result = OneSlack().solve(problem)
    >>> result.dual <= result.primal <= result.dual + result.tol * result.C
    True
    >>> result.status.value
    'the certified gap is within tol * C'
    """

    w: Vector = field(repr=False)
    primal: float
    dual: float
    C: float
    tol: float
    status: Status
    solver: str
    handovers: int
    history: tuple[Step, ...] = field(repr=False)
    cuts: CutSet
    fingerprint: Vector = field(repr=False)
    exact: bool = True
    _solver_name: str | None = field(default=None, repr=False)
    _columns: IntVector | None = field(default=None, repr=False)

    @property
    def columns(self) -> IntVector | None:
        """See above."""
        return getattr(self, "_columns", None)  # a pickle of version 0.3 has none

    def wide(self, n_features: int) -> Vector:
        """Return the weights of this many features, 0 for those of no column; what follows them stays behind.

        The zeros take no memory before they are read.
        """
        return wide(self.w, self.columns, n_features)

    def is_of(self, columns: IntVector | None) -> bool:
        """Say whether the weights are of these columns of the features; None: of all."""
        if self.columns is None or columns is None:
            return self.columns is columns
        return np.array_equal(self.columns, columns)

    def of_columns(self, columns: IntVector | None, n_features: int) -> Self:
        """Return the result for other columns of the same features: its weights, which is all that is known of these.

        Parameters
        ----------
        columns : the columns; None: all.
        n_features : number of features.

        Raises
        ------
        InputError : when the weights are of fewer or more features.
        """
        if len(self.w) < n_features if self.columns is None else self.columns[-1] >= n_features:
            raise InputError(f"start has weights of other features than the {n_features} of the problem")
        full = self.wide(n_features)
        w = full if columns is None else np.concatenate([full[columns], full[n_features:]])
        none = CutSet(np.zeros((0, len(w))), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0), self.cuts.groups)
        return evolve(self, w=w, cuts=none, fingerprint=np.zeros(0), columns=columns)

    @property
    def solver_name(self) -> str:
        """The name of the solver that ran, which "auto" chose."""
        known = getattr(self, "_solver_name", None)  # a pickle of version 0.1 has none
        return known or re.sub(r"(?<!^)(?=[A-Z])", "-", self.solver.partition("(")[0]).lower()

    @property
    def gap(self) -> float:
        """``primal − dual``: ``P(w)`` is at most this far above the optimum, as far as ``primal`` is exact."""
        return self.primal - self.dual

    @property
    def converged(self) -> bool:
        """Whether the gap is within ``tol · C``: certified, or where not ``exact`` by an estimate."""
        return self.gap <= self.tol * self.C

    @property
    def message(self) -> str:
        """Why the solver stopped, in words, and whether the primal is an estimate."""
        if self.exact or self.status is Status.ESTIMATED:
            return self.status.value
        return f"{self.status.value}. {_ESTIMATE}"

    def arrays(self) -> dict[str, Any]:
        """Return the result as arrays for a file; `from_arrays` reads them back."""
        spread = any(step.calls for step in self.history)
        numbers = len(fields(Step)) if spread else _NUMBERS_OF_ONE_MACHINE
        written = {
            "format": _FORMAT if spread else 1 if self.columns is None else 2,
            "primal": self.primal,
            "dual": self.dual,
            "exact": self.exact,
            "C": self.C,
            "tol": self.tol,
            "status": self.status.name,
            "solver": self.solver,
            "handovers": self.handovers,
            "groups": self.cuts.groups,
            "history": [list(asdict(step).values())[:numbers] for step in self.history],
        }
        cuts = {name: getattr(self.cuts, name) for name in ("G", "L", "group", "a", "error")}
        return {
            "result": np.array(json.dumps(written)),
            "solver_name": np.array(self.solver_name),
            "w": self.w,
            "fingerprint": self.fingerprint,
            **({} if self.columns is None else {"columns": self.columns}),
            **cuts,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Make a result of what `arrays` returned, which may come from a file: nothing in it is believed.

        Raises
        ------
        ModelFileError : when a newer version wrote it.
        KeyError, ValueError : when something is missing, or is not what it can be.
        """
        written = record(arrays, "result")
        require_known_format(written.pop("format"), _FORMAT)
        written = {"exact": True, **written}  # older files do not say it
        require_names("the result", written, _WRITTEN, _WRITTEN)
        for name in ("primal", "dual"):
            require_number(name, written[name])
        for name in ("C", "tol"):
            require_number(name, written[name], above=0.0)
        require_integer("handovers", written["handovers"], 0)
        require_switch("exact", written["exact"])
        require_choice("status", written["status"], Status.__members__)
        if not isinstance(written["solver"], str):
            raise ValueError(f"solver must be text, got {written['solver']!r}")
        if "solver_name" in arrays:  # older files have none
            written["solver_name"] = str(texts(arrays, "solver_name", ()))
        (d,), (known,) = shape(arrays, "w"), shape(arrays, "fingerprint")
        require_numbers(arrays, "w", (d,))
        require_numbers(arrays, "fingerprint", (known,))
        cuts = CutSet.from_arrays(arrays, written.pop("groups"))
        return cls(
            w=finite_numbers(arrays, "w"),
            fingerprint=finite_numbers(arrays, "fingerprint"),
            status=Status[written.pop("status")],
            cuts=cuts,
            history=tuple(map(_step, written.pop("history"))),
            columns=columns_of(arrays),
            **written,
        )

    def save(self, path: str | Path) -> None:
        """Write the result to a file (npz, nothing pickled); an existing file is replaced at once or not at all."""
        write_archive(path, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result that `save` wrote.

        Raises
        ------
        ModelFileError : when the file is not one, is damaged, or comes from a newer version.
        """
        return read_archive(path, cls.from_arrays)
