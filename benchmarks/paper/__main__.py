"""The command ``python -m benchmarks.paper``."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from benchmarks.harness.store import ROOT, machine
from benchmarks.paper import __doc__ as description
from benchmarks.paper import experiments, statements
from benchmarks.paper.document import page

PAGE = ROOT / "docs" / "experiment" / "yue2007.md"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=description)
    data = os.environ.get("STRUCTSVM_DATA")
    parser.add_argument("--data", default=data, help="folder with robust03/ and text/; default: STRUCTSVM_DATA")
    parser.add_argument("--work", type=Path, default=Path("paper"), help="folder for the experiments, to resume from")
    parser.add_argument(
        "--page", type=Path, default=PAGE, help="file of the page; numbers and pictures are written beside it"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--trials", type=int, help="fewer than the paper's 50, to try it")
    parser.add_argument("--models", default="svm-map,svm-roc", help=argparse.SUPPRESS)
    parser.add_argument("--note", default="", help="a sentence on the machine for the page, such as its other load")
    parser.add_argument("--again", action="store_true", help="only write the page again from stored numbers")
    chosen = parser.parse_args(arguments)
    folder = chosen.page.with_suffix("")
    if not chosen.again:
        folder.mkdir(parents=True, exist_ok=True)
        found = collect(chosen)
        (folder / "numbers.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    write(chosen.page)
    print(f"wrote {chosen.page}")


def collect(chosen: argparse.Namespace) -> dict[str, Any]:
    """Run missing experiments, and return all numbers of the page."""
    data = Path(chosen.data) if chosen.data else None
    extra = ("--trials", str(chosen.trials), "--models", chosen.models) if chosen.trials else ()
    sets = {}
    for each in experiments.chosen(data):
        results = experiments.make(each, data, chosen.work, chosen.jobs, extra)
        sets[each.name] = experiments.numbers(each, results, chosen.work)
    return {"machine": machine(), "note": chosen.note, "statements": statements.compute(), "sets": sets}


def write(path: Path) -> None:
    """Write the page and its pictures from the numbers beside it."""
    from benchmarks.paper.figures import draw

    folder = path.with_suffix("")
    kept = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    draw(kept["sets"], folder)
    path.write_text(page(kept, folder.name), encoding="utf-8")


if __name__ == "__main__":
    main()
