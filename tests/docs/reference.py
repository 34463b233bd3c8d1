"""The lists of the reference: ``python -m tests.docs.reference`` adds new public names and registered names to them.

- A public name that no list in ``docs/reference`` has joins the first list of its package.
- A registered loss that ``docs/losses.md`` does not mention gets a row there, with the first line of its docstring; a
  measure gets one in ``docs/measures.md``.
"""

import importlib
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from structsvm import registry
from tests.docs.pages import ROOT

REFERENCE = Path("docs") / "reference"
PACKAGES = [
    "",
    "clicks",
    "data",
    "distributed",
    "estimators",
    "evaluation",
    "evaluation.significance",
    "features",
    "features.operators",
    "fusion",
    "inference",
    "inference.sets",
    "inspection",
    "losses",
    "metrics",
    "models",
    "models.export",
    "objectives",
    "plots",
    "problem",
    "protocols",
    "protocols.experiment",
    "protocols.experiment.report",
    "protocols.letor",
    "rankers",
    "registry",
    "solvers",
    "solvers.comparison",
    "solvers.qp",
    "testing",
    "text",
    "text.functions",
    "text.letor",
    "training",
]

LOSS_ROW = "| `{name}` | `{kind}` | {summary} | – | – |"
MEASURE_ROW = "| `{name}` | {summary} | | |"


def listed(root: Path = ROOT) -> list[str]:
    """Return every name that a page of the reference lists, with its package."""
    names, package = [], ""
    for page in sorted((root / REFERENCE).glob("*.rst")):
        inside = False
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                package = line.split()[-1]
            if line and not line.startswith(" "):
                inside = line.startswith(".. autosummary::")
            elif inside and re.fullmatch(r"   \w+", line):
                names.append(f"{package}.{line.strip()}")
    return names


def thing(path: str) -> Any:
    """Return the object of a path."""
    package, _, name = path.rpartition(".")
    return getattr(importlib.import_module(package), name)


def unlisted(package: str, root: Path = ROOT) -> list[str]:
    """Return the public names of a package that no list has, themselves or by another path."""
    whole, paths = f"structsvm.{package}".rstrip("."), set(listed(root))
    same = {id(thing(path)) for path in paths if not isinstance(thing(path), str | tuple | dict)}
    names = importlib.import_module(whole).__all__
    return [name for name in names if f"{whole}.{name}" not in paths and id(thing(f"{whole}.{name}")) not in same]


def rows_of(text: str, heading: str) -> dict[str, str]:
    """Return the rows of a table of ``names.md``: a name and its meaning."""
    part = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", part, flags=re.MULTILINE))


def main(root: Path = ROOT) -> None:
    """Write the new names into the pages."""
    for package in PACKAGES:
        _extend_list(f"structsvm.{package}".rstrip("."), unlisted(package, root), root)
    _rewrite(root / "docs" / "losses.md", partial(_with_rows, registry.losses, "Other outputs", LOSS_ROW))
    _rewrite(root / "docs" / "measures.md", partial(_with_rows, registry.measures, "All measures", MEASURE_ROW))


def _rewrite(page: Path, change: Any) -> None:
    page.write_text(change(page.read_text(encoding="utf-8")), encoding="utf-8")


def _extend_list(package: str, names: list[str], root: Path) -> None:
    """Append names to the first list of a package."""
    if not names:
        return
    part = rf"^\.\. currentmodule:: {re.escape(package)}\n.*?\.\. autosummary::\n.*?(?:^   \w+\n)+"
    lines = "".join(f"   {name}\n" for name in names)
    for page in sorted((root / REFERENCE).glob("*.rst")):
        text = page.read_text(encoding="utf-8")
        if match := re.search(part, text, re.MULTILINE | re.DOTALL):
            page.write_text(text[: match.end()] + lines + text[match.end() :], encoding="utf-8")
            return
    raise LookupError(f"no page of {REFERENCE} has a list of {package}: add one for {', '.join(names)}")


def _shown(names: Any) -> Iterator[tuple[str, str]]:
    return ((name, names.shown(name)) for name in names.built_in)


def meaning(kind: Any) -> str:
    """Return a link to a public class, or the first line of the docstring of another."""
    package = next((path for path in PACKAGES if getattr(_package(path), kind.__name__, None) is kind), None)
    return _summary(kind) if package is None else f"{{py:obj}}`structsvm.{package}.{kind.__name__}`"


def _package(path: str) -> Any:
    return importlib.import_module(f"structsvm.{path}".rstrip("."))


def _summary(kind: Any) -> str:
    return str(kind.__doc__).partition("\n")[0].rstrip(".")


def _with_rows(names: Any, heading: str, row: str, text: str) -> str:
    """Return the text of a page with a row for each name that it does not mention, at the end of a table."""
    kinds = {name: names.find(key) for key, name in _shown(names) if f"`{name}" not in text}
    rows = "".join(
        row.format(name=name, kind=kind.__name__, summary=_summary(kind)) + "\n" for name, kind in kinds.items()
    )
    table = rf"^## {heading}\n.*?(?:^\|[^\n]*\n)+"
    return re.sub(table, lambda match: match[0] + rows, text, count=1, flags=re.MULTILINE | re.DOTALL)


if __name__ == "__main__":
    main()
