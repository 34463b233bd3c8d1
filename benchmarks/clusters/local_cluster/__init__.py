"""Fits on a local Dask cluster, in a process that is killed after a time limit."""

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

from benchmarks.harness.store import ROOT

_BEGIN = '{"seconds"'


@frozen
class Fit:
    """A fit on a local cluster of two worker processes of one thread each.

    Parameters
    ----------
    who : "DaskRanker" or "DaskLGBMRanker".
    settings : arguments of the ranker.
    kill_at : share of the time of the previous fit after which a worker is killed; None: no worker is killed.
    """

    who: str
    settings: dict[str, Any]
    kill_at: float | None = None


@frozen
class Outcome:
    """The result of a fit.

    Parameters
    ----------
    seconds : time of the fit.
    ndcg : test NDCG@10; None without a model.
    error : error message; "" with a model.
    gap : certified gap in units of the loss; None without a certificate.
    """

    seconds: float
    ndcg: float | None
    error: str = ""
    gap: float | None = None


def outcomes(data: str, scale: float, fits: Sequence[Fit], limit: float) -> list[Outcome]:
    """Run fits one after another on one cluster, in a separate process.

    Parameters
    ----------
    data : name of the data, see ``benchmarks.clusters.local_cluster.__main__``.
    scale : share of the data.
    fits : the fits.
    limit : seconds for each fit, and for the start of the cluster with the first fit; then the process and its workers
        are killed.

    Returns
    -------
    The outcomes of finished fits. If there are fewer outcomes than fits, the next fit did not finish.

    Raises
    ------
    RuntimeError : the process failed.
    """
    command = [sys.executable, "-m", __name__, data, str(scale), json.dumps([*map(asdict, fits)])]
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
    """Put the lines that a process prints into a queue, and "" at its end."""
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")
