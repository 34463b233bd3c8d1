"""Losses with one mistake in them, which `check_loss` must find.

A mutant is one replacement in the text of the module that holds an argmax: the kernel, or a
Python method. It is made from the source as it stands, so a replacement whose text is gone is
refused, and nothing is compiled: mutated kernels run as plain Python. In a test module::

    @pytest.mark.parametrize(("loss", "mutant", "examples"), cases(MyLoss(), [
        Mutant("kernel", "(-0.25 if relevant else 0.25)", "(-0.25 if relevant else 0.0)"),
        Mutant("loss_augmented_argmax", "-0.25, 0.25", "0.25, -0.25"),
    ]))
    def test_mutants_are_found(loss, mutant, examples):
        assert_found(mutant, loss, examples)

`cases` adds, for each target, the case in which nothing is changed: `assert_found` then wants
`check_loss` to pass, so that what is found is the mistake and not the way it was made.
"""

import inspect
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any
from unittest.mock import patch

import attrs
import pytest
from attrs import evolve, frozen

from structsvm.testing import check_loss


@frozen
class Mutant:
    """One replacement in the source of a loss.

    Parameters
    ----------
    target : what becomes wrong: "kernel", or the name of a Python method (the loss then has no kernel).
    old : text that occurs exactly once in the source of the module; may have several lines.
    new : what stands in its place.
    module : full name of the module to change, where it is not that of the target but one that it imports from.
    """

    target: str
    old: str
    new: str
    module: str | None = None

    @property
    def title(self) -> str:
        """Target and change in a line."""
        change = "unchanged" if self.old == self.new else f"{self.old} → {self.new or 'nothing'}"
        return f"{self.target}: " + re.sub(r"\s+", " ", change)


def cases(loss: Any, mutants: Iterable[Mutant], examples: Any = None) -> list[Any]:
    """List mutants as parameters ``(loss, mutant, examples)`` of a test, and for each target its unchanged source."""
    mutants = list(mutants)
    unchanged = {mutant.target: evolve(mutant, new=mutant.old) for mutant in mutants}
    return [
        pytest.param(loss, mutant, examples, id=f"{loss!r}, {mutant.title}")
        for mutant in [*unchanged.values(), *mutants]
    ]


def assert_found(mutant: Mutant, loss: Any, examples: Any = None) -> None:
    """Assert that `check_loss` refuses the mutant for what it returns, or passes it where nothing is changed.

    A mutant that raises is no proof of anything (a misspelt replacement raises too), so it counts as a failure.
    """
    wrong = mutated(loss, mutant)
    trials = 3 if mutant.old == mutant.new else 12
    try:
        with patch("structsvm.problem.checking.methods.compiled_kernel", lambda kernel: kernel):
            check_loss(wrong, examples, trials=trials)
    except AssertionError as error:
        verdict = str(error)
    else:
        verdict = ""
    if mutant.old == mutant.new:
        assert not verdict, f"the unchanged source of {loss!r} is refused: {verdict}"
        return
    assert verdict, f"check_loss does not find {mutant.title} in {loss!r}"
    assert not re.match(r"\w+\.\w+ raised ", verdict), f"{mutant.title} does not run: {verdict}"


def mutated(loss: Any, mutant: Mutant) -> Any:
    """Return the loss, with its settings, as an object of a subclass whose target is wrong."""
    cls = type(loss)
    function = inspect.unwrap(getattr(cls, mutant.target))
    home = function.__module__
    changed = mutant.module or home
    plain = dict.fromkeys(("compiled", "compiled_part"), lambda function, *_, **__: function)
    with patch.multiple("structsvm.compute.compilation", **plain), patch.dict(sys.modules):
        sys.modules[changed] = _executed(changed, mutant)
        found: Any = sys.modules[changed] if changed == home else _executed(home)
    for name in function.__qualname__.split("."):
        found = getattr(found, name)
    namespace = {"kernel": staticmethod(found)} if mutant.target == "kernel" else {mutant.target: found, "kernel": None}
    settings = {field.alias: getattr(loss, field.name) for field in attrs.fields(cls) if field.init}
    return type("Mutant", (cls,), namespace)(**settings)


def _executed(name: str, mutant: Mutant | None = None) -> ModuleType:
    """Run the source of a module, with the replacement if there is one, as a module of its own."""
    source = inspect.getsource(import_module(name))
    if mutant is not None:
        count = source.count(mutant.old)
        if count != 1:
            raise ValueError(f"{mutant.old!r} occurs {count} times in {name}; a mutant replaces one place")
        source = source.replace(mutant.old, mutant.new)
    module = ModuleType(name)
    exec(compile(source, f"<mutant of {name}>", "exec"), module.__dict__)
    return module
