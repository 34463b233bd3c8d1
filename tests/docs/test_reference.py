"""The reference lists every public name and every registered one, and nothing else."""

import importlib
import inspect
import pkgutil

import pytest

import structsvm
from structsvm import exceptions, registry
from structsvm.features.scaling.names import FEATURE_SCALINGS, SCORE_SCALINGS
from structsvm.registry import built_in
from tests.docs.pages import ROOT
from tests.docs.parameters import TABLES, estimators, tables
from tests.docs.reference import PACKAGES, REFERENCE, listed, rows_of, thing, unlisted

INSIDE = {"cli", "foundation"}
"""Packages that are not for users."""
UPDATE = "run python -m tests.docs.reference, and see whether the name is in the right list"


def table(heading: str) -> dict[str, str]:
    return rows_of((ROOT / REFERENCE / "names.md").read_text(encoding="utf-8"), heading)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package or "structsvm")
def test_public_names_are_listed(package):
    assert unlisted(package) == [], UPDATE


def test_errors_are_listed():
    classes = [
        name
        for name, kind in vars(exceptions).items()
        if inspect.isclass(kind) and kind.__module__ == exceptions.__name__
    ]
    assert {f"structsvm.exceptions.{name}" for name in classes} <= set(listed())


def test_listed_names_are_public_and_listed_once():
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


def test_names_without_a_table_of_parameters_are_in_their_tables():
    assert list(table("Rankers")) == list(registry.rankers.built_in)
    assert all(thing(link[9:-1]) is registry.rankers.find(name) for name, link in table("Rankers").items())
    assert list(table("Formats of export")) == list(built_in.exports.built_in)
    assert list(table("Scalings")) == [*SCORE_SCALINGS, FEATURE_SCALINGS[-1]]


def test_parameters_page_has_every_argument_of_an_estimator():
    lines = tables().splitlines()
    for path, class_ in estimators().items():
        for name, argument in inspect.signature(class_).parameters.items():
            default = "required" if argument.default is argument.empty else f"`{argument.default!r}`"
            assert any(line.startswith(f"| `{name}` | {default} |") and f"`~{path}`" in line for line in lines)


def test_parameters_page_has_names_aliases_settings_and_options():
    text = tables()
    assert [
        name for names in TABLES.values() for name in names.built_in if f"| `{names.shown(name)}` |" not in text
    ] == []
    ndcg = "{py:obj}`structsvm.losses.NDCGLoss`"
    assert f"| `letor_ndcg@10` | {ndcg} |  | `k=None`, `discount` fixed to `'letor'`," in text
    assert "| `map` | {py:obj}`structsvm.losses.AveragePrecision` | `ap`, `averageprecision` |" in text
    (jobs,) = (line for line in text.splitlines() if line.startswith("| `n_jobs` |"))
    assert jobs.endswith("| `--jobs` |")
