"""Losses with one mistake in the code of their argmax, which `check_loss` must find.

A mutant changes one place of the syntax tree: a sign, a comparison, a constant or a condition, or it drops a term.
Places are numbered, so nothing here repeats the text of a loss, and renaming a variable changes no mutant. Nothing is
compiled: mutated kernels run as plain Python.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Set
from importlib import import_module
from random import Random
from types import ModuleType
from typing import Any
from unittest.mock import patch

import attrs
import numpy as np
from attrs import frozen

from structsvm.testing import check_loss

_MOST_STEPS = 100_000
"""A loop that a mutant makes endless stops here."""

_UNWRITTEN = 1_000_000
"""Smallest value of entries that a mutant does not write: too large for an index. They differ, as memory does."""


@frozen
class Mutant:
    """One change of a loss: the method, the module, the place, and a line for the reader.

    The target is "kernel" or the name of a Python method; without a place, the loss stays as it is.
    """

    target: str
    module: str
    place: int | None
    title: str = "unchanged"


def sample(loss: Any, target: str, number: int) -> list[Mutant]:
    """Draw mutants of a target, and of the functions of losses that it calls by name, the same ones each time."""
    function = _function(loss, target)
    result = []
    for module, lines in _reached(function.__module__, function.__code__.co_firstlineno):
        change = _Change()
        change.visit(_tree(module))
        for place, (line, title) in enumerate(change.seen):
            if line in lines:
                result.append(Mutant(target, module, place, f"{module}:{line}: {title}"))
    return Random(0).sample(result, min(number, len(result)))


def is_found(loss: Any, mutant: Mutant, examples: Any = None) -> bool:
    """Return whether `check_loss` rejects a mutant, with its kernel run in Python."""
    trials = 1 if mutant.place is None else 8
    try:
        with patch("structsvm.problem.checking.methods.compiled_kernel", lambda kernel: kernel):
            check_loss(mutated(loss, mutant), examples, trials=trials)
    except AssertionError:
        return True
    return False


def mutated(loss: Any, mutant: Mutant) -> Any:
    """Return the loss, with its settings, as an object of a subclass whose target is wrong."""
    cls, function = type(loss), _function(loss, mutant.target)
    plain = dict.fromkeys(("compiled", "compiled_part", "inlined_part"), lambda function, *_, **__: function)
    with patch.multiple("structsvm.foundation.compute.compilation", **plain), patch.dict(sys.modules):
        sys.modules[mutant.module] = changed = _executed(mutant.module, mutant.place)
        result: Any = changed if mutant.module == function.__module__ else _executed(function.__module__)
    for name in function.__qualname__.split("."):
        result = getattr(result, name)
    namespace = (
        {"kernel": staticmethod(result)} if mutant.target == "kernel" else {mutant.target: result, "kernel": None}
    )
    settings = {field.alias: getattr(loss, field.name) for field in attrs.fields(cls) if field.init}
    return type("Mutant", (cls,), namespace)(**settings)


def _function(loss: Any, target: str) -> Any:
    result = getattr(loss, target)
    return inspect.unwrap(getattr(result, "__func__", result))


def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(import_module(module)))


def _executed(name: str, place: int | None = None) -> ModuleType:
    """Run the source of a module, with a change at ``place`` if given, as a new module."""
    tree = _Change(place).visit(_tree(name))
    for node in ast.walk(tree):
        if isinstance(node, ast.While):
            node.body.insert(0, ast.parse("_count_step()").body[0])
        # A mutant may read entries that it never wrote, and the memory of np.empty differs between runs.
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.empty":
            node.func = ast.Name("_empty", ast.Load())
    module, steps = ModuleType(name), iter(range(_MOST_STEPS))
    module.__dict__.update(_count_step=lambda: next(steps), _empty=_filled)
    exec(compile(ast.fix_missing_locations(tree), f"<mutant of {name}>", "exec"), module.__dict__)
    return module


def _filled(shape: Any, dtype: Any = float) -> Any:
    return (_UNWRITTEN + np.arange(np.prod(shape))).reshape(shape).astype(dtype)


def _reached(module: str, line: int) -> list[tuple[str, range]]:
    """Return the lines of the function at a line of a module, and of the functions that it calls by name."""
    result: list[tuple[str, range]] = []
    functions = [node for node in ast.walk(_tree(module)) if isinstance(node, ast.FunctionDef)]
    waiting = [(module, function) for function in functions if _lines(function)[0] == line]
    while waiting:
        module, function = waiting.pop()
        result.append((module, _lines(function)))
        calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
        names = {called.id for called in calls if isinstance(called, ast.Name)}
        for home in [module, *_imported(module, names)]:
            called_there = [(home, other) for other in _tree(home).body if getattr(other, "name", "") in names]
            waiting += [(home, other) for home, other in called_there if (home, _lines(other)) not in result]
    return result


def _lines(function: ast.FunctionDef) -> range:
    return range(min(each.lineno for each in (*function.decorator_list, function)), (function.end_lineno or 0) + 1)


def _imported(module: str, names: Set[str]) -> list[str]:
    """Return the modules of losses from which a module imports some of the names."""
    imports = [node for node in ast.walk(_tree(module)) if isinstance(node, ast.ImportFrom)]
    homes = {node.module or "": {alias.name for alias in node.names} for node in imports}
    return [home for home, given in homes.items() if home.startswith("structsvm.losses.") and given & names]


class _Change(ast.NodeTransformer):
    """List the places where a tree can be changed, and change one of them."""

    def __init__(self, place: int | None = None) -> None:
        self.place = place
        self.seen: list[tuple[int, str]] = []

    def visit(self, node: Any) -> Any:
        for title, other in _alternatives(node):
            if len(self.seen) == self.place:
                self.seen.append((node.lineno, title))
                return ast.copy_location(other, node)
            self.seen.append((node.lineno, title))
        if isinstance(node, ast.FunctionDef):
            node.body = [self.visit(statement) for statement in node.body]
            return node
        return self.generic_visit(node)


_OPPOSITES: dict[type[Any], type[Any]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.Gt,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


def _alternatives(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield replacements of a node, each with a title."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in _OPPOSITES:
            yield _titled(node, ast.BinOp(left, _OPPOSITES[type(op)](), right))
            if isinstance(op, ast.Add | ast.Sub):
                yield _titled(node, left)
        case ast.Compare(left, [op], right) if type(op) in _OPPOSITES:
            yield _titled(node, ast.Compare(left, [_OPPOSITES[type(op)]()], right))
        case ast.UnaryOp(ast.USub(), operand):
            yield _titled(node, operand)
        case ast.Constant(float(value)):
            yield _titled(node, ast.Constant(2.0 * value if value else 1.0))
        case ast.Constant(int(value)) if not isinstance(value, bool):
            yield _titled(node, ast.Constant(value + 1))
        case ast.IfExp(test, body, orelse):
            yield _titled(node, ast.IfExp(test, orelse, body))
        case ast.If(test, body, [_, *_] as orelse):
            yield f"branches of {ast.unparse(test)} exchanged", ast.If(test, orelse, body)
        case ast.AugAssign(target, op, value) if type(op) in _OPPOSITES:
            yield _titled(node, ast.AugAssign(target, _OPPOSITES[type(op)](), value))


def _titled(old: ast.AST, new: ast.AST) -> tuple[str, ast.AST]:
    return f"{ast.unparse(old)} → {ast.unparse(new)}", new
