"""Processes that try cases, limited in memory and time; one that dies is a finding, and a new one replaces it."""

import resource
import time
from collections.abc import Iterable, Iterator, Mapping
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any

from attrs import define, field

from tests.fuzz.case import Case
from tests.fuzz.verdict import Verdict, make_case, quiet, try_case

_MOST_CPU_SECONDS = 20.0
_MOST_SECONDS = 120.0
_ROOM = 3 * 2**30
"""Address space that a case may take; `tests.fuzz.verdict` limits its use."""

Task = tuple[int, str, int] | Case
"""Seed, kind and number of a case; or the case itself."""


@define
class _Worker:
    process: Any
    pipe: connection.Connection
    task: Task | None = None
    began: float = 0.0
    cpu: float = 0.0


@define
class Pool:
    """Processes that try cases.

    Parameters
    ----------
    files : the valid files.
    jobs : how many processes.
    """

    files: Mapping[str, bytes]
    jobs: int = 1
    _workers: list[_Worker] = field(factory=list, init=False)

    def __enter__(self) -> "Pool":
        self._workers = [self._start() for _ in range(self.jobs)]
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Verdict]]:
        """Try cases, and yield their verdicts as they are ready."""
        left = iter(tasks)
        for worker in self._workers:
            self._give(worker, left)
        while busy := [worker for worker in self._workers if worker.task is not None]:
            ready = connection.wait(
                [worker.pipe for worker in busy] + [worker.process.sentinel for worker in busy], timeout=1
            )
            for worker in busy:
                verdict = self._verdict(worker, ready)
                if verdict is not None:
                    task, worker.task = worker.task, None
                    assert task is not None
                    yield task, verdict
                    self._give(worker, left)

    def _verdict(self, worker: _Worker, ready: list[Any]) -> Verdict | None:
        try:
            if worker.pipe.poll():
                result: Verdict = worker.pipe.recv()
                return result
        except (EOFError, OSError):
            pass
        if not worker.process.is_alive():
            died = Verdict("process died", f"exit code {worker.process.exitcode}", False)
        elif (
            time.monotonic() - worker.began > _MOST_SECONDS
            or _cpu_seconds(worker.process.pid) - worker.cpu > _MOST_CPU_SECONDS
        ):
            died = Verdict("too long", f"more than {_MOST_CPU_SECONDS:g} s of CPU, or {_MOST_SECONDS:g} s", False)
        else:
            return None
        worker.process.kill()
        worker.process.join()
        fresh = self._start()
        worker.process, worker.pipe = fresh.process, fresh.pipe
        return died

    def _give(self, worker: _Worker, tasks: Iterator[Task]) -> None:
        worker.task = next(tasks, None)
        if worker.task is not None:
            worker.began, worker.cpu = time.monotonic(), _cpu_seconds(worker.process.pid)
            worker.pipe.send(worker.task)

    def _start(self) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        # Comparisons start processes, which a daemonic process may not.
        process = context.Process(target=_work, args=(theirs, dict(self.files)))
        process.start()
        theirs.close()
        ours.recv()
        return _Worker(process, ours)


def _work(pipe: connection.Connection, files: Mapping[str, bytes]) -> None:
    quiet()
    taken = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        if Path("/proc/self").exists()
        else 0
    )
    if taken:
        resource.setrlimit(resource.RLIMIT_AS, (taken + _ROOM, taken + _ROOM))
    pipe.send("ready")
    while True:
        task = pipe.recv()
        case = task if isinstance(task, Case) else make_case(*task, files)
        pipe.send(try_case(case, files))


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / 100.0
