"""Create rankers from names and options, and check that the options apply."""

import inspect
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from structsvm.cli.shared.options import make_solver, require_ranking_loss
from structsvm.exceptions import InputError, counted
from structsvm.registry import rankers, solvers
from structsvm.registry.spelling import Spelling, name_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_OF_SOLVERS = ("solver", "backend", "max_iter")


def _is_default(name: str) -> bool:
    """Return whether the name is `structsvm.Ranker`, the only ranker with all options of ``structsvm train``."""
    return name_key(Spelling.of(name).name) == "ranker"


def require_applicable(name: str, values: "Mapping[str, Any]") -> None:
    """Raise UsageError for options that contradict each other, or that the ranker does not have."""
    ctx, parameters, can = click.get_current_context(), settings_of(name), rankers.find(name).capabilities
    title = rankers.find(name).__name__
    further = {
        "limits": "bounds" in parameters,
        "signs": "monotonic_cst" in parameters,
        "C_grid": "C" in parameters,
        "checkpoint": can.has_path,
        "time_limit": can.has_path,
        "warm_start": "warm_start" in parameters,
    }
    if can.takes_missing and _is_given("missing"):
        raise click.UsageError(f"{title} learns from missing features as they are: leave --missing out")
    for option in ("loss", "C", "tol", *_OF_SOLVERS, "fit_intercept", "normalize", "missing", *further):
        applies = further.get(option, ("solver" if option in _OF_SOLVERS else option) in parameters)
        if not applies and not _is_default(name) and _is_given(option):
            shown = next(max(param.opts, key=len) for param in ctx.command.params if param.name == option)
            raise click.UsageError(
                f"{shown} does not apply to {title}: leave it out. Its settings are {', '.join(sorted(parameters))}, "
                f"written as in --ranker '{Spelling.of(name).name}({next(iter(parameters))}=...)'"
            )
    grid, validation, folds = (values[option] for option in ("C_grid", "validation", "folds"))
    if validation and folds:
        raise click.UsageError("--validation and --folds both choose the validation queries: leave one out")
    if grid and not (validation or folds):
        raise click.UsageError("--C-grid needs queries to choose a value on: give --folds 5, or --validation")
    if folds and can.is_staged:
        raise click.UsageError(f"--folds chooses a value of C, but {title} has no C: use --validation")
    if (folds or (validation and not can.is_staged)) and not grid:
        raise click.UsageError("validation needs several values of C to choose from: add --C-grid, such as 0.1:100")
    if grid and values["warm_start"]:
        raise click.UsageError("each value of --C-grid starts from the previous value: leave --warm-start out")
    if grid and _is_given("C"):
        raise click.UsageError("-C is one value and --C-grid several: leave one out")


def _is_given(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) not in (ParameterSource.DEFAULT, None)


def settings_of(name: str) -> "Mapping[str, inspect.Parameter]":
    """Return the parameters of a ranker by its name."""
    return inspect.signature(rankers.find(name)).parameters


def make_ranker(name: str, options: "Mapping[str, Any]") -> Any:
    """Return the named ranker with the given options; raise UsageError for options that repeat or have no effect."""
    if _is_default(name):
        require_ranking_loss(options["loss"])
    parameters = settings_of(name)
    certified = rankers.find(name).capabilities.has_certificate and not Spelling.of(options["solver"]).gives("tol")
    of_solver = {"tol": options["tol"] if certified or _is_given("tol") else None, "max_iter": options["max_iter"]}
    solver = make_solver(options["solver"], options["backend"], of_solver)
    arguments = {key: value for key, value in options.items() if key not in _OF_SOLVERS and _is_given(key)}
    if "solver" in parameters and not Spelling.of(name).gives("solver"):
        arguments["solver"] = solver
        arguments.pop("tol", None)
    try:
        return rankers.create(name, **arguments)
    except InputError as error:
        raise click.UsageError(str(error)) from None


def warm_started(ranker: Any, model: "Path", names: "Sequence[str] | None", width: int) -> Any:
    """Return the ranker of a model file with the settings of ``ranker``, so that a fit starts from the model."""
    from structsvm.loading import load_model

    title = load_model(model).title
    if title != type(ranker).__name__:
        raise InputError(
            f"{model} holds a {title}, from which training of a {type(ranker).__name__} cannot start: name a model of "
            "the same ranker, or leave --warm-start out"
        )
    start = type(ranker).load(model)
    for option in ("loss", "fit_intercept", "normalize", "missing"):
        before, now = (fitted.get_params(deep=False).get(option) for fitted in (start, ranker))
        if str(before) != str(now):
            raise InputError(
                f"{model} was trained with {option} {before}, not {now}: use {option} {before}, or leave --warm-start "
                "out"
            )
    stored = start.known_names
    if start.n_features_in_ != width or (stored and names and tuple(stored) != tuple(names)):
        raise InputError(
            f"{model} has {counted(start.n_features_in_, 'feature')}, but the data have {width} or other names: give "
            "data with the same features, or leave --warm-start out"
        )
    return start.set_params(**{**ranker.get_params(deep=False), "warm_start": True})


def tol_of(ranker: Any, default: float) -> float:
    """Return the tolerance of a ranker, of its solver, or ``default``."""
    parameters = ranker.get_params(deep=False)
    if parameters.get("tol") is None and "solver" in parameters:
        return float(getattr(solvers.create(ranker.solver), "tol", None) or default)
    return float(parameters.get("tol") or default)
