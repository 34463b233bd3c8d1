"""Kill workers of a Dask cluster, or the driver, at random moments of a fit, and judge the result.

``python -m tests.kills.cluster FIT ADDRESS CHECKPOINT`` is a driver, which a trial starts and may kill. It prints a
line before the fit and the result after it; without an address, it starts a cluster.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, Self

import numpy as np
from attrs import asdict, frozen

from structsvm import Problem, Result
from structsvm.distributed import DaskCluster, DistributedProblem, Partition
from structsvm.solvers import Checkpoint, OneSlack
from tests.kills.commands import Bounds
from tests.kills.trial import Verdict

LOSSES = ("map", "roc_area", "ndcg")
_LIMIT = 200.0
"""Seconds that a call to the workers may take, and a fit."""

_TO_END = 30.0
_PART = 0.9
"""Share of the time of an undisturbed fit in which workers are killed."""

_SINGLE = 0.7
"""Share of the trials in which one worker is killed, and not several."""

_SEPARATE = 0.2
"""Share of the trials in which a killed driver has a separate cluster."""


class FaultError(Exception):
    """The fault of a trial: its kind, and the evidence."""


@frozen
class Fit:
    """A fit.

    Parameters
    ----------
    seed : of the data.
    loss, C, tol : as of a ranker.
    queries, documents, features : size of the data.
    partitions : number of them.
    workers : number of worker processes, the same for ten fits.
    """

    seed: int
    loss: str
    C: float
    tol: float
    queries: int
    documents: int
    features: int
    partitions: int
    workers: int

    @classmethod
    def drawn(cls, seed: int) -> "Fit":
        """Draw one."""
        rng = np.random.default_rng(seed)
        return cls(
            seed,
            LOSSES[seed % len(LOSSES)],
            C=float(10.0 ** rng.uniform(1.5, 3.0)),
            tol=1e-3,
            queries=int(rng.integers(100, 300)),
            documents=int(rng.integers(10, 40)),
            features=int(rng.integers(15, 46)),
            partitions=int(rng.integers(2, 10)),
            workers=2 + seed // 10 % 2,
        )

    def rows(self, part: int) -> Partition:
        """Return the rows of a partition, the same each time."""
        queries = np.array_split(np.arange(self.queries), self.partitions)[part]
        shared = np.random.default_rng([self.seed, 0]).normal(size=self.features)
        rng = np.random.default_rng([self.seed, 1 + part])
        X = rng.normal(size=(len(queries) * self.documents, self.features))
        utility = X @ shared / np.sqrt(self.features) + 1.5 * rng.normal(size=len(X))
        y = (utility > 1.5).astype(np.float64)
        y[:: self.documents] = 1.0
        y[1 :: self.documents] = 0.0
        return Partition(X, y, np.repeat(queries, self.documents))

    @property
    def problem(self) -> Problem:
        """All of it on one machine."""
        parts = [self.rows(part) for part in range(self.partitions)]
        X, y, qid = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return Problem.from_queries(X, y, qid, loss=self.loss, C=self.C)

    def run(self, client: Any, checkpoint: Checkpoint | None = None) -> dict[str, Any]:
        """Fit at the workers, which make the data; return the bounds, the weights and the seconds."""
        parts = [client.submit(self.rows, part) for part in range(self.partitions)]
        cluster = DaskCluster(client, timeout=_LIMIT)
        problem = DistributedProblem.from_queries(cluster, parts, loss=self.loss, C=self.C)
        began = time.perf_counter()
        result = OneSlack(tol=self.tol).solve(problem, checkpoint=checkpoint)
        seconds = time.perf_counter() - began
        return {"bounds": asdict(Bounds.of_result(result)), "w": result.w.tolist(), "seconds": seconds}


def start_cluster(workers: int) -> Any:
    """Start a cluster of worker processes."""
    from distributed import LocalCluster

    return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50)


def drive(fit: str, address: str, checkpoint: str) -> None:
    """Fit in a driver that may be killed."""
    from distributed import Client

    drawn = Fit(**json.loads(fit))
    with ExitStack() as stack:
        client = stack.enter_context(Client(address or stack.enter_context(start_cluster(drawn.workers))))
        client.wait_for_workers(drawn.workers)
        print("begins", flush=True)
        print(json.dumps(drawn.run(client, Checkpoint(Path(checkpoint), every=0.0))), flush=True)


class Deaths:
    """Trials of one kind, most of them on one cluster, one after the other.

    Parameters
    ----------
    folder : of the checkpoints.
    kind : "workers" or "drivers".
    """

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.kind = kind
        self._lock = Lock()
        self._stack = ExitStack()
        self._cluster: Any = None
        self._client: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._cluster = None

    def try_one(self, number: int, seed: int = 0) -> Verdict:
        """Draw a fit, disturb it, and judge the result."""
        fit = Fit.drawn(1000 * seed + number)
        rng, faults = random.Random(fit.seed), {}
        with self._lock:
            began = time.perf_counter()
            try:
                self._serve(fit.workers)
                (self._kill_workers if self.kind == "workers" else self._kill_drivers)(fit, rng)
            except FaultError as error:
                faults = dict([error.args])
                self.__exit__()
        return Verdict(number, f"{fit}: {time.perf_counter() - began:.1f} s in all", faults)

    def _serve(self, workers: int) -> None:
        """Start a cluster of this size, unless the present one has the size; Dask replaces dead workers."""
        from distributed import Client

        if self._cluster is not None and len(self._cluster.worker_spec) == workers:
            with suppress(TimeoutError):
                self._client.wait_for_workers(workers, timeout=60)
                return
        self.__exit__()
        self._cluster = start_cluster(workers)
        self._stack.callback(self._cluster.close)
        self._client = Client(self._cluster)
        self._stack.callback(self._client.close)  # in any thread, unlike the client's context
        self._client.wait_for_workers(workers)

    def _run(self, fit: Fit) -> dict[str, Any]:
        with ThreadPoolExecutor(1) as pool:
            try:
                return pool.submit(fit.run, self._client).result(timeout=_LIMIT)
            except TimeoutError:
                raise FaultError("hang", f"the fit takes more than {_LIMIT:.0f} s") from None

    def _kill_workers(self, fit: Fit, rng: random.Random) -> None:
        victims = 1 if rng.random() < _SINGLE else rng.randint(1, fit.workers)
        undisturbed = self._run(fit)
        timers = [
            threading.Timer(_PART * undisturbed["seconds"] * rng.random(), kill, (self._cluster.workers[victim],))
            for victim in rng.sample(sorted(self._cluster.workers), victims)
        ]
        for timer in timers:
            timer.start()
        disturbed = self._run(fit)
        for timer in timers:
            timer.join()
        judge(fit, disturbed, undisturbed)

    def _kill_drivers(self, fit: Fit, rng: random.Random) -> None:
        """Kill drivers of a cluster that survives, or sometimes of one that ends with them."""
        path = self.folder / f"{fit.seed}.npz"
        path.unlink(missing_ok=True)
        address = "" if rng.random() < _SEPARATE else self._cluster.scheduler_address
        command = [sys.executable, "-m", "tests.kills.cluster", json.dumps(asdict(fit)), address, str(path)]
        seconds, reference, last = self._run(fit)["seconds"], _reference(fit), None
        for moment in [seconds * rng.random() for _ in range(rng.randint(1, 2))]:
            _driven(command, moment)
            checkpoint = Checkpoint(path).read()
            if checkpoint is not None:
                bounds = Bounds.of_result(checkpoint)
                if bounds.contradicts(reference):
                    raise FaultError("bounds", f"{bounds} in the checkpoint, {reference} by one machine")
                if last is not None and bounds.worse_than(last):
                    raise FaultError("loss", f"{bounds} in the checkpoint after {last}")
                last = bounds
        judge(fit, json.loads(_driven(command)), None)


def kill(nanny: Any) -> None:
    """Kill a worker; its nanny starts another."""
    with suppress(AttributeError):  # its process is being started again
        os.kill(nanny.process.pid, signal.SIGKILL)


def _driven(command: list[str], moment: float | None = None) -> str:
    """Run a driver, and return its last line; or kill it alone at a moment of its fit, and wait for its children.

    Raises
    ------
    FaultError : when a driver fails or hangs, or leaves processes.
    """
    with TemporaryFile("w+") as errors, subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True,
        cwd=Path(__file__).resolve().parents[2],
    ) as driver:  # fmt: skip
        timer = threading.Timer(_LIMIT, os.killpg, (driver.pid, signal.SIGKILL))
        timer.start()
        assert driver.stdout is not None
        line = driver.stdout.readline()
        if line and moment is not None:
            time.sleep(moment)
            driver.kill()
        elif line:
            line = driver.stdout.read().strip()
        late = not timer.is_alive()
        timer.cancel()
        driver.wait()
        errors.seek(0)
        if late or not line:
            raise FaultError("hang" if late else "traceback", errors.read()[-3000:])
        until = time.monotonic() + _TO_END
        while left := _group(driver.pid):
            if time.monotonic() > until:
                os.killpg(driver.pid, signal.SIGKILL)
                raise FaultError("orphan", f"the processes {left} are left of a driver that was killed")
            time.sleep(0.2)
    return line


def _group(leader: int) -> list[int]:
    """Return the processes of a process group."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == leader and fields[0] != "Z":
                processes.append(int(folder.name))
    return processes


def _reference(fit: Fit) -> Bounds:
    """Return close bounds, of a fit on one machine."""
    result: Result = OneSlack(tol=1e-6).solve(fit.problem)
    assert result.converged
    return Bounds.of_result(result)


def judge(fit: Fit, outcome: dict[str, Any], undisturbed: dict[str, Any] | None) -> None:
    """Compare the result of a fit with one machine, and with the same fit undisturbed.

    Raises
    ------
    FaultError : when it has no certificate, a wrong one, or another result.
    """
    bounds, reference = Bounds(**outcome["bounds"]), _reference(fit)
    if not bounds.certified:
        raise FaultError("uncertified", str(bounds))
    problem = fit.problem
    point = problem.at(np.array(outcome["w"]))
    primal = problem.primal(problem.planes(point), point)
    if bounds.contradicts(reference) or abs(primal - bounds.primal) > bounds.rounding:
        raise FaultError("bounds", f"{bounds}, but {reference} and P(w) = {primal!r} by one machine")
    if undisturbed is not None:
        other = Bounds(**undisturbed["bounds"])
        if max(abs(bounds.dual - other.dual), abs(bounds.primal - other.primal)) > bounds.rounding:
            raise FaultError("differs", f"{bounds}, undisturbed {other}")


if __name__ == "__main__":
    drive(*sys.argv[1:])
