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
from threading import Thread
from typing import Any, Self

import numpy as np
from attrs import asdict

from structsvm.solvers import Checkpoint
from tests.kills.cluster.problems import Bounds, Fit
from tests.kills.trial import Verdict

LIMIT = 120.0
"""Seconds in which a driver must say something."""

_TO_END = 30.0
_WORST = 0.9


class FaultError(Exception):
    """What a trial found: the kind of fault, and what was seen."""


class Driver:
    """A process that fits, in a session of its own.

    Parameters
    ----------
    told : what it is told to do.

    Attributes
    ----------
    passed : what it said that was not waited for.
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
        self._signal()
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
                raise FaultError("hang", f"says nothing of {key} for {LIMIT:.0f} s: {self._stderr()}") from None
            if not line:
                raise FaultError("traceback", f"ends before it says {key}: {self._stderr()}")
            with suppress(ValueError):
                found = json.loads(line)
                if key in found:
                    return found
                self.passed.append(found)

    def has_said(self, key: str) -> bool:
        """Say whether it says something that was not waited for, without waiting for it."""
        return any(key in line for line in list(self._lines.queue))

    def kill(self) -> None:
        """Kill the driver alone: what it started must end by itself.

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

    def _signal(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

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
    """Trials of one kind.

    Parameters
    ----------
    folder : keeps checkpoints.
    kind : "workers" or "drivers".
    """

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.kind = kind

    def try_one(self, number: int, seed: int = 0) -> Verdict:
        """Draw a fit, disturb it, and look at what comes of it."""
        fit = Fit.drawn(1000 * seed + number)
        rng = random.Random(fit.seed)
        began = time.perf_counter()
        what: list[str] = []
        try:
            (self._workers if self.kind == "workers" else self._drivers)(fit, rng, what)
            faults = {}
        except FaultError as error:
            faults = dict([error.args])
        what.append(f"{time.perf_counter() - began:.1f} s in all")
        return Verdict(number, f"{fit}: {'; '.join(what)}", faults)

    def _workers(self, fit: Fit, rng: random.Random, what: list[str]) -> None:
        victims = 1 if rng.random() < 0.7 else rng.randint(1, fit.workers)
        with Driver(fit=asdict(fit), kill=_WORST, victims=victims) as driver:
            undisturbed, disturbed = driver.heard("result"), driver.heard("result")
            killed = sum("killed" in said for said in driver.passed)
        times = f"{undisturbed['seconds']:.2f} s undisturbed, {disturbed['seconds']:.2f} s disturbed"
        what.append(f"{killed} of {victims} workers killed before the end, {times}, {disturbed['rounds']} rounds")
        judge(fit, disturbed["result"], undisturbed["result"])

    def _drivers(self, fit: Fit, rng: random.Random, what: list[str]) -> None:
        checkpoint = self.folder / f"{fit.seed}.npz"
        checkpoint.unlink(missing_ok=True)
        if fit.seed % 2:
            with Driver(fit=asdict(fit), serve=True) as server:
                self._killed(fit, rng, what, checkpoint, server.heard("address"))
        else:
            self._killed(fit, rng, what, checkpoint, {})

    def _killed(self, fit: Fit, rng: random.Random, what: list[str], kept: Path, where: dict[str, str]) -> None:
        told = {"fit": asdict(fit), **where}
        with Driver(**told) as driver:
            undisturbed = driver.heard("result")
        reference = Bounds.reference(fit)
        last = Bounds(0.0, np.inf)
        for _ in range(rng.randint(1, 3)):
            with Driver(**told, checkpoint=str(kept)) as driver:
                driver.heard("begins")
                moment = undisturbed["seconds"] * rng.random()
                time.sleep(moment)
                ended = driver.has_said("result")
                driver.kill()
            known = Checkpoint(kept).read()
            rounds = "no" if known is None else str(len(known.history) - 1)
            what.append(f"driver killed after {moment:.2f} s with {rounds} rounds kept{', ended before' * ended}")
            if known is not None:
                found = Bounds(known.dual, known.primal)
                if found.contradict(reference):
                    raise FaultError("bounds", f"{found} in the checkpoint, {reference} by one machine")
                if found.dual < last.dual - found.rounding or found.primal > last.primal + found.rounding:
                    raise FaultError("loss", f"{found} in the checkpoint after {last}")
                last = found
        with Driver(**told, checkpoint=str(kept)) as driver:
            final = driver.heard("result")
        what.append(f"{undisturbed['seconds']:.2f} s undisturbed, then {final['seconds']:.2f} s")
        judge(fit, final["result"], None)


def judge(fit: Fit, found: dict[str, Any], undisturbed: dict[str, Any] | None) -> None:
    """Compare what came of a fit with one machine, and with the same fit undisturbed.

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
