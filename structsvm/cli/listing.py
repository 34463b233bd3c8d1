"""``structsvm list``."""

from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import print_table
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.registry import backends, benchmark_models
from structsvm.registry.built_in import REGISTRIES, experiment_models

MODELS = "models"

KINDS = (*REGISTRIES, MODELS)
"""Kinds of names that ``structsvm list`` shows."""


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
    records = {kind: list(_records(kind)) for kind in dict.fromkeys(kinds or KINDS)}
    write_json(records, json_path)
    if shows_text(json_path):
        for kind, listed in records.items():
            title = "model" if kind == MODELS else REGISTRIES[kind].kind
            headings = {"name": title, "what": "description"}
            print_table([headings.get(key, key) for key in listed[0]], [[*record.values()] for record in listed])


list_command.help = (list_command.help or "").format(kinds=", ".join(KINDS))


def _records(kind: str) -> Iterator[dict[str, str]]:
    """Yield the names of a kind with their descriptions."""
    if kind == MODELS:
        yield from _models()
    elif REGISTRIES[kind] is backends:
        records = [_backend(*entry) for entry in backends.entries()]
        yield from sorted(records, key=lambda record: record["installed"].startswith("no"))
    else:
        yield from (dict(zip(("name", "what", "from"), entry, strict=True)) for entry in REGISTRIES[kind].entries())


def _models() -> Iterator[dict[str, str]]:
    """Yield each model of `benchmark` and `experiment`, its description, and the commands that offer it."""
    from structsvm.protocols.catalogue import needed_package

    having = {"benchmark": benchmark_models, "experiment": experiment_models}
    for name in dict.fromkeys(chain.from_iterable(registry.names() for registry in having.values())):
        commands = [command for command, registry in having.items() if name in registry.built_in]
        package = needed_package(name)
        text = f"not installed: it needs {package}" if package else having[commands[0]].create(name).description
        yield {"name": name, "what": text, "commands": ", ".join(commands)}


def _backend(name: str, what: str, origin: str) -> dict[str, str]:
    """Return the record of a backend: whether its packages are installed, without importing them, or how to do it."""
    from structsvm.solvers.qp.qpsolvers import PACKAGES

    installed = "yes"
    if name in backends.built_in:
        backend = backends.create(name)
        missing, distribution = backend.missing(), PACKAGES[name].module if name in PACKAGES else backend.package
        if missing:
            installed = f"no: pip install {missing}"
        elif distribution:
            with suppress(PackageNotFoundError):
                installed = f"yes, {version(distribution)}"
    if name in PACKAGES:
        what, origin = PACKAGES[name].method, "qpsolvers"
    return {"name": name, "installed": installed, "what": what, "from": origin}
