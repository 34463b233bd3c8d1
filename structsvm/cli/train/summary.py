"""The summary that ``structsvm train`` prints."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structsvm.exceptions import counted
from structsvm.features.scaling.names import FEATURE_SCALINGS
from structsvm.registry import backends, losses, solvers

if TYPE_CHECKING:
    from structsvm.data import RankingData
    from structsvm.metrics import Measure
    from structsvm.result import Result


def summary(
    ranker: Any,
    data: "RankingData",
    files: int,
    model: Path,
    measures: "Mapping[str, Measure]",
    validation: "RankingData | None",
    warned: list[str],
) -> list[str]:
    """Return the lines of the summary of a fitted ranker; ``measures`` are shown if it has no certificate."""
    of_kind = (
        _certified(ranker, data)
        if ranker.capabilities.has_certificate
        else _uncertified(ranker, data, measures, validation)
    )
    return [
        f"data     {data.summary} from {counted(files, 'file')}",
        *of_kind,
        *(f"warning  {warning}" for warning in dict.fromkeys(warned)),
        *_ending(ranker),
        f"model    {model}",
    ]


def _certified(ranker: Any, data: "RankingData") -> list[str]:
    from structsvm.estimators.display import optimum_of

    left_out = "because their documents are all relevant or all irrelevant"
    at = ranker.model_.record.get("weights_at_a_bound")
    bounds = [] if at is None else [f"bounds   {at} of {counted(len(ranker.coef_), 'weight')} are at a bound"]
    return [
        *_what_was_trained(ranker),
        f"used     {_used(ranker, left_out)}",
        f"optimum  {optimum_of(ranker)}",
        *bounds,
        *_learned_nothing(ranker),
        *_far_apart(ranker, data),
    ]


def _uncertified(
    ranker: Any, data: "RankingData", measures: "Mapping[str, Measure]", validation: "RankingData | None"
) -> list[str]:
    lines = []
    if "examples" in ranker.model_.record:
        lines.append(f"used     {_used(ranker, 'because training cannot use them')}")
    if ranker.capabilities.is_staged:
        curve = ranker.validation_scores_
        of_curve = "" if curve is None else f" of {len(curve)}, the best on --validation"
        lines.append(f"steps    {ranker.best_iteration_}{of_curve}")
    for what, queries in (("training", data), ("held out", validation)):
        if queries is not None:
            qid = {"qid": queries.qid} if ranker.capabilities.takes_qid_at_predict else {}
            scores = ranker.predict(queries.X, **qid)
            values = [
                f"{name} {measure.mean(scores, queries.y, queries.qid):.4f}" for name, measure in measures.items()
            ]
            lines.append(f"{what} {', '.join(values)}")
    return lines


def _ending(ranker: Any) -> list[str]:
    """Describe the run, or the lack of a certificate."""
    if not ranker.capabilities.has_certificate:
        return [f"optimum  {type(ranker).__name__} has no certificate: its distance from the optimum is unknown"]
    result: Result = ranker.result_
    solver, last = solvers.create(ranker.solver), result.history[-1]
    how = [result.solver_name]
    # "auto" chose another solver.
    ran = solver if solver.name == result.solver_name else solvers.create(result.solver_name)
    if hasattr(ran, "backend") and hasattr(solver, "backend"):
        how.append(f"backend {backends.create(solver.backend).name}")
    run = [counted(last.iteration, "iteration"), f"{last.seconds:.2f} s", counted(last.cuts, "cut")]
    if last.compile_seconds >= 0.005:
        run.append(f"and {last.compile_seconds:.2f} s of compilation")
    if result.handovers:
        run.append(f"{counted(result.handovers, 'QP')} handed over to the built-in backend")
    return [f"run      {', '.join(how)}: {', '.join(run)}"]


def _what_was_trained(ranker: Any) -> list[str]:
    """Describe a cut-off in the name of a loss that training ignores."""
    named = ranker.get_params(deep=False).get("loss")
    loss = None if named is None else losses.create(named)
    if getattr(loss, "k", None) is None or getattr(ranker.loss_, "k", None) is not None:
        return []
    trained = losses.spell(ranker.loss_) or ranker.loss_
    return [f"loss     {named} trains at full depth, so the optimum belongs to {trained}"]


def _used(ranker: Any, left_out: str) -> str:
    loss = getattr(ranker, "loss_", None)
    if loss is not None and loss.per_row:
        return f"{counted(ranker.n_examples_, 'document')}, each a separate example"
    used = counted(ranker.n_examples_, "query", "queries")
    return f"{used}; {ranker.n_left_out_} left out, {left_out}" if ranker.n_left_out_ else used


def _learned_nothing(ranker: Any) -> list[str]:
    from structsvm.training.objective import zero_weights

    result: Result = ranker.result_
    if result.w.any() or not result.converged:
        return []
    has_loss = "loss" in ranker.get_params(deep=False)
    loss, trained = (ranker.loss or "map", ranker.loss_) if has_loss else ("swapped_pairs", "swapped_pairs")
    return [f"warning  {zero_weights(result, loss, trained, ranks=True, other_losses=has_loss)}"]


def _far_apart(ranker: Any, data: "RankingData") -> list[str]:
    """Describe features with far larger ranges than others, if they were not normalized."""
    from structsvm.training.scaling import ColumnRanges

    if ranker.normalize is not None:
        return []
    ranges, names = ColumnRanges.of(data.X), ranker.known_names
    if not ranges.far_apart:
        return []
    text = ranges.description(lambda k: f"feature {k + 1}" if names is None else names[k])
    return [f"warning  {text}: try --normalize {', '.join(FEATURE_SCALINGS[:-1])} or {FEATURE_SCALINGS[-1]}"]
