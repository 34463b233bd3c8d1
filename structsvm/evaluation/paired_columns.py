"""The columns of a table that compares systems pair by pair."""

from collections.abc import Callable
from typing import Any

from attrs import asdict

from structsvm.significance import PairedTests
from structsvm.tables import Column, Record

TESTS = {"t": "t", "wilcoxon": "Wilcoxon", "randomisation": "Fisher"}
"""The tests, by the name of their p-value in `PairedTests`, and what tables call them."""

TESTS_SAID = (
    "p: two-tailed paired t-test, Wilcoxon's signed rank test without {queries} of no difference, Fisher's "
    "randomisation test."
)
"""What notes say of the tests, of ``queries`` or ``topics``."""


def paired_record(paired: PairedTests) -> dict[str, Any]:
    """Return what `paired_columns` shows."""
    found = asdict(paired)
    low, high = paired.interval or (None, None)
    return {
        "difference": paired.difference,
        "low": low,
        "high": high,
        **{name: found[name] for name in ("wins", "losses", "ties")},
        **{f"p_{test}": found[test] for test in TESTS},
    }


def paired_columns(level: str = "95%") -> tuple[Column, ...]:
    """Return the columns: difference, interval, wins, losses and ties, p-values.

    Parameters
    ----------
    level : of the interval.
    """
    return (
        Column.number("difference", "difference", "+.4f"),
        Column(f"{level} interval", _interval),
        Column("W/L/T", lambda record: f"{record['wins']}/{record['losses']}/{record['ties']}"),
        *(Column(f"p {short}", p_value(f"p_{test}")) for test, short in TESTS.items()),
    )


def p_value(name: str) -> Callable[[Record], str]:
    """Return a function that shows a p-value of a record with four digits."""

    def shown(record: Record) -> str:
        p = record[name]
        return "-" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}"

    return shown


def _interval(record: Record) -> str:
    return "-" if record["low"] is None else f"[{record['low']:+.4f}, {record['high']:+.4f}]"
