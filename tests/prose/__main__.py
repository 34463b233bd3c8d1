"""Find habits of writing that readers stumble over: ``python -m tests.prose [--count] [paths...]``.

Without paths: the documentation; docstrings, comments and messages of the package, the examples and the benchmarks;
docstrings and comments of the tests.
A false alarm is one line in ``allowed.txt``: ``path: words of the sentence``, the finding among them.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen
from proselint.checks import __register__ as of_proselint
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

from tests.prose.habits import CHECKS, sentences
from tests.prose.texts import prose

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
FOLDERS = ("contributing", "docs", "changes", "structsvm", "tests", "examples", "benchmarks")
BUILT = ("benchmarks/notes", "docs/_build", "docs/gallery", "docs/reference/generated")
SUFFIXES = {".md", ".py", ".rst"}
CONFIG = {"max_errors": 1_000_000, "checks": {"habits": True, "lexical_illusions": True}}


@frozen
class Finding:
    """A habit at a line of a file, in a sentence."""

    path: str
    line: int
    habit: str
    message: str
    words: str
    sentence: str

    def covered_by(self, words: str) -> bool:
        """Tell whether words that are allowed include the finding."""
        return self.habit == "long" or self.words in words


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """List the files below some paths."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in SUFFIXES and not any(file.is_relative_to(ROOT / built) for built in BUILT):
                yield file


def lint(path: Path) -> Iterator[Finding]:
    """Find habits in a file."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    file = LintFile(name, prose(path))
    results = file.lint(CONFIG)
    spans = [found.span() for found in sentences(file.content)] if results else []
    for result in results:
        begin, end = result.check_result.span
        words = plain(file.content[begin:end])
        if result.check_result.check_path == "lexical_illusions" and re.search(r"\b[XM]\b|\d|--", words):
            continue  # code
        around = [(a, b) for a, b in spans if a < end and begin < b] or [(begin, end)]
        sentence = plain(file.content[around[0][0] : around[-1][1]])
        shown = slice(max(begin - 30, around[0][0]), min(max(begin + 60, end), begin + 100, around[-1][1]))
        habit = result.check_result.check_path.removeprefix("habits.")
        message = f"{plain(result.check_result.message)} [{habit}] ... {plain(file.content[shown])} ..."
        yield Finding(name, file.line_col_of(begin)[0], habit, message, words, sentence)


def plain(text: str) -> str:
    """Make one line of a text."""
    return " ".join(text.split())


def table(path: Path) -> list[tuple[str, str]]:
    """Read lines of the form ``path: value``."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [(line.split(": ", 1)[0], line.split(": ", 1)[1]) for line in lines if line and not line.startswith("#")]


def allow(findings: list[Finding], alarms: list[tuple[str, str]]) -> tuple[list[Finding], list[str]]:
    """Remove false alarms; return the other findings, and the alarms that match none."""
    unused = []
    for path, words in alarms:
        rest = [f for f in findings if not (f.path == path and words in f.sentence and f.covered_by(words))]
        if len(rest) == len(findings):
            unused.append(f"{path}: {words}")
        findings = rest
    return findings, unused


def count(findings: list[Finding]) -> None:
    """Print totals per habit and per file."""
    for totals in (Counter(f.habit for f in findings), Counter(f.path for f in findings)):
        for name, total in totals.most_common():
            print(f"{total:6} {name}")
        print()
    print(f"{len(findings):6} in all")


def main() -> int:
    """Print findings; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.prose", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders; default: all")
    parser.add_argument("--count", action="store_true", help="print totals per habit and per file")
    options = parser.parse_args()

    CheckRegistry().register_many((*CHECKS, *of_proselint))
    paths = [path.resolve() for path in options.paths] or [*sorted(ROOT.glob("*.md")), *(ROOT / f for f in FOLDERS)]
    findings, unused = allow([f for file in files(paths) for f in lint(file)], table(HERE / "allowed.txt"))
    if options.count:
        count(findings)
        return 0
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.message}")
    if findings:
        print(
            "tests/prose/habits.py explains the habits. To allow a false alarm, add a line to tests/prose/allowed.txt."
        )
    if not options.paths:
        for line in unused:
            print(f"tests/prose/allowed.txt: '{line}' matches no finding. Remove the line.")
    return int(bool(findings or (unused and not options.paths)))


if __name__ == "__main__":
    sys.exit(main())
