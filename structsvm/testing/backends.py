"""Check a QP backend."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from attrs import evolve, frozen

from structsvm.exceptions import CheckError, StructSVMError
from structsvm.foundation.settings import require_integer, require_kind
from structsvm.solvers.qp.active_set import ActiveSet
from structsvm.solvers.qp.base import DualQP, QPBackend, QPSolution
from structsvm.solvers.qp.general import GeneralBackend

ACCURACY = 1e-6
"""Target gap as a fraction of the optimum; the solvers use smaller targets."""

_NEAR = 1e-2
"""Fraction of the gap of zero multipliers, below which a failed attempt lacks accuracy and not a sign or a unit."""

MOST_HANDED_OVER = 0.25
"""Fraction of the cold solves that a backend may hand over to the built-in backend."""


def check_backend(backend: QPBackend, *, random_state: int = 0, sequences: Iterable[Sequence[DualQP]] = ()) -> None:
    """Check that a backend solves the quadratic programs of a cutting-plane solver.

    The check solves growing sequences of random programs. It solves each program cold and from the previous solution,
    and then with other caps. Programs have one group or many, C from 1e-3 to 1e5, repeated cuts, and Gram matrices of
    full and of deficient rank, which are views of larger matrices. The check requires that

    - `solve` raises no error and writes to neither the program nor the start,
    - the multipliers are feasible and the reported gap is the true gap,
    - the gap reaches its target, or the limit of float64,
    - a second solve from the same start returns the same multipliers,
    - at most a quarter of the programs are handed over to the built-in solver.

    Parameters
    ----------
    backend : the backend to check.
    random_state : seed of the random programs.
    sequences : more sequences to check, with their own ``tol``; the cuts of a program must be the first ones of the
        next.

    Raises
    ------
    CheckError : the first mistake found; the message gives the program (and its rank, if its Gram matrix is
        deficient), the expected and the actual value.

    Examples
    --------
    >>> from structsvm.solvers.qp import ActiveSet
    >>> check_backend(ActiveSet())
    """
    require_kind("backend", backend, QPBackend, "a QPBackend")
    require_integer("random_state", random_state, 0)
    programs = 0
    handed_over: list[tuple[str, DualQP]] = []
    for label, qps in _labeled(random_state, sequences):
        solution: QPSolution | None = None
        for qp in qps:
            place = f"{label}, {_describe(qp)}"
            cold = _check_solve(backend, qp, None, f"{place}, from nothing")
            solution = _check_solve(backend, qp, solution, f"{place}, from the solution before") if solution else cold
            programs += 1
            if cold.handed_over:
                handed_over.append((place, qp))
    if len(handed_over) > MOST_HANDED_OVER * programs:
        raise CheckError(
            f"{backend!r} handed over {len(handed_over)} of {programs} programs to the built-in solver: expected "
            f"it to solve most of them itself.{_attempts(backend, *handed_over[0])}"
        )


def _attempts(backend: QPBackend, place: str, qp: DualQP) -> str:
    """Describe the result of a general backend's attempts at a program."""
    if not isinstance(backend, GeneralBackend):
        return ""
    gaps = [qp.gap(qp.project(attempt.a)) for attempt in backend.attempts(qp, None)]
    if not gaps:
        return f" On {place}, it yielded no attempt: look at the errors and statuses of the solver."
    advice = "check that signs and units are as in DualQP, and that multipliers are scaled back"
    if min(gaps) < _NEAR * qp.gap(np.zeros(qp.size)):
        advice = f"raise the solver's accuracy, because the target is {qp.tol:.3g}"
    return f" On {place}, its attempts left gaps of {', '.join(f'{gap:.3g}' for gap in gaps)}: {advice}."


def _check_solve(backend: QPBackend, qp: DualQP, start: QPSolution | None, place: str) -> QPSolution:
    arrays = [array.copy() for array in (qp.H, qp.b, qp.group, qp.cap)]
    begun = None if start is None else start.a.copy()
    solution = _solved(backend, qp, start, place)

    def require(truth: bool, expected: str, got: object) -> None:
        if not truth:
            raise CheckError(f"{backend!r} on {place}: expected {expected}, got {got}.")

    unchanged = all(np.array_equal(a, b) for a, b in zip(arrays, (qp.H, qp.b, qp.group, qp.cap), strict=True))
    require(unchanged, "unchanged arrays of the program", "other values")
    require(begun is None or start is None or np.array_equal(start.a, begun), "unchanged start.a", "other values")

    require(isinstance(solution, QPSolution), "a QPSolution", type(solution).__name__)
    a = solution.a
    require(a.shape == (qp.size,), f"multipliers of shape ({qp.size},)", f"shape {a.shape}")
    require(bool(np.isfinite(a).all()), "finite multipliers", a)
    require(bool((a >= 0.0).all()), "multipliers of at least 0", f"a smallest one of {a.min()}")
    used = np.bincount(qp.group, weights=a, minlength=len(qp.cap)) / qp.cap
    require(bool((used <= 1.0 + 1e-9).all()), "groups within their caps", f"{used.max()} times a cap")

    true_gap = qp.gap(a)
    rounding = 10.0 * qp.resolution(a) + 1e-10 * abs(qp.dual(a))
    require(abs(solution.gap - true_gap) <= rounding, f"the true gap, {true_gap:.6g}", f"gap={solution.gap:.6g}")
    require(true_gap <= max(qp.tol, rounding), f"a gap of at most {qp.tol:.3g}", f"{true_gap:.3g}")

    again = _solved(backend, qp, start, place)
    difference = float(np.abs(again.a - a).max(initial=0.0))
    require(np.array_equal(again.a, a), "the same multipliers from the same start", f"a difference of {difference:.3g}")
    return solution


def _solved(backend: QPBackend, qp: DualQP, start: QPSolution | None, place: str) -> QPSolution:
    try:
        return backend.solve(qp, start)
    except (StructSVMError, MemoryError):
        raise
    except Exception as error:
        raise CheckError(
            f"{backend!r} on {place}: expected a solution, and solve raised {type(error).__name__}: {error}"
        ) from error


@frozen
class _Case:
    """A kind of sequence: its numbers of cuts and its settings."""

    sizes: tuple[int, ...]
    d: int
    groups: int
    C: float
    repeat: bool = False


_CASES = (
    _Case((1, 2, 3, 8, 20), d=50, groups=1, C=1e-3),
    _Case((1, 5, 6, 15, 16, 17, 40), d=4, groups=1, C=1.0),
    _Case((1, 4, 12, 13, 30), d=30, groups=1, C=1e2, repeat=True),
    _Case((2, 10, 11, 12, 35), d=8, groups=1, C=1e5),
    _Case((10, 30, 40), d=60, groups=10, C=1e-3),
    _Case((1, 8, 25, 26, 27, 60), d=6, groups=7, C=10.0, repeat=True),
    _Case((6, 18, 19, 50), d=5, groups=6, C=1e5),
)


def _labeled(random_state: int, sequences: Iterable[Sequence[DualQP]]) -> Iterator[tuple[str, Sequence[DualQP]]]:
    for case in _CASES:
        yield f"seed {random_state}, d={case.d}, C={case.C:g}", _random_sequence(case, random_state)
    for number, qps in enumerate(sequences):
        yield f"sequences[{number}]", qps


def _random_sequence(case: _Case, random_state: int) -> list[DualQP]:
    """Draw cuts and return their programs with a fixed accuracy; the last programs have other caps."""
    random = np.random.default_rng([random_state, case.d, case.groups])
    size = case.sizes[-1]
    cuts = random.normal(size=(size, case.d)) / np.sqrt(case.d) + random.normal(size=case.d) / case.d
    offsets = random.uniform(0.0, 1.0, size)
    group = random.integers(case.groups, size=size)
    if case.repeat:
        source = random.integers(size, size=size // 3)
        target = random.integers(size, size=size // 3)
        cuts[target], offsets[target], group[target] = cuts[source], offsets[source], group[source]
    cap = case.C / case.groups * random.uniform(0.5, 1.5, case.groups)

    buffer = np.full((size + 3, size + 3), np.nan)
    buffer[:size, :size] = cuts @ cuts.T
    steps = [(k, 1.0) for k in case.sizes] + [(size, 3.0), (size, 0.2)]
    return [_accurate(DualQP(buffer[:k, :k], offsets[:k], group[:k], factor * cap, 0.0)) for k, factor in steps]


def _accurate(qp: DualQP) -> DualQP:
    """Set a tolerance that is small compared with the optimum."""
    return evolve(qp, tol=ACCURACY * qp.dual(ActiveSet().solve(qp).a))


def _describe(qp: DualQP) -> str:
    rank = int(np.linalg.matrix_rank(qp.H, hermitian=True))
    deficient = f", Gram matrix of deficient rank, {rank}" if rank < qp.size else ""
    caps = f"caps {qp.cap.min():.3g} to {qp.cap.max():.3g}"
    return f"{qp.size} cuts in {len(qp.cap)} groups, {caps}, tol {qp.tol:.3g}{deficient}"
