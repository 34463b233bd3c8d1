"""The command ``python -m tests.campaign``."""

import argparse
import logging
import sys
import time
from collections import Counter
from collections.abc import Sequence

from structsvm.foundation.compute.processes import one_thread, spread
from tests.campaign.verdict import FAULTS, KINDS, Verdict, try_case

_AT_ONCE = 50


def some_cases(first: int, last: int, kinds: Sequence[str]) -> list[Verdict]:
    """Try the cases of a range of numbers."""
    logging.getLogger("structsvm").setLevel(logging.ERROR)
    with one_thread():
        return [try_case(number, kinds[number % len(kinds)]) for number in range(first, last)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("problems", type=int, nargs="?", default=1000, help="how many (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--jobs", type=int, default=None, help="processes")
    parser.add_argument("--only", type=int, default=None, metavar="NUMBER", help="try this case alone")
    parser.add_argument("--kind", choices=KINDS, default=None, help="this kind alone")
    arguments = parser.parse_args()
    kinds = [arguments.kind] if arguments.kind else list(KINDS)
    if arguments.only is not None:
        print(try_case(arguments.only, kinds[arguments.only % len(kinds)]))
        return
    began, result = time.perf_counter(), list[Verdict]()
    end = arguments.first + arguments.problems
    tasks = ((first, min(first + _AT_ONCE, end), kinds) for first in range(arguments.first, end, _AT_ONCE))
    for verdicts in spread(some_cases, tasks, arguments.jobs):
        result += verdicts
        for verdict in verdicts:
            if verdict.fault:
                scale = "ordinary" if verdict.ordinary else "extreme"
                print(f"{verdict.fault} ({verdict.kind} {verdict.number}, {scale} scale): {verdict.said}", flush=True)
    seconds = time.perf_counter() - began
    print(f"{len(result)} problems tried, from number {arguments.first}, in {seconds:.0f} s")
    for what, scale in (("ordinary", True), ("extreme", False)):
        counted = Counter(verdict.fault for verdict in result if verdict.ordinary is scale)
        faults = ", ".join(f"{counted[fault]} {fault}" for fault in FAULTS)
        print(f"{counted.total()} of {what} scale: {faults}")
    sys.exit(any(verdict.wrong for verdict in result))


if __name__ == "__main__":
    main()
