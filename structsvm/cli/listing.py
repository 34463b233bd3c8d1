"""``structsvm list``."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import print_table
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.registry import backends, benchmark_models
from structsvm.registry.built_in import REGISTRIES, experiment_models
from structsvm.registry.registry import first_sentence

MODELS = "models"

KINDS = (*REGISTRIES, MODELS)
"""Kinds of names that ``structsvm list`` shows."""

_HEADINGS = {"what": "description", "commands": "commands"}


@command(
    "list",
    "Show the names of losses, solvers, measures, models, ...",
    examples=["structsvm list", "structsvm list losses measures"],
)
@click.argument("kinds", type=click.Choice(KINDS, case_sensitive=False), nargs=-1, metavar="[KIND]...")
@with_json
def list_command(kinds: tuple[str, ...], json_path: Path | None) -> None:
    """Show the names that options and functions accept, each with a description and its package.

    KIND is one of {kinds}. Without KIND, the command shows all kinds.

    Other packages can add names through entry points, except rankers and models.
    """
    tables = {kind: _table(kind) for kind in dict.fromkeys(kinds or KINDS)}
    write_json(
        {kind: [dict(zip(keys, row, strict=True)) for row in rows] for kind, (_, keys, rows) in tables.items()},
        json_path,
    )
    if shows_text(json_path):
        for title, keys, rows in tables.values():
            print_table([title, *(_HEADINGS.get(key, key) for key in keys[1:])], rows)


list_command.help = (list_command.help or "").format(kinds=", ".join(KINDS))


def _table(kind: str) -> tuple[str, list[str], list[list[str]]]:
    """Return the title of a kind of names, the keys of its columns and the rows."""
    if kind == MODELS:
        return "model", ["name", "what", "commands"], list(_models())
    registry = REGISTRIES[kind]
    if registry is backends:
        rows = [[name, _installed(name), *_over_qpsolvers(name, rest)] for name, *rest in registry.entries()]
        rows.sort(key=lambda row: row[1].startswith("no"))
        return registry.kind, ["name", "installed", "what", "from"], rows
    return registry.kind, ["name", "what", "from"], list(map(list, registry.entries()))


def _models() -> Iterator[list[str]]:
    """Yield each model of `benchmark` and `experiment`, its description, and the commands that offer it."""
    from structsvm.protocols.catalogue import needed_package

    having = {"benchmark": benchmark_models, "experiment": experiment_models}
    for name in dict.fromkeys(chain.from_iterable(registry.names() for registry in having.values())):
        commands = [command for command, registry in having.items() if name in registry.built_in]
        package = needed_package(name)
        text = f"not installed: it needs {package}" if package else _description(having[commands[0]].create(name))
        yield [name, text, ", ".join(commands)]


def _description(model: Any) -> str:
    text = first_sentence(type(getattr(model, "estimator", model)))
    return f"{text}; loss {model.loss}" if hasattr(model, "loss") else text


def _over_qpsolvers(name: str, entry: list[str]) -> list[str]:
    """Return description and origin of a backend, with the method of a solver of qpsolvers."""
    from structsvm.solvers.qp.qpsolvers import PACKAGES

    return [PACKAGES[name].method, "qpsolvers"] if name in PACKAGES else entry


def _installed(name: str) -> str:
    """Return whether the packages of a backend are installed, without importing them, or how to install them."""
    from structsvm.solvers.qp.qpsolvers import PACKAGES

    if name not in backends.built_in:
        return "yes"
    backend = backends.create(name)
    missing, distribution = backend.missing(), PACKAGES[name].module if name in PACKAGES else backend.package
    if missing:
        return f"no: pip install {missing}"
    try:
        return f"yes, {version(distribution)}" if distribution else "yes"
    except PackageNotFoundError:
        return "yes"
