"""A fit that is kept in a file while it runs, and goes on from there."""

import json
import os
import time
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias, Union

import numpy as np
from attrs import evolve, field, fields, frozen, has

from structsvm.exceptions import CheckpointWarning, ClusterError, InputError, ModelFileError
from structsvm.problem import AbstractProblem, fingerprint, same
from structsvm.result import CutSet, Result, Status, require_known_format
from structsvm.settings import not_negative, require_kind
from structsvm.storage.archives import record
from structsvm.storage.files import check_writable, read_archive, write_archive
from structsvm.types import Vector

_FORMAT = 1

_COST = 0.01
"""Part of the time that may be spent on writing."""

_LIMITS = ("tol", "max_iter")
"""Settings of a solver that say when it ends, not what it does: a fit may go on with others."""

_WAYS_OUT = "give another file for the checkpoint, or delete this one to start afresh"


class Named(Protocol):
    """What a run needs of the solver whose run it is."""

    @property
    def name(self) -> str:
        """The name that the solver is registered by."""


def _as_path(given: Any) -> Path:
    require_kind("a checkpoint", given, str | PathLike, "the path of a file, or a Checkpoint")
    path = Path(given)
    if not path.name:
        raise InputError(f"a checkpoint must be the path of a file, or a Checkpoint, and {path} is a folder")
    return path


@frozen
class Checkpoint:
    """The file that a fit is kept in while it runs. Where it exists, the fit goes on from it.

    It holds the best weights, both bounds, the history, and the cuts with their multipliers, as a `Result` that
    ``Result.load`` reads too: about 8 K d bytes for K cuts of d numbers. It is replaced at once or not at all, so that
    one who is killed while writing leaves the one before. A fit goes on from it on the same data, with the same loss, C
    and settings of the solver; ``tol`` and ``max_iter``, which say when to stop, may be others. It is never removed: a
    fit that has ended and is started again ends at once.

    Parameters
    ----------
    path : the file.
    every : least number of seconds between two writes. Where writing takes so long that it would be more than a
        hundredth of the time, it is done less often. 0 writes after every iteration, however long that takes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm import Problem
    >>> from structsvm.solvers import Checkpoint, OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     OneSlack().solve(problem, checkpoint=Checkpoint(Path(folder) / "run.npz", every=60)).converged
    True
    """

    path: Path = field(converter=_as_path)
    every: float = field(default=60.0, validator=not_negative)

    @classmethod
    def of(cls, given: "CheckpointPath") -> "Checkpoint":
        """Return the checkpoint that a path stands for; a checkpoint as it is.

        Raises
        ------
        InputError : when it is neither.
        """
        return given if isinstance(given, Checkpoint) else cls(given)

    def at(self, C: float) -> "Checkpoint":
        """Return that of one value of C of a path: ``fit.npz`` becomes ``fit.C=10.0.npz``."""
        return evolve(self, path=self.path.with_name(f"{self.path.stem}.C={C!r}{self.path.suffix}"))

    def read(self) -> Result | None:
        """Return what is in the file: the result so far; None where there is no file.

        Raises
        ------
        ModelFileError : when the file is damaged, or something else.
        """
        known = self._read()
        return None if known is None else known[0]

    def _read(self) -> tuple[Result, dict[str, str]] | None:
        if not self.path.exists():
            return None
        try:
            return read_archive(self.path, _contents)
        except ModelFileError as error:
            raise ModelFileError(f"no fit can go on from this checkpoint: {error}; {_WAYS_OUT}") from None


CheckpointPath: TypeAlias = Union[Checkpoint, str, "os.PathLike[str]"]
"""A checkpoint, or the path of its file.

Examples
--------
>>> from structsvm.solvers import Checkpoint
>>> [Checkpoint.of(given).every for given in ("run.npz", Checkpoint("run.npz", every=5.0))]
[60.0, 5.0]
"""

CheckpointLike: TypeAlias = Union[CheckpointPath, "Keeper"]
"""What solvers take as ``checkpoint``: a path or a `Checkpoint` from a user, a `Keeper` from a solver like `Auto`.

Examples
--------
>>> from structsvm.solvers import Keeper, NSlack, OneSlack
>>> keeper = Keeper.of("run.npz", OneSlack())
>>> keeper.checkpoint.path.name
'run.npz'
>>> Keeper.of(keeper, NSlack()) is keeper  # of a solver that the run is handed to
True
"""


class Keeper:
    """Keeps a run in its checkpoint: reads it once, and writes it now and then.

    Make one with `of`.

    Parameters
    ----------
    checkpoint : the file.
    asked : the solver that was asked for. It may hand its run to others, one after the other.

    Attributes
    ----------
    solver : the solver that runs.
    cuts : returns what is needed to go on, at the time of each `SolverState.record`.
    handovers : returns how often a QP backend was helped out.
    known : what was in the file at the beginning; None where there was none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm import Problem
    >>> from structsvm.solvers import Keeper, OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = OneSlack().solve(problem, checkpoint=Path(folder) / "run.npz")
    ...     keeper = Keeper.of(Path(folder) / "run.npz", OneSlack())
    ...     second = OneSlack().solve(problem, checkpoint=keeper)  # goes on from what the first one left
    >>> keeper.known.primal == first.primal, len(second.history) - len(first.history)
    (True, 0)
    """

    def __init__(self, checkpoint: Checkpoint, asked: Named) -> None:
        self.checkpoint = checkpoint
        self.solver = self._asked = asked
        self.cuts: Callable[[], CutSet]
        self.handovers: Callable[[], int] = int
        self.known: Result | None = None
        self._made_of: dict[str, str] = {}
        self._wrote = time.perf_counter()
        self._cost = 0.0

    @classmethod
    def of(
        cls,
        given: CheckpointLike | None,
        solver: Named,
        cuts: Callable[[], CutSet] | None = None,
        handovers: Callable[[], int] = int,
    ) -> "Keeper | None":
        """Return what keeps the run of a solver; None where there is no checkpoint.

        Parameters
        ----------
        given : the checkpoint, its path, or the keeper of a solver that this one works for.
        solver : the solver.
        cuts, handovers : see the attributes; a solver that only hands its run to others has none.

        Raises
        ------
        InputError : when it is none of these.
        """
        if given is None:
            return None
        keeper = given if isinstance(given, Keeper) else cls(Checkpoint.of(given), solver)
        keeper.solver, keeper.handovers = solver, handovers
        if cuts is not None:
            keeper.cuts = cuts
        return keeper

    def begin(self, problem: AbstractProblem, start: Result | None) -> Result | None:
        """Return what to go on from: what is in the file, or where there is none the start that was given.

        Raises
        ------
        InputError : when the file cannot be written, or is of another C, loss or solver, or of data of another size.
        ModelFileError : when it is damaged or something else.
        """
        if self._made_of:  # it was read by the solver that this one works for
            return start
        check_writable(self.checkpoint.path)
        self._made_of = _made_of(problem, self._asked)
        found = self.checkpoint._read()
        if found is None:
            return start
        result, made_of = found
        for name, now in self._made_of.items():
            if made_of.get(name, now) != now:
                raise self._refusal(f"is of a fit with {made_of[name]}, and this one has {now}")
        self.known = evolve(result, status=Status.UNFINISHED)
        return self.known

    def require_same(self, problem: AbstractProblem, seen: Vector) -> None:
        """Require that the data and the loss are those of the file, or that a later run can tell whether they are.

        Parameters
        ----------
        problem : the problem.
        seen : its fingerprint.

        Raises
        ------
        InputError : when they are not, or cannot be told.
        """
        if self.known is None and not same(seen, fingerprint(problem)):
            raise InputError(
                f"this fit cannot be kept in the checkpoint {self.checkpoint.path}, as no later one could tell whether "
                f"its data and loss are the same: the loss {problem.loss.title}, or what it learns from, cannot be "
                "pickled. Leave the checkpoint out, or make the loss of what can be: no lambdas, no open files"
            )
        if self.known is not None and not same(seen, self.known.fingerprint):
            raise self._refusal(
                "is of a fit to other features, labels or weights of examples, or of a loss with other settings or "
                "code (of partitions: other ones of the same rows are other data, too)"
            )

    def due(self) -> bool:
        """Say whether to write again."""
        every = self.checkpoint.every
        return time.perf_counter() - self._wrote >= (every and max(every, self._cost / _COST))

    def write(self, result: Result) -> None:
        """Write the result so far; warn where that fails, as the fit is worth more than its checkpoint.

        Warns
        -----
        CheckpointWarning : when it cannot be written.
        """
        began = time.perf_counter()
        about = np.array(json.dumps({"format": _FORMAT, "made_of": self._made_of}))
        try:
            write_archive(self.checkpoint.path, {"checkpoint": about, **result.arrays()}, compressed=False)
        except InputError as error:
            said = f"the checkpoint of this fit stays as it was before: {error}"
            warnings.warn(said, CheckpointWarning, stacklevel=2)
        self._wrote = time.perf_counter()
        self._cost = self._wrote - began

    def _refusal(self, what: str) -> InputError:
        return InputError(f"the checkpoint {self.checkpoint.path} {what}: {_WAYS_OUT}")


def without_workers(error: ClusterError, keeper: Keeper | None) -> ClusterError:
    """Return the error of a run that lost its workers, with what is left of the run."""
    if keeper is None:
        return ClusterError(f"{error}. Nothing of this fit is kept; checkpoint=PATH keeps one while it runs")
    path = keeper.checkpoint.path
    left = f"The same fit goes on from {path}" if path.exists() else f"There is nothing in {path} yet"
    return ClusterError(f"{error}. {left}")


def _contents(arrays: Any) -> tuple[Result, dict[str, str]]:
    about = record(arrays, "checkpoint")
    require_known_format(about.pop("format", None), _FORMAT)
    made_of = about.get("made_of")
    if not isinstance(made_of, dict) or not all(isinstance(text, str) for text in made_of.values()):
        raise ValueError("it does not say what the fit was made of")
    return Result.from_arrays(arrays), made_of


def _made_of(problem: AbstractProblem, solver: Named) -> dict[str, str]:
    """Return in words what must be the same when a fit goes on, beside what the fingerprint tells."""
    loss, kind = problem.loss.title, type(solver).__name__
    settings = {name: value for name, value in _settings(solver).items() if name not in _LIMITS}
    return {
        "loss": f"the loss {loss}",
        **{f"loss.{name}": f"{loss}({name}={text})" for name, text in _settings(problem.loss).items()},
        "C": f"C = {problem.C!r}",
        "data": f"{problem.n} examples and {problem.d} weights",
        "solver": f"the solver {kind}",
        **{f"solver.{name}": f"{kind}({name}={text})" for name, text in settings.items()},
    }


def _settings(thing: Any) -> dict[str, str]:
    """Return the settings of an attrs object as text that is the same in any process."""
    return {each.name: _text(getattr(thing, each.name)) for each in fields(type(thing))} if has(type(thing)) else {}


def _text(value: Any) -> str:
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    return f"{type(value).__name__}({', '.join(f'{name}={text}' for name, text in _settings(value).items())})"
