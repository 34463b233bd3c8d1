"""All rankers on MQ2008, by LETOR's protocol."""

from collections.abc import Iterator

from benchmarks.harness.data import letor_folder
from benchmarks.harness.measuring import Size
from benchmarks.harness.page import table
from benchmarks.harness.rows import Row, Target, without_data
from structsvm.protocols.letor import benchmark

TITLE = "All rankers on MQ2008, by LETOR's protocol"
ABOUT = """
`structsvm benchmark MQ2008`: every installed ranker on the five folds, with its own range of hyper-parameters.
Means are over the test queries of all folds.
"""
PAGE = "docs/letor.md"
WHAT = "MQ2008"

PUBLISHED = {"RankSVM": "0.4716", "RankBoost": "0.4752", "LambdaMART": "0.4784"}
"""Test MAP of svm_rank, RankBoost and LightGBM (a small grid), from third-party reruns."""
LEFT_OUT = {"CombANZ", "CombMAX", "CombMED", "CombMIN", "CombMNZ", "Condorcet", "InverseSquareRank"}
"""Methods of fusion that the page leaves out: no documents lack a feature, so some of them are equal to CombSUM."""


def run(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data(WHAT, "all rankers")
        return
    results = benchmark(folder, None if size.scale == 1.0 else ["MaximumEntropy", "Copeland"], n_jobs=1)
    for name in results.models:
        values = {"map": results.mean(name, "map"), "letor_ndcg": results.mean(name, "ndcg@10")}
        yield Row(what=WHAT, who=name, values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    maps = {row.who: row.values["map"] for row in rows if row.values}
    for name, published in PUBLISHED.items():
        difference = maps[name] - float(published) if name in maps else None
        yield Target(f"{name}: test MAP minus the published figure", -0.006, difference, at_least=True)


def tables(rows: list[Row]) -> dict[str, str]:
    """Return the table of the page, with published figures."""
    shown = (
        [row.who, f"{row.values['map']:.4f}", PUBLISHED.get(row.who, ""), f"{row.values['letor_ndcg']:.4f}"]
        for row in rows
        if row.who not in LEFT_OUT
    )
    return {WHAT: table(("model", "MAP", "published MAP", "NDCG@10"), shown)}
