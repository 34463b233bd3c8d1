"""Commands as whole processes: runs evaluated beside other programs, and the start-up of each command."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.harness.data import robust_folder
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, without_data
from benchmarks.harness.store import ROOT

TITLE = "Commands"
ABOUT = """
Whole processes in one thread, from their start to their end, with files in the page cache and byte code written; the
programs take turns. The first rows measure the 17 runs of TREC 2003's Robust track, 1.5 million lines in gzip, by MAP,
P@10 and NDCG@10: `structsvm evaluate --qrels`, and scripts that read the same files with the readers of pytrec_eval and
ir_measures. The ratio is the median, over the turns, of the CPU seconds of `structsvm evaluate` over CPU seconds of the
row.
The other rows are the start-up of each command: its work on a few lines, or `--help` if it trains more than once. The
machine had other work at the same time: CPU seconds and ratios count.
"""

EVALUATE = "17 runs, 1.5 million lines"
OURS = "structsvm evaluate"
PEERS = {"pytrec_eval": "pytrec_eval", "ir_measures": "ir_measures"}
"""Programs that evaluate runs, by the package that they need."""

MEASURES = ("map", "P_10", "ndcg_cut_10")
START = "start-up"
COMMANDS = {
    "--help": "--help",
    "list": "list",
    "evaluate, runs": "evaluate --qrels qrels.txt a.run b.run",
    "evaluate, a model": "evaluate model.npz train.txt",
    "predict": "predict model.npz train.txt -o scores.txt",
    "show": "show model.npz",
    "export": "export model.npz --format json -o exported.json",
    "fuse": "fuse a.run b.run --method comb-sum -o fused.run --quiet",
    "index": "index documents.jsonl --out made --quiet",
    "retrieve": "retrieve index topics.jsonl --function okapi --out ranked --quiet",
    "features": "features index topics.jsonl --qrels judged.txt --top 2 --out features.txt --quiet",
    "train": "train train.txt --model trained.npz --quiet",
    "compare --help": "compare --help",
    "benchmark --help": "benchmark --help",
    "experiment --help": "experiment --help",
    "report --help": "report --help",
    "compile --help": "compile --help",
    "demo --help": "demo --help",
}
"""Command lines by their names in rows; they run in a folder that `prepare` has filled."""


def prepare(folder: Path) -> None:
    """Write the small files that the command lines read."""
    rows = np.random.default_rng(0).random((24, 3)).round(3).tolist()
    (folder / "train.txt").write_text(
        "".join(f"{k % 2} qid:{k // 6} 1:{a} 2:{b} 3:{c}\n" for k, (a, b, c) in enumerate(rows))
    )
    (folder / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    for name in ("a", "b"):
        (folder / f"{name}.run").write_text(f"1 Q0 a 1 2.5 {name}\n1 Q0 b 2 1.5 {name}\n2 Q0 b 1 0.5 {name}\n")
    (folder / "documents.jsonl").write_text('{"id": "d1", "text": "wing flow"}\n{"id": "d2", "text": "heat flow"}\n')
    (folder / "topics.jsonl").write_text('{"id": "1", "text": "heat"}\n')
    (folder / "judged.txt").write_text("1 0 d2 1\n")
    for line in ("train train.txt --model model.npz --quiet", "index documents.jsonl --out index --quiet"):
        subprocess.run(command(line), cwd=folder, check=True, capture_output=True)


def command(line: str) -> list[str]:
    """Return a command line of this package as arguments of a process."""
    return [sys.executable, "-m", "structsvm", *line.split()]


def run(size: Size) -> Iterator[Row]:
    repeats = min(5, size.repeats)
    yield from _evaluated(repeats, size.scale)
    with tempfile.TemporaryDirectory(prefix="structsvm-commands-") as name:
        prepare(Path(name))
        for who, line in COMMANDS.items():
            yield _row(START, who, [_used(command(line), Path(name)) for _ in range(1 + repeats)][1:])


def _evaluated(repeats: int, scale: float) -> Iterator[Row]:
    folder = robust_folder()
    if folder is None:
        yield without_data(EVALUATE, OURS, "robust03")
        return
    runs = sorted((folder / "runs").glob("*.gz"))
    files = [str(folder / "qrels.txt"), *map(str, runs[: max(1, round(scale * len(runs)))])]
    asked = [argument for measure in MEASURES for argument in ("--measure", measure)]
    programs = {OURS: [*command("evaluate --qrels"), *files, *asked]}
    for who, package in PEERS.items():
        if find_spec(package) is None:
            yield Row(what=EVALUATE, who=who, note="not installed")
        else:
            programs[who] = [sys.executable, "-m", "benchmarks.peers.evaluation", who, *files]
    root = ROOT
    turns = [{who: _used(line, root) for who, line in programs.items()} for _ in range(1 + repeats)][1:]
    for who in programs:
        ratio = float(np.median([turn[OURS][1] / turn[who][1] for turn in turns]))
        yield _row(EVALUATE, who, [turn[who] for turn in turns], ratio=ratio)


def _row(what: str, who: str, used: Sequence[tuple[float, float]], **values: float) -> Row:
    seconds, cpu = np.median(used, axis=0).tolist()
    return Row(what=what, who=who, repeats=len(used), values={"seconds": seconds, "cpu": cpu, **values})


def _used(line: Sequence[str], folder: Path) -> tuple[float, float]:
    """Run a process to its end; return its wall-clock and CPU seconds."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    with subprocess.Popen(line, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if process.returncode:
        raise RuntimeError(f"{' '.join(line)} ended with exit code {process.returncode}")
    return seconds, used.ru_utime + used.ru_stime


def targets(rows: list[Row]) -> Iterator[Target]:
    yield Target(
        "evaluating 17 runs: CPU seconds to pytrec_eval's", 1.5, pick(rows, "ratio", what=EVALUATE, who="pytrec_eval")
    )
    for who in ("evaluate, runs", "retrieve"):
        yield Target(f"{who}: start-up, CPU seconds", 0.6, pick(rows, "cpu", what=START, who=who), unit="s")
