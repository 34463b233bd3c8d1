"""Every error that structsvm raises on purpose, in one tree.

::

    StructSVMError
    ├── InputError (a ValueError)        what was passed in cannot be used
    │   ├── DataFormatError              a line of a data file; names file and line
    │   ├── UnknownNameError             no loss, solver, backend or measure of that name
    │   └── ModelFileError               a file that is not a model, or not one we can read
    ├── NotInstalledError (ImportError)  an optional package is missing or cannot be loaded
    ├── PluginError (ImportError)        what another package registered cannot be used
    └── OracleError                      a loss returned an output that is not the argmax

Catch ``StructSVMError`` to catch them all. Each message names the thing, the place and
the way out. A result that can be used, but is hardly what was wanted, is a warning:
`ZeroWeightsWarning`, and scikit-learn's ``ConvergenceWarning``. So is a checkpoint that cannot be
written, `CheckpointWarning`.
"""

import difflib
from collections.abc import Iterable
from pathlib import Path


class StructSVMError(Exception):
    """The root of the tree."""


class InputError(StructSVMError, ValueError):
    """What was passed in cannot be used."""


class DataFormatError(InputError):
    """A data file has a line that cannot be read.

    Parameters
    ----------
    path : path of the file.
    line : number of the line, from 1; None when no single line is at fault.
    problem : what is wrong with it, and the way out.
    """

    def __init__(self, path: str | Path, line: int | None, problem: str) -> None:
        self.path = Path(path)
        self.line = line
        self.problem = problem
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {problem}")

    def __reduce__(self) -> tuple[type["DataFormatError"], tuple[Path, int | None, str]]:
        """Tell how to make it again, in another process."""
        return type(self), (self.path, self.line, self.problem)


class UnknownNameError(InputError):
    """No loss, solver, backend or measure has that name.

    Parameters
    ----------
    kind : what was looked for, in words ("loss").
    name : the name that was asked for.
    known : the names that exist.
    meaning : a sentence on what the name stands for elsewhere, where it does; else the nearest name is told.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], meaning: str = "") -> None:
        self.name = name
        self._made_of = kind, name, tuple(known), meaning
        names = sorted(self._made_of[2])
        plain = {known.lower().replace("_", "-"): known for known in names}
        wanted = name.partition("(")[0].lower().replace("_", "-")
        near = difflib.get_close_matches(wanted, plain, n=1, cutoff=0.5)
        hint = f" {meaning}" if meaning else f" Did you mean {plain[near[0]]!r}?" if near else ""
        super().__init__(f"there is no {kind} named {name!r}.{hint} Known: {', '.join(names)}.")

    def __reduce__(self) -> tuple[type["UnknownNameError"], tuple[str, str, tuple[str, ...], str]]:
        """Tell how to make it again, in another process."""
        return type(self), self._made_of


class ModelFileError(InputError):
    """A file is not a model, is damaged, or was written by a newer version."""


class NotInstalledError(StructSVMError, ImportError):
    """An optional package is missing, or cannot be loaded."""


class PluginError(StructSVMError, ImportError):
    """What another package registered under a name cannot be imported, or is of another kind."""


class CheckpointWarning(UserWarning):
    """The checkpoint of a fit could not be written, as on a full disk. The fit goes on; what was there stays."""


class ZeroWeightsWarning(UserWarning):
    """The optimum is w = 0: the model gives everything the same score.

    That is no failure to converge. Where the hinge of a loss bounds it loosely, no other weights may
    lower the hinge, at any C.
    """


class OracleError(StructSVMError):
    """A loss returned an output that does not maximise Δ + w·Ψ.

    A bound was broken that no exact argmax can break, so what the solver certifies would
    be wrong. ``structsvm.testing.check_loss`` finds the output that should have been
    returned.
    """
