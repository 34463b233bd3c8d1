"""The result of a solver: weights, bounds that certify them, and the data for a restart."""

import json
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Self

import numpy as np
from attrs import asdict, evolve, field, fields, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError, ModelFileError, TooLargeError, brief
from structsvm.foundation.memory import in_units
from structsvm.foundation.settings import (
    is_integer,
    is_number,
    require_choice,
    require_integer,
    require_number,
    require_switch,
)
from structsvm.foundation.storage.archives import finite_numbers, json_object, require_names, require_numbers, shape
from structsvm.foundation.storage.files import read_archive, write_archive
from structsvm.foundation.types import IntVector, Vector

_FORMAT = 2
"""Format of results in files."""

_WRITTEN = (
    *("primal", "dual", "certified", "inference_gap", "C", "tol", "status"),
    *("solver", "solver_name", "handovers", "groups", "history"),
)

_ESTIMATE = "The argmax is inexact and returns no bound, so the primal is an estimate and may be too low"


class Status(Enum):
    """The reason why a solver stopped, as a sentence.

    Examples
    --------
    >>> Status.CONVERGED.value
    'the certified gap is within tol * C'
    """

    CONVERGED = "the certified gap is within tol * C"
    ESTIMATED = (
        "the gap is within tol * C, but only by an estimate: the argmax is inexact, so the primal may be too low; "
        "the dual is certain"
    )
    INFERENCE_LIMIT = (
        "the certified gap is above tol * C, but only because the argmax is approximate: without the part that comes "
        "from its bounds, the gap is within tol * C. Use a more accurate argmax to shrink it"
    )
    ITERATION_LIMIT = "the limit of iterations was reached before the gap was within tol * C"
    STALLED = (
        "the gap no longer shrinks: rounding, an inexact QP backend or an approximate argmax prevents this tol. Scale "
        "the features (Ranker: normalize='standard'), or choose another solver, a smaller C or a larger tol"
    )
    INTERRUPTED = "interrupted: this is the best result so far"
    STOPPED = "stopped by the callback: this is the best result so far"
    UNFINISHED = "stored in a checkpoint while the solver was running: this is the best result so far"

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Return the class and the value, for skops, which does not call the `__reduce_ex__` of enums."""
        return type(self), (self.value,)


@frozen
class Step:
    """One iteration of a solver, 0 for the start, with counts, seconds and bounds so far.

    Each of the ``passes`` over the data evaluates all scores and combines all features. ``argmaxes`` counts
    loss-augmented argmaxes per example, including the fingerprint's. ``oracle_seconds`` are spent on scores and
    argmaxes, ``solver_seconds`` on QPs or Frank-Wolfe steps with stored planes. ``active_cuts`` have a positive
    multiplier. ``calls`` to a cluster's workers, and bytes ``sent`` to and by them, are 0 for local data. Compiling
    machine code, mostly in the first fit after an installation, is in ``compile_seconds`` and in no other seconds.
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
    compile_seconds: float = 0.0
    argmaxes: float = 0.0

    @property
    def gap(self) -> float:
        """Best primal minus best dual."""
        return self.primal - self.dual


def columns_of(arrays: Mapping[str, Any]) -> IntVector | None:
    """Return the columns that the weights in a file belong to, validated; None: all."""
    if "columns" not in arrays:
        return None
    require_numbers(arrays, "columns", (shape(arrays, "columns")[0],), np.int64)
    columns = finite_numbers(arrays, "columns")
    if len(columns) == 0 or columns[0] < 0 or (np.diff(columns) <= 0).any():
        raise ValueError("'columns' must be column indices in ascending order")
    return columns


def full_coef(w: Vector, columns: IntVector | None, n_features: int) -> Vector:
    """Return weights of all features, 0 outside ``columns``; further weights follow. See `Result.full_coef`."""
    if columns is None:
        return w
    count = len(columns)
    try:
        full = np.zeros(n_features + len(w) - count)
    # NumPy raises ValueError if the size exceeds the index type.
    except (MemoryError, ValueError):
        raise TooLargeError(
            f"{n_features:,} weights take {in_units(8.0 * n_features)}, more memory than is available: renumber "
            "the features without gaps"
        ) from None
    full[columns], full[n_features:] = w[:count], w[count:]
    return full


def _step(row: Any) -> Step:
    """Return a step from its list of numbers in a file."""
    count = len(fields(Step))
    if not (isinstance(row, list) and len(row) == count and all(map(is_number, row))):
        raise ValueError(f"a step of 'history' must be {count} numbers, got {brief(row)}")
    return Step(*row)


def require_format(written: Any, expected: int) -> None:
    """Raise `ModelFileError` unless this version reads the format of a file."""
    if not is_integer(written) or written != expected:
        raise ModelFileError(
            f"another version of structural-svm wrote it (format {written!r}; this version reads format {expected}): "
            "use that version"
        )


def _sparse(arrays: Mapping[str, Any], rows: int, d: int) -> Any:
    """Return the sparse cuts in a file, validated."""
    # Predictions need only NumPy.
    import scipy.sparse as sp

    G = finite_numbers(arrays, "G")
    for name, size in (("G_columns", len(G)), ("G_ptr", rows + 1)):
        require_numbers(arrays, name, (size,), np.int64)
    columns, ptr = (np.asarray(arrays[name]) for name in ("G_columns", "G_ptr"))
    if ptr[0] != 0 or ptr[-1] != len(G) or (np.diff(ptr) < 0).any():
        raise ValueError(f"'G_ptr' must begin with 0, never fall and end with {len(G)}")
    if len(G) and not (columns.min() >= 0 and columns.max() < d):
        raise ValueError(f"'G_columns' must be from 0 to {d - 1}, got {columns.min()} to {columns.max()}")
    return sp.csr_array((G, columns, ptr), shape=(rows, d))


@frozen(eq=False)
class CodeSet:
    """Codes c of the K planes ``A_i' c`` that have weight after Frank-Wolfe's steps in scores.

    Parameters
    ----------
    example : the example i of each code, ascending, shape (K,).
    L, a : losses and positive multipliers, shape (K,).
    ptr : code k has the entries from ``ptr[k]`` to ``ptr[k + 1]``, shape (K + 1,).
    where, entry : the scores that have coefficients, and the coefficients; shared scores follow the example's own.
    """

    example: IntVector = field(repr=False)
    L: Vector = field(repr=False)
    a: Vector = field(repr=False)
    ptr: IntVector = field(repr=False)
    where: NDArray[np.uint32] = field(repr=False)
    entry: Vector = field(repr=False)

    def __len__(self) -> int:
        return len(self.L)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Make it from the arrays of a result."""
        (K,), (entries,) = shape(arrays, "code_L"), shape(arrays, "code_entry")
        sizes = {"example": K, "L": K, "a": K, "ptr": K + 1, "where": entries, "entry": entries}
        types: dict[str, type[np.generic]] = {"example": np.int64, "ptr": np.int64, "where": np.uint32}
        for name, size in sizes.items():
            require_numbers(arrays, f"code_{name}", (size,), types.get(name, np.float64))
        codes = cls(**{name: finite_numbers(arrays, f"code_{name}") for name in sizes})
        if not (codes.a > 0.0).all():
            raise ValueError("'code_a' must be positive")
        if codes.ptr[0] != 0 or codes.ptr[-1] != entries or (np.diff(codes.ptr) < 0).any():
            raise ValueError(f"'code_ptr' must ascend from 0 to {entries}")
        if K and (codes.example[0] < 0 or (np.diff(codes.example) < 0).any()):
            raise ValueError("'code_example' must ascend from 0 or more")
        return codes

    def arrays(self) -> dict[str, Any]:
        """Return the codes as arrays for a file; `from_arrays` reads them."""
        return {f"code_{name}": value for name, value in asdict(self).items()}


@frozen(eq=False)
class CutSet:
    """The final working set of cuts ``w·G[k] ≥ L[k] − ξ``, from which any solver can restart.

    Parameters
    ----------
    G, L : the cuts, shapes (K, d) and (K,). ``G`` is a CSR array if the joint features of a generic loss are sparse.
    group : group of each cut, shape (K,): all 0 for 1-slack, the example for n-slack.
    a : multipliers, shape (K,), not negative.
    groups : number of groups.
    codes : the planes of the examples, if ``G`` and ``L`` hold only their weighted mean; None: they hold all planes.

    Examples
    --------
    >>> len(CutSet.none(d=3, groups=1))
    0
    """

    G: Any = field(repr=False)
    L: Vector = field(repr=False)
    group: IntVector = field(repr=False)
    a: Vector = field(repr=False)
    groups: int
    codes: CodeSet | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.L)

    @classmethod
    def none(cls, d: int, groups: int) -> Self:
        """Return no cuts of d weights."""
        return cls(np.zeros((0, d)), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0), groups)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], groups: Any) -> Self:
        """Make cuts from the arrays of a result and the number of groups, as in `Result.from_arrays`."""
        require_integer("groups", groups, 0)
        (K,), (d,) = shape(arrays, "L"), shape(arrays, "w")
        for name in ("L", "a"):
            require_numbers(arrays, name, (K,))
        require_numbers(arrays, "group", (K,), np.int64)
        sparse = "G_columns" in arrays
        require_numbers(arrays, "G", (None,) if sparse else (K, d))
        group, a = finite_numbers(arrays, "group"), finite_numbers(arrays, "a")
        if (a < 0.0).any():
            raise ValueError("'a' must not be negative")
        if K and not (group.min() >= 0 and group.max() < groups):
            raise ValueError(f"'group' must be from 0 to {groups - 1}, got {group.min()} to {group.max()}")
        G = _sparse(arrays, K, d) if sparse else finite_numbers(arrays, "G")
        codes = CodeSet.from_arrays(arrays) if "code_L" in arrays else None
        return cls(G, finite_numbers(arrays, "L"), group, a, groups, codes)

    def arrays(self) -> dict[str, Any]:
        """Return the cuts as arrays for a file; `from_arrays` reads them."""
        names = ("L", "group", "a")
        others = {name: getattr(self, name) for name in names}
        if self.codes is not None:
            others |= self.codes.arrays()
        if isinstance(self.G, np.ndarray):
            return {"G": self.G, **others}
        columns, ptr = (part.astype(np.int64) for part in (self.G.indices, self.G.indptr))
        return {"G": self.G.data, "G_columns": columns, "G_ptr": ptr, **others}

    def scaled(self, cap: Vector) -> Vector:
        """Return the multipliers times the best common factor for other caps, shape (groups,)."""
        total = np.bincount(self.group, weights=self.a, minlength=len(cap))
        largest = np.divide(cap, total, out=np.full(len(cap), np.inf), where=total > 0.0).min()
        w = self.a @ self.G
        norm = float(w @ w)
        scale = min(largest, float(self.a @ self.L) / norm if norm > 0.0 else np.inf)
        return np.asarray(self.a * scale) if 0.0 < scale < np.inf else np.zeros_like(self.a)


@frozen(eq=False, kw_only=True)
class Result:
    """The best weights found, with bounds that certify them.

    The optimum lies between ``dual`` and ``primal``; structsvm computes both in float64 and does not rely on a QP
    backend. If the loss's argmax is approximate, ``dual`` is still a lower bound of the optimum. ``primal`` is an upper
    bound if the argmax returns bounds (`ScoreLoss.bounded`), and otherwise an estimate, which may be too low.

    Parameters
    ----------
    w : the best weights, shape (d,), with the smallest ``primal − inference_gap``.
    primal : the objective ``P(w)`` or an upper bound; if not ``certified``, the largest known lower bound of ``P(w)``.
    dual : the best lower bound of the optimum.
    C : weight of the mean hinge in this problem.
    tol : target gap, in units of the loss: converged when ``primal − dual ≤ tol · C``.
    status : reason why the solver stopped; `message` describes it.
    solver : the settings of the solver, as text.
    solver_name : name of the solver that ran, which "auto" chose.
    handovers : number of QPs that the QP backend left to the built-in one.
    history : one step for the start and one per iteration.
    cuts : the final working set.
    fingerprint : numbers that identify the data and the loss; empty if the run was interrupted before they were
        computed.
    certified : True if ``primal`` is an upper bound and the gap a certificate, because the loss's argmax is exact or
        returns bounds.
    inference_gap : the part of the gap that approximate argmaxes leave: the weighted sum over examples of the bound
        minus the output's value, at ``w``. 0 if the argmax is exact, or not ``certified``.
    columns : ascending columns of the features that ``w`` and the cuts belong to, if an estimator left out empty
        columns of sparse data; None: all.

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
    solver_name: str = field(repr=False)
    handovers: int
    history: tuple[Step, ...] = field(repr=False)
    cuts: CutSet
    fingerprint: Vector = field(repr=False)
    certified: bool = True
    inference_gap: float = 0.0
    columns: IntVector | None = field(default=None, repr=False)

    def full_coef(self, n_features: int) -> Vector:
        """Return the weights of all features, 0 for features outside `columns`; further weights follow."""
        return full_coef(self.w, self.columns, n_features)

    def is_of(self, columns: IntVector | None) -> bool:
        """Return True if the weights belong to these columns of the features; None: all columns."""
        if self.columns is None or columns is None:
            return self.columns is columns
        return np.array_equal(self.columns, columns)

    def of_columns(self, columns: IntVector | None, n_features: int) -> Self:
        """Return the result for other columns (None: all) of the same features; only its weights carry over."""
        if len(self.w) < n_features if self.columns is None else self.columns[-1] >= n_features:
            raise InputError(f"start has weights of more than {n_features} features: use a result of the same features")
        full = self.full_coef(n_features)
        w = full if columns is None else np.concatenate([full[columns], full[n_features:]])
        cuts = CutSet.none(len(w), self.cuts.groups)
        return evolve(self, w=w, cuts=cuts, fingerprint=np.zeros(0), columns=columns)

    def of_weights(self, chosen_columns: IntVector, fingerprint: Vector) -> Self:
        """Return a start for the problem with only some of the weights, ascending; ``fingerprint`` is the problem's.

        Planes and cuts without the features of the dropped weights are planes and cuts of that problem. This holds if
        the regularizer pulls weights to 0.
        """
        G = self.cuts.G[:, chosen_columns]
        cuts = evolve(self.cuts, G=np.ascontiguousarray(G) if isinstance(G, np.ndarray) else G, codes=None)
        unknown = evolve(self, primal=np.inf, dual=-np.inf, history=())
        return evolve(unknown, w=self.w[chosen_columns], cuts=cuts, fingerprint=fingerprint)

    @property
    def gap(self) -> float:
        """``primal − dual``: ``P(w)`` is at most this far above the optimum if ``certified``."""
        return self.primal - self.dual

    @property
    def converged(self) -> bool:
        """True if the gap is at most ``tol · C``; the gap is an estimate if not ``certified``."""
        return self.gap <= self.tol * self.C

    @property
    def message(self) -> str:
        """The reason why the solver stopped, and a note if the primal is an estimate."""
        if self.certified or self.status is Status.ESTIMATED:
            return self.status.value
        return f"{self.status.value}. {_ESTIMATE}"

    def arrays(self) -> dict[str, Any]:
        """Return the result as arrays for a file; `from_arrays` reads them."""
        history = [list(asdict(step).values()) for step in self.history]
        others = {"status": self.status.name, "groups": self.cuts.groups, "history": history}
        values = {name: others[name] if name in others else getattr(self, name) for name in _WRITTEN}
        return {
            "result": np.array(json.dumps({"format": _FORMAT, **values})),
            "w": self.w,
            "fingerprint": self.fingerprint,
            **({} if self.columns is None else {"columns": self.columns}),
            **self.cuts.arrays(),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Make a result from arrays of a file, which it validates; raise ModelFileError, KeyError or ValueError."""
        written = json_object(arrays, "result")
        require_format(written.pop("format"), _FORMAT)
        require_names("the result", written, _WRITTEN, _WRITTEN)
        for name in ("primal", "dual"):
            require_number(name, written[name])
        for name in ("C", "tol"):
            require_number(name, written[name], above=0.0)
        require_integer("handovers", written["handovers"], 0)
        require_switch("certified", written["certified"])
        require_number("inference_gap", written["inference_gap"])
        require_choice("status", written["status"], Status.__members__)
        for name in ("solver", "solver_name"):
            if not isinstance(written[name], str):
                raise ValueError(f"{name} must be text, got {brief(written[name])}")
        (d,), (size,) = shape(arrays, "w"), shape(arrays, "fingerprint")
        require_numbers(arrays, "w", (d,))
        require_numbers(arrays, "fingerprint", (size,))
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
        """Write the result to a file (npz without pickles); an existing file is replaced atomically."""
        write_archive(path, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result that `save` wrote; raise `ModelFileError` if the file is damaged or has another format."""
        return read_archive(path, cls.from_arrays)
