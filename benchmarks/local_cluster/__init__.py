"""Fits on a local Dask cluster, in a process that is ended where it does not end itself."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, Queue
from tempfile import TemporaryFile
from threading import Thread
from typing import Any

from attrs import asdict, frozen

from benchmarks.store import ROOT

_BEGIN = '{"seconds"'


@frozen
class Fit:
    """A fit on a local cluster of two worker processes of one thread each.

    Parameters
    ----------
    who : "DaskRanker" or "DaskLGBMRanker".
    settings : its arguments.
    kill_at : part of the time of the fit before it after which a worker is killed; None: none is.
    """

    who: str
    settings: dict[str, Any]
    kill_at: float | None = None


@frozen
class Outcome:
    """What came of a fit.

    Parameters
    ----------
    seconds : of the fit.
    ndcg : test NDCG@10; None where there is no model.
    error : what it said; "" where there is a model.
    gap : certified gap in units of the loss, where there is one.
    """

    seconds: float
    ndcg: float | None
    error: str = ""
    gap: float | None = None


def outcomes(data: str, scale: float, fits: Sequence[Fit], limit: float) -> list[Outcome]:
    """Fit one after the other on one cluster, in a process of its own.

    Parameters
    ----------
    data : name of the data, see ``benchmarks.local_cluster.__main__``.
    scale : part of them.
    fits : what to fit.
    limit : seconds that each fit may take, and so the start of the cluster with the first one; then the process and the
        workers that it started are killed.

    Returns
    -------
    The outcomes of those that came to an end. Where there are fewer than fits, the next one did not.

    Raises
    ------
    RuntimeError : when the process fails.
    """
    command = [sys.executable, "-m", "benchmarks.local_cluster", data, str(scale), json.dumps([*map(asdict, fits)])]
    found: list[Outcome] = []
    with (
        TemporaryFile("w+") as said,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True
        ) as process,
    ):
        lines: Queue[str] = Queue()
        Thread(target=_read, args=(process, lines), daemon=True).start()
        try:
            while len(found) < len(fits):
                line = lines.get(timeout=limit)
                if not line:
                    said.seek(0)
                    raise RuntimeError(f"fits on a local cluster came to an early end: {said.read()[-2000:]}")
                if line.startswith(_BEGIN):
                    found.append(Outcome(**json.loads(line)))
        except Empty:
            pass
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the processes of the cluster are in the same group
    return found


def _read(process: "subprocess.Popen[str]", lines: "Queue[str]") -> None:
    """Hand on what a process prints, and "" where it has ended."""
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")
