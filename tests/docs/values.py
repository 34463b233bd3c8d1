"""Public names that are values (tuples, other names of types): their text in the source, which Python drops."""

import ast
import inspect
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any


def is_value(thing: Any) -> bool:
    """Say whether it is neither a class nor a function of the package, whose docstrings Python keeps."""
    own = str(getattr(thing, "__module__", "")).startswith("structsvm")
    return not (own and (inspect.isclass(thing) or inspect.isroutine(thing)))


def docstring_of(path: str) -> str:
    """Return the text that follows the assignment of a value, or "".

    Parameters
    ----------
    path : name with its package, which may have it from another module.
    """
    home, _, name = path.rpartition(".")
    spec = find_spec(home)
    if spec is None or spec.origin is None:
        return ""
    statements = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
    for node, after in pairwise([*statements, ast.Pass()]):
        if isinstance(node, ast.ImportFrom) and name in {each.asname or each.name for each in node.names}:
            (real,) = (each.name for each in node.names if name == (each.asname or each.name))
            return docstring_of(f"{node.module}.{real}")
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", ast.Pass())]
        if any(isinstance(each, ast.Name) and each.id == name for target in targets for each in ast.walk(target)):
            text = after.value if isinstance(after, ast.Expr) else None
            return inspect.cleandoc(str(text.value)) if isinstance(text, ast.Constant) else ""
    return ""


def is_error(what: Any) -> bool:
    """Return whether it is an error or a warning: their examples would repeat how an exception is caught."""
    return isinstance(what, type) and issubclass(what, Exception)
