"""DaskRanker and LightGBM's DaskLGBMRanker on the same two workers, and their recovery when a worker dies."""

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import zip_longest

from benchmarks.clusters.local_cluster import Fit, Outcome, outcomes
from benchmarks.harness.data import letor_folder
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, quotient, without_data

TITLE = "Beside lightgbm.dask"
ABOUT = """
Two worker processes of one thread each, a LocalCluster of Dask, have the same 8 partitions in memory: of fold 1 of
MQ2008, and of 1,000 queries of 120 documents with 136 features in float32. The grades 0 to 4 of the second set are a
linear function of the features plus noise, which favors a linear ranker. `DaskRanker` minimizes `ndcg` for some values
of C, `DaskLGBMRanker` trains lambdarank with its default settings and some numbers of trees. Each has a separate
cluster, whose first fit does not count, so that all code is loaded. "Time to" is the time of the fastest fit of each
whose test NDCG@10 is at most 0.002 below the lower of the two best values. Then, on MQ2008, one of the two workers is
killed when a part of the time of an undisturbed fit has passed. Dask starts another worker, and the fit has two
minutes. LightGBM's limit for its sockets is set to its smallest value, one minute instead of two hours.
"""

SETTINGS: dict[str, list[dict[str, object]]] = {
    "DaskRanker": [{"loss": "ndcg", "C": C} for C in (1.0, 10.0, 100.0)],
    "DaskLGBMRanker": [{"n_estimators": trees} for trees in (10, 30, 100, 300)],
}
DISTURBED = {"DaskRanker": SETTINGS["DaskRanker"][-1], "DaskLGBMRanker": {"n_estimators": 100, "time_out": 1}}
DATA = {"mq2008": "MQ2008, fold 1", "made": "1,000 queries"}
SLACK = 0.002
LIMIT, TO_DIE = 400.0, 120.0
MOMENTS = (0.1, 0.3, 0.5, 0.7, 0.9)


def run(size: Size) -> Iterator[Row]:
    if find_spec("distributed") is None or find_spec("lightgbm") is None:
        yield Row(what="MQ2008, fold 1", who="DaskLGBMRanker", note="dask or lightgbm is not installed")
        return
    for data, what in DATA.items():
        if data == "mq2008" and letor_folder() is None:
            yield without_data(what, "DaskRanker")
            continue
        found: dict[str, list[Outcome]] = {}
        for who, settings in SETTINGS.items():
            _, *found[who] = outcomes(data, size.scale, [Fit(who, one) for one in (settings[0], *settings)], LIMIT)
            for one, outcome in zip_longest(settings, found[who]):
                values, note = (_values(outcome), outcome.error) if outcome else ({}, "no end in time")
                yield Row(what=what, who=_called(who, one), repeats=1, values=values, note=note)
        yield from _times_to_level(what, found)
        if data == "mq2008":
            for who, one in DISTURBED.items():
                yield from _deaths(data, what, who, one, size)


def _called(who: str, settings: dict[str, object]) -> str:
    return f"{who}({', '.join(f'{name}={value!r}' for name, value in settings.items())})"


def _values(outcome: Outcome) -> dict[str, float]:
    values = {"seconds": outcome.seconds, "ndcg": outcome.ndcg, "gap": outcome.gap}
    return {name: value for name, value in values.items() if value is not None}


def _times_to_level(what: str, found: dict[str, list[Outcome]]) -> Iterator[Row]:
    level = min(max(one.ndcg or 0.0 for one in outcomes_) for outcomes_ in found.values()) - SLACK
    for who, tried in found.items():
        reached = [one for one in tried if (one.ndcg or 0.0) >= level]
        fastest = min(reached, key=lambda one: one.seconds)
        yield Row(what=what, who=f"{who}: time to", repeats=1, values=_values(fastest), note=f"NDCG@10 of {level:.4f}")


def _deaths(data: str, what: str, who: str, settings: dict[str, object], size: Size) -> Iterator[Row]:
    """Kill a worker at some moments of a fit."""
    left = list(MOMENTS)
    while left:
        asked = [Fit(who, settings), Fit(who, settings), *(Fit(who, settings, kill_at=part) for part in left)]
        found = outcomes(data, size.scale, asked, TO_DIE)[2:]
        ended, left = left[: len(found)], left[len(found) :]
        for part, one in zip(ended, found, strict=True):
            note = one.error or "continues"
            yield Row(what=what, who=f"{who}, a worker dies at {part:.0%}", repeats=1, values=_values(one), note=note)
        if left:
            part, *left = left
            note = f"no end within {TO_DIE:.0f} s"
            yield Row(what=what, who=f"{who}, a worker dies at {part:.0%}", repeats=1, note=note)


def targets(rows: list[Row]) -> Iterator[Target]:
    for what in DATA.values():
        ours, theirs = (
            next((row.values["seconds"] for row in rows if row.what == what and row.who == f"{who}: time to"), None)
            for who in SETTINGS
        )
        yield Target(
            f"{what}, two workers: times faster to the same NDCG@10 than lightgbm.dask",
            1.0,
            quotient(theirs, ours),
            at_least=True,
        )
