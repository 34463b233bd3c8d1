"""One trial: workers or the driver of a fit are killed, and the fit must come to the same certificate."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import Any, Self

import numpy as np
from attrs import asdict

from structsvm.solvers import Checkpoint
from tests.kills.cluster.problems import Bounds, Fit
from tests.kills.trial import Verdict

LIMIT = 300.0
"""Seconds in which a driver must say something."""

_TO_END = 30.0
_PART = 0.9
"""Partition of the time of an undisturbed fit in which workers are killed."""

_ONE = 0.7
"""Partition of the trials in which one worker is killed, and not several."""

_OF_ITS_OWN = 0.2
"""Share of the trials in which a killed driver has a separate cluster."""


class FaultError(Exception):
    """The fault of a trial: its kind, and the evidence."""


class Driver:
    """A process that fits, in a separate session.

    Parameters
    ----------
    told : its instructions.

    Attributes
    ----------
    passed : output that nobody waited for.
    """

    def __init__(self, **told: Any) -> None:
        command = [sys.executable, "-m", "tests.kills.cluster.driver", json.dumps(told)]
        self._said = TemporaryFile("w+")  # noqa: SIM115 (closed with the driver)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).resolve().parents[3],
        )
        self._lines: Queue[str] = Queue()
        self.passed: list[dict[str, Any]] = []
        Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it and its children."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._said.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def heard(self, key: str) -> Any:
        """Wait until it says something, and return that.

        Raises
        ------
        FaultError : when it is silent for too long, or ends before.
        """
        until = time.monotonic() + LIMIT
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                said = [*map(list, self.passed)]
                raise FaultError("hang", f"{LIMIT:.0f} s without {key} after {said}: {self._stderr()}") from None
            if not line:
                raise FaultError("traceback", f"ends before it says {key}: {self._stderr()}")
            with suppress(ValueError):
                found = json.loads(line)
                if key in found:
                    return found
                self.passed.append(found)

    def tell(self, **told: Any) -> None:
        """Tell it to do something more."""
        assert self._process.stdin is not None
        self.passed.clear()
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()

    def has_said(self, key: str) -> bool:
        """Say whether it says something that was not waited for, without waiting for it."""
        return any(key in line for line in list(self._lines.queue))

    def kill(self) -> None:
        """Kill the driver alone: its children must end by themselves.

        Raises
        ------
        FaultError : when that does not end.
        """
        self._process.kill()
        self._process.wait()
        until = time.monotonic() + _TO_END
        while left := _group(self._process.pid):
            if time.monotonic() > until:
                raise FaultError("orphan", f"the processes {left} are left of a driver that was killed")
            time.sleep(0.2)

    def _stderr(self) -> str:
        self._said.seek(0)
        return self._said.read()[-3000:]


def _group(leader: int) -> list[int]:
    """Return the processes of a process group."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == leader and fields[0] != "Z":
                found.append(int(folder.name))
    return found


class Deaths:
    """Trials of one kind, most of them on one cluster, one after the other.

    Parameters
    ----------
    folder : keeps checkpoints.
    kind : "workers" or "drivers".
    """

    def __init__(self, folder: Path, kind: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.kind = kind
        self._lock = Lock()
        self._server: Driver | None = None
        self._address = ""
        self._workers = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def try_one(self, number: int, seed: int = 0) -> Verdict:
        """Draw a fit, disturb it, and judge the result."""
        fit = Fit.drawn(1000 * seed + number)
        rng = random.Random(fit.seed)
        what: list[str] = []
        with self._lock:
            began = time.perf_counter()
            try:
                self._serve(fit.workers)
                (self._kill_workers if self.kind == "workers" else self._kill_drivers)(fit, rng, what)
                faults = {}
            except FaultError as error:
                faults = dict([error.args])
                self._end()
        what.append(f"{time.perf_counter() - began:.1f} s in all")
        return Verdict(number, f"{fit}: {'; '.join(what)}", faults)

    def _serve(self, workers: int) -> None:
        """Return a cluster of this size: a new one unless Dask replaced dead workers."""
        if self._server is not None and self._workers == workers:
            self._server.tell(wait=True)
            if self._server.heard("workers")["workers"] == workers:
                return
        self._end()
        self._server, self._workers = Driver(workers=workers), workers
        self._address = self._server.heard("address")["address"]

    def _end(self) -> None:
        if self._server is not None:
            self._server.__exit__()
            self._server = None

    def _kill_workers(self, fit: Fit, rng: random.Random, what: list[str]) -> None:
        assert self._server is not None
        victims = 1 if rng.random() < _ONE else rng.randint(1, fit.workers)
        for part in (_PART, 0.5 * _PART, 0.2 * _PART):  # a first fit is slower, so that the second may be over before
            self._server.tell(fit=asdict(fit), part=part, victims=victims)
            undisturbed, disturbed = self._server.heard("result"), self._server.heard("result")
            killed = sum("killed" in said for said in self._server.passed)
            self._server.heard("over")
            if killed:
                break
        times = f"{undisturbed['seconds']:.2f} s undisturbed, {disturbed['seconds']:.2f} s disturbed"
        what.append(f"{killed} of {victims} killed before the end, {times}, {disturbed['rounds']} rounds")
        judge(fit, disturbed["result"], undisturbed["result"])

    def _kill_drivers(self, fit: Fit, rng: random.Random, what: list[str]) -> None:
        """Kill drivers of a cluster that survives, or sometimes of one that ends with them."""
        assert self._server is not None
        kept = self.folder / f"{fit.seed}.npz"
        kept.unlink(missing_ok=True)
        if rng.random() < _OF_ITS_OWN:
            told = {"fit": asdict(fit), "workers": fit.workers, "checkpoint": str(kept)}
            with Driver(fit=told["fit"], workers=fit.workers) as driver:
                undisturbed = driver.heard("result")
        else:
            told = {"fit": asdict(fit), "address": self._address, "checkpoint": str(kept)}
            self._server.tell(fit=asdict(fit), part=0.0, victims=0)
            undisturbed = self._server.heard("result")
            self._server.heard("over")
        reference = Bounds.reference(fit)
        last = Bounds(0.0, np.inf)
        for _ in range(rng.randint(1, 2)):
            with Driver(**told) as driver:
                driver.heard("begins")
                moment = undisturbed["seconds"] * rng.random()
                time.sleep(moment)
                ended = driver.has_said("result")
                driver.kill()
            known = Checkpoint(kept).read()
            rounds = "no" if known is None else str(len(known.history) - 1)
            what.append(f"killed after {moment:.2f} s with {rounds} rounds kept{', ended before' * ended}")
            if known is not None:
                last = follow(Bounds(known.dual, known.primal), last, reference)
        with Driver(**told) as driver:
            final = driver.heard("result")
        times = f"{undisturbed['seconds']:.2f} s undisturbed, {final['seconds']:.2f} s at last"
        what.append(f"{times}, {final['rounds']} rounds")
        judge(fit, final["result"], None)


def follow(found: Bounds, last: Bounds, reference: Bounds) -> Bounds:
    """Return the bounds of a checkpoint.

    Raises
    ------
    FaultError : when they are wrong, or farther apart than before.
    """
    if found.contradict(reference):
        raise FaultError("bounds", f"{found} in the checkpoint, {reference} by one machine")
    if found.dual < last.dual - found.rounding or found.primal > last.primal + found.rounding:
        raise FaultError("loss", f"{found} in the checkpoint after {last}")
    return found


def judge(fit: Fit, found: dict[str, Any], undisturbed: dict[str, Any] | None) -> None:
    """Compare the result of a fit with one machine, and with the same fit undisturbed.

    Raises
    ------
    FaultError : when it has no certificate, a wrong one, or another result.
    """
    bounds, reference = Bounds(found["dual"], found["primal"]), Bounds.reference(fit)
    if found["status"] != "CONVERGED" or bounds.primal - bounds.dual > fit.tol * fit.C:
        raise FaultError("uncertified", f"{found['status']}, {bounds}")
    if bounds.contradict(reference):
        raise FaultError("bounds", f"{bounds}, but {reference} by one machine")
    problem = fit.problem
    point = problem.at(np.array(found["w"]))
    primal = problem.primal(problem.planes(point), point)
    if abs(primal - bounds.primal) > bounds.rounding:
        raise FaultError("bounds", f"P(w) is {primal!r} by one machine, and {bounds.primal!r} was said")
    if undisturbed is None:
        return
    apart = max(abs(found[name] - undisturbed[name]) for name in ("dual", "primal"))
    if apart > bounds.rounding:
        raise FaultError("differs", f"{bounds}, undisturbed {undisturbed['dual']!r}, {undisturbed['primal']!r}")
