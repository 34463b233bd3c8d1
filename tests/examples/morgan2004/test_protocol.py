"""The protocol as a whole, on a small collection."""

import json

import numpy as np
import pytest
from attrs import evolve
from scipy import stats

from examples.papers.morgan2004 import FittedWeights, MorganSettings, SearchedWeights, morgan, paper_methods
from examples.papers.morgan2004.okapi_tf import okapi_tf
from examples.papers.morgan2004.report import difference_table
from examples.papers.morgan2004.report.mean_curves import mean_interval
from examples.papers.morgan2004.results import PARTS, picked
from examples.papers.morgan2004.split import draw_split
from structsvm.exceptions import InputError
from structsvm.metrics import AP, IPrec
from structsvm.protocols import Indicators, RankingSVM, plan
from structsvm.rankers import MaximumEntropy, WeightSearch
from tests.examples.morgan2004.conftest import indexed, judged, small, texts

pytestmark = pytest.mark.slow


def timeless(results):
    return evolve(results, trials=tuple(without_seconds(trial) for trial in results.trials))


def without_seconds(trial):
    fits = {
        length: {
            name: evolve(fit, seconds=(0.0,) * len(fit.seconds), compile_seconds=0.0) for name, fit in fits.items()
        }
        for length, fits in trial.fits.items()
    }
    return evolve(trial, seconds=0.0, fits=fits)


def precision_of(fit):
    return [fit.measures[f"iprec@{k / 10:g}"] for k in range(11)]


def test_topics_with_too_few_relevant_documents_are_left_out(results):
    assert [topic.id for topic in results.topics] == ["1", "2"]
    assert results.left_out == {"few": "2 of 10 relevant documents in the index"}
    assert [trial.name for trial in results.trials] == ["1/0", "1/1", "2/0", "2/1"]
    assert {"alpha", "beta", "gamma"} & set(results.trials[0].terms)


def test_a_trial_is_what_the_estimators_make_of_it(index, results):
    """A trial once more, from the public parts."""
    documents, relevant = texts()
    for trial in results.trials[1:3]:
        topic, repeat = trial.name.split("/")
        y = np.isin(list(documents), relevant[topic])
        parts = draw_split(y, np.random.default_rng([0, int(repeat), *topic.encode()]))
        assert trial.documents == tuple(map(len, parts))
        assert trial.test == (topic,)
        X = okapi_tf(index.whole, np.array([index.whole.find(term) for term in trial.terms]))
        search = WeightSearch(fix_first=True, incremental=True).fit(X[parts.train], y[parts.train])
        entropy = [MaximumEntropy(C=10.0).fit(X[parts.train, :k], y[parts.train]) for k in range(1, 5)]
        searched, fitted = (
            [trial.fits[str(k)][method] for k in range(1, 5)] for method in ("WeightSearch", "MaximumEntropy")
        )
        assert (searched[0].values, fitted[0].values[1]) == (("",), 10.0)
        for part, rows in zip(PARTS, parts, strict=True):
            for k in range(4):
                scores = X[rows] @ search.coef_path_[k]
                assert getattr(searched[k], part)[0] == pytest.approx(AP().mean(scores.round(12), y[rows]))
                scores = entropy[k].predict(X[rows, : k + 1])
                assert getattr(fitted[k], part)[1] == pytest.approx(AP().mean(scores, y[rows]), abs=1e-12)
        assert searched[-1].weights == pytest.approx(search.coef_path_[-1])
        length, _ = picked(searched)
        scores = (X[parts.test] @ search.coef_path_[length]).round(12)
        levels = [IPrec(k / 10).mean(scores, y[parts.test]) for k in range(11)]
        assert precision_of(searched[length]) == pytest.approx(levels)
        wanted = MaximumEntropy(C=fitted[-1].value).fit(X[parts.train], y[parts.train])
        assert fitted[-1].weights == pytest.approx(wanted.coef_)


def test_training_precision_of_weight_search_never_falls_with_the_length(results):
    for fits in results.by_length("WeightSearch"):
        assert (np.diff([fit.train[0] for fit in fits]) >= 0.0).all()


def test_one_term_ranks_alike_by_all_methods(results):
    """The weight of a single term does not matter, if it is above 0."""
    for trial in results.trials:
        firsts = {value for fit in trial.fits["1"].values() for value in fit.test}
        assert len(firsts) == 1


def test_what_validation_picks(results):
    for fits in results.by_length("SVM-map"):
        validation = np.array([fit.validation for fit in fits])
        length, value = picked(fits)
        assert validation[length, value] == validation.max()
        assert (validation[:length] < validation.max()).all()
        assert [fit.chosen for fit in fits] == validation.argmax(axis=1).tolist()


def test_figures_are_means_over_splits_and_topics(results):
    by_topic = results.per_topic("SVM-map", "test")
    assert by_topic.shape == (2, 4)
    first = [[fit.test[fit.chosen] for fit in fits] for fits in results.by_length("SVM-map")[:2]]
    assert by_topic[0] == pytest.approx(np.mean(first, axis=0))
    expected = np.mean([fits[picked(fits)[0]].train[0] for fits in results.by_length("WeightSearch")[2:]])
    assert results.at_pick("WeightSearch", "train")[1] == pytest.approx(expected)
    best = [fits[int(np.argmax([fit.validation[1] for fit in fits]))] for fits in results.by_length("SVM-map")[:2]]
    expected = np.mean([fit.test[1] for fit in best])
    assert results.at_pick("SVM-map", "test", 1)[0] == pytest.approx(expected)
    with pytest.raises(InputError, match="unknown model 'SVM-mpa'. Did you mean 'SVM-map'"):
        results.at_pick("SVM-mpa", "test")


def test_the_interval_of_a_difference_is_students(results):
    row = difference_table(results).records[0]
    first, second = (results.at_pick(row[which], "test") for which in ("first", "second"))
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["difference"] == pytest.approx((first - second).mean())
    assert mean_interval(np.ones(1)) is None


def test_it_does_not_depend_on_processes(index, qrels, results, tmp_path):
    assert timeless(morgan(index, qrels, small(), tmp_path, n_jobs=2)) == timeless(results)


def test_a_topic_does_not_depend_on_others(index, qrels, results, tmp_path):
    alone = morgan(index, qrels, small(repeats=1), tmp_path, topics=["2"], n_jobs=1)
    ours, theirs = timeless(alone).trials[0], timeless(results).trials[2]
    assert ours == theirs


def test_it_goes_on_from_where_it_ended(index, qrels, results, tmp_path, monkeypatch):
    shown = []
    run_trial = plan.run_trial

    def interrupted(of, name):
        if name == "2/0":
            raise KeyboardInterrupt
        return run_trial(of, name)

    monkeypatch.setattr(plan, "run_trial", interrupted)
    with pytest.raises(KeyboardInterrupt):
        morgan(index, qrels, small(), tmp_path, n_jobs=1)
    assert not (tmp_path / "results.json").exists()
    kept = (tmp_path / "trials.jsonl").read_bytes()
    assert len(kept.splitlines()) == 3
    (tmp_path / "trials.jsonl").write_bytes(kept + b'{"name": "2/0", "tr')  # killed while it wrote
    monkeypatch.undo()
    again = morgan(index, qrels, small(), tmp_path, n_jobs=1, progress=lambda done, total: shown.append((done, total)))
    assert shown == [(2, 4), (3, 4), (4, 4)]
    assert (tmp_path / "trials.jsonl").read_bytes().startswith(kept)
    assert timeless(again) == timeless(results)
    assert json.loads((tmp_path / "results.json").read_text())["missing"] == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"random_state": 1}, "random_state was 0, now 1"), ({"terms": 3}, "terms was 4, now 3")],
)
def test_a_folder_of_another_experiment_is_refused(index, qrels, tmp_path, changed, message):
    morgan(index, qrels, small(repeats=1, methods=SearchedWeights()), tmp_path, n_jobs=1)
    with pytest.raises(InputError, match=message):
        morgan(index, qrels, small(repeats=1, methods=SearchedWeights(), **changed), tmp_path, n_jobs=1)


def test_other_judgments_and_trials_that_do_not_fit_are_refused(index, qrels, tmp_path):
    settings = small(repeats=1, methods=SearchedWeights())
    morgan(index, qrels, settings, tmp_path, n_jobs=1)
    relevant = texts()[1]
    relevant["1"] = relevant["1"][1:]
    with pytest.raises(InputError, match="the documents or judgments differ"):
        morgan(index, judged(relevant), settings, tmp_path, n_jobs=1)
    path = tmp_path / "trials.jsonl"
    path.write_text(path.read_text().replace('"name":"1/0"', '"name":"3/0"'))
    with pytest.raises(InputError, match="trial 3/0 in .* has another topic"):
        morgan(index, qrels, settings, tmp_path, n_jobs=1)


def test_documents_that_the_index_does_not_have_are_counted(index, tmp_path):
    relevant = texts()[1]
    relevant["1"] += ["LOST", "GONE"]
    found = morgan(index, judged(relevant), small(repeats=1, methods=SearchedWeights()), tmp_path, n_jobs=1)
    assert found.missing == 2
    assert found.topics[0].relevant == len(relevant["1"]) - 2


@pytest.mark.parametrize(
    ("settings", "topics", "message"),
    [
        (
            {"min_relevant": 100},
            None,
            r"each of the 3 topics has fewer than 100 relevant documents .* \(the most is 3\d\)",
        ),
        ({}, ["few"], "each of the 1 topics has fewer than 10 relevant documents"),
        ({}, ["7"], "each of the 1 topics"),
        ({}, [], "each of the 0 topics"),
        ({"terms": 100}, None, "the index has 4[0-9] terms, and queries are to have up to 100"),
    ],
)
def test_what_cannot_be_run_is_refused(index, qrels, tmp_path, settings, topics, message):
    with pytest.raises(InputError, match=message):
        morgan(index, qrels, small(**settings), tmp_path / "out", topics=topics, n_jobs=1)
    assert not (tmp_path / "out").exists()


def test_judgments_of_another_collection_are_refused(index, tmp_path):
    others = judged({"1": [f"X{k}" for k in range(30)]})
    others = evolve(others, qid=others.qid[:-1], doc_ids=others.doc_ids[:-1], grades=others.grades[:-1])
    with pytest.raises(InputError, match="the index lacks all 30 judged documents .* another collection"):
        morgan(index, others, small(), tmp_path, n_jobs=1)


def test_an_index_of_relevant_documents_alone_is_refused(qrels, tmp_path):
    documents, relevant = texts()
    alone = indexed({name: documents[name] for name in relevant["1"]})
    with pytest.raises(InputError, match="each of the 3 topics"):
        morgan(alone, qrels, small(), tmp_path, n_jobs=1)


def test_documents_that_a_quarter_is_too_small_of_are_refused(index, tmp_path):
    documents = texts()[0]
    few = {name: documents[name] for name in list(documents)[:7]}
    named = judged({"1": list(few)[:3]})
    with pytest.raises(InputError, match="each of the 1 topics"):
        morgan(indexed(few), named, small(min_relevant=3, terms=2), tmp_path, n_jobs=1)
    few = {name: documents[name] for name in list(documents)[8:16]}
    found = morgan(
        indexed(few),
        judged({"1": list(few)[:3]}),
        small(min_relevant=3, terms=2, repeats=3, methods=SearchedWeights()),
        tmp_path,
        n_jobs=1,
    )
    assert found.topics[0].relevant == 3
    assert [trial.documents for trial in found.trials] == [(2, 2, 4)] * 3


def test_settings_are_checked():
    assert [method.name for method in paper_methods()] == ["WeightSearch", "MaximumEntropy", "SVM-map"]
    with pytest.raises(InputError, match="must have different names: WeightSearch is given twice"):
        MorganSettings(methods=(SearchedWeights(), SearchedWeights(max_iter=3)))
    with pytest.raises(InputError, match="give it features=AsGiven"):
        FittedWeights(RankingSVM(name="a", features=Indicators(3), loss="map", Cs=(1.0,)))
    with pytest.raises(InputError, match="each of methods must be a Method"):
        MorganSettings(methods=["svm-map"])
    with pytest.raises(InputError, match="min_relevant"):
        MorganSettings(min_relevant=2)
