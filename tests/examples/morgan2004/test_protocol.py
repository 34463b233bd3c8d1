"""The protocol as a whole, on a small collection."""

import json

import numpy as np
import pytest
from attrs import evolve
from scipy import stats

from examples.papers.morgan2004 import FittedWeights, MorganSettings, SearchedWeights, morgan, paper_methods
from examples.papers.morgan2004 import protocol as protocol_module
from examples.papers.morgan2004.okapi_tf import okapi_tf
from examples.papers.morgan2004.results import PARTS, Difference
from examples.papers.morgan2004.split import draw_split
from structsvm.exceptions import InputError
from structsvm.metrics import IPrec, average_precision
from structsvm.protocols import Indicators, RankingSVM
from structsvm.rankers import MaximumEntropy, WeightSearch
from structsvm.significance.student import mean_interval
from tests.examples.morgan2004.conftest import indexed, judged, small, texts

pytestmark = pytest.mark.slow


def timeless(results):
    trials = tuple(
        evolve(trial, seconds=0.0, learned={name: evolve(each, seconds=0.0) for name, each in trial.learned.items()})
        for trial in results.trials
    )
    return evolve(results, trials=trials)


def test_topics_with_too_few_relevant_documents_are_left_out(results):
    assert [topic.id for topic in results.topics] == ["1", "2"]
    assert results.left_out == {"few": "2 of 10 relevant documents in the index"}
    assert [(trial.topic, trial.repeat) for trial in results.trials] == [("1", 0), ("1", 1), ("2", 0), ("2", 1)]
    assert {"alpha", "beta", "gamma"} & set(results.trials[0].terms)


def test_a_trial_is_what_the_estimators_make_of_it(index, results):
    """A trial once more, from the public parts."""
    documents, relevant = texts()
    for trial in results.trials[1:3]:
        y = np.isin(list(documents), relevant[trial.topic])
        parts = draw_split(y, np.random.default_rng([0, trial.repeat, *trial.topic.encode()]))
        assert trial.relevant == tuple(y[part].sum() for part in parts)
        X = okapi_tf(index.whole, np.array([index.whole.find(term) for term in trial.terms]))
        search = WeightSearch(fix_first=True, incremental=True).fit(X[parts.train], y[parts.train])
        entropy = [MaximumEntropy(C=10.0).fit(X[parts.train, :k], y[parts.train]) for k in range(1, 5)]
        (searched,) = trial.learned["WeightSearch"].curves
        fitted = trial.learned["MaximumEntropy"].curves[1]
        assert (searched.value, fitted.value) == ("", 10.0)
        for part, rows in zip(PARTS, parts, strict=True):
            for k in range(4):
                scores = X[rows] @ search.coef_path_[k]
                assert getattr(searched, part)[k] == pytest.approx(average_precision(scores.round(12), y[rows]))
                scores = entropy[k].predict(X[rows, : k + 1])
                assert getattr(fitted, part)[k] == pytest.approx(average_precision(scores, y[rows]), abs=1e-12)
        learned = trial.learned["WeightSearch"]
        assert learned.weights == pytest.approx(search.coef_path_[-1])
        scores = (X[parts.test] @ search.coef_path_[learned.pick[1]]).round(12)
        assert learned.precision == pytest.approx([IPrec(k / 10).mean(scores, y[parts.test]) for k in range(11)])
        learned = trial.learned["MaximumEntropy"]
        best = learned.curves[int(np.argmax([curve.validation[-1] for curve in learned.curves]))]
        wanted = MaximumEntropy(C=best.value).fit(X[parts.train], y[parts.train])
        assert learned.weights == pytest.approx(wanted.coef_)


def test_training_precision_of_weight_search_never_falls_with_the_length(results):
    for each in results.learned("WeightSearch"):
        assert (np.diff(each.curves[0].train) >= 0.0).all()


def test_one_term_ranks_alike_by_all_methods(results):
    """The weight of a single term does not matter, if it is above 0."""
    for trial in results.trials:
        firsts = {curve.test[0] for each in trial.learned.values() for curve in each.curves}
        assert len(firsts) == 1


def test_what_validation_picks(results):
    for each in results.learned("SVM-map"):
        validation = np.array([curve.validation for curve in each.curves])
        value, length = each.pick
        assert validation[value, length] == validation.max()
        assert (validation[:, :length] < validation.max()).all()
        best = [curve.test[k] for k, curve in enumerate(each.curves[v] for v in validation.argmax(axis=0))]
        assert each.picked("test").tolist() == best


def test_figures_are_means_over_splits_and_topics(results):
    by_topic = results.per_topic("SVM-map", "test")
    assert by_topic.shape == (2, 4)
    first = [each.picked("test") for each in results.learned("SVM-map")[:2]]
    assert by_topic[0] == pytest.approx(np.mean(first, axis=0))
    picked = results.at_pick("WeightSearch", "train")
    one, other = results.learned("WeightSearch")[2:]
    expected = np.mean([one.curves[0].train[one.pick[1]], other.curves[0].train[other.pick[1]]])
    assert picked[1] == pytest.approx(expected)
    curve = [each.curves[1] for each in results.learned("SVM-map")[:2]]
    expected = np.mean([each.test[int(np.argmax(each.validation))] for each in curve])
    assert results.at_pick("SVM-map", "test", 1)[0] == pytest.approx(expected)
    with pytest.raises(InputError, match="no method named 'SVM-mpa'. Did you mean 'SVM-map'"):
        results.at_pick("SVM-mpa", "test")


def test_the_interval_of_a_difference_is_students():
    first, second = np.random.default_rng(0).random((2, 9))
    found = Difference.of(first, second)
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert found.interval == pytest.approx((expected.low, expected.high))
    assert found.mean == pytest.approx((first - second).mean())
    assert mean_interval(np.ones(1)) is None


def test_it_does_not_depend_on_processes(index, qrels, results, tmp_path):
    assert timeless(morgan(index, qrels, small(), tmp_path, jobs=2)) == timeless(results)


def test_a_topic_does_not_depend_on_others(index, qrels, results, tmp_path):
    alone = morgan(index, qrels, small(repeats=1), tmp_path, topics=["2"], jobs=1)
    ours, theirs = timeless(alone).trials[0], timeless(results).trials[2]
    assert evolve(ours, number=2) == theirs


def test_it_goes_on_from_where_it_ended(index, qrels, results, tmp_path, monkeypatch):
    shown = []
    run_trial = protocol_module.run_topic_trial

    def interrupted(trial, *arguments):
        if trial.number == 2:
            raise KeyboardInterrupt
        return run_trial(trial, *arguments)

    monkeypatch.setattr(protocol_module, "run_topic_trial", interrupted)
    with pytest.raises(KeyboardInterrupt):
        morgan(index, qrels, small(), tmp_path, jobs=1)
    assert not (tmp_path / "results.json").exists()
    kept = (tmp_path / "trials.jsonl").read_bytes()
    assert len(kept.splitlines()) == 3
    (tmp_path / "trials.jsonl").write_bytes(kept + b'{"number": 2, "top')  # killed while it wrote
    monkeypatch.undo()
    again = morgan(index, qrels, small(), tmp_path, jobs=1, progress=lambda done, total: shown.append((done, total)))
    assert shown == [(2, 4), (3, 4), (4, 4)]
    assert (tmp_path / "trials.jsonl").read_bytes().startswith(kept)
    assert timeless(again) == timeless(results)
    assert json.loads((tmp_path / "results.json").read_text())["missing"] == 0


@pytest.mark.parametrize(
    ("changed", "message"), [({"seed": 1}, "seed was 0, and is 1"), ({"terms": 3}, "terms was 4, and is 3")]
)
def test_a_folder_of_another_experiment_is_refused(index, qrels, tmp_path, changed, message):
    morgan(index, qrels, small(repeats=1, methods=SearchedWeights()), tmp_path, jobs=1)
    with pytest.raises(InputError, match=message):
        morgan(index, qrels, small(repeats=1, methods=SearchedWeights(), **changed), tmp_path, jobs=1)


def test_other_judgments_and_trials_that_do_not_fit_are_refused(index, qrels, tmp_path):
    settings = small(repeats=1, methods=SearchedWeights())
    morgan(index, qrels, settings, tmp_path, jobs=1)
    relevant = texts()[1]
    relevant["1"] = relevant["1"][1:]
    with pytest.raises(InputError, match="the documents or judgments are others"):
        morgan(index, judged(relevant), settings, tmp_path, jobs=1)
    path = tmp_path / "trials.jsonl"
    path.write_text(path.read_text().replace('"topic":"1"', '"topic":"2"'))
    with pytest.raises(InputError, match="trial 0 in .* has another topic"):
        morgan(index, qrels, settings, tmp_path, jobs=1)


def test_documents_that_the_index_does_not_have_are_counted(index, tmp_path):
    relevant = texts()[1]
    relevant["1"] += ["LOST", "GONE"]
    found = morgan(index, judged(relevant), small(repeats=1, methods=SearchedWeights()), tmp_path, jobs=1)
    assert found.missing == 2
    assert found.topics[0].relevant == len(relevant["1"]) - 2


@pytest.mark.parametrize(
    ("settings", "topics", "message"),
    [
        ({"min_relevant": 100}, None, r"none of the 3 topics has 100 relevant documents .* \(the most .* is 3\d\)"),
        ({}, ["few"], "none of the 1 topics has 10 relevant documents"),
        ({}, ["7"], "none of the 1 topics"),
        ({}, [], "none of the 0 topics"),
        ({"terms": 100}, None, "the index has 4[0-9] terms, and queries are to have up to 100"),
    ],
)
def test_what_cannot_be_run_is_refused(index, qrels, tmp_path, settings, topics, message):
    with pytest.raises(InputError, match=message):
        morgan(index, qrels, small(**settings), tmp_path / "out", topics=topics, jobs=1)
    assert not (tmp_path / "out").exists()


def test_judgments_of_another_collection_are_refused(index, tmp_path):
    others = judged({"1": [f"X{k}" for k in range(30)]})
    others = evolve(others, qid=others.qid[:-1], doc_ids=others.doc_ids[:-1], grades=others.grades[:-1])
    with pytest.raises(InputError, match="none of the 30 judged documents is in the index .* another collection"):
        morgan(index, others, small(), tmp_path, jobs=1)


def test_an_index_of_relevant_documents_alone_is_refused(qrels, tmp_path):
    documents, relevant = texts()
    alone = indexed({name: documents[name] for name in relevant["1"]})
    with pytest.raises(InputError, match="none of the 3 topics"):
        morgan(alone, qrels, small(), tmp_path, jobs=1)


def test_documents_that_a_quarter_is_too_small_of_are_refused(index, tmp_path):
    documents = texts()[0]
    few = {name: documents[name] for name in list(documents)[:7]}
    named = judged({"1": list(few)[:3]})
    with pytest.raises(InputError, match="none of the 1 topics"):
        morgan(indexed(few), named, small(min_relevant=3, terms=2), tmp_path, jobs=1)
    few = {name: documents[name] for name in list(documents)[8:16]}
    found = morgan(
        indexed(few),
        judged({"1": list(few)[:3]}),
        small(min_relevant=3, terms=2, repeats=3, methods=SearchedWeights()),
        tmp_path,
        jobs=1,
    )
    assert [trial.relevant for trial in found.trials] == [(1, 1, 1)] * 3


def test_settings_are_checked():
    assert [method.name for method in paper_methods()] == ["WeightSearch", "MaximumEntropy", "SVM-map"]
    with pytest.raises(InputError, match="must have different names: WeightSearch is there twice"):
        MorganSettings(methods=(SearchedWeights(), SearchedWeights(max_rounds=3)))
    with pytest.raises(InputError, match="give it features=AsGiven"):
        FittedWeights(RankingSVM(name="a", features=Indicators(3), loss="map", Cs=(1.0,)))
    with pytest.raises(InputError, match="each of methods must be a Method"):
        MorganSettings(methods=["svm-map"])
    with pytest.raises(InputError, match="min_relevant"):
        MorganSettings(min_relevant=2)
