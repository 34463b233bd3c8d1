"""``structsvm list``."""

import inspect
from collections.abc import Iterator
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from typing import Any

import click

from structsvm.cli.console import print_table
from structsvm.cli.options import example
from structsvm.registry import Registry, backends, losses, measures, solvers

# Built-in backends: the module each needs, and the distribution it comes with.
_NEEDS = {
    "cvxopt": ("cvxopt", "cvxopt"),
    "osqp": ("osqp", "osqp"),
    "highs": ("highspy", "highspy"),
}


@click.command(name="list", short_help="Show losses, solvers, backends and measures.", epilog=example("structsvm list"))
def list_command() -> None:
    """Show the names of losses, solvers, QP backends and measures.

    Other packages can add to them through entry points; the last column says where a name comes from.
    """
    print_table(["loss", "what it is", "from"], _rows(losses))
    print_table(["solver", "what it is", "from"], _rows(solvers))
    with_installed = ([name, _installed(name), *rest] for name, *rest in _rows(backends))
    print_table(["QP backend", "installed", "what it is", "from"], with_installed)
    print_table(["measure", "what it is", "from"], _rows(measures))


def _rows(registry: Registry[Any]) -> Iterator[list[str]]:
    """Yield name, what it is, and where it is from; what is built in comes first."""
    seen: dict[str, str] = {}
    for name, target in sorted(registry.built_in.items(), key=lambda item: item[0] == "auto"):
        what = (
            f"the default: {seen[target]}"
            if name == "auto" and target in seen
            else _first_sentence(registry.find(name))
        )
        seen[target] = name
        settled = ", ".join(f"{key} {value}" for key, value in registry.implied.get(name, {}).items())
        yield [registry.shown(name), f"{what}; {settled}" if settled else what, "built in"]
    for plugin in entry_points(group=registry.group):
        if plugin.name not in registry.built_in:
            yield [plugin.name, plugin.value, _origin(plugin)]


def _origin(plugin: EntryPoint) -> str:
    return f"{plugin.dist.name} {plugin.dist.version}" if plugin.dist else plugin.module


def _installed(backend: str) -> str:
    """Say whether the package that a backend wraps can be imported, without importing it."""
    if backend not in _NEEDS:
        return "yes"
    module, distribution = _NEEDS[backend]
    if find_spec(module) is None:
        return "no"
    try:
        return f"yes, {version(distribution)}"
    except PackageNotFoundError:
        return "yes"


def _first_sentence(documented: type) -> str:
    paragraph = " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".").replace("`", "")
