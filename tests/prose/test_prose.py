"""The linter finds each habit, in the prose of a file and not in its code, at the right line."""

from pathlib import Path

import pytest
from proselint.registry import CheckRegistry

from tests.prose.__main__ import lint
from tests.prose.habits import CHECKS, HABITS, LONGEST_SENTENCE, Habit

PLAIN = """The solver keeps up to 6 planes per example. It stores them in the folder where it runs.
There is no limit, and the gap is no longer than needed. Use losses such as `map`.
"""

MARKDOWN = """# The habits

Some `code of its own` and a [link](of_its_own.md "of its own") to $x$ of its
own, with a formula $w = what$.

```text
Mend what is told.
```

| a | it mends |
|---|---|
| the former | b |

:::{note}
Blanks are none of it.
:::
"""

PYTHON = '''"""Fit a ranker.

Parameters
----------
loss : str
    A loss of
    your own, or ``of its own``.

Examples
--------
>>> mend(what)
what is told
"""

# This comment mends
# a fault.
x = raised(f"{path} goes on to the next line", "what")
'''


@pytest.fixture(autouse=True)
def checks(monkeypatch):
    monkeypatch.setattr(CheckRegistry, "_checks", list(CHECKS))


def found(path: Path, text: str) -> list[tuple[int, str]]:
    path.write_text(text)
    return [(f.line, f.habit) for f in lint(path)]


@pytest.mark.parametrize("habit", HABITS, ids=lambda habit: habit.name)
def test_habit_is_found(habit: Habit, tmp_path: Path) -> None:
    assert habit.name in {name for _, name in found(tmp_path / "a.md", f"A title.\n\n{habit.example}\n")}


def test_plain_prose_has_none(tmp_path: Path) -> None:
    assert found(tmp_path / "a.md", PLAIN) == []


def test_markdown(tmp_path: Path) -> None:
    assert found(tmp_path / "a.md", MARKDOWN) == [(3, "own"), (10, "mend"), (12, "pointer"), (15, "none")]


def test_python(tmp_path: Path) -> None:
    assert found(tmp_path / "a.py", PYTHON) == [(6, "own"), (15, "mend"), (17, "verb")]


def test_long_sentences(tmp_path: Path) -> None:
    words = " ".join(["word"] * LONGEST_SENTENCE)
    assert found(tmp_path / "a.md", f"{words}. {words.capitalize()}.\n") == []
    assert found(tmp_path / "a.md", f"{words} e.g. one.\n") == [(1, "long")]
    parameters = "".join(f"    {name} : {words[:120]}.\n" for name in ("n", "where", "of_one, *what"))
    assert found(tmp_path / "a.py", f'"""Fit.\n\n    Parameters\n    ----------\n{parameters}    """\n') == []
