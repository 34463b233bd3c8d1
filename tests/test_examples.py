"""The examples in docstrings of public names print their outputs."""

import doctest
import importlib
import inspect
from functools import cache

import numpy as np
import pytest

from tests.docs.reference import listed, thing
from tests.docs.values import docstring_of, is_error, is_value

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

NEEDS = {
    "structsvm.objectives.boosting": "xgboost",
    "structsvm.rankers.lambda_mart": "lightgbm",
    "structsvm.models.trees": "lightgbm",
}
"""Packages that the examples of a module import and the tests lack."""

SLOW = {
    "structsvm.distributed.dask_ranker",
    "structsvm.estimators.feature_elimination_cv",
    "structsvm.estimators.ranker_cv",
    "structsvm.inspection",
    "structsvm.plots.feature_elimination",
    "structsvm.plots.feature_importance",
    "structsvm.protocols.experiment.plan",
    "structsvm.protocols.experiment.report.page",
    "structsvm.protocols.letor.plan",
    "structsvm.protocols.letor.tables",
    "structsvm.protocols.results",
    "structsvm.testing.solvers",
}


@cache
def modules() -> list[str]:
    """The modules that public classes and functions are defined in."""
    things = [thing(path) for path in listed()]
    homes = {one.__module__ for one in things if inspect.isclass(one) or inspect.isroutine(one)}
    return sorted(home for home in homes if home.startswith("structsvm."))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in modules()])
def test_examples(name, tmp_path, monkeypatch):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(name), extraglobs={"np": np}, optionflags=FLAGS)
    assert not failed


@pytest.mark.parametrize("path", [path for path in listed() if is_value(thing(path))])
def test_examples_of_values(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"np": np, path.rpartition(".")[2]: thing(path)}
    example = doctest.DocTestParser().get_doctest(docstring_of(path), names, path, None, None)
    assert not doctest.DocTestRunner(optionflags=FLAGS).run(example).failed


def test_every_public_name_has_an_example_that_is_run():
    def is_run(path):
        text = docstring_of(path) if is_value(thing(path)) else thing(path).__doc__
        examples = doctest.DocTestParser().get_examples(text or "")
        return "Examples\n" in (text or "") and examples and not any(doctest.SKIP in each.options for each in examples)

    assert not [path for path in listed() if not is_error(thing(path)) and not is_run(path)]
