"""The results of a benchmark: rows of numbers, and targets."""

from collections.abc import Iterable
from typing import Any

from attrs import Factory, asdict, field, frozen

from structsvm.foundation.tables.table import Column


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.2f}" if seconds >= 10 else f"{seconds:.3g}"


COLUMNS: dict[str, Column] = {
    "seconds": Column("seconds", lambda record: _seconds(record["seconds"])),
    "cpu": Column("CPU seconds", lambda record: _seconds(record["cpu"])),
    "fastest": Column("fastest", lambda record: _seconds(record["fastest"])),
    "units": Column.number("units of X @ w", "units", ".1f"),
    "sweeps": Column.number("units of all maximizations", "sweeps", ",.0f"),
    "ratio": Column.number("ratio", "ratio", ".2f"),
    "calls_ratio": Column.number("ratio of calls", "calls_ratio", ".2f"),
    "argmax": Column.number("argmax, µs a query", "argmax", ".2f"),
    "fits": Column.number("fits", "fits", ".0f"),
    "converged": Column.number("converged", "converged", ".0f"),
    "fastest_fits": Column.number("fastest", "fastest_fits", ".0f"),
    "solver_seconds": Column("solver seconds", lambda record: _seconds(record["solver_seconds"])),
    "iterations": Column.number("iterations", "iterations", ",.0f"),
    "programs": Column.number("programs", "programs", ",.0f"),
    "handed_over": Column.number("handed over", "handed_over", ",.0f"),
    "relative_gap": Column.number("largest gap / optimum", "relative_gap", ".0e"),
    "mebibytes": Column.number("peak MiB", "mebibytes", ".0f"),
    "overlap": Column.number("highest dual − lowest primal, / C", "overlap", ".1e"),
    "regret": Column.number("regret", "regret", ".2%"),
    "regret_error": Column.number("± s.e.", "regret_error", ".2%"),
    "spo_plus": Column.number("SPO+", "spo_plus", ".4f"),
    "solved": Column.number("calls", "solved", ".1f"),
    "passes": Column.number("passes", "passes", ".1f"),
    "tol": Column.number("tol", "tol", ".0e"),
    "spread": Column.number("spread", "spread", ".4f"),
    "gap": Column.number("gap / C", "gap", ".1e"),
    "training_map": Column.number("training MAP", "training_map", ".4f"),
    "map": Column.number("test MAP", "map", ".4f"),
    "held_out": Column.number("held-out MAP", "held_out", ".4f"),
    "trec_map": Column.number("MAP", "trec_map", ".4f"),
    "hamming": Column.number("test Hamming loss", "hamming", ".4f"),
    "exact": Column.number("all labels right", "exact", ".4f"),
    "letters": Column.number("test letters right", "letters", ".4f"),
    "ndcg": Column.number("test NDCG@10", "ndcg", ".4f"),
    "p_map_lambda_mart": Column.number("p, MAP against LambdaMART", "p_map_lambda_mart", ".3f"),
    "p_ndcg_lambda_mart": Column.number("p, NDCG", "p_ndcg_lambda_mart", ".3f"),
    "p_map_svm_map": Column.number("p, MAP against SVM-map", "p_map_svm_map", ".3f"),
    "p_ndcg_svm_map": Column.number("p, NDCG", "p_ndcg_svm_map", ".3f"),
    "p_free": Column.number("p, MAP against no bounds", "p_free", ".3f"),
    "at_a_bound": Column.number("weights at a bound", "at_a_bound", ".1f"),
    "ahead": Column.number("ahead in MAP", "ahead", "+.4f"),
    "lead": Column.number("behind the best", "lead", "+.4f"),
    "brier": Column.number("Brier score", "brier", ".4f"),
    "error": Column.number("± s.e.", "error", ".4f"),
    "ndcg_ahead": Column.number("ahead in NDCG@10", "ndcg_ahead", "+.4f"),
    "ndcg_error": Column.number("± s.e.", "ndcg_error", ".4f"),
    "p5": Column.number("test P@5", "p5", ".4f"),
    "recall10": Column.number("test recall@10", "recall10", ".4f"),
    "recall100": Column.number("test recall@100", "recall100", ".4f"),
    "full_ndcg": Column.number("test NDCG", "full_ndcg", ".4f"),
    "letor_ndcg": Column.number("LETOR's NDCG@10", "letor_ndcg", ".4f"),
    "microseconds": Column.number("µs a query", "microseconds", ".1f"),
    "milliseconds": Column.number("ms a query", "milliseconds", ".3g"),
    "megabytes": Column.number("peak MB", "megabytes", ",.0f"),
    "disk": Column.number("MB on disk", "disk", ",.1f"),
    "packages": Column.number("packages", "packages", ".0f"),
    "stored": Column.number("MB stored", "stored", ".3g"),
    "postings": Column.number("postings", "postings", ",.0f"),
    "rate": Column.number("postings a second", "rate", ",.0f"),
    "found0.5": Column.number("% of 0.5 Δ", "found0.5", ".0f"),
    "found0.7": Column.number("% of 0.7 Δ", "found0.7", ".0f"),
    "found0.9": Column.number("% of 0.9 Δ", "found0.9", ".0f"),
    "found0.95": Column.number("% of 0.95 Δ", "found0.95", ".0f"),
    "found0.99": Column.number("% of 0.99 Δ", "found0.99", ".0f"),
    "found_others": Column.number("% of others", "found_others", ".1f"),
    "alarms": Column.number("false alarms", "alarms", ".0f"),
    "right": Column.number("of", "right", ".0f"),
    "rounds": Column.number("rounds", "rounds", ".0f"),
    "calls": Column.number("calls a round", "calls", ".2f"),
    "down": Column.number("kB down, a worker and round", "down", ",.2f"),
    "up": Column.number("kB up", "up", ",.2f"),
    "partition": Column.number("a partition, ms a round", "partition", ",.3g"),
    "held": Column.number("GB a worker", "held", ",.3g"),
    "cuts": Column.number("GB of cuts", "cuts", ",.3g"),
    "star": Column.number("network, star, s", "star", ",.3g"),
    "tree": Column.number("network, tree of 32, s", "tree", ",.3g"),
    "parts": Column.number("network, w in 32 parts, s", "parts", ",.3g"),
    "driver": Column.number("driver, ms a round", "driver", ",.3g"),
    "round": Column.number("seconds a round", "round", ",.3g"),
    "work": Column.number("workers", "work", ".1%"),
    "network": Column.number("network", "network", ".1%"),
    "qp": Column.number("driver", "qp", ".1%"),
    "minutes": Column.number("minutes a fit", "minutes", ",.3g"),
    "late": Column.number("95 % within", "late", ",.3g"),
    "sent": Column.number("kB a round", "sent", ",.1f"),
    "beside": Column.number("ms beside work", "beside", ",.0f"),
    "critical": Column.number("critical path, ms", "critical", ",.0f"),
    "low": Column.number("95 % from", "low", ".4f"),
    "high": Column.number("to", "high", ".4f"),
    "rank": Column.number("rank correlation", "rank", ".2f"),
    "coverage": Column.number("coverage", "coverage", ".1%"),
    "width": Column.number("mean width", "width", ".3f"),
    "log_loss": Column.number("log loss", "log_loss", ".4f"),
    "calibration_error": Column.number("calibration error", "calibration_error", ".4f"),
    "miscalibration": Column.number("MCB", "miscalibration", ".4f"),
    "needed": Column.number("queries", "needed", ",.0f"),
    "power": Column.number("power", "power", ".1%"),
    "least_correlation": Column.number("least correlation", "least_correlation", ".2f"),
    "correlation": Column.number("median correlation", "correlation", ".2f"),
}
"""Columns of tables, by the names of values in rows."""


@frozen(kw_only=True)
class Row:
    """One measurement.

    Parameters
    ----------
    what : the work.
    who : the system: a solver with its settings, or another program.
    C : C of the problem; None without C.
    repeats : number of timings.
    values : numbers under the names in `COLUMNS`; ``seconds`` is the median of the repeats.
    note : a remark, or the reason why there are no numbers.
    history : seconds and best primal value of steps, for the plots.
    """

    what: str
    who: str
    C: float | None = None
    repeats: int = 0
    values: dict[str, float] = field(factory=dict)
    note: str = ""
    history: list[list[float]] = Factory(list)

    def __str__(self) -> str:
        numbers = [f"{COLUMNS[name].heading} {COLUMNS[name].shown(self.values)}" for name in self.values]
        C = [] if self.C is None else [f"C = {self.C:g}"]
        return " · ".join([self.what, self.who, *C, *numbers, *([self.note] if self.note else [])])

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def without_data(what: str, who: str, name: str = "MQ2008") -> Row:
    """Return the row of a benchmark whose data, called ``name``, are missing."""
    return Row(what=what, who=who, note=f"no data: STRUCTSVM_DATA names no folder that holds {name}")


@frozen
class Target:
    """A number that a benchmark should reach.

    Parameters
    ----------
    what : the quantity.
    limit : number to reach.
    reached : measured number; None without a measurement.
    at_least : whether larger is better.
    unit : unit of both numbers.
    """

    what: str
    limit: float
    reached: float | None
    at_least: bool = False
    unit: str = ""

    @property
    def met(self) -> bool | None:
        if self.reached is None:
            return None
        return self.reached >= self.limit if self.at_least else self.reached <= self.limit


def pick(rows: Iterable[Row], value: str, *, what: str, who: str = "", C: float | None = None) -> float | None:
    """Return a number of the fastest of the rows that match, or None if no row matches."""
    matching = [row for row in rows if row.what == what and row.who.startswith(who) and C in {None, row.C}]
    matching = [row for row in matching if value in row.values]
    if not matching:
        return None
    return min(matching, key=lambda row: row.values.get("seconds", 0.0)).values[value]


def thinned(history: list[list[float]], most: int = 150) -> list[list[float]]:
    """Return some steps of a history, closer together at its start."""
    if len(history) <= most:
        return history
    last = len(history) - 1
    kept = {round((last + 1) ** (k / (most - 1)) - 1) for k in range(most)}
    return [history[k] for k in sorted(kept)]


def quotient(a: float | None, b: float | None) -> float | None:
    """Return ``a / b``, or None if one of them was not measured."""
    return None if a is None or b is None else a / b
