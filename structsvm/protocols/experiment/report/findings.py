"""The result of an experiment in a few sentences."""

from collections.abc import Sequence

from structsvm.protocols.experiment import Comparison, Results, Row
from structsvm.protocols.experiment.report.tables import VARIANTS


def findings(results: Results) -> tuple[str, ...]:
    """Return a sentence or two for each variant: the first model, the best other one, and the best base function."""
    return tuple(_finding(variant, results.rows(variant)) for variant in results.variants)


def _finding(variant: str, rows: Sequence[Row]) -> str:
    reference, *others = rows
    models = [row for row in others if not row.place]
    rivals = [max(models, key=lambda row: row.mean)] if models else []
    rivals += [row for row in others if row.place == 1]
    sentences = [f"{reference.name}, reading {VARIANTS[variant]}, has a MAP of {reference.mean:.3f}."]
    for row in rivals:
        what = "best base function" if row.place else "best other model" if len(models) > 1 else "other model"
        if row.against:
            sentences.append(f"The {what}, {row.name}, has {row.mean:.3f}: {_compared(reference.name, row.against)}.")
    return " ".join(sentences)


def _compared(reference: str, against: Comparison) -> str:
    verdict = "significant" if against.significant else "not significant"
    queries = against.wins + against.losses + against.ties
    counts = f"{reference} is better on {against.wins} of {queries} queries and worse on {against.losses}"
    if against.ties:
        counts += f", the same on {against.ties}"
    return f"{counts}, {verdict} at 0.95 (p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{against.p_value:.2g})"
