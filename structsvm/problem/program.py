"""Compare functions across processes, as tuples of code and constants with the functions that they call."""

from collections.abc import Iterator
from operator import itemgetter
from types import CodeType, FunctionType, ModuleType
from typing import Any

from structsvm.foundation.compute.compilation import is_constant

_OWN = "structsvm"


def program(*functions: Any) -> tuple[Any, ...]:
    """Return tuples that differ if functions compute different results; other packages are assumed not to change.

    They contain code, captured values, the constants of modules, and the code of called functions of the package.
    """
    waiting, parts = [plain_function(function) for function in functions], dict[int, tuple[Any, ...]]()
    packages = {_OWN, *map(_package, waiting)}
    while waiting:
        function = waiting.pop()
        if id(function) in parts:
            continue
        cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
        named = dict(sorted(_named(function), key=itemgetter(0)))
        held = (*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        called = [item for item in map(plain_function, (*named.values(), *held)) if isinstance(item, FunctionType)]
        waiting += [item for item in called if _package(item) in packages]
        parts[id(function)] = (
            f"{_module(function)}.{function.__code__.co_qualname}",
            _code(function.__code__),
            tuple((name, value) for name, value in named.items() if is_constant(value)),
            tuple(value for value in held if not isinstance(plain_function(value), FunctionType)),
        )
    return tuple(parts.values())


def methods(kind: type) -> Iterator[Any]:
    """Yield the methods of a class and of its bases, in a fixed order."""
    for base in kind.__mro__:
        for name, member in sorted(vars(base).items()):
            function = plain_function(getattr(member, "fget", member))
            if isinstance(function, FunctionType) and not name.startswith("__"):
                yield function


def constants(kind: type) -> tuple[Any, ...]:
    """Return the constants of a class and of its bases, except `check_before_fit`."""
    return tuple(
        (base.__qualname__, name, value)
        for base in kind.__mro__
        for name, value in sorted(vars(base).items())
        if not name.startswith("__") and name != "check_before_fit" and is_constant(value)
    )


def plain_function(function: Any) -> Any:
    """Return the Python function of a method or numba dispatcher."""
    function = getattr(function, "__func__", function)
    return getattr(function, "py_func", function)


def named_globals(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a plain function's code names, with their values."""
    namespace = function.__globals__
    yield from ((name, namespace[name]) for name in set(_names(function.__code__)) if name in namespace)


def _package(function: Any) -> str:
    return _first(_module(function))


def _module(function: Any) -> str:
    """Return the module that defines a function, even if a decorator such as attrs overwrote ``__module__``."""
    return str(function.__globals__.get("__name__"))


def _first(name: str) -> str:
    return name.partition(".")[0]


def _named(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the globals that code names, and the attributes of modules among them."""
    names, namespace = set(_names(function.__code__)), function.__globals__
    modules = {name: namespace[name] for name in names if isinstance(namespace.get(name), ModuleType)}
    spaces = {f"{name}.": vars(item) for name, item in modules.items() if _first(item.__name__) == _package(function)}
    for beginning, space in {"": namespace, **spaces}.items():
        yield from ((beginning + name, space[name]) for name in names if name in space)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _names(value)


def _code(code: CodeType) -> tuple[Any, ...]:
    return code.co_code, code.co_names, tuple(map(_held, code.co_consts))


def _held(value: Any) -> Any:
    """Return a constant of code in a form that is the same in every process; the order of a set is not."""
    if isinstance(value, CodeType):
        return _code(value)
    return tuple(sorted(map(repr, value))) if isinstance(value, frozenset) else value
