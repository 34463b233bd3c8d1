"""Pairs of topics and documents: numbers, lookups and repetitions are exact whatever their hashes are."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structsvm.data import pairs
from structsvm.data.pairs import PairIndex, first_repeated, number_pairs, number_topics

rows = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "10", "q"]),
        st.sampled_from(["a", "b", "ab", "FT921-7107", "FT921-7170", "é", "日本"]),
    ),
    max_size=12,
)


def columns(pairs_of_ids: list[tuple[str, str]]) -> tuple[np.ndarray, np.ndarray]:
    topics, documents = zip(*pairs_of_ids, strict=True) if pairs_of_ids else ((), ())
    return np.array(topics, dtype=np.str_), np.array(documents, dtype=np.str_)


@pytest.mark.parametrize("collide", [False, True])
@given(present=rows, asked=rows)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pairs_are_found_as_by_a_dictionary(monkeypatch, collide, present, asked):
    if collide:
        monkeypatch.setattr(pairs, "_hashes", lambda ids: np.zeros(len(ids), np.uint64))
        monkeypatch.setattr(pairs, "_TOPIC_FACTOR", np.uint64(0))
    qid, doc_ids = columns(present)
    repeated = next((row for row, pair in enumerate(present) if pair in present[:row]), None)
    assert first_repeated(number_topics(qid)[1], doc_ids) == repeated
    numbered = number_pairs(qid, doc_ids)
    assert list(zip(numbered.qid(numbered.key), numbered.doc_ids(numbered.key), strict=True)) == present
    assert (np.sort(numbered.documents)[::-1] == numbered.documents).all()
    different = list(dict.fromkeys(present))
    places = {pair: row for row, pair in enumerate(different)}
    result = PairIndex(*columns(different)).rows(*columns(asked))
    assert result.tolist() == [places.get(pair, -1) for pair in asked]
