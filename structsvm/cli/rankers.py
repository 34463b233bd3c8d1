"""Rankers of every kind on the command line: made of a name and options, fitted, and told of in a summary."""

import inspect
import warnings
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from structsvm.cli.console import counted
from structsvm.cli.failures import Failure
from structsvm.cli.options import bad
from structsvm.exceptions import InputError
from structsvm.registry import rankers
from structsvm.registry.spelling import Spelling, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from structsvm.data import RankingData
    from structsvm.metrics import Measure

_OF_SOLVERS = ("solver", "backend", "max_iter")


def ranker_in(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
    """Require the name of a ranker, with settings in parentheses or without: the callback of an option."""
    try:
        if name is not None:
            rankers.create(name)
    except InputError as error:
        raise bad(error) from None
    return name


def is_default(name: str | None) -> bool:
    """Say whether it is `structsvm.Ranker`, which the options of ``structsvm train`` are made for."""
    return name is None or plain(Spelling.of(name).name) == "ranker"


def require_applicable(name: str, *, further: "Mapping[str, bool]") -> None:
    """Refuse options that were given and that a ranker has no setting for.

    Parameters
    ----------
    name : name of the ranker.
    further : options that are no settings, and whether they apply.

    Raises
    ------
    click.UsageError : it names the first, and the settings that there are.
    """
    ctx, known = click.get_current_context(), settings_of(name)
    for option in ("loss", "C", "tol", *_OF_SOLVERS, "fit_intercept", "class_weight", "normalise", *further):
        if ctx.get_parameter_source(option) in (ParameterSource.DEFAULT, None):
            continue
        parameter = "solver" if option in _OF_SOLVERS else option
        if not further.get(option, parameter in known):
            shown = next(max(param.opts, key=len) for param in ctx.command.params if param.name == option)
            title = rankers.find(name).__name__
            raise click.UsageError(
                f"{shown} does not apply to {title}: leave it out. Its settings are {', '.join(sorted(known))}, "
                f"written as in --ranker '{Spelling.of(name).name}({next(iter(known))}=...)'"
            )


def settings_of(name: str) -> "Mapping[str, inspect.Parameter]":
    """Return the parameters of the ranker of a name."""
    return inspect.signature(rankers.find(name)).parameters


def make_ranker(name: str, solver: Any, values: "Mapping[str, Any]") -> Any:
    """Return the ranker of a name with the options that were given.

    Parameters
    ----------
    name : its name, with settings or without.
    solver : the solver that the options ask for.
    values : other options by name.

    Raises
    ------
    click.UsageError : an option says what the name says.
    """
    ctx, known = click.get_current_context(), settings_of(name)
    given = {key: value for key, value in values.items() if ctx.get_parameter_source(key) != ParameterSource.DEFAULT}
    if "solver" in known and not any(option.startswith("solver") for option in Spelling.of(name).options):
        given["solver"] = solver
        given.pop("tol", None)
    try:
        return rankers.create(name, **given)
    except InputError as error:
        raise click.UsageError(str(error)) from None


def fit_uncertified(ranker: Any, data: "RankingData", validation: "RankingData | None") -> list[str]:
    """Fit a ranker that has no certificate, and return what its warnings say.

    Raises
    ------
    Failure : Ctrl-C ended it, so that there is no model.
    """
    held_out = {} if validation is None else {"validation": (validation.X, validation.y, validation.qid)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            ranker.fit(data.X, data.y, qid=data.qid, **held_out)
        except KeyboardInterrupt:
            raise Failure("interrupted before the end of training: there is no model to write") from None
    return [str(each.message) for each in caught]


def summary(
    ranker: Any,
    data: "RankingData",
    files: int,
    model: Any,
    measures: "Mapping[str, Measure]",
    validation: "RankingData | None",
    said: list[str],
) -> list[str]:
    """Return what there is to say of a ranker that has no certificate, a line each.

    Parameters
    ----------
    ranker : fitted.
    data, files : what it was fitted on, and of how many files.
    model : where it was written.
    measures : what is shown of it.
    validation : the queries by which its steps were chosen; None without.
    said : its warnings.
    """
    lines = [f"data     {data.summary} from {counted(files, 'file')}"]
    if hasattr(ranker, "n_examples_"):
        left = f"; {ranker.n_left_out_} left out, of which there is nothing to learn" if ranker.n_left_out_ else ""
        lines.append(f"used     {counted(ranker.n_examples_, 'query', 'queries')}{left}")
    if hasattr(ranker, "best_iteration_"):
        curve = ranker.validation_scores_
        chosen = "" if curve is None else f" of {len(curve)}, the best on --validation"
        lines.append(f"steps    {ranker.best_iteration_}{chosen}")
    for what, queries in (("training", data), ("validation", validation)):
        if queries is not None:
            scores = ranker.predict(queries.X)
            values = [f"{name} {each.mean(scores, queries.y, queries.qid):.4f}" for name, each in measures.items()]
            lines.append(f"{what if what == 'training' else 'held out'} {', '.join(values)}")
    lines += [f"warning  {each}" for each in dict.fromkeys(said)]
    lines.append(
        f"optimum  {type(ranker).__name__} has no certificate: how far it is from the best of its kind is not known"
    )
    return [*lines, f"model    {model}"]
