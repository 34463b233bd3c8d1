"""The command ``python -m tests.campaign``."""

import argparse
import sys
import time
from collections import Counter

from structsvm.compute.processes import one_thread, spread
from tests.campaign.verdict import Verdict, try_case

_AT_ONCE = 50


def some_cases(first: int, last: int) -> list[Verdict]:
    """Try the cases of a range of numbers."""
    with one_thread():
        return [try_case(number) for number in range(first, last)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("problems", type=int, nargs="?", default=1000, help="how many (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--jobs", type=int, default=None, help="processes")
    parser.add_argument("--only", type=int, default=None, metavar="NUMBER", help="try this case alone")
    arguments = parser.parse_args()
    if arguments.only is not None:
        print(try_case(arguments.only))
        return
    began, found = time.perf_counter(), list[Verdict]()
    end = arguments.first + arguments.problems
    tasks = ((first, min(first + _AT_ONCE, end)) for first in range(arguments.first, end, _AT_ONCE))
    for verdicts in spread(some_cases, tasks, arguments.jobs):
        found += verdicts
        for verdict in verdicts:
            if verdict.fault:
                print(f"{verdict.fault}: {verdict.said}", flush=True)
    ordinary = Counter(verdict.fault for verdict in found if verdict.ordinary)
    other = Counter(verdict.fault for verdict in found if not verdict.ordinary)
    seconds = time.perf_counter() - began
    for what, counted in (("ordinary scale", ordinary), ("extreme scale", other)):
        faults = ", ".join(f"{number} {fault}" for fault, number in sorted(counted.items()) if fault) or "no faults"
        print(f"{sum(counted.values())} problems of {what}: {faults}")
    print(f"{seconds:.0f} s, {seconds / max(len(found), 1) * 1e3:.1f} ms a problem")
    sys.exit(bool(+Counter({fault: n for fault, n in (ordinary + other).items() if fault in ("wrong bound", "error")})))


if __name__ == "__main__":
    main()
