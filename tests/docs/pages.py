"""Run the code blocks of a Markdown page.

Every fenced block of a page names its language, and the language decides its use:

``python``
    runs, in the order of the page, in one namespace for the page. A block with ``>>>`` is a
    doctest. The output of any other block is compared with a ``text`` block that
    follows it directly.
``console``
    each line that starts with ``$ `` runs as a command (a backslash at its end continues
    it). The lines up to the next command are its output; without any, only the exit code
    counts.
``bash``
    each line runs as a command.
``text``, ``py``, ``toml``, ...
    is shown and not run (`SHOWN`).

All blocks of a page run in one empty folder. Pages show real output; `outputs.py` says how it is
compared, and ``python -m tests.docs.pages PAGE...`` writes the present numbers into pages. A command of
``structsvm`` or of an example runs in this process, which has loaded and compiled everything already,
and with one job. Other commands, and commands with a pipe or the like, run in a shell. Commands that set the
project up (``make``, ``git clone``, ...; `SET_UP`) are not run; the targets of ``make`` must exist.

An HTML comment directly above a block changes how it runs, and a reader does not see it. Commas separate directives::

    <!-- test: data -->      needs the research data: its folder's entries are linked into the page's folder
    <!-- test: needs jax --> is left out where this package is not installed
    <!-- test: exit 2 -->    its last command ends with this exit code, not with 0
    <!-- test: varies -->    numbers of its output are different in every run
    <!-- test: within 10% -->  numbers may differ by that much
    <!-- test: as b.md -->   is not run: it is the beginning of a block of the page b.md beside it, which is run there
"""

import contextlib
import doctest
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import sklearn
from attrs import frozen
from click.testing import CliRunner
from markdown_it import MarkdownIt

from structsvm.cli import main
from tests.docs.outputs import WITHIN, differences, refreshed, tokens

ROOT = Path(__file__).resolve().parents[2]

SHOWN = {"text", "py", "toml", "bibtex", "math", "diff", "make"}
SET_UP = re.compile(r"(make|git clone|cd|python3? -m venv|source|\.|(python3? -m )?pip install) ")
PROGRESS = re.compile(r"^structsvm: \d+ of \d+ \w.*? after \S+?(, .* left)?\n", re.MULTILINE)
"""Progress lines of long commands."""

DIRECTIVE = re.compile(r"data|needs \w+|exit \d+|varies|within \d+%|as \S+")
TIMEOUT = 600

SURROUNDINGS = {"COLUMNS": "120", "NO_COLOR": "1"}


class PageError(AssertionError):
    """A block disagrees with its page."""


@frozen
class Block:
    """A fenced block: the line of its fence (from 1), its language and text, and its surroundings."""

    line: int
    language: str
    source: str
    directives: tuple[str, ...] = ()
    shown: str | None = None  # the text block that follows a python block

    def value(self, directive: str) -> str | None:
        """Return the word after a directive, or None without the directive."""
        return next((d.removeprefix(f"{directive} ") for d in self.directives if d.startswith(f"{directive} ")), None)


def blocks(text: str) -> Iterator[Block]:
    """Find the fenced blocks of a page."""
    tokens = MarkdownIt().parse(text)
    for k, token in enumerate(tokens):
        if token.type != "fence" or token.map is None:
            continue
        above = tokens[k - 1] if k > 0 else None
        below = tokens[k + 1] if k + 1 < len(tokens) else None
        result = re.search(r"<!-- test: (.*?) -->\s*$", above.content) if above and above.type == "html_block" else None
        shown = below.content if below and below.type == "fence" and below.info == "text" else None
        directives = tuple(result[1].split(", ")) if result else ()
        yield Block(token.map[0] + 1, token.info.strip(), token.content, directives, shown)


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Split a console or bash block into commands and the output that is expected of each."""
    marked = block.language == "console"
    lines = iter(block.source.splitlines())
    command, output = "", []
    for line in lines:
        if marked and not line.startswith("$ "):
            output.append(line)
            continue
        if command:
            yield command, "\n".join(output).strip()
        command, output = line.removeprefix("$ ").strip(), []
        while command.endswith("\\"):
            command = f"{command[:-1]} {next(lines).removeprefix('> ').strip()}"
        if command.startswith("#"):
            command = ""
    if command:
        yield command, "\n".join(output).strip()


def sets_up(command: str) -> bool:
    """Whether a command only sets the project up, so that it is not run."""
    return all(SET_UP.match(part.strip() + " ") for part in command.split("&&"))


def runs_here(command: str) -> bool:
    """Whether a command belongs to ``structsvm`` or an example, and needs no shell."""
    return re.match(r"structsvm |python -m examples\.", command) is not None and not re.search(r"[|&;<>$`*?~]", command)


def run_here(command: str) -> tuple[int, str]:
    """Run a command of ``structsvm`` or of an example in this process; return its exit code and its output."""
    surroundings = {**SURROUNDINGS, "LOKY_MAX_CPU_COUNT": "1"}
    program, *words = shlex.split(command)
    entry = main
    if program == "python":
        _, module, *words = words
        entry = import_module(module).main
    done = CliRunner().invoke(entry, words, prog_name=program, env=surroundings)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def run_in_shell(command: str) -> tuple[int, str]:
    """Run a command in a shell; return its exit code and its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
        env={**os.environ, **SURROUNDINGS, "PATH": path},
    )
    return done.returncode, done.stdout


def make_targets(text: str) -> set[str]:
    """Collect the make targets that the commands of a page name."""
    result = set()
    for block in blocks(text):
        if block.language in {"console", "bash"}:
            for command, _ in commands(block):
                for part in command.split("&&"):
                    words = part.split()
                    if words[:1] == ["make"]:
                        result |= {word for word in words[1:] if "=" not in word and not word.startswith("-")}
    return result


class Page:
    """A page that is being run: its folder and its namespace."""

    def __init__(self, path: Path, folder: Path, data: Path, within: float = WITHIN) -> None:
        self.path = path
        self.folder = folder
        self.data = data
        self.within = within
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.left_out: list[int] = []
        self.outputs: list[tuple[int, str, str]] = []  # line of the block, output shown, output to show

    def run(self) -> None:
        """Run every block, from the top."""
        if self.data.is_dir():
            for entry in self.data.iterdir():
                (self.folder / entry.name).symlink_to(entry.resolve())
        with contextlib.chdir(self.folder), sklearn.config_context():
            for block in blocks(self.path.read_text(encoding="utf-8")):
                self.run_block(block)

    def run_block(self, block: Block) -> None:
        """Run one block."""
        for directive in block.directives:
            if not DIRECTIVE.fullmatch(directive):
                raise self.error(block, f"there is no directive {directive!r}")
        if page := block.value("as"):
            self.find(block, self.path.parent / page)
        elif self.lacks(block):
            self.left_out.append(block.line)
        elif block.language == "python" and ">>> " in block.source:
            self.run_doctest(block)
        elif block.language == "python":
            self.run_python(block)
        elif block.language in {"console", "bash"}:
            self.run_commands(block)
        elif block.language not in SHOWN:
            raise self.error(block, f"a block's language is python, console, bash or one of {sorted(SHOWN)}")

    def lacks(self, block: Block) -> bool:
        """Whether the data or the package that a block needs are not there."""
        package = block.value("needs")
        return ("data" in block.directives and not self.data.is_dir()) or (
            package is not None and find_spec(package) is None
        )

    def find(self, block: Block, page: Path) -> None:
        """Find the block of another page that begins as this one does; the last line of this one may be ``[...]``."""
        beginning = block.source.rstrip().removesuffix("\n[...]").split("\n")
        for other in blocks(page.read_text(encoding="utf-8")):
            runs = other.language == block.language and set(other.directives) <= {"data", "varies"}
            if runs and other.source.split("\n")[: len(beginning)] == beginning:
                return
        raise self.error(block, f"no block of {page} that is run begins with it")

    def run_python(self, block: Block) -> None:
        """Run a python block and compare its output with the text block below it."""
        printed = io.StringIO()
        # Tracebacks have the line numbers of the page.
        code = compile("\n" * block.line + block.source, str(self.path), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, self.names)
        if block.shown is not None:
            self.check(block, block.shown, printed.getvalue())

    def run_doctest(self, block: Block) -> None:
        """Run a python block that has prompts."""
        test = doctest.DocTestParser().get_doctest(block.source, {}, "block", str(self.path), block.line)
        test.globs = self.names
        page = self

        class Checker(doctest.OutputChecker):
            def check_output(self, want: str, got: str, optionflags: int) -> bool:
                return page.compare(block, want, got) is None

        report: list[str] = []
        failed, _ = doctest.DocTestRunner(checker=Checker()).run(test, out=report.append, clear_globs=False)
        if failed:
            raise self.error(block, "".join(report))

    def run_commands(self, block: Block) -> None:
        """Run a console or bash block."""
        todo = [(command, wanted) for command, wanted in commands(block) if not sets_up(command)]
        for k, (command, wanted) in enumerate(todo):
            code, printed = run_here(command) if runs_here(command) else run_in_shell(command)
            expected = 0
            if k == len(todo) - 1:
                expected = int(block.value("exit") or 0)
            if code != expected:
                raise self.error(block, f"$ {command}\nended with exit code {code}:\n{printed}")
            if wanted:
                self.check(block, wanted, PROGRESS.sub("", printed))

    def compare(self, block: Block, wanted: str, got: str) -> str | None:
        """Compare an output with the output that the page shows; return the difference."""
        matched = tokens(wanted, got)
        if matched is None:
            example = doctest.Example("", wanted.strip() + "\n")
            return doctest.OutputChecker().output_difference(example, got.strip() + "\n", doctest.NORMALIZE_WHITESPACE)
        self.outputs.append((block.line, wanted.strip(), refreshed(matched)))
        within = max(self.within, int((block.value("within") or "0%").rstrip("%")) / 100)
        if "varies" in block.directives or within == math.inf:
            return None
        return "\n".join(differences(matched, within)) or None

    def check(self, block: Block, wanted: str, got: str) -> None:
        """Raise PageError if an output differs from the output that the page shows."""
        difference = self.compare(block, wanted, got)
        if difference is not None:
            raise self.error(block, difference)

    def error(self, block: Block, message: str) -> PageError:
        """Print faults and their lines."""
        return PageError(f"{self.path}, line {block.line}: {message}")


def refresh(path: Path) -> None:
    """Run a page and write the numbers that its blocks print into it."""
    from tests.real_data import REAL_DATA  # needs pytest, which the trials of a wheel do not install

    with tempfile.TemporaryDirectory() as folder:
        page = Page(path, Path(folder), REAL_DATA, within=math.inf)
        page.run()
    text = path.read_text(encoding="utf-8")
    starts = [0, *(result.end() for result in re.finditer("\n", text))]
    parts, done = [], 0
    for line, shown, now in page.outputs:
        place = text.find(shown, max(done, starts[line]))
        if place < 0:
            raise PageError(f"{path}, line {line}: the output is indented; write it by hand")
        parts += [text[done:place], now]
        done = place + len(shown)
    path.write_text("".join([*parts, text[done:]]), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(Path(name).resolve())
