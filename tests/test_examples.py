"""The examples in docstrings of public names do what they say."""

import doctest
import importlib
import inspect
from functools import cache

import pytest

from tests.docs.test_reference import listed, thing

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@cache
def modules() -> list[str]:
    """The modules that public classes and functions are defined in."""
    things = [thing(path) for path in listed()]
    homes = {one.__module__ for one in things if inspect.isclass(one) or inspect.isroutine(one)}
    return sorted(home for home in homes if home.startswith("structsvm."))


@pytest.mark.parametrize("name", modules())
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert not failed
