"""Store the quadratic programs of a fit in files, with their optima."""

from pathlib import Path
from typing import ClassVar

import numpy as np
from attrs import define, field

from structsvm.exceptions import InputError
from structsvm.foundation.settings import as_path
from structsvm.foundation.storage.archives import Archive
from structsvm.foundation.storage.files import read_archive, require_empty, write_archive
from structsvm.registry import backends
from structsvm.solvers.qp.active_set import ActiveSet
from structsvm.solvers.qp.base import DualQP, QPBackend, QPSolution


def _folder(value: str | Path) -> Path:
    return as_path("folder", value)


@define(eq=False)
class Recorder(QPBackend):
    """A backend that stores its quadratic programs in a folder, with their optima.

    Use it in a ``with`` statement. Each program of a fit has the cuts of the program before it and a few more, until
    the fit drops cuts. Each file, ``0000.npz``, ``0001.npz``, ..., has one growing sequence, of N programs with up to K
    cuts in G groups, in these arrays:

    - ``H``, ``b``, ``group``, ``cap``: the last program (`DualQP`); program n has the first ``sizes[n]`` of its cuts,
    - ``sizes``, ``tol``: number of cuts and target gap of each program, shape (N,),
    - ``a``: multipliers of each optimum, shape (N, K), 0 at later cuts,
    - ``dual``, ``gap``: value of each optimum and its certified gap, shape (N,),
    - ``handed_over``: True if ``backend`` left the program to the built-in backend or raised an error, shape (N,).

    The optima are computed by `ActiveSet`, to the accuracy of float64.

    Parameters
    ----------
    folder : folder for the files; new or empty.
    backend : backend that solves the programs of the fit, by name or as an object.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from structsvm import Problem
    >>> from structsvm.solvers import OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> with Recorder(mkdtemp()) as recorder:
    ...     result = OneSlack(backend=recorder).solve(problem)
    >>> file = np.load(recorder.folder / "0000.npz")
    >>> bool(file["sizes"][-1] == len(file["H"])), bool(file["gap"].max() < 1e-12)
    (True, True)
    """

    name: ClassVar[str] = "recorder"
    folder: Path = field(converter=_folder)
    backend: str | QPBackend = "auto"
    count: int = field(default=0, init=False)
    """Number of programs stored."""
    _open: bool = field(default=False, init=False, repr=False)
    _files: int = field(default=0, init=False, repr=False)
    _newest: DualQP | None = field(default=None, init=False, repr=False)
    _optima: list[tuple[float, QPSolution]] = field(factory=list, init=False, repr=False)
    _handed_over: list[bool] = field(factory=list, init=False, repr=False)

    def __enter__(self) -> "Recorder":
        try:
            require_empty(self.folder)
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"the folder {self.folder} cannot be created: {error.strerror or error}") from None
        self._open = True
        return self

    def __exit__(self, *_error: object) -> None:
        self._open = False
        if self._newest is not None:
            self._write(self._newest)

    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        if not self._open:
            raise InputError(f"the programs for {self.folder} would be lost: use the Recorder in a with statement")
        if self._newest is not None and not _extends(qp, self._newest):
            self._write(self._newest)
        before = self._optima[-1][1] if self._optima else None
        self._newest = DualQP(qp.H.copy(), qp.b.copy(), qp.group.copy(), qp.cap.copy(), 0.0)
        self._optima.append((qp.tol, ActiveSet().solve(self._newest, before)))
        self._handed_over.append(True)
        self.count += 1
        solution: QPSolution = backends.create(self.backend).solve(qp, start)
        self._handed_over[-1] = solution.handed_over
        return solution

    def _write(self, qp: DualQP) -> None:
        """Write the sequence that ends with a program, and begin another one."""
        sizes = [len(optimum.a) for _, optimum in self._optima]
        a = np.zeros((len(sizes), qp.size))
        for row, (_, optimum) in zip(a, self._optima, strict=True):
            row[: len(optimum.a)] = optimum.a
        arrays = {
            "H": qp.H,
            "b": qp.b,
            "group": qp.group,
            "cap": qp.cap,
            "sizes": np.array(sizes),
            "tol": np.array([tol for tol, _ in self._optima]),
            "a": a,
            "dual": a @ qp.b - 0.5 * (a @ qp.H * a).sum(axis=1),
            "gap": np.array([optimum.gap for _, optimum in self._optima]),
            "handed_over": np.array(self._handed_over),
        }
        write_archive(self.folder / f"{self._files:04}.npz", arrays)
        self._files += 1
        self._newest = None
        self._optima.clear()
        self._handed_over.clear()


def _extends(qp: DualQP, before: DualQP) -> bool:
    """Return True if the cuts of an earlier program are the first cuts of this one."""
    k = before.size
    head = qp.H[:k, :k], qp.b[:k], qp.group[:k], qp.cap
    return all(map(np.array_equal, head, (before.H, before.b, before.group, before.cap)))


def load_programs(path: str | Path) -> list[DualQP]:
    """Return the programs of a file that `Recorder` wrote; the cuts of each are the first cuts of the next.

    Parameters
    ----------
    path : the file.

    Raises
    ------
    ModelFileError : the file is missing, damaged or of another kind.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from structsvm.solvers.qp import ActiveSet, DualQP, Recorder
    >>> qp = DualQP(np.eye(2), np.array([1.0, 0.5]), np.zeros(2, np.int64), cap=np.array([1.0]), tol=1e-9)
    >>> with Recorder(mkdtemp()) as recorder:
    ...     solution = recorder.solve(qp)
    >>> [program.size for program in load_programs(recorder.folder / "0000.npz")]
    [2]
    """
    return read_archive(path, _programs)


def _programs(arrays: Archive) -> list[DualQP]:
    H, b, group, cap = (arrays[name] for name in ("H", "b", "group", "cap"))
    steps = zip(arrays["sizes"].tolist(), arrays["tol"].tolist(), strict=True)
    return [DualQP(H[:k, :k], b[:k], group[:k], cap, tol) for k, tol in steps]
