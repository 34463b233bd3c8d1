"""Documents with equal scores: the mean over all their orders, for all measures."""

from itertools import permutations, product

import numpy as np
import pytest
from attrs import evolve, fields_dict, frozen

from structsvm.exceptions import InputError
from structsvm.metrics import AP, AUC, RR, BinaryMeasure, average_precision, parse_measure, rank_lists
from structsvm.registry import measures

SEEDS = range(6)
VARIANTS = {"k": (1, 3), "recall": (0.0, 0.5, 1.0), "relevant_from": (2.0,), "gain": ("linear",)}


@frozen
class LongestRun(BinaryMeasure):
    """A measure of a user, which ignores ties: the longest run of relevant documents from the top."""

    name = "longest_run"

    def values(self, lists):
        relevant = self.found(lists)
        return self.if_any(lists, lists.total(lists.count_down(relevant) == lists.rank))


def variants(name):
    """Yield the measure of a name with several cut-offs, levels and thresholds."""
    measure = parse_measure(name)
    settings = fields_dict(type(measure))
    yield measure
    for setting, values in VARIANTS.items():
        if setting in settings:
            yield from (evolve(measure, **{setting: value}) for value in values)


MEASURES = [*dict.fromkeys(each for name in measures.names() for each in variants(name)), LongestRun()]


def ranking(seed, *, unjudged):
    """Return scores, labels and query ids with many ties, and the judgments of ranked and other documents."""
    rng = np.random.default_rng(seed)
    n, queries = 9, rng.integers(1, 4)
    qid = np.sort(rng.integers(0, queries, n))
    scores = rng.integers(0, 3, n) * 1.0
    labels = rng.choice([0.0, 0.0, 1.0, 2.0, *([-1.0, np.nan] if unjudged else [])], n)
    if not unjudged:
        return scores, labels, qid, None
    ranked = ~np.isnan(labels)
    more = rng.integers(0, 3, 4), rng.integers(0, queries + 1, 4)
    return scores, labels, qid, (np.append(labels[ranked], more[0]), np.append(qid[ranked], more[1]))


@pytest.mark.parametrize("use", [AP().of, AP().expected, AP().weighted, AP().range_over_ties, AP().ends_over_ties])
def test_unranked_data_are_an_error_that_names_the_functions(use):
    with pytest.raises(InputError, match=r"lists must be ranked lists, from rank_run\(run, qrels\) .* rank_lists"):
        use({"1": {"a": 0.5}})


@pytest.mark.parametrize("use", [AP().mean, AP().per_query, rank_lists])
def test_dictionaries_of_runs_are_an_error_that_names_the_function(use):
    with pytest.raises(InputError, match=r"dictionary: .* rank_run\(run, qrels\)"):
        use({"1": {"a": 0.5}}, {"1": {"a": 1}})


def over_orders(measure, scores, labels, qid, judged):
    """Return the values of a query for every order of its documents that is sorted by score."""
    for query in dict.fromkeys(qid):
        rows = np.flatnonzero(qid == query)
        levels = [rows[scores[rows] == score] for score in sorted(set(scores[rows]), reverse=True)]
        of_levels = product(*(map(list, permutations(level)) for level in levels))
        orders = np.array([np.concatenate(each) for each in of_levels])
        copies = np.repeat(np.arange(len(orders)), len(rows))
        expected = None
        if judged is not None:
            of_query = np.asarray(judged[0])[np.asarray(judged[1]) == query]
            expected = np.tile(of_query, len(orders)), np.repeat(np.arange(len(orders)), len(of_query))
        places = np.tile(-np.arange(len(rows)), len(orders))
        yield measure.values(rank_lists(places, labels[orders.ravel()], copies, judged=expected, ties="input"))


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("unjudged", [False, True], ids=["judged", "some-unjudged"])
def test_values_are_the_mean_over_all_orders_and_do_not_depend_on_the_order_of_rows(measure, unjudged):
    for seed in SEEDS:
        scores, labels, qid, judged = ranking(seed, unjudged=unjudged)
        wanted = [values.mean() for values in over_orders(measure, scores, labels, qid, judged)]
        lists = rank_lists(scores, labels, qid, judged=judged)
        np.testing.assert_allclose(measure.expected(lists), wanted, rtol=0, atol=1e-12, err_msg=str(seed))
        rows = np.random.default_rng(seed).permutation(len(qid))
        shuffled = rank_lists(scores[rows], labels[rows], qid[rows], judged=judged)
        by_id = dict(zip(shuffled.ids.tolist(), measure.expected(shuffled).tolist(), strict=True))
        assert np.array_equal([by_id[query] for query in lists.ids.tolist()], measure.expected(lists), equal_nan=True)


@pytest.mark.parametrize(("ties", "value"), [("mean", 0.75), ("input", 0.5), ("trec", 1.0), (None, 1.0)])
def test_the_tie_rule_is_a_setting_and_document_ids_imply_that_of_trec_eval(ties, value):
    assert RR().mean([1.0, 1.0], [0, 1], doc_ids=["a", "b"], ties=ties) == value
    assert RR().per_query([1.0, 1.0], [0, 1], doc_ids=["a", "b"], ties=ties).values.tolist() == [value]


def test_without_document_ids_the_order_of_ties_is_unknown():
    assert AUC().mean([1.0, 1.0], [1, 0]) == 0.5
    with pytest.raises(InputError, match="ties='trec' orders documents with equal scores by their ids: give doc_ids"):
        AP().mean([1.0, 1.0], [1, 0], ties="trec")
    with pytest.raises(InputError, match="ties must be"):
        AP().mean([1.0, 1.0], [1, 0], ties="average")


@pytest.mark.parametrize("measure", [parse_measure("iprec@0.5"), parse_measure("11pt_avg")], ids=str)
def test_interpolated_precision_of_large_ties_is_near_the_exact_mean(measure, monkeypatch):
    labels = np.arange(60) % 5 == 0
    exact = measure.mean(np.zeros(60), labels)
    monkeypatch.setattr(average_precision, "_MOST_STEPS", 100 * 60)
    assert measure.mean(np.zeros(60), labels) == pytest.approx(exact, abs=1e-3)


def test_a_measure_of_a_user_is_averaged_over_random_orders_if_there_are_many():
    labels = np.arange(40) % 2
    values = {LongestRun().mean(np.zeros(40), np.roll(labels, shift)) for shift in range(3)}
    assert len(values) == 1
    assert values.pop() == pytest.approx(20 / 21, abs=0.1)


def test_all_judged_topics_count_if_asked():
    judged = ([1, 1, 1, 0], [0, 0, 1, 2])
    lists = rank_lists([1.0, 1.0], [1, 0], [0, 0], judged=judged, all_topics=True)
    assert lists.ids.tolist() == [0, 1, 2]
    for name in measures.names():
        measure = parse_measure(name)
        one = rank_lists([1.0, 1.0], [1, 0], [0, 0], judged=judged)
        of_all, of_one = measure.of(lists).values, measure.of(one).values
        assert of_all[:1].tolist() == of_one.tolist()
        wanted = {"num_q": [1.0, 1.0], "num_rel": [1.0, 0.0], "gm_map": [1e-5, 0.0]}
        assert of_all[1:].tolist() == wanted.get(measure.name, [0.0, 0.0])


@pytest.mark.parametrize("measure", [each for each in MEASURES if each.summary == "mean"], ids=str)
@pytest.mark.parametrize("unjudged", [False, True], ids=["judged", "some-unjudged"])
def test_the_range_over_ties_is_that_of_all_orders(measure, unjudged):
    for seed in SEEDS:
        scores, labels, qid, judged = ranking(seed, unjudged=unjudged and measure.name != "infap")
        every = [np.nan_to_num(values) for values in over_orders(measure, scores, labels, qid, judged)]
        lows, highs = [values.min() for values in every], [values.max() for values in every]
        result = measure.range_over_ties(rank_lists(scores, labels, qid, judged=judged))
        assert (result.low, result.high) == pytest.approx((np.mean(lows), np.mean(highs)), abs=1e-12)
        assert result.queries == np.sum(np.array(highs) - lows > 1e-12)
