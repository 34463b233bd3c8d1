"""Run combinations in processes, so that a backend may crash or hang."""

import os
import pickle
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import current_process
from typing import Any, Self

from attrs import evolve

from structsvm.exceptions import InputError
from structsvm.foundation.compute.processes import starting_workers
from structsvm.foundation.compute.threads import thread_count, using
from structsvm.foundation.compute.workers import stay_with
from structsvm.foundation.memory import peak, reset_peak
from structsvm.result import Step
from structsvm.solvers.comparison.combinations import Task, with_settings
from structsvm.solvers.comparison.running import CombinationRun, Progress, Watch, warm_up
from structsvm.solvers.comparison.table import ComparisonRow
from structsvm.solvers.qp import ActiveSet

GRACE = 10.0
"""Seconds after the time limit at which a process is killed."""

_TICK = 0.2  # seconds


class BackendProcesses:
    """A process for each backend and for solvers without QPs, started when needed; on exit, all are killed."""

    def __init__(self) -> None:
        self._workers: dict[str | None, _Worker] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.kill()

    def row(self, run: CombinationRun) -> ComparisonRow:
        """Run a combination in the process of its backend and return its row."""
        if current_process().daemon:
            raise InputError(
                "backends other than active-set need processes, but this process is daemonic, as workers of a Pool, "
                "and may start none: compare in the main process, or compare only active-set"
            )
        # The import takes long, and most comparisons with the built-in backend do without it.
        from cloudpickle import dumps

        try:
            message = dumps((run.task, run.limit))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            return run.without_result("failed", f"its process cannot receive the problem or the backend: {reason}")
        backend = run.task.combination.backend
        worker = self._workers.pop(backend, None) or _Worker()
        try:
            row = worker.row(run, message)
        except BaseException:
            worker.kill()
            raise
        if worker.process.is_alive():
            self._workers[backend] = worker
        return row


class _Worker:
    """A process with a pipe, which receives combinations and sends their steps and rows."""

    def __init__(self) -> None:
        from loky.backend import get_context

        context: Any = get_context("loky")
        self.pipe, far_end = context.Pipe()
        # This kind of process does not import the main module, so scripts need no guard.
        self.process = context.Process(target=_serve, args=(far_end, os.getpid(), thread_count(None)))
        with starting_workers():
            self.process.start()
        far_end.close()

    def kill(self) -> None:
        """End the process, even inside a call of a solver."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        self.process.join()
        self.pipe.close()

    def row(self, run: CombinationRun, message: bytes) -> ComparisonRow:
        """Return the row of a run, also if the process must be killed or crashes."""
        steps: list[Step] = []
        # The process may compile for a long time before the clock starts.
        watch = Watch(None)
        try:
            self.pipe.send_bytes(message)
            while True:
                while not self.pipe.poll(_TICK):
                    if watch.over():
                        self.kill()
                        note = f"{run.late()}, and the backend did not return: its process was killed"
                        return run.from_steps("time limit", note, steps, watch.seconds)
                answer = self.pipe.recv()
                if isinstance(answer, ComparisonRow):
                    return answer
                if isinstance(answer, Step):
                    steps.append(answer)
                    with watch.pause():
                        stop = run.show(answer)
                    self.pipe.send(stop)
                elif answer is None:
                    watch = Watch(None if run.limit is None else run.limit + GRACE)
                else:
                    return run.without_result("failed", answer)
        except KeyboardInterrupt:
            self.kill()
            if not steps:
                raise
            return run.from_steps("interrupted", "Ctrl-C", steps, watch.seconds)
        except (EOFError, OSError) as error:
            # The callback raised the error, not the pipe.
            if error is run.fault:
                raise
            self.kill()
            return run.from_steps("crashed", f"the process ended with {self._ending()}", steps, watch.seconds)

    def _ending(self) -> str:
        code = self.process.exitcode
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _serve(pipe: Any, parent: int, threads: int) -> None:
    """Run the combinations that the parent sends, until it closes the pipe."""
    stay_with(parent)
    # Solvers may print, and standard output may be the table as JSON or CSV.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warm: set[tuple[str, str]] = set()
    with using(threads), suppress(EOFError, OSError):
        while True:
            message = pipe.recv_bytes()
            try:
                task, limit = pickle.loads(message)
            except Exception as error:
                pipe.send(f"its process cannot read the problem or the backend: {type(error).__name__}: {error}")
                continue
            del message
            kind = (task.combination.loss, task.combination.solver)
            with warnings.catch_warnings(record=True) as caught:
                if kind not in warm:
                    # Compilation has no time limit, but the backend has one.
                    warm_up(_with_built_in(task))
                    pipe.send(None)
                    warm_up(task)
                    warm.add(kind)
                pipe.send(None)
                reset_peak()
                row = CombinationRun(task, limit, Progress(0, 0, task.combination, None), _sender(pipe)).row()
            warning = next((str(one.message) for one in caught if issubclass(one.category, UserWarning)), "")
            note = row.note or " ".join(warning.split())
            pipe.send(evolve(row, note=note, peak_memory=None if row.gap is None else peak()))


def _with_built_in(task: Task) -> Task:
    if task.backend is None:
        return task
    backend = ActiveSet()
    return evolve(task, backend=backend, solver=with_settings(task.solver, backend=backend))


def _sender(pipe: Any) -> Callable[[Progress], bool]:
    """Return a callback that sends each step to the parent and returns its answer."""

    def send(progress: Progress) -> bool:
        pipe.send(progress.step)
        return bool(pipe.recv())

    return send
