"""Run a case and judge it.

The faults are:

- an exit code other than 0, 1 and 2; a traceback, or an internal error in the output of a command;
- a Python function that raises anything but an error of `structsvm.exceptions`, or a TypeError or ValueError that
  `structsvm` itself raises;
- a warning of NumPy's; a message that is too long or has control characters;
- a changed file that is not an output, or a file left half-written after a failure;
- an answer that differs from the slow readers' answer, or from the answer before;
- more than 500 MB of memory for a rejected input.
"""

import hashlib
import importlib
import linecache
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from attrs import evolve, frozen
from click.testing import CliRunner
from sklearn.exceptions import NotFittedError

import structsvm
from structsvm.cli import main
from structsvm.exceptions import StructSVMError
from tests.fuzz import api, collections, commands, models, processes, readers
from tests.fuzz.case import Case

KINDS: Mapping[str, Callable[[Random, Mapping[str, bytes]], Case]] = {
    "readers": readers.make,
    "collections": collections.make,
    "models": models.make,
    "commands": commands.make,
    "processes": processes.make,
    "api": api.make,
}

TRY = "python -m tests.fuzz --seed {} --only {} --case {}"
"""The command that tries a case again."""

MOST_MEGABYTES = 500
_LONGEST = 10_000
"""Characters of a message; the lists of all that is known are long."""

_OURS = str(Path(structsvm.__file__).parent)
_SIGNS = ("Traceback", "Exception ignored", "internal error", "Fatal Python error")
_ENDED_BY_US = (124, 137, 141)
_MOST_SECONDS = 100.0
_QUOTED = re.compile(r"(['\"]).*?\1")
_WARNING = re.compile(r"\.py:\d+: \w*Warning")


@frozen
class Verdict:
    """The verdict on a case.

    Parameters
    ----------
    fault : a word or two; "" without a fault.
    said : the answer; of a fault, the evidence.
    refused : whether it was refused.
    cause : the probable place of a fault; "": it is in `said`.
    megabytes : by how much the memory of the process grew at most.
    """

    fault: str
    said: str
    refused: bool
    cause: str = ""
    megabytes: float = 0.0

    @property
    def signature(self) -> str:
        """The common part of faults with probably one cause: without numbers and quoted text."""
        return f"{self.fault}: {re.sub('[0-9]+', '#', _QUOTED.sub('…', self.cause or self.said))[:120]}".replace(
            "\n", " "
        )


def make_case(seed: int, kind: str, number: int, files: Mapping[str, bytes]) -> Case:
    """Return the case of this number."""
    return KINDS[kind](Random(f"{seed}/{kind}/{number}"), files)


def try_case(case: Case, files: Mapping[str, bytes]) -> Verdict:
    """Try a case in an empty folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="structsvm-fuzz-") as folder:
        os.chdir(folder)
        try:
            case.put(Path())
            resident = _reset_peak()
            verdict = _of_process(case) if case.shell else _of_call(case, files) if case.what else _of_command(case)
            megabytes = (_peak() - resident) / 1024
        finally:
            os.chdir(before)
    if not verdict.fault and (verdict.refused or case.kind == "models") and megabytes > MOST_MEGABYTES:
        verdict = evolve(verdict, fault="memory", said=f"{megabytes:.0f} MB and then: {verdict.said}")
    return evolve(verdict, megabytes=megabytes)


def _of_process(case: Case) -> Verdict:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    inputs = _contents()
    process = subprocess.Popen(
        ["bash", "-c", case.source],
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=_MOST_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Verdict("too long", f"more than {_MOST_SECONDS:g} s", False, case.shell)
    code, said = process.returncode, (errors + printed[-1000:]).decode(errors="replace")
    if code not in (0, 1, 2, *_ENDED_BY_US):
        return Verdict(f"exit code {code}", said, True, case.shell)
    for sign in _SIGNS:
        if sign in said:
            return Verdict("traceback", said, True, f"{case.shell} {said.strip().rpartition(chr(10))[2]}")
    if _WARNING.search(said):
        return Verdict("warning", said, code != 0, case.shell)
    changed = [
        path
        for path, digest in _contents().items()
        if path in inputs and inputs[path] != digest and not commands.is_checkpoint(path, case)
    ]
    left = [path for path in _contents() if Path(path).name.startswith(".")]
    if changed or left:
        return Verdict("files", f"changed: {changed}, left behind: {left}", code != 0)
    return Verdict("", said, code != 0)


def _of_command(case: Case) -> Verdict:
    inputs = _contents()
    _make_private(inputs)
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        done = CliRunner().invoke(main, list(case.arguments), prog_name="structsvm")
    refused = done.exit_code != 0
    said = done.stderr or done.stdout
    error = done.exception
    if error is not None and not isinstance(error, SystemExit):
        return _raw_error("raw error", error)
    if done.exit_code not in (0, 1, 2):
        return Verdict(f"exit code {done.exit_code}", said, refused)
    for sign in _SIGNS:
        if sign in done.stderr or sign in done.stdout:
            return Verdict("traceback", said, refused)
    if _WARNING.search(done.stderr):
        return Verdict("warning", done.stderr, refused)
    fault = _fault_of_text(done.stderr)
    if not fault and not any(name in case.arguments for name in ("fuse", "predict")):  # whose ids are as they were
        fault = _fault_of_text(done.stdout, longest=10**6)
    if not fault and refused and "name too long" in said.lower() and _fit(case):
        fault = "a name that fits is refused"
    if not fault and done.exit_code == 1:
        last = done.stderr.rstrip("\n").rpartition("\n")[2]
        fault = "" if last.startswith(("structsvm: error: ", "Aborted")) else "no last line that tells of the error"
    if fault:
        return Verdict(fault, said, refused, f"{case.arguments[:1]} {said[:60]}")
    changed = _changes(inputs, _contents(), case, done.stderr if refused else None) or _made_public(inputs)
    return Verdict("files" if changed else "", changed or said, refused)


def _fit(case: Case) -> bool:
    """Say whether no name in a command line is too long for a file system."""
    parts = [part for word in case.arguments for part in word.split("/")]
    return max(len(part.encode(errors="surrogateescape")) for part in parts) <= 255


def _changes(before: Mapping[str, str], after: Mapping[str, str], case: Case, failure: str | None) -> str:
    """Name a changed file that is not an output, or a file left behind; "" otherwise.

    Parameters
    ----------
    before, after : digests by path.
    case : the case.
    failure : the message of a failure, which may name written files; None after success.
    """
    outputs = [os.path.normpath(path) for path in commands.outputs(case)]
    outputs += ["results"] if "report" in case.arguments else []
    keeps = failure is not None and any(
        sign in failure for sign in ("was written", "were written", "to resume from", "no combination has a result")
    )
    for path in sorted({*before, *after}):
        if before.get(path) == after.get(path):
            continue
        if Path(path).name.startswith("."):
            return f"left behind: {path}"
        if path in before and commands.is_read(path, case) and not commands.is_checkpoint(path, case):
            return f"an input is overwritten: {path}"
        if commands.is_checkpoint(path, case):  # it is written while the command runs, whatever comes of that
            if path in before and failure is not None and "cannot resume from" in failure:
                return f"changed, and refused: {path}"
            continue
        if not any(output in (path, ".") or path.startswith(f"{output}/") for output in outputs):
            return f"changed, and no output: {path}"
        if failure is not None and not keeps and not path.endswith(".jsonl"):
            return f"written by what failed: {path}: {failure}"
    return ""


def _of_call(case: Case, files: Mapping[str, bytes]) -> Verdict:
    inputs = _contents()
    refused, said, differs = False, "", ""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            value = eval(case.source, _namespace())
            if case.kind == "collections":
                value = list(value)
            if case.kind == "models":
                differs = models.check(case, value, files)
        except Exception as error:
            refused, said = True, str(error)
            fault = _fault_of_error(error)
            if fault:
                return _raw_error(fault, error)
    if case.kind == "readers":
        differs = readers.check(case, None if refused else value, refused)
    if case.kind == "collections":
        differs = collections.check(case, None if refused else value, refused)
    if differs:
        return Verdict("answer", f"{differs}: {said}" if refused else differs, refused)
    for warning in warned:
        if issubclass(warning.category, RuntimeWarning):
            where = f"{warning.filename}:{warning.lineno}"
            return Verdict("warning", f"{warning.category.__name__}: {warning.message} ({where})", refused)
    after = _contents()
    # A damaged cache is written again.
    changed = [path for path in inputs if after.get(path) != inputs[path] and path != "cached"]
    return Verdict("files" if changed else "", f"changed: {changed}" if changed else said, refused)


def _fault_of_error(error: Exception) -> str:
    if isinstance(error, StructSVMError):
        return _fault_of_text(str(error))
    if isinstance(error, NotFittedError):
        return ""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.endswith("estimators/arguments.py")
    ]  # which only hands arguments on
    if not any(
        frame.filename.startswith(_OURS) for frame in frames
    ):  # an argument cannot be made, or fits no signature
        return ""
    last = frames[-1]
    explicit = (linecache.getline(last.filename, last.lineno or 0)).strip().startswith("raise ")
    if explicit and last.filename.startswith(_OURS) and isinstance(error, TypeError | ValueError | AttributeError):
        return _fault_of_text(str(error))
    return "raw error"


def _raw_error(fault: str, error: BaseException) -> Verdict:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_OURS)] or frames
    place = f"{ours[-1].filename.removeprefix(_OURS)} {ours[-1].name}"
    said = "".join(traceback.format_exception(error))
    return Verdict(fault, said[-6000:], True, f"{type(error).__name__} in {place}")


def _fault_of_text(text: str, longest: int = _LONGEST) -> str:
    if len(text) > longest:
        return "long message"
    bad = {sign for sign in text if sign != "\n" and unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    return "control characters" if bad - {"\t"} else ""


def _contents() -> dict[str, str]:
    """Return a digest of each file below this folder, by path."""
    result = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118 (names may be odd)
            regular = os.path.isfile(path) and not os.path.islink(path)  # noqa: PTH113, PTH114
            result[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest() if regular else "special"
    return result


def _make_private(contents: Mapping[str, str]) -> None:
    """Let no one else read these files."""
    for path, content in contents.items():
        if content != "special":
            Path(path).chmod(0o600)


def _made_public(contents: Mapping[str, str]) -> str:
    """Say which of these files others can read; "" if none."""
    there = (path for path, content in contents.items() if content != "special" and Path(path).is_file())
    return next((f"a private file is public: {path}" for path in there if Path(path).stat().st_mode & 0o077), "")


def _namespace() -> dict[str, Any]:
    names: dict[str, Any] = {"np": np, "sp": sp, "pd": pd, "_csr": _csr, "_as": _as, "structsvm": structsvm}
    names |= {"_Unshown": Unshown, "_Text": Text, "call": api.call}
    modules = ["data", "metrics", "registry", "features", "fusion", "rankers", "solvers", "losses", "estimators"]
    modules += ["protocols", "protocols.experiment", "features.operators", "solvers.qp", "solvers.comparison"]
    for name in (*modules, "foundation.tables"):
        names[name.rpartition(".")[2]] = importlib.import_module(f"structsvm.{name}")
    return names | {name: getattr(structsvm, name) for name in structsvm.__all__}


class Unshown:
    """An object whose `repr` raises."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Text:
    """An object that is converted to a text instead of an array."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        return "text"


def _csr(data: list[float], indices: list[int], indptr: list[int]) -> sp.csr_array:
    """Return a matrix of eight rows and three columns as it is given, which need not be one."""
    X = sp.csr_array((8, 3))
    X.data, X.indices, X.indptr = np.array(data), np.array(indices, np.int32), np.array(indptr, np.int32)
    return X


def _as(matrix: Any, **parts: Any) -> Any:
    """Return a sparse matrix with other parts, which SciPy has not looked at."""
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix


def _reset_peak() -> float:
    """Reset the peak of this process's memory if the system counts it; return the present memory."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0.0
    return _status("VmRSS")


def _peak() -> float:
    return _status("VmHWM")


def _status(name: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.startswith(name)), 0.0)


def quiet() -> None:
    """Silence libraries in a worker process."""
    logging.disable(logging.CRITICAL)
    with open(os.devnull) as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    sys.setrecursionlimit(1000)
