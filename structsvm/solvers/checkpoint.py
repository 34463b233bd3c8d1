"""Checkpoints: files in which a running fit is stored, and from which it resumes."""

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
from structsvm.foundation.settings import as_path, not_negative, require_kind
from structsvm.foundation.storage.archives import json_object
from structsvm.foundation.storage.artefacts import ANY
from structsvm.foundation.storage.files import check_writable, read_archive, write_archive
from structsvm.foundation.types import Vector
from structsvm.problem import fingerprint
from structsvm.problem.base import AbstractProblem
from structsvm.problem.fingerprint import same
from structsvm.result import CutSet, Result, Status, require_format

_FORMAT = 1

_COST = 0.01
"""Largest fraction of the time spent on writing."""

_LIMITS = ("tol", "max_iter")
"""Settings that decide only when a solver stops; a fit may resume with other values."""

_WAYS_OUT = "choose another file for the checkpoint, or delete this file to start afresh"


class Named(Protocol):
    """An object with a name: a solver."""

    @property
    def name(self) -> str:
        """Registered name of the solver."""


def _as_path(value: Any) -> Path:
    require_kind("a checkpoint", value, str | PathLike, "the path of a file, or a Checkpoint")
    path = as_path("a checkpoint", value)
    if not path.name:
        raise InputError(f"a checkpoint must be a file, but {path} is a folder: add the name of a file")
    return path


@frozen
class Checkpoint:
    """The file that stores a running fit; if the file exists, the fit resumes from it.

    It contains the best weights, both bounds, the history, and the cuts with their multipliers, which ``Result.load``
    reads too: about 8 K d bytes for K cuts of d numbers. Writes are atomic, so a kill leaves the previous version. A
    fit resumes with the same data, loss, C and solver settings; only ``tol`` and ``max_iter`` may change. The file is
    never removed: restarting a finished fit ends at once.

    Parameters
    ----------
    path : the file.
    every : minimum number of seconds between writes; it grows if writes would take more than a hundredth of the time.
        0: write after every iteration, however long that takes.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers import OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> OneSlack().solve(problem, checkpoint=Checkpoint("fit.npz", every=60)).converged
    True
    """

    path: Path = field(converter=_as_path)
    every: float = field(default=60.0, validator=not_negative)

    @classmethod
    def of(cls, value: "CheckpointPath") -> "Checkpoint":
        """Return a checkpoint for a path, or a checkpoint unchanged; reject anything else."""
        return value if isinstance(value, Checkpoint) else cls(value)

    def at(self, C: float) -> "Checkpoint":
        """Return the checkpoint for one C of a path of values: ``fit.npz`` becomes ``fit.C=10.0.npz``."""
        return self._beside(f"C={C!r}")

    def of_fold(self, number: int) -> "Checkpoint":
        """Return the checkpoint for a fold, from 1: ``fit.npz`` becomes ``fit.fold=1.npz``."""
        return self._beside(f"fold={number}")

    def _beside(self, name: str) -> "Checkpoint":
        return evolve(self, path=self.path.with_name(f"{self.path.stem}.{name}{self.path.suffix}"))

    def read(self) -> Result | None:
        """Return the result so far, or None without a file; raise `ModelFileError` if the file is damaged."""
        content = self._read()
        return None if content is None else content[0]

    def _read(self) -> tuple[Result, dict[str, str]] | None:
        if not self.path.exists():
            return None
        try:
            return read_archive(self.path, _contents)
        except ModelFileError as error:
            raise ModelFileError(f"cannot resume from this checkpoint: {error}; {_WAYS_OUT}") from None


CheckpointPath: TypeAlias = Union[Checkpoint, str, "os.PathLike[str]"]
"""A checkpoint, or the path of its file."""

CheckpointLike: TypeAlias = Union[CheckpointPath, "CheckpointWriter"]
"""Argument ``checkpoint`` of solvers; solvers that delegate their run, such as `Auto`, pass a `CheckpointWriter`."""


class CheckpointWriter:
    """Reader and writer of a run's checkpoint: it reads the file once and writes it from time to time. Made by `of`.

    Parameters
    ----------
    checkpoint : the file.
    asked : the user's solver, which may pass its run on to other solvers.

    Attributes
    ----------
    solver : the solver that runs.
    cuts : function that returns the cuts needed to resume, current at each `SolverState.record`.
    handovers : function that returns the number of QPs handed to the built-in backend.
    known : the initial content of the file; None if it did not exist.

    Examples
    --------
    >>> from structsvm import Problem
    >>> from structsvm.solvers import OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> first = OneSlack().solve(problem, checkpoint="run.npz")
    >>> keeper = CheckpointWriter.of("run.npz", OneSlack())
    >>> second = OneSlack().solve(problem, checkpoint=keeper)  # resumes from the first run
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
        value: CheckpointLike | None,
        solver: Named,
        cuts: Callable[[], CutSet] | None = None,
        handovers: Callable[[], int] = int,
    ) -> "CheckpointWriter | None":
        """Return the writer of a run, shared with a solver that delegates to ``solver``; None without a checkpoint."""
        if value is None:
            return None
        keeper = value if isinstance(value, CheckpointWriter) else cls(Checkpoint.of(value), solver)
        keeper.solver, keeper.handovers = solver, handovers
        if cuts is not None:
            keeper.cuts = cuts
        return keeper

    def begin(self, problem: AbstractProblem, start: Result | None) -> Result | None:
        """Return the result to resume from: the file's content, or ``start`` without a file."""
        # The solver that delegates to this one has read the file.
        if self._made_of:
            return start
        check_writable(self.checkpoint.path, ANY)
        self._made_of = _made_of(problem, self._asked)
        content = self.checkpoint._read()
        if content is None:
            return start
        result, made_of = content
        for name, now in self._made_of.items():
            if made_of.get(name, now) != now:
                raise self._refusal(f"belongs to a fit with {made_of[name]}, and this fit has {now}")
        self.known = evolve(result, status=Status.UNFINISHED)
        return self.known

    def require_same(self, problem: AbstractProblem, seen: Vector) -> None:
        """Raise `InputError` if this fingerprint differs from the file's, or if a later run could not reproduce it."""
        if self.known is None and not same(seen, fingerprint(problem)):
            raise InputError(
                f"this fit cannot use the checkpoint {self.checkpoint.path}: the loss {problem.loss.title} or its data "
                "cannot be pickled, so a later fit could not compare them. Leave the checkpoint out, or remove lambdas "
                "and open files from the loss"
            )
        if self.known is not None and not same(seen, self.known.fingerprint):
            raise self._refusal(
                "belongs to a fit with other features, labels, example weights or partitions, or to a loss with other "
                "settings or code"
            )

    def due(self) -> bool:
        """Return True if it is time to write."""
        every = self.checkpoint.every
        return time.perf_counter() - self._wrote >= (every and max(every, self._cost / _COST))

    def write(self, result: Result) -> None:
        """Write the result so far; if that fails, warn (`CheckpointWarning`) and continue."""
        began = time.perf_counter()
        about = np.array(json.dumps({"format": _FORMAT, "made_of": self._made_of}))
        try:
            write_archive(self.checkpoint.path, {"checkpoint": about, **result.arrays()}, compressed=False)
        except InputError as error:
            said = f"the checkpoint was not updated and keeps its previous state: {error}"
            warnings.warn(said, CheckpointWarning, stacklevel=2)
        self._wrote = time.perf_counter()
        self._cost = self._wrote - began

    def _refusal(self, what: str) -> InputError:
        return InputError(f"the checkpoint {self.checkpoint.path} {what}: {_WAYS_OUT}")


def without_workers(error: ClusterError, keeper: CheckpointWriter | None) -> ClusterError:
    """Return the error for a run that lost its workers, naming its checkpoint."""
    if keeper is None:
        return ClusterError(f"{error}. This fit is lost; with checkpoint=PATH, the next one can resume")
    path = keeper.checkpoint.path
    left = f"The same fit resumes from {path}" if path.exists() else f"{path} has not been written yet"
    return ClusterError(f"{error}. {left}")


def _contents(arrays: Any) -> tuple[Result, dict[str, str]]:
    about = json_object(arrays, "checkpoint")
    require_format(about.pop("format", None), _FORMAT)
    made_of = about.get("made_of")
    if not isinstance(made_of, dict) or not all(isinstance(text, str) for text in made_of.values()):
        raise ValueError("'made_of' is missing or is not a table of texts")
    return Result.from_arrays(arrays), made_of


def _made_of(problem: AbstractProblem, solver: Named) -> dict[str, str]:
    """Describe in words the settings that must not change when a fit resumes; the fingerprint covers the data."""
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
    """Return the settings of an attrs object as text that is the same in every process."""
    return {item.name: _text(getattr(thing, item.name)) for item in fields(type(thing))} if has(type(thing)) else {}


def _text(value: Any) -> str:
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    return f"{type(value).__name__}({', '.join(f'{name}={text}' for name, text in _settings(value).items())})"
