"""What a benchmark returns: rows of numbers, and targets."""

from collections.abc import Callable, Iterable
from typing import Any

from attrs import Factory, asdict, field, frozen

COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "seconds": ("seconds", lambda x: f"{x:.2f}" if x >= 10 else f"{x:.3g}"),
    "fastest": ("fastest", lambda x: f"{x:.2f}" if x >= 10 else f"{x:.3g}"),
    "units": ("units of X @ w", lambda x: f"{x:.1f}"),
    "ratio": ("ratio", lambda x: f"{x:.2f}"),
    "passes": ("passes", lambda x: f"{x:.1f}"),
    "gap": ("gap / C", lambda x: f"{x:.1e}"),
    "training_map": ("training MAP", lambda x: f"{x:.4f}"),
    "map": ("test MAP", lambda x: f"{x:.4f}"),
    "trec_map": ("MAP", lambda x: f"{x:.4f}"),
    "ndcg": ("test NDCG@10", lambda x: f"{x:.4f}"),
    "full_ndcg": ("test NDCG", lambda x: f"{x:.4f}"),
    "letor_ndcg": ("LETOR's NDCG@10", lambda x: f"{x:.4f}"),
    "microseconds": ("µs a query", lambda x: f"{x:.1f}"),
    "megabytes": ("peak MB", lambda x: f"{x:,.0f}"),
    "stored": ("MB stored", lambda x: f"{x:.3g}"),
}
"""The columns that a row may have: heading and format."""


@frozen(kw_only=True)
class Row:
    """One measurement.

    Parameters
    ----------
    what : the work.
    who : what did it: a solver with its settings, or another program.
    C : as in the problem; None where there is none.
    repeats : how often it was timed.
    values : numbers under the names in `COLUMNS`; ``seconds`` is the median of the repeats.
    note : what else to know, or why there are no numbers.
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
        numbers = [f"{COLUMNS[name][0]} {COLUMNS[name][1](value)}" for name, value in self.values.items()]
        C = [] if self.C is None else [f"C = {self.C:g}"]
        return " · ".join([self.what, self.who, *C, *numbers, *([self.note] if self.note else [])])

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@frozen
class Target:
    """What a benchmark should show.

    Parameters
    ----------
    what : the quantity.
    limit : number to reach.
    reached : what was measured; None where it was not.
    at_least : whether larger is better.
    unit : of both numbers.
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
    """Return a number of the fastest of the rows that match; None where there is none."""
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
    """Return ``a / b``, or None where one of them was not measured."""
    return None if a is None or b is None else a / b
