"""The command ``python -m tests.kills.cluster.driver``: a driver, which a trial starts and may kill.

Its argument says what to do; it says on its standard output, a line each, that a fit begins and what came of it.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.kills.cluster.problems import Fit, trained


def main() -> None:
    from distributed import Client, LocalCluster

    told = json.loads(sys.argv[1])
    fit = Fit(**told["fit"])
    if "address" in told:
        with Client(told["address"]) as client:
            work(fit, client, told)
        return
    with (
        LocalCluster(n_workers=fit.workers, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(fit.workers)
        if "serve" in told:
            say(address=cluster.scheduler_address)
            sys.stdin.read()
            return
        seconds = work(fit, client, told)
        if "kill" in told:
            rng = random.Random(fit.seed)
            for victim in rng.sample(sorted(cluster.workers), told["victims"]):
                threading.Timer(told["kill"] * seconds * rng.random(), kill, (cluster.workers[victim],)).start()
            work(fit, client, told)


def kill(nanny: Any) -> None:
    """Kill a worker; its nanny starts another."""
    os.kill(nanny.process.pid, signal.SIGKILL)
    say(killed=True)


def work(fit: Fit, client: Any, told: dict[str, Any]) -> float:
    """Fit; say that it begins and what came of it; return the seconds that it took."""
    say(begins=True)
    began = time.perf_counter()
    result = trained(fit, client, Path(told["checkpoint"]) if "checkpoint" in told else None)
    seconds = time.perf_counter() - began
    rounds = len(result.history) - 1
    ended = {"dual": result.dual, "primal": result.primal, "status": result.status.name, "w": result.w.tolist()}
    say(seconds=seconds, rounds=rounds, result=ended)
    return seconds


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
