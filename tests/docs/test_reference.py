"""The reference lists every public name and every registered one, and nothing else."""

import importlib
import inspect
import pkgutil
import re
from typing import Any

import pytest

import structsvm
from structsvm import exceptions, registry
from structsvm.features.scaling.names import FEATURE_SCALINGS, SCORE_SCALINGS
from structsvm.registry import built_in
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"
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
]
INSIDE = {"cli", "foundation"}
"""Packages that are not for users."""

KINDS = {
    "Losses": registry.losses,
    "Measures": registry.measures,
    "Solvers": registry.solvers,
    "QP backends": registry.backends,
    "Rankers": registry.rankers,
    "Methods of fusion": registry.fusions,
    "Click models": built_in.click_models,
}


def listed() -> list[str]:
    """Every name that a page of the reference lists, with its package."""
    found, package = [], ""
    for page in sorted(REFERENCE.glob("*.rst")):
        inside = False
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                package = line.split()[-1]
            if line and not line.startswith(" "):
                inside = line.startswith(".. autosummary::")
            elif inside and re.fullmatch(r"   \w+", line):
                found.append(f"{package}.{line.strip()}")
    return found


def thing(path: str) -> Any:
    package, _, name = path.rpartition(".")
    return getattr(importlib.import_module(package), name)


def table(heading: str) -> dict[str, str]:
    """The rows of a table of docs/reference/names.md: a name and its meaning."""
    _, _, part = (REFERENCE / "names.md").read_text(encoding="utf-8").partition(f"## {heading}\n")
    return dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", part.partition("\n## ")[0], flags=re.MULTILINE))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package or "structsvm")
def test_public_names_are_listed(package):
    whole = f"structsvm.{package}".rstrip(".")
    paths = set(listed())
    alike = {id(thing(path)) for path in paths if not isinstance(thing(path), str | tuple | dict)}
    names = importlib.import_module(whole).__all__
    missing = [name for name in names if f"{whole}.{name}" not in paths and id(thing(f"{whole}.{name}")) not in alike]
    assert not missing, "add these to a page of docs/reference"


def test_errors_are_listed():
    classes = [
        name
        for name, kind in vars(exceptions).items()
        if inspect.isclass(kind) and kind.__module__ == exceptions.__name__
    ]
    assert {f"structsvm.exceptions.{name}" for name in classes} <= set(listed())


def test_what_is_listed_is_public_and_there_once():
    paths = listed()
    assert len(paths) == len(set(paths))
    for path in paths:
        package, _, name = path.rpartition(".")
        assert package == "structsvm.exceptions" or name in importlib.import_module(package).__all__, path


def test_every_package_with_public_names_is_meant():
    here = {path.rpartition(".")[0] for path in listed()} - {"structsvm.exceptions"}
    assert here == {f"structsvm.{package}".rstrip(".") for package in PACKAGES}
    packages = {module.name for module in pkgutil.iter_modules(structsvm.__path__) if module.ispkg} - INSIDE
    assert packages <= set(PACKAGES), "add it to PACKAGES, and its names to a page of docs/reference"


@pytest.mark.parametrize("heading", KINDS)
def test_registered_names_are_in_the_table_with_their_class(heading):
    kind, rows = KINDS[heading], table(heading)
    assert list(rows) == [kind.shown(name) for name in kind.built_in]
    for name in kind.built_in:
        found, link = kind.find(name), re.fullmatch(r"\{py:obj\}`(.*)`", rows[kind.shown(name)])
        if link is None:
            # Some objects have a name and no public class.
            package = ".".join(found.__module__.split(".")[:2])
            assert found.__name__ not in importlib.import_module(package).__all__
        else:
            assert thing(link[1]) is found, f"{name} is {found.__name__}"
            assert link[1] in listed()


def test_names_without_a_public_class_are_in_their_tables():
    assert list(table("Retrieval functions")) == list(registry.retrieval_functions.built_in)
    assert list(table("Formats of export")) == list(built_in.exports.built_in)
    assert list(table("Scalings")) == [*SCORE_SCALINGS, FEATURE_SCALINGS[-1]]
