"""The command ``python -m tests.kills``."""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from subprocess import SubprocessError
from tempfile import TemporaryDirectory

from tests.kills import __doc__ as description
from tests.kills.cluster import Deaths
from tests.kills.trial import Campaign, Verdict


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=description)
    parser.add_argument("kills", type=int, nargs="?", default=40, help="number of trials (default: 40)")
    parser.add_argument(
        "--of",
        default="commands",
        help="workers or drivers of fits on a Dask cluster, all commands that write, or the commands with these words, "
        "as in 'train --checkpoint' (default: commands)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the moments and signals (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time (default: 2)")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="try this one alone")
    options = parser.parse_args()
    numbers = range(options.kills) if options.only is None else [options.only]
    began, faults = time.perf_counter(), Counter[str]()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        trials = (
            stack.enter_context(Deaths(folder, options.of))
            if options.of in ("workers", "drivers")
            else Campaign(folder, words="" if options.of == "commands" else options.of)
        )
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))
        for done in as_completed([pool.submit(_judged, trials, number, options.seed) for number in numbers]):
            verdict = done.result()
            faults.update(list(verdict.faults))
            if verdict.faults or options.only is not None:
                print(f"{verdict.number}: {verdict.what}\n    {verdict.faults}", flush=True)
    counts = ", ".join(f"{count} {fault}" for fault, count in faults.most_common()) or "no faults"
    print(f"{len(numbers)} kills: {counts}; {time.perf_counter() - began:.0f} s")
    sys.exit(bool(faults))


def _judged(trials: Campaign | Deaths, number: int, seed: int) -> Verdict:
    try:
        return trials.try_one(number, seed)
    except (RuntimeError, SubprocessError) as error:  # an undisturbed run fails, or takes too long
        return Verdict(number, str(error), {"hang": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
