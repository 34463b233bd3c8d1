"""The command ``python -m tests.fuzz``."""

import argparse
import itertools
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.case import Case
from tests.fuzz.corpus import make_corpus
from tests.fuzz.pool import Pool, Task
from tests.fuzz.verdict import KINDS, TRY, Verdict, make_case

_ROUND = ("readers", "models", "commands", "readers", "api") * 12 + ("processes",)
"""The kinds in turn: quick kinds more often."""

_KEPT = 3
"""Cases that are kept of each fault."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default: 60)")
    parser.add_argument("--cases", type=int, default=None, help="how many at most")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn (default: 0)")
    parser.add_argument("--only", choices=KINDS, default=None, help="one kind alone")
    parser.add_argument(
        "--case", type=int, default=None, metavar="NUMBER", help="this case of --only alone, and show it"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="folder for what is found")
    given = parser.parse_args()
    if given.case is not None and given.only is None:
        parser.error("--case needs --only, the kind of the case")
    files = make_corpus()
    began, tried, faults, worst = time.monotonic(), Counter[str](), dict[str, list[Task]](), [0.0, 0.0]
    refused = Counter[str]()
    with Pool(files, given.jobs) as pool:
        tasks = _tasks(given, began + given.seconds)
        for task, verdict in pool.run(tasks):
            kind = task[1] if isinstance(task, tuple) else task.kind
            tried[kind] += 1
            refused[kind] += verdict.refused
            worst[verdict.refused] = max(worst[verdict.refused], verdict.megabytes)
            if given.case is not None:
                print(_case(task, files).source, verdict, sep="\n")
            if verdict.fault:
                kept = faults.setdefault(verdict.signature, [])
                kept.append(task)
                if len(kept) <= _KEPT:
                    _keep(given.findings, task, verdict, _case(task, files))
    seconds = time.monotonic() - began
    for kind in tried:
        print(f"{kind}: {tried[kind]} tried, {refused[kind]} refused")
    print(f"memory: at most {worst[1]:.0f} MB for what was refused, {worst[0]:.0f} MB for what was not")
    result = sum(map(len, faults.values()))
    print(f"{sum(tried.values())} cases in {seconds:.0f} s, {result} faults of {len(faults)} kinds")
    for signature, cases in sorted(faults.items(), key=lambda item: -len(item[1])):
        print(f"{len(cases):6} {signature}")
    sys.exit(bool(faults))


def _tasks(given: argparse.Namespace, until: float) -> Iterator[Task]:
    if given.case is not None:
        yield given.seed, given.only, given.case
        return
    numbers = Counter[str]()
    kinds = itertools.cycle([given.only] if given.only else _ROUND)
    for kind in itertools.islice(kinds, given.cases):
        if time.monotonic() > until:
            return
        yield given.seed, kind, numbers[kind]
        numbers[kind] += 1


def _case(task: Task, files: dict[str, bytes]) -> Case:
    return task if isinstance(task, Case) else make_case(*task, files)


def _keep(folder: Path, task: Task, verdict: Verdict, case: Case) -> None:
    """Write a case with its files to a folder, and print the folder."""
    seed, kind, number = task if isinstance(task, tuple) else (0, case.kind, 0)
    home = folder / f"{kind}-{seed}-{number}"
    shutil.rmtree(home, ignore_errors=True)
    (home / "files").mkdir(parents=True)
    case.put(home / "files")
    text = f"{TRY.format(seed, kind, number)}\n\n{case.source}\n\n{verdict.fault}\n{verdict.said}\n"
    (home / "case.txt").write_text(text, errors="backslashreplace")
    shown = case.source if len(case.source) < 200 else f"{case.source[:200]}..."
    print(f"{verdict.signature}\n       {shown!r} in {home}", flush=True)


if __name__ == "__main__":
    main()
