"""The command ``python -m tests.kills``."""

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from subprocess import SubprocessError
from tempfile import TemporaryDirectory

from attrs import asdict

from tests.kills import __doc__ as description
from tests.kills.cluster.trial import Deaths
from tests.kills.trial import Campaign, Verdict

FAULTS = ("loss", "leftover", "traceback", "orphan", "hang", "silent")
OF_FITS = ("uncertified", "bounds", "differs", "loss", "traceback", "orphan", "hang")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=description)
    parser.add_argument("kills", type=int, nargs="?", default=40, help="how many (default: 40)")
    parser.add_argument(
        "--of",
        default="commands",
        help="what is killed: workers or drivers of fits on a Dask cluster, all commands that write, or those that "
        "have these words, as in 'train --checkpoint' (default: commands)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the moments and signals (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--folder", type=Path, help="keeps what was tried, to go on with; default: a temporary one")
    parser.add_argument(
        "--to-die",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="that workers have (default: 2)",
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="try this one alone")
    arguments = parser.parse_args()
    if arguments.folder is not None:
        sys.exit(run(arguments.folder.resolve(), arguments))
    with TemporaryDirectory() as folder:
        sys.exit(run(Path(folder), arguments))


def run(folder: Path, arguments: argparse.Namespace) -> int:
    """Try the remaining trials; return the exit code."""
    if arguments.of in ("workers", "drivers"):
        with Deaths(folder, arguments.of) as deaths:
            return tried(deaths, folder, arguments)
    words = "" if arguments.of == "commands" else arguments.of
    return tried(Campaign(folder, arguments.to_die, words=words), folder, arguments)


def tried(campaign: Campaign | Deaths, folder: Path, arguments: argparse.Namespace) -> int:
    """Try the remaining trials of one kind; return the exit code."""
    began = time.perf_counter()
    if arguments.only is not None:
        verdict = campaign.try_one(arguments.only, arguments.seed)
        print(verdict)
        return bool(verdict.faults)
    kept = folder / f"{arguments.of.replace(' ', '_')}-seed-{arguments.seed}.jsonl"
    found = {each.number: each for each in map(_verdict, kept.read_text().splitlines())} if kept.exists() else {}
    todo = [number for number in range(arguments.kills) if number not in found]
    with ThreadPoolExecutor(arguments.jobs) as pool, kept.open("a") as file:
        for done in as_completed([pool.submit(_tried, campaign, number, arguments.seed) for number in todo]):
            verdict = done.result()
            found[verdict.number] = verdict
            print(json.dumps(asdict(verdict)), file=file, flush=True)
            if verdict.faults:
                print(f"{verdict.number}: {verdict.what}\n    {verdict.faults}", flush=True)
    faults = Counter(fault for verdict in found.values() for fault in verdict.faults)
    kinds = OF_FITS if arguments.of in ("workers", "drivers") else FAULTS
    counted = ", ".join(f"{faults[fault]} {fault}" for fault in kinds)
    print(f"{len(found)} kills: {counted}; {time.perf_counter() - began:.0f} s")
    return bool(faults)


def _tried(campaign: Campaign | Deaths, number: int, seed: int) -> Verdict:
    try:
        return campaign.try_one(number, seed)
    except (RuntimeError, SubprocessError) as error:  # an undisturbed run fails, or takes too long
        return Verdict(number, str(error), {"hang": f"{type(error).__name__}: {error}"})


def _verdict(line: str) -> Verdict:
    return Verdict(**json.loads(line))


if __name__ == "__main__":
    main()
