"""Every error that structsvm raises on purpose, in one tree.

::

    StructSVMError
    ├── InputError (a ValueError)        what was passed in cannot be used
    │   ├── InputTypeError (a TypeError) numbers were wanted, and it holds something else
    │   ├── DataFormatError              a line of a data file; names file and line
    │   ├── UnknownNameError             no loss, solver, backend or measure of that name
    │   └── ModelFileError               a file that is not a model, or not one we can read
    ├── TooLargeError (a MemoryError)    what was asked for needs more memory than there is
    ├── NotInstalledError (ImportError)  an optional package is missing or cannot be loaded
    ├── PluginError (ImportError)        what another package registered cannot be used
    ├── OracleError                      a loss returned an output that is not the argmax
    └── CheckError (an AssertionError)   what a check of structsvm.testing found wrong

Catch ``StructSVMError`` to catch them all. Each message names the thing, the place and
the way out. A result that can be used, but is hardly what was wanted, is a warning:
`ZeroWeightsWarning`, `OneQueryWarning`, and scikit-learn's ``ConvergenceWarning``. So is a checkpoint that
cannot be written, `CheckpointWarning`, and features of very different scales, `FeatureScaleWarning`.
"""

import difflib
import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

_MOST_QUOTED = 60
_ENDLESS = re.compile(r"\S{4096,}")


def quoted(text: str | bytes) -> str:
    r"""Return text of a user's as messages show it: its beginning if it is long, and escaped as by `repr`.

    Bytes are shown as the text that they are in UTF-8, or else as Python writes bytes, ``'caf\xe9'``.
    """
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


def printable(text: str) -> str:
    r"""Return a text of somebody else's so that it can be shown, with ``\x1b`` for an escape character, as in Python.

    The same becomes of all that a terminal acts on or that hides what is there: control characters, ends of lines,
    marks that turn the direction of writing, bytes of a file name that are no text. Blanks of all kinds stay.
    """
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def legible(message: str) -> str:
    """Return a line of a message `printable`, and words cut off that are too long to be a path."""
    return printable(
        _ENDLESS.sub(lambda found: f"{found[0][:_MOST_QUOTED]}... ({len(found[0]):,} characters)", message)
    )


def _shown(sign: str) -> str:
    visible = sign.isprintable() or unicodedata.category(sign) == "Zs"
    return sign if visible else sign.encode("unicode_escape").decode("ascii")


class StructSVMError(Exception):
    """The root of the tree. Its text is `legible`, line by line.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> from structsvm.exceptions import StructSVMError
    >>> try:
    ...     Ranker(C=-1.0).fit([[1.0], [2.0]], [0, 1])
    ... except StructSVMError as error:
    ...     print(error)
    C must be a positive finite number, got -1.0
    """

    def __str__(self) -> str:
        return "\n".join(map(legible, super().__str__().split("\n")))


class InputError(StructSVMError, ValueError):
    """What was passed in cannot be used.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> from structsvm.exceptions import InputError
    >>> try:
    ...     Ranker().fit([[1.0], [2.0]], [1, 1])
    ... except InputError as error:
    ...     print(isinstance(error, ValueError))
    True
    """


class InputTypeError(InputError, TypeError):
    """What was passed in holds no numbers, or goes by a word of another library: elsewhere these are a TypeError, too.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> from structsvm.exceptions import InputTypeError
    >>> try:
    ...     Ranker().fit([[1.0], [2.0], [0.0]], [1, 0, 0], group=[3])  # sizes of queries, as LightGBM has them
    ... except InputTypeError as error:
    ...     print(str(error).rpartition(": ")[2])
    qid=np.repeat(np.arange(len(group)), group)
    """


class DataFormatError(InputError):
    r"""A data file has a line that cannot be read.

    Parameters
    ----------
    path : path of the file.
    line : number of the line, from 1; None when no single line is at fault.
    problem : what is wrong with it, and the way out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm.data import load_letor
    >>> from structsvm.exceptions import DataFormatError
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

    Examples
    --------
    >>> from structsvm.exceptions import UnknownNameError
    >>> from structsvm.registry import losses
    >>> try:
    ...     losses.find("mapp")
    ... except UnknownNameError as error:
    ...     print(str(error)[:50])
    there is no loss named 'mapp'. Did you mean 'map'?
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
    """A file is not a model, is damaged, or was written by a newer version.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm import Ranker
    >>> from structsvm.exceptions import ModelFileError
    >>> _ = Path("model.npz").write_text("to be or not to be")
    >>> try:
    ...     Ranker.load("model.npz")
    ... except ModelFileError as error:
    ...     print(error)
    model.npz is not a model file, or it is damaged
    """


class TooLargeError(StructSVMError, MemoryError):
    """What was asked for needs more memory than there is; said before any of it is taken, where that can be known.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from structsvm import Ranker
    >>> from structsvm.exceptions import TooLargeError
    >>> X = csr_array(([1.0, 2.0], [0, 10**15 - 1], [0, 1, 2]), shape=(2, 10**15))
    >>> try:
    ...     Ranker().fit(X, [0, 1])
    ... except TooLargeError as error:
    ...     print(str(error).partition(":")[0])
    a vector of 1,000,000,000,000,000 weights takes 7.1 PiB, which cannot be had
    """


class NotInstalledError(StructSVMError, ImportError):
    """An optional package is missing, or cannot be loaded.

    Examples
    --------
    >>> from structsvm.exceptions import NotInstalledError
    >>> try:
    ...     from structsvm.objectives.for_jax import HingeLoss
    ... except NotInstalledError as error:  # it says which extra brings what is missing
    ...     HingeLoss = None
    >>> issubclass(NotInstalledError, ImportError)
    True
    """


class PluginError(StructSVMError, ImportError):
    """What another package registered under a name cannot be imported, or is of another kind.

    Examples
    --------
    >>> from structsvm.exceptions import PluginError
    >>> from structsvm.registry import losses
    >>> try:
    ...     loss = losses.create("map")
    ... except PluginError as error:  # its package is broken, or made for another version
    ...     print(error)
    """


class ClusterError(StructSVMError):
    """Workers of a cluster did not answer in time, or there are none left.

    Examples
    --------
    >>> import numpy as np
    >>> from dask.distributed import Client
    >>> from structsvm.distributed import DaskCluster
    >>> from structsvm.exceptions import ClusterError
    >>> with Client(processes=False, n_workers=0, dashboard_address=None) as client:
    ...     try:
    ...         DaskCluster(client, limit=0.1).keep(np.sum, [np.ones(2)])
    ...     except ClusterError as error:
    ...         print(str(error).rpartition(". ")[2])
    There are no workers left: start some
    """


class CheckpointWarning(UserWarning):
    """The checkpoint of a fit could not be written, as on a full disk. The fit goes on; what was there stays.

    Examples
    --------
    >>> import warnings
    >>> from structsvm import Problem
    >>> from structsvm.exceptions import CheckpointWarning
    >>> from structsvm.solvers import OneSlack
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", CheckpointWarning)  # a fit that is not kept shall end
    ...     OneSlack().solve(problem, checkpoint="fit.npz").converged
    True
    """


class ZeroWeightsWarning(UserWarning):
    """The optimum is w = 0: the model gives everything the same score.

    That is no failure to converge. Where the hinge of a loss bounds it loosely, no other weights may
    lower the hinge; no C changes that, and the message names what does.

    Examples
    --------
    >>> import warnings
    >>> from structsvm import Ranker
    >>> from structsvm.exceptions import ZeroWeightsWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", ZeroWeightsWarning)
    ...     ranker = Ranker().fit([[1.0], [1.0]], [0, 1])
    >>> [each.category.__name__ for each in caught], ranker.coef_.tolist()
    (['ZeroWeightsWarning'], [0.0])
    """


class OneQueryWarning(UserWarning):
    """Without ``qid`` all rows are one query, and there are more of them than one query plausibly has.

    Documents are then ranked across queries, which is seldom what is meant, and takes long. Where all rows are one
    query, ``qid=np.zeros(len(y))`` says so, and nothing is warned of.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from structsvm import Ranker
    >>> from structsvm.exceptions import OneQueryWarning
    >>> X, y = np.arange(20_000.0).reshape(-1, 1), np.arange(20_000) % 2
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", OneQueryWarning)  # no fit without qid
    ...     try:
    ...         Ranker().fit(X, y)
    ...     except OneQueryWarning as warning:
    ...         print(str(warning).partition(", as")[0])
    all 20,000 rows are taken as one query
    """


class FeatureScaleWarning(UserWarning):
    """Columns of the features differ in scale by orders of magnitude, and no normalisation was asked for.

    Examples
    --------
    >>> import warnings
    >>> from structsvm import Ranker
    >>> from structsvm.exceptions import FeatureScaleWarning
    >>> X, y = [[1.0, 2e6], [0.0, 1e6]], [1, 0]
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", FeatureScaleWarning)
    ...     try:
    ...         ranker = Ranker().fit(X, y)
    ...     except FeatureScaleWarning as warning:
    ...         print(str(warning).partition(":")[0])
    ...         ranker = Ranker(normalise="standard").fit(X, y)
    ranges of the features differ by a factor of 1e+06
    """


class OracleError(StructSVMError):
    """A loss returned an output that does not maximise Δ + w·Ψ.

    A bound was broken that no exact argmax can break, so what the solver certifies would
    be wrong. ``structsvm.testing.check_loss`` finds the output that should have been
    returned.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import StructuralSVM
    >>> from structsvm.exceptions import OracleError
    >>> from structsvm.losses import Loss
    >>> class Careless(Loss):
    ...     def joint_feature(self, x, y):
    ...         return x * y
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    ...     def argmax(self, x, w):
    ...         return 1 if x @ w > 0.0 else -1
    ...     def loss_augmented_argmax(self, x, y, w):
    ...         return -y  # which is right for small w only
    >>> try:
    ...     StructuralSVM(Careless(), C=10.0).fit(np.array([[1.0], [-2.0]]), [1, -1])
    ... except OracleError as error:
    ...     print(str(error).partition(" by ")[0])
    Careless: the output returned as the loss-augmented argmax of example 1 has Δ + w·Ψ lower than the true output
    """


class CheckError(StructSVMError, AssertionError):
    """What a check of ``structsvm.testing`` found wrong with a loss, backend, solver, operator or retrieval function.

    As an AssertionError it fails a test.

    Examples
    --------
    >>> from structsvm.exceptions import CheckError
    >>> from structsvm.operators import Rows
    >>> from structsvm.testing import check_operator
    >>> class Halved(Rows):
    ...     def combine(self, c):
    ...         return 0.5 * super().combine(c)
    >>> try:
    ...     check_operator(Halved.of([[1.0, 2.0], [3.0, 4.0]]))
    ... except CheckError as error:
    ...     print(str(error).partition(",")[0])
    Halved: expected the transpose of scores in combine
    """


def stacklevel_of_user() -> int:
    """Return the ``stacklevel`` with which a warning that the caller gives is of the line that called structsvm."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level
