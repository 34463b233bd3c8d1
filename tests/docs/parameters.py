"""The tables of ``docs/reference/parameters.md``: all parameters with their defaults, and other accepted names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from inspect import Parameter
from typing import Any

import click

from structsvm import registry
from structsvm.cli import main
from structsvm.registry import built_in
from structsvm.registry.spelling import name_key, parameters_of
from tests.docs.reference import listed, meaning, thing

ESTIMATORS = ("structsvm", "structsvm.estimators", "structsvm.rankers")
OPTIONS = {"Cs": "C_grid", "n_jobs": "jobs", "random_state": "seed"}
"""Parameters whose option has another name."""
TABLES = {
    "Losses": registry.losses,
    "Measures": registry.measures,
    "Solvers": registry.solvers,
    "QP backends": registry.backends,
    "Methods of fusion": registry.fusions,
    "Click models": built_in.click_models,
    "Retrieval functions": registry.retrieval_functions,
}
"""The registries of the tables, without rankers, which are estimators."""


def tables() -> str:
    """Return all tables as Markdown."""
    lines = ["## Estimators", "", *_estimator_rows()]
    for heading, names in TABLES.items():
        lines += [f"## {heading}", "", *_registry_rows(names)]
    return "\n".join(lines)


def estimators() -> dict[str, type]:
    """Return the public estimators by path."""
    paths = [path for path in listed() if path.rpartition(".")[0] in ESTIMATORS]
    return {path: thing(path) for path in paths if hasattr(thing(path), "get_params")}


def _estimator_rows() -> Iterator[str]:
    """Yield a row for each parameter and default."""
    command = main.get_command(click.Context(main), "train")
    texts = [text for parameter in command.params for text in parameter.opts] if command else []
    options = {text.lstrip("-").replace("-", "_"): f"`{text}`" for text in texts if text.startswith("-")}
    uses: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, class_ in estimators().items():
        for name, parameter in parameters_of(class_).items():
            default = "required" if parameter.default is Parameter.empty else f"`{parameter.default!r}`"
            uses[name, default].append(f"{{py:obj}}`~{path}`")
    yield from _table(
        ("parameter", "default", "estimators", "option of `train`"),
        (
            (f"`{name}`", default, ", ".join(paths), options.get(OPTIONS.get(name, name), ""))
            for (name, default), paths in sorted(uses.items(), key=lambda use: use[0][0].lower())
        ),
    )


def _registry_rows(names: Any) -> Iterator[str]:
    """Yield a row for each name of a registry."""
    aliases: dict[str, list[str]] = defaultdict(list)
    for alias, target in names.aliases.names.items():
        aliases[name_key(target)].append(f"`{alias}`")
    yield from _table(
        ("name", "object", "also accepted", "parameters and defaults"),
        (
            (
                f"`{names.shown(name)}`",
                meaning(names.find(name)),
                ", ".join(aliases[name_key(name)]),
                ", ".join(_settings(names.find(name), names.implied.get(name, {}))),
            )
            for name in names.built_in
        ),
    )


def _settings(class_: type, implied: dict[str, Any]) -> Iterator[str]:
    for name, parameter in parameters_of(class_).items():
        if name in implied:
            yield f"`{name}` fixed to `{implied[name]!r}`"
        else:
            yield f"`{name}` required" if parameter.default is Parameter.empty else f"`{name}={parameter.default!r}`"


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    for cells in (headings, ["---"] * len(tuple(headings)), *rows):
        yield f"| {' | '.join(cells)} |"
    yield ""
