"""The protocol as a whole, on small collections."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np
import pytest
from attrs import evolve, frozen

from structsvm.exceptions import InputError
from structsvm.features.operators import BinnedMatrix
from structsvm.metrics import AP
from structsvm.protocols import Candidate, FeatureMap, Indicators, ProtocolModel, RankingSVM, Results, plan
from structsvm.protocols.experiment import Settings, run
from structsvm.protocols.experiment.plan import ExperimentPlan
from structsvm.protocols.plan import TRIALS
from structsvm.protocols.results import Trial
from structsvm.registry.built_in import experiment_models
from tests.protocols.experiment.conftest import pool_of, scored_documents
from tests.protocols.experiment.report.conftest import made_up

FEW = (0.1, 1.0, 10.0)
MODELS = tuple(
    evolve(experiment_models.create(name, bins=8), Cs=FEW) for name in ("SVM-map", "SVM-roc", "SVM-acc2", "SVM-acc3+b")
)
SMALL = Settings(trials=4, train=3, validation=2, bins=8, models=MODELS)


def timeless(trial: Trial) -> Trial:
    """A trial without how long it took."""
    fits = {
        variant: {
            name: evolve(fit, seconds=(0.0,) * len(fit.seconds), compile_seconds=0.0) for name, fit in of_models.items()
        }
        for variant, of_models in trial.fits.items()
    }
    return evolve(trial, seconds=0.0, fits=fits)


def same(first: Results, second: Results) -> bool:
    """Whether two experiments found the same, to the last digit."""
    return evolve(first, trials=tuple(map(timeless, first.trials))) == evolve(
        second, trials=tuple(map(timeless, second.trials))
    )


@pytest.fixture(scope="module")
def results(pool, tmp_path_factory):
    return run(pool, SMALL, tmp_path_factory.mktemp("experiment"), n_jobs=1)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["with-best", "without-best"])
def test_a_trial_equals_fits_by_the_estimators(pool, results, variant):
    """SVM-map once more, from the public parts: thresholds of training queries, every C, the best on validation."""
    from structsvm import Ranker
    from structsvm.features import Thresholds

    qid = pool.qid
    columns = list(range(4))
    if variant == "without-best":
        columns.remove(pool.run_names.index(results.functions[0].name))
    model = MODELS[0]
    for trial in results.trials[:2]:
        train, validation, test = (np.isin(qid, part) for part in (trial.train, trial.validation, trial.test))
        X = pool.X[:, columns]
        binned = Thresholds(8).fit(X[train]).transform(X)
        rankers = Ranker("map", solver="frank-wolfe", tol=model.tol).path(
            binned[train], (pool.y > 0)[train], qid[train], model.Cs
        )
        scores = [ranker.predict(binned) for ranker in rankers]
        on_validation = [AP().mean(s[validation], (pool.y > 0)[validation], qid[validation]) for s in scores]
        best = int(np.argmax(np.round(on_validation, 12)))
        fit = trial.fits[variant]["SVM-map"]
        assert fit.validation == pytest.approx(on_validation, abs=1e-12)
        assert fit.chosen == best
        assert fit.features == binned.shape[1]
        expected = AP().per_query(scores[best][test], (pool.y > 0)[test], qid[test]).values
        assert fit.queries["map"] == pytest.approx(expected, abs=1e-12)
        assert fit.test[best] == pytest.approx(np.mean(fit.queries["map"]), abs=1e-12)
        extremes = BinnedMatrix([[0] * len(columns), *np.diag(np.diff(binned.offsets))], binned.offsets)
        nothing, *first = rankers[best].predict(extremes)  # of no function, and by one alone
        gained = dict(zip([pool.run_names[k] for k in columns], first - nothing, strict=True))
        assert fit.weights == pytest.approx([gained[name] for name in results.functions_read(variant)])


@pytest.mark.slow
def test_base_functions_rank_the_pool_and_come_best_first(pool, results):
    qid = pool.qid
    for function in results.functions:
        scores = pool.X[:, pool.run_names.index(function.name)]
        expected = AP().per_query(np.nan_to_num(scores, nan=-np.inf), (pool.y > 0), qid).values
        assert function.queries["map"] == pytest.approx(expected, abs=1e-12)
        assert function.retrieved == pytest.approx(np.mean(~np.isnan(scores)))
    means = [function.mean_ap for function in results.functions]
    assert means == sorted(means, reverse=True)


@pytest.mark.slow
def test_weights_over_trials(results):
    fits = results.fits("with-best", "SVM-roc")
    assert results.weights("with-best", "SVM-roc").tolist() == [list(fit.weights) for fit in fits]
    assert results.functions_read("without-best") == results.functions_read("with-best")[1:]
    assert results.weights("without-best", "SVM-roc").shape == (4, 3)


@pytest.mark.slow
def test_rows_of_a_table(results):
    rows = results.rows("without-best")
    assert [row.name for row in rows[:4]] == ["SVM-map", "SVM-roc", "SVM-acc2", "SVM-acc3+b"]
    assert [row.place for row in rows] == [0, 0, 0, 0, 1, 2, 3]
    assert [row.name for row in rows[4:]] == [function.name for function in results.functions[:3]]
    assert rows[0].wins is None
    for row in rows[1:]:
        difference = rows[0].values - row.values
        assert (row.wins, row.losses) == ((difference > 0).sum(), (difference < 0).sum())
        assert row.map == pytest.approx(row.values.mean())
    assert [row.values.tolist() for row in results.rows("with-best")[4:]] == [row.values.tolist() for row in rows[4:]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "message"),
    [
        (lambda results: results.rows("with_best"), "unknown variant 'with_best'. Did you mean 'with-best'"),
        (lambda results: results.fits("with-best", "SVM-mpa"), "unknown model 'SVM-mpa'. Did you mean 'SVM-map'"),
        (lambda results: results.rows("with-best", denominators="all"), "denominators must be 'pool' or 'judged'"),
    ],
)
def test_unknown_names_are_errors(results, query, message):
    with pytest.raises(InputError, match=message):
        query(results)


def test_the_denominators_of_trec_eval_scale_each_query():
    pool, judged = (made_up().rows("with-best", denominators=name) for name in ("pool", "judged"))
    for one, other in zip(pool, judged, strict=True):
        np.testing.assert_allclose(other.values, one.values * [1.0, 1 / 2, 1 / 3, 1 / 4])


def test_the_fingerprint_tells_data_apart():
    X, y, qid = scored_documents(6, 20, 2)
    pools = [
        pool_of(X, y, qid),
        pool_of(X + 0.5, y, qid),
        pool_of(X, 1.0 - y, qid),
        pool_of(X, y, qid + 1),
        pool_of(X, y, qid, run_names=["one", "other"]),
        pool_of(X, y, qid, judged={0: 20}),
    ]
    fingerprints = [ExperimentPlan.of(pool, evolve(SMALL, train=2)).header().data for pool in pools]
    assert len(set(fingerprints)) == len(pools)
    assert fingerprints[0] == ExperimentPlan.of(pool_of(X.copy(), y, qid), evolve(SMALL, train=2)).header().data


@pytest.mark.slow
def test_an_interrupted_experiment_resumes(pool, results, tmp_path):
    def interrupt(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(pool, SMALL, tmp_path, n_jobs=1, progress=interrupt)
    stored = (tmp_path / TRIALS).read_bytes()
    assert len(stored.splitlines()) == 3
    (tmp_path / TRIALS).write_bytes(stored[:-10])
    seen = []
    again = run(pool, SMALL, tmp_path, n_jobs=1, progress=lambda *numbers: seen.append(numbers))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert same(again, results)
    assert (tmp_path / TRIALS).read_bytes()[:-1].startswith(stored.rsplit(b"\n", 2)[0])
    finished = run(pool, SMALL, tmp_path, n_jobs=1)
    assert finished == again


def test_ctrl_c_during_a_fit_keeps_no_trial_of_unfinished_fits(pool, tmp_path, monkeypatch):
    """A solver that is interrupted returns its best so far: that must not become a result."""
    from structsvm.solvers import FrankWolfe

    def interrupted(*_: object, **crawls: bool) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(FrankWolfe, "_improve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(pool, SMALL, tmp_path, n_jobs=1)
    assert len((tmp_path / TRIALS).read_bytes().splitlines()) == 1


RUN = """
import sys
from structsvm.protocols.experiment import Settings, run
from tests.protocols.experiment.conftest import pool_of, scored_documents
from tests.protocols.experiment.test_protocol import SMALL

data = pool_of(*scored_documents(12, 30, 4), run_names=["alpha", "beta", "gamma", "delta"])
run(data, SMALL, sys.argv[1], n_jobs=int(sys.argv[2]), progress=lambda done, total: print(done, flush=True))
"""


@pytest.mark.slow
def test_a_killed_experiment_resumes_with_the_same_results(pool, results, tmp_path):
    """On two processes before, on one after: the number of processes does not matter either."""
    process = subprocess.Popen([sys.executable, "-c", RUN, tmp_path, "2"], stdout=subprocess.PIPE, text=True)
    while process.stdout.readline().strip() != "1":
        assert process.poll() is None
    workers = children(process.pid)
    time.sleep(random.random() * 0.1)
    process.kill()
    process.communicate()
    assert workers
    deadline = time.monotonic() + 60
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, workers)), "workers go on without the process that started them"
    assert 2 <= len((tmp_path / TRIALS).read_bytes().splitlines()) <= 6
    assert same(run(pool, SMALL, tmp_path, n_jobs=1), results)


def children(pid: int) -> list[int]:
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(number) for number in done.stdout.split()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_other_versions_do_not_go_on_but_may_look(pool, tmp_path, monkeypatch):
    two = evolve(SMALL, trials=2, models=MODELS[:1], variants=["with-best"])
    begun = run(pool, two, tmp_path / "done", n_jobs=1)
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / TRIALS).write_bytes((tmp_path / "done" / TRIALS).read_bytes()[:-1])
    monkeypatch.setattr(plan, "versions", lambda: begun.header.versions | {"numpy": "9.9"})
    assert run(pool, two, tmp_path / "done") == begun
    with pytest.raises(InputError, match=r"began with other versions \(numpy was .*, now 9.9\)"):
        run(pool, two, tmp_path / "begun")


def test_one_base_function_has_no_variant_without_it(tmp_path):
    X, y, qid = scored_documents(6, 20, 1)
    with pytest.raises(InputError, match="'without-best' needs at least two base functions"):
        run(pool_of(X, y, qid), evolve(SMALL, train=2), tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trials": 0}, "trials=...) must be an integer of at least 1"),
        ({"models": []}, "models=...) must have different names: the list is empty"),
        ({"models": ["SVM-map", "svm-map"]}, "SVM-map is given twice"),
        ({"models": ["nothing"]}, "unknown experiment model 'nothing'"),
        ({"variants": []}, "variants=...) must be one or both of with-best, without-best"),
        ({"variants": ["best"]}, "variants=...) must be one or both"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    import re

    with pytest.raises(InputError, match=re.escape(message)):
        Settings(**settings)


@frozen
class Filled(FeatureMap):
    """Scores, with 0 for missing ones."""

    def transformer(self):
        from structsvm.features import FillMissing

        return FillMissing(0.0)


@frozen
class FirstColumn(ProtocolModel):
    """Ranks by the first base function, or, as its second candidate, the other way round."""

    name: str = "first column"
    features: FeatureMap = Filled()

    def candidates(self, X, y, qid) -> Sequence[Candidate]:
        assert len(X) == len(y) == len(qid)
        return [Candidate(sign, lambda X, qid, sign=sign: sign * X[:, 0], 0.0) for sign in (-1.0, 1.0)]


def test_a_custom_model_takes_part(pool, tmp_path):
    models = [RankingSVM(name="few Cs", features=Indicators(4), loss="map", Cs=(0.1, 1.0)), FirstColumn()]
    results = run(pool, evolve(SMALL, models=models, variants=["with-best"]), tmp_path, n_jobs=1)
    assert results.models == ("few Cs", "first column")
    for fit in results.fits("with-best", "first column"):
        assert fit.values == (-1.0, 1.0)
        assert fit.gaps == (None, None)
        assert fit.validation[fit.chosen] == max(fit.validation)
    assert (
        "Cs=(0.1, 1.0)" in json.loads((tmp_path / TRIALS).read_text().splitlines()[0])["settings"]["models"]["few Cs"]
    )


def test_among_equals_the_first_candidate_is_picked(pool, tmp_path):
    @frozen
    class Indifferent(ProtocolModel):
        name: str = "indifferent"
        features: FeatureMap = Filled()

        def candidates(self, X, y, qid) -> Sequence[Candidate]:
            return [Candidate(float(k), lambda X, qid: np.zeros(len(X)), 0.0) for k in range(3)]

    results = run(pool, evolve(SMALL, models=[Indifferent()], variants=["with-best"]), tmp_path, n_jobs=1)
    for fit in results.fits("with-best", "indifferent"):
        assert (fit.chosen, fit.value) == (0, 0.0)
        assert set(fit.queries["tied"]) == {1.0}
