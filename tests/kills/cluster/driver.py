"""The command ``python -m tests.kills.cluster.driver TOLD``: a driver, which a trial starts and may kill.

Its argument, a JSON object, has a "fit", whose begin and result it prints, one line each; and the "address" of a
cluster, or the number of "workers" of a cluster to start. Without a fit, it prints the address of the started cluster
and reads fits from its standard input, or the command "wait", until all workers are there. A fit has a number of
"victims" to kill after a "part" of the time of an undisturbed fit.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.kills.cluster.problems import Fit, trained


def main() -> None:
    from distributed import Client, LocalCluster

    told = json.loads(sys.argv[1])
    if "address" in told:
        with Client(told["address"]) as client:
            work(client, told)
        return
    workers = told["workers"]
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        if "fit" in told:
            work(client, told)
            return
        say(address=cluster.scheduler_address)
        for line in sys.stdin:
            told = json.loads(line)
            if "wait" in told:
                with suppress(TimeoutError):
                    client.wait_for_workers(workers, timeout=60)
                say(workers=len(client.nthreads()))
            else:
                disturbed(cluster, client, told)


def disturbed(cluster: Any, client: Any, told: dict[str, Any]) -> None:
    """Fit twice, and kill workers the second time."""
    seconds = work(client, told)
    rng = random.Random(told["fit"]["seed"])
    timers = [
        threading.Timer(told["part"] * seconds * rng.random(), kill, (cluster.workers[victim],))
        for victim in rng.sample(sorted(cluster.workers), told["victims"])
    ]
    for timer in timers:
        timer.start()
    if timers:
        work(client, told)
    for timer in timers:
        timer.join()
    say(over=True)


def kill(nanny: Any) -> None:
    """Kill a worker; its nanny starts another."""
    with suppress(AttributeError):  # it is just being started again
        os.kill(nanny.process.pid, signal.SIGKILL)
        say(killed=True)


def work(client: Any, told: dict[str, Any]) -> float:
    """Fit; print the begin and the result; return the seconds."""
    say(begins=True)
    began = time.perf_counter()
    result = trained(Fit(**told["fit"]), client, Path(told["checkpoint"]) if "checkpoint" in told else None)
    seconds = time.perf_counter() - began
    rounds = len(result.history) - 1
    ended = {"dual": result.dual, "primal": result.primal, "status": result.status.name, "w": result.w.tolist()}
    say(seconds=seconds, rounds=rounds, result=ended)
    return seconds


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
