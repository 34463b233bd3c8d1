"""Errors and warnings of structsvm.

::

    StructSVMError
    ├── InputError (a ValueError)        an argument is invalid
    │   ├── InputTypeError (a TypeError) an argument does not contain numbers
    │   ├── DataFormatError              a line of a data file; names file and line
    │   ├── UnknownNameError             no loss, solver, backend or measure has that name
    │   └── ModelFileError               a file is not a model, or cannot be read
    ├── TooLargeError (a MemoryError)    an operation needs more memory than is available
    ├── NotInstalledError (ImportError)  an optional package is missing or cannot be loaded
    ├── PluginError (ImportError)        an object of another package cannot be used
    ├── OracleError                      a loss returned an output that is not the argmax
    ├── ClusterError                     workers of a cluster do not answer
    └── CheckError (an AssertionError)   a check of structsvm.testing found a mistake

Catch ``StructSVMError`` to catch all errors. Each message names the problem, its place and a remedy. Every function
raises `InputError` if an argument is invalid, so docstrings list only other errors. Usable results
that are probably not intended cause warnings: `ZeroWeightsWarning`, `OneQueryWarning`, `IdFeaturesWarning`,
`FeatureScaleWarning`, `GridEndWarning`, and scikit-learn's ``ConvergenceWarning``. `CheckpointWarning` reports a
checkpoint that cannot be written.
"""

import difflib
import re
import sys
import unicodedata
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

_MOST_QUOTED = 60
_MOST_SHOWN = 160
_LONGEST, _END = 2000, 400
"""Most characters of a message, and characters at its end that stay, because they are the remedy."""

_ENDLESS = re.compile(r"\S{4096,}")


def first_of(names: Iterable[str], shown: int = 5) -> str:
    """Return the first names for a message, with dots if there are more; the rest is not read."""
    listed = list(islice(names, shown + 1))
    return ", ".join(listed[:shown]) + (", ..." if len(listed) > shown else "")


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Return "1 query" or "2 queries"."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def quoted(text: str | bytes) -> str:
    """Return user text for a message: shortened if long, escaped as by `repr`; bytes as UTF-8 if valid."""
    unit = "characters" if isinstance(text, str) else "bytes"
    shown = text[:_MOST_QUOTED]
    more = "..." if len(text) > _MOST_QUOTED else ""
    if isinstance(shown, bytes):
        try:
            written = repr(shown.decode())
        except UnicodeDecodeError:
            written = repr(shown)[1:]
    else:
        written = repr(shown)
    return f"{written[:-1]}{more}{written[-1]}{f' ({len(text):,} {unit})' * bool(more)}"


def brief(value: object) -> str:
    """Return the `repr` of a user's object for a message, on one line and shortened; its class if that raises."""
    try:
        text = " ".join(repr(value).split())
    # A `repr` of a user may raise anything.
    except Exception:
        return f"an object of the class {type(value).__name__}"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({type(value).__name__})"


def with_article(noun: str) -> str:
    """Return a noun as in "an export format" or "a loss"."""
    return f"{'an' if noun[0] in 'AEIOaeio' else 'a'} {noun}"


def bounded(message: str) -> str:
    """Return a message with its middle left out if it is too long to read."""
    if len(message) <= _LONGEST:
        return message
    return f"{message[: _LONGEST - _END]} ... ({len(message):,} characters) ... {message[-_END:]}"


def printable(text: str) -> str:
    r"""Return foreign text with non-printable characters escaped as in Python, such as ``\x1b``; blanks are kept."""
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def legible(message: str) -> str:
    """Return a line of a message as `printable`, with words cut off that are too long to be a path."""
    return printable(
        _ENDLESS.sub(lambda match: f"{match[0][:_MOST_QUOTED]}... ({len(match[0]):,} characters)", message)
    )


def _shown(sign: str) -> str:
    visible = sign.isprintable() or unicodedata.category(sign) == "Zs"
    return sign if visible else sign.encode("unicode_escape").decode("ascii")


class StructSVMError(Exception):
    """Base class of all errors of structsvm.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> try:
    ...     Ranker(C=-1.0).fit([[1.0], [2.0]], [0, 1])
    ... except StructSVMError as error:
    ...     print(error)
    C must be a positive finite number, got -1.0
    """

    def __str__(self) -> str:
        return bounded("\n".join(map(legible, super().__str__().split("\n"))))


class InputError(StructSVMError, ValueError):
    """An argument is invalid."""


class InputTypeError(InputError, TypeError):
    """An argument does not contain numbers, or its name belongs to another library."""


class DataFormatError(InputError):
    r"""A line of a data file cannot be parsed.

    Parameters
    ----------
    path : path of the file.
    line : number of the line, from 1; None if no single line is at fault.
    problem : the mistake and its remedy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm.data import load_letor
    >>> _ = Path("train.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1=0.2\n")
    >>> try:
    ...     load_letor("train.txt")
    ... except DataFormatError as error:
    ...     print(error.line, error)
    2 train.txt, line 2: '1=0.2' has no colon: a line reads '<label> qid:<query> <index>:<value> ...'
    """

    def __init__(self, path: str | Path, line: int | None, problem: str) -> None:
        self.path = Path(path)
        self.line = line
        self.problem = problem
        name = printable(str(path))
        place = name if line is None else f"{name}, line {line}"
        super().__init__(f"{place}: {problem}")

    def __reduce__(self) -> tuple[type["DataFormatError"], tuple[Path, int | None, str]]:
        """Pickle the arguments of the constructor."""
        return type(self), (self.path, self.line, self.problem)


class UnknownNameError(InputError):
    """No loss, solver, backend or measure has this name.

    Parameters
    ----------
    kind : the kind of object in words ("loss").
    name : the unknown name.
    choices : the existing names.
    meaning : a sentence on the name's meaning elsewhere; without one, the message suggests the nearest name.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str], meaning: str = "") -> None:
        self.name = name
        self._made_of = kind, name, tuple(choices), meaning
        names = sorted(self._made_of[2])
        plain = {name.lower().replace("_", "-"): name for name in names}
        wanted = name.partition("(")[0].lower().replace("_", "-")
        near = difflib.get_close_matches(wanted, plain, n=1, cutoff=0.5)
        hint = f" {meaning}" if meaning else f" Did you mean {plain[near[0]]!r}?" if near else ""
        super().__init__(f"unknown {kind} {quoted(name)}.{hint} Known: {', '.join(names)}.")

    def __reduce__(self) -> tuple[type["UnknownNameError"], tuple[str, str, tuple[str, ...], str]]:
        """Pickle the arguments of the constructor."""
        return type(self), self._made_of


class ModelFileError(InputError):
    """A file is not a model, is damaged, or has another format."""


class TooLargeError(StructSVMError, MemoryError):
    """An operation needs more memory than is available; raised before the allocation if possible."""


class NotInstalledError(StructSVMError, ImportError):
    """An optional package is missing, or cannot be loaded."""


class PluginError(StructSVMError, ImportError):
    """An object that another package registered cannot be imported, or has the wrong type."""


class ClusterError(StructSVMError):
    """Workers of a cluster did not answer in time, or no worker is left."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, for example on a full disk. The fit continues; the old file stays."""


class ZeroWeightsWarning(UserWarning):
    """The optimum is w = 0: the model gives every document the same score.

    The fit has converged. If the hinge bounds the loss loosely, w = 0 can be the optimum for any C; the message
    suggests a remedy.
    """


class OneQueryWarning(UserWarning):
    """``qid`` is missing, and the loss ranks the documents of queries.

    Documents are then ranked across queries, which is seldom intended and takes long. scikit-learn's tools pass ``qid``
    on only with metadata routing. If all rows are one query, pass ``qid=np.zeros(len(y))`` to avoid the warning.
    """


class IdFeaturesWarning(UserWarning):
    """Some features of a fit, columns of a data frame, are named like ids, labels or a saved index."""


class OneClassWarning(UserWarning):
    """All labels of a classification problem belong to the same class."""


class FeatureScaleWarning(UserWarning):
    """Columns of the features differ in scale by orders of magnitude, and ``normalize`` is not set."""


class GridEndWarning(UserWarning):
    """The best C is the smallest or the largest value of the grid, so a value outside the grid may be better."""


class OracleError(StructSVMError):
    """A loss returned an output that does not maximize Δ + w·Ψ.

    The solver raises it if the output violates a bound of exact argmaxes, because its certificate would be wrong.
    ``structsvm.testing.check_loss`` finds the correct output.
    """


class CheckError(StructSVMError, AssertionError):
    """A check of ``structsvm.testing`` found a mistake in a loss, backend, solver, operator or retrieval function.

    It is an AssertionError, so it fails a test.
    """


def stacklevel_of_user() -> int:
    """Return the ``stacklevel`` with which a warning refers to the user's line that called structsvm."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level
