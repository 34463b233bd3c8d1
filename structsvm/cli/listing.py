"""``structsvm list``."""

import inspect
from collections.abc import Iterator
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from itertools import chain
from typing import Any

import click

from structsvm.cli.console import print_table
from structsvm.cli.paths import Command
from structsvm.cli.texts import example
from structsvm.registry import Registry, backends, losses, measures, rankers, retrieval_functions, solvers


@click.command(
    cls=Command,
    name="list",
    short_help="Show rankers, losses, solvers, backends, measures, retrieval functions and models.",
    epilog=example("structsvm list"),
)
def list_command() -> None:
    """Show the names of rankers, losses, solvers, QP backends, measures, retrieval functions, fusion and models.

    Other packages can add to the first six through entry points; the last column says where a name comes from.
    """
    from structsvm.fusion import METHODS

    print_table(["ranker", "what it is", "from"], _rows(rankers))
    print_table(["loss", "what it is", "from"], _rows(losses))
    print_table(["solver", "what it is", "from"], _rows(solvers))
    with_installed = ([name, _installed(name), *rest] for name, *rest in _rows(backends))
    print_table(["QP backend", "installed", "what it is", "from"], with_installed)
    print_table(["measure", "what it is", "from"], _rows(measures))
    print_table(["retrieval function", "what it is", "from"], _rows(retrieval_functions))
    print_table(["fusion", "what it is"], ([name, _first_sentence(method)] for name, method in METHODS.items()))
    print_table(["model", "what it is", "of"], _models())


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


def _models() -> Iterator[list[str]]:
    """Yield the name of each model of `benchmark` and `experiment`, what it is, and which of them has it."""
    from structsvm import protocols
    from structsvm.protocols import letor

    having = {
        "benchmark": (letor.model_names(), letor.create_model),
        "experiment": (protocols.model_names(), protocols.create_model),
    }
    for name in dict.fromkeys(chain.from_iterable(names for names, _ in having.values())):
        commands = [command for command, (names, _) in having.items() if name in names]
        package = protocols.needed_package(name)
        what = f"not installed: it needs {package}" if package else _description(having[commands[0]][1](name))
        yield [name, what, ", ".join(commands)]


def _description(model: Any) -> str:
    what = _first_sentence(type(getattr(model, "estimator", model)))
    return f"{what}; loss {model.loss}" if hasattr(model, "loss") else what


def _origin(plugin: EntryPoint) -> str:
    return f"{plugin.dist.name} {plugin.dist.version}" if plugin.dist else plugin.module


def _installed(backend: str) -> str:
    """Say whether the package that a built-in backend needs is there, without importing it; a plug-in's is."""
    package = backends.find(backend).package if backend in backends.built_in else ""
    if not package:
        return "yes"
    if find_spec(package) is None:
        return "no"
    try:
        return f"yes, {version(package)}"
    except PackageNotFoundError:
        return "yes"


def _first_sentence(documented: type) -> str:
    paragraph = " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".").replace("`", "")
