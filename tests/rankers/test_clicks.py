"""Preferences from clicks, counted by hand and by a loop over sessions."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.rankers import Preferences


def triples(preferences: Preferences) -> list[tuple[int, int, float]]:
    parts = preferences.better.tolist(), preferences.worse.tolist(), preferences.magnitude.tolist()
    return list(zip(*parts, strict=True))


def shown(*clicks: str) -> dict[str, Any]:
    """A log of sessions that were all shown rows 0, 1, 2, ...: a text of 0 and 1 says which were clicked."""
    return {
        "sessions": [number for number, clicked in enumerate(clicks) for _ in clicked],
        "rows": [row for clicked in clicks for row in range(len(clicked))],
        "ranks": [row + 1 for clicked in clicks for row in range(len(clicked))],
        "clicked": [int(each) for clicked in clicks for each in clicked],
    }


def test_the_third_document_is_preferred_to_those_skipped_above_it() -> None:
    """The lecture's: users consistently click on the document at rank 3, not on ranks 1 and 2."""
    assert triples(Preferences.from_clicks(**shown("00100"))) == [(2, 0, 1.0), (2, 1, 1.0)]
    assert triples(Preferences.from_clicks(**shown("00100", "00100", "00100"))) == [(2, 0, 3.0), (2, 1, 3.0)]


def test_opposite_preferences_are_subtracted() -> None:
    """One user prefers row 1 to row 0, and then others, who were shown them the other way around, row 0 to row 1."""

    def log(others: int) -> dict[str, Any]:
        return {
            "sessions": np.repeat(["first", *(f"other {number}" for number in range(others))], 2),
            "rows": [0, 1] + [1, 0] * others,
            "ranks": [1, 2] * (1 + others),
            "clicked": [False, True] * (1 + others),
        }

    assert triples(Preferences.from_clicks(**log(0))) == [(1, 0, 1.0)]
    assert triples(Preferences.from_clicks(**log(1))) == []
    assert triples(Preferences.from_clicks(**log(3))) == [(0, 1, 2.0)]


def test_preferences_of_few_are_left_out() -> None:
    log = shown("0010", "0010", "0001")
    few = [(3, 0, 1.0), (3, 1, 1.0), (3, 2, 1.0)]
    assert triples(Preferences.from_clicks(**log)) == [(2, 0, 2.0), (2, 1, 2.0), *few]
    assert triples(Preferences.from_clicks(**log, min_magnitude=2)) == [(2, 0, 2.0), (2, 1, 2.0)]


def test_sessions_without_clicks_or_without_a_skip_prefer_nothing() -> None:
    assert len(Preferences.from_clicks(**shown("000", "100", "110", "1"))) == 0
    assert len(Preferences.from_clicks([], [], [], [])) == 0


@st.composite
def logs(draw: st.DrawFn) -> dict[str, Any]:
    """Sessions with up to five of five documents at any ranks, with their entries in any order."""
    entries = []
    for session in draw(st.lists(st.integers(-3, 20), max_size=6, unique=True)):
        rows = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True))
        ranks = draw(st.lists(st.integers(-5, 9), min_size=len(rows), max_size=len(rows), unique=True))
        entries += [(session, row, rank, draw(st.booleans())) for row, rank in zip(rows, ranks, strict=True)]
    entries = draw(st.permutations(entries))
    return {name: [entry[k] for entry in entries] for k, name in enumerate(("sessions", "rows", "ranks", "clicked"))}


@given(log=logs(), smallest=st.sampled_from([0.5, 1, 2]))
def test_any_log_gives_what_a_loop_over_pairs_of_entries_gives(log: dict[str, Any], smallest: float) -> None:
    entries = list(zip(*log.values(), strict=True))
    count: Counter[tuple[int, int]] = Counter()
    for session, row, rank, clicked in entries:
        for other_session, other, other_rank, other_clicked in entries:
            if session == other_session and clicked and not other_clicked and other_rank < rank:
                count[row, other] += 1
    expected = sorted(
        (i, j, float(many - count[j, i])) for (i, j), many in list(count.items()) if many - count[j, i] >= smallest
    )
    assert triples(Preferences.from_clicks(**log, min_magnitude=smallest)) == expected


LOG = {"sessions": [0, 0, 1], "rows": [0, 1, 0], "ranks": [1, 2, 1], "clicked": [0, 1, 0]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rows": [0, 1]}, r"the lengths are \{'sessions': 3, 'rows': 2"),
        ({"rows": [[0], [1], [0]]}, r"rows must be a vector .* \(3, 1\)"),
        ({"rows": [0.0, 1.0, 0.0]}, r"integers from 0; the first is 0\.0, float64"),
        ({"rows": ["d7", "d9", "d7"]}, "integers from 0; the first is 'd7', <U2. Replace ids of documents"),
        ({"rows": [0, -1, 0]}, "the least is -1"),
        ({"ranks": ["1", "2", "1"]}, "ranks must be finite numbers; they are <U1"),
        ({"ranks": [1, np.nan, 2]}, "ranks must be finite numbers"),
        ({"clicked": [0, 2, 0]}, "clicked must be True or False, or 1 or 0"),
        ({"clicked": ["no", "yes", "no"]}, "clicked must be True or False, or 1 or 0"),
        ({"sessions": [0.0, np.nan, 1.0]}, "sessions contains NaN: the first is entry 1"),
        ({"sessions": np.array([0, "a", 1], dtype=object)}, "sessions must be ids of one kind"),
        ({"rows": [1, 1, 0]}, r"the document of row 1 occurs more than once in session 0 \(again in entry 1\)"),
        ({"ranks": [2, 2, 1]}, r"rank 2 occurs more than once in session 0 \(again in entry 1\)"),
        ({"min_magnitude": 0}, "min_magnitude must be a positive finite number, got 0"),
        ({"min_magnitude": "1"}, "min_magnitude must be a positive finite number, got '1'"),
    ],
)
def test_logs_that_contradict_themselves_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Preferences.from_clicks(**{**LOG, **wrong})
