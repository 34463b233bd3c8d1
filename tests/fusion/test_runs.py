"""Fusion of TREC runs."""

import pytest

from structsvm.data import Run
from structsvm.exceptions import InputError, UnknownNameError
from structsvm.fusion import BordaCount, CombSUM, fuse_runs
from tests.fusion.test_voting import ENGINES


def run_of(name, topics):
    rows = [(topic, doc, score) for topic, scores in topics.items() for doc, score in scores.items()]
    return Run.from_scores(name, *zip(*rows, strict=True))


def engines():
    """The lecture's example as runs, for two topics; the scores give only the ranking."""
    return [
        run_of(f"engine {k}", {topic: {c: -(place**2) for place, c in enumerate(ranking)} for topic in ("2", "10")})
        for k, ranking in enumerate(ENGINES)
    ]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("borda", {"B": 27, "A": 26, "C": 22, "F": 10.5, "D": 10.5, "E": 9}),
        ("condorcet", {"B": 22, "A": 21, "C": 17, "F": 4, "D": 4, "E": 2}),
        ("copeland", {"A": 5, "B": 4, "C": 3, "F": 1.5, "D": 1.5, "E": 0}),
    ],
)
def test_the_example_of_the_lecture(method, expected):
    fused = fuse_runs(engines(), method, name=method)
    assert fused.name == method
    assert fused.qid.tolist() == ["2"] * 6 + ["10"] * 6
    for topic in ("2", "10"):
        rows = fused.qid == topic
        assert list(zip(fused.doc_ids[rows].tolist(), fused.scores[rows].tolist(), strict=True)) == list(
            expected.items()
        )


def test_a_run_that_lacks_a_topic_retrieved_nothing_for_it():
    one = run_of("one", {"1": {"a": 2, "b": 1}, "2": {"a": 2, "b": 1}})
    two = run_of("two", {"2": {"b": 9, "c": 5}})
    fused = fuse_runs([one, two], CombSUM("none"))
    assert list(zip(fused.qid.tolist(), fused.doc_ids.tolist(), fused.scores.tolist(), strict=True)) == [
        ("1", "a", 2.0),
        ("1", "b", 1.0),
        ("2", "b", 10.0),
        ("2", "c", 5.0),
        ("2", "a", 2.0),
    ]
    assert fused.name == "fused"
    assert set(fuse_runs([one, two], "comb-sum", topics=[2]).qid.tolist()) == {"2"}


def test_depth_and_length():
    assert fuse_runs(engines(), "borda", length=2).doc_ids.tolist() == ["B", "A"] * 2
    assert sorted(fuse_runs(engines(), "borda", depth=1).doc_ids.tolist()) == ["A", "A", "B", "B"]
    assert len(fuse_runs(engines(), "borda", length=None).qid) == 12
    # Only the documents read count: with the first document of each, A has 2 + 2 + 2 + 1 + 1.
    assert fuse_runs(engines(), "borda", depth=1, length=1).scores.tolist() == [8.0, 8.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"runs": []}, "the list of runs is empty"),
        ({"runs": engines()[0]}, r"must be a list of runs, such as \[run, other\], got one run, 'engine 0'"),
        (
            {"runs": [engines()[0], [1]]},
            r"runs\[1\] must be a Run, .*, or a data frame or dictionary of results, got \[1\]",
        ),
        ({"runs": "bm25.run"}, "must be a list of runs, such as load_runs returns, got 'bm25.run'"),
        ({"runs": None}, "must be a list of runs, such as load_runs returns, got None"),
        ({"runs": [engines()[0]] * 2}, "two runs are named 'engine 0'"),
        ({"method": BordaCount}, "must be a name, such as 'comb-mnz', or an object, such as CombMNZ"),
        ({"method": CombSUM("rank")}, "must be 'query-min-max' or .* or None, got 'rank'"),
        ({"depth": 0}, "depth must be an integer of at least 1"),
        ({"length": 0}, "length must be an integer of at least 1 or None, got 0"),
        ({"length": True}, "length must be an integer"),
        ({"topics": [7]}, "no run has any of the 1 topics"),
        ({"topics": "10"}, "topics must be a list of topics"),
    ],
)
def test_invalid_arguments_are_errors(given, message):
    with pytest.raises(InputError, match=message):
        fuse_runs(**{"runs": engines(), "method": "borda", **given})


def test_no_such_method():
    with pytest.raises(UnknownNameError, match="Did you mean 'borda'"):
        fuse_runs(engines(), "bordas")


def test_points_that_float32_cannot_tell_apart_are_written_as_ranks():
    class Large(BordaCount):
        def _fused(self, scores, ptr):
            return super()._fused(scores, ptr) + 2.0**26

    runs = [
        run_of("one", {"1": {"a": 4, "b": 3, "c": 2, "d": 2}, "2": {"x": 1, "y": 2}}),
        run_of("two", {"1": {"a": 9, "b": 8}, "2": {"x": 9, "y": 7}}),
    ]
    exact = fuse_runs(runs, "borda")
    assert exact.scores.tolist() == [8.0, 6.0, 3.0, 3.0, 3.0, 3.0]
    large = fuse_runs(runs, Large())
    assert large.scores.tolist() == [3.0, 2.0, 1.0, 1.0, 1.0, 1.0]
    assert large.doc_ids.tolist() == exact.doc_ids.tolist() == ["a", "b", "d", "c", "y", "x"]
