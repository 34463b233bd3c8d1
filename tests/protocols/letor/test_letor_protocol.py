"""The protocol on small folds: training, choices, and reports."""

import csv
import io
import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from attrs import evolve
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from structsvm import Ranker
from structsvm.data import load_letor, write_letor
from structsvm.evaluation.significance import holm
from structsvm.exceptions import DataFormatError, InputError, UnknownNameError
from structsvm.features import Thresholds
from structsvm.foundation.tables.table import as_csv, as_text
from structsvm.fusion import CombSUM
from structsvm.metrics import AP, NDCG, rank_lists
from structsvm.protocols import AsGiven, EstimatorModel, Indicators, RankingSVM, Scores
from structsvm.protocols.letor import Fold, benchmark, fold_table, write_tables
from structsvm.protocols.letor.folds import find_folds
from structsvm.protocols.letor.measures import SHOWN
from structsvm.protocols.letor.tables import (
    benchmark_tables,
    difference_table,
    measure_table,
    record_table,
    summary_table,
    training_table,
)
from structsvm.rankers import RankSVM
from structsvm.registry import benchmark_models
from tests.protocols.letor.conftest import means, write_set, write_sets
from tests.slow import slow

FEW = (0.1, 1.0, 10.0)
SVM = RankingSVM(name="svm", features=AsGiven(), loss="map", Cs=FEW, tol=1e-4)
BINS = RankingSVM(name="bins", features=Indicators(4), loss="map", Cs=FEW, tol=1e-4)


class Rounds(BaseEstimator):
    """Round r ranks by feature r alone."""

    def fit(self, X, y, qid=None):
        return self

    def staged_predict(self, X):
        yield from X.T


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The data are the sets of the fixture `sets`."""
    return benchmark(write_sets(tmp_path_factory.mktemp("sets")), [SVM, BINS], single_features=True, n_jobs=1)


def loaded(paths):
    return load_letor(paths, n_features=4)


def test_a_fold_equals_fits_by_the_estimators(sets, results):
    assert results.title == "tiny"
    assert results.models == ("svm", "bins", "Best feature")
    for fold, trial in zip(find_folds(sets), results.trials, strict=True):
        train, validation, test = loaded(fold.train), loaded(fold.validation), loaded(fold.test)
        thresholds = Thresholds(4).fit(train.X)
        for name, read in (("svm", lambda X: X), ("bins", thresholds.transform)):
            rankers = Ranker("map", solver="frank-wolfe", tol=1e-4).path(read(train.X), train.y, train.qid, FEW)
            on_validation = [ranker.score(read(validation.X), validation.y, validation.qid) for ranker in rankers]
            outcome = trial.fits["models"][name]
            assert outcome.values == FEW
            assert outcome.validation == pytest.approx(on_validation)
            assert outcome.chosen == int(np.argmax(np.round(on_validation, 12)))
            scores = rankers[outcome.chosen].predict(read(test.X))
            assert outcome.measures == pytest.approx(means(scores, test.y, test.qid))
            assert all(gap <= 1e-4 for gap in outcome.gaps)
            assert all(seconds > 0.0 for seconds in outcome.seconds)
        assert [len(ids) for ids in (trial.train, trial.validation, trial.test)] == [8, 8, 8]
        assert trial.documents == (len(train.y), len(validation.y), len(test.y))


def test_the_best_feature_is_picked_on_validation(sets, results):
    for fold, trial in zip(find_folds(sets), results.trials, strict=True):
        validation, test = loaded(fold.validation), loaded(fold.test)
        on_validation = [AP().mean(column, validation.y, validation.qid) for column in validation.X.T]
        best = int(np.argmax(on_validation))
        outcome = trial.fits["models"]["Best feature"]
        assert outcome.value == f"feature {best + 1}"
        assert outcome.validation == pytest.approx(on_validation)
        assert outcome.measures == pytest.approx(means(test.X[:, best], test.y, test.qid))
        assert list(trial.fits["features"]) == [f"feature {k}" for k in range(1, 5)]
        assert trial.fits["features"][outcome.value].measures == outcome.measures


@pytest.mark.parametrize("measure", [SHOWN[0], *(pytest.param(name, marks=pytest.mark.slow) for name in SHOWN[1:])])
def test_means_are_over_all_test_queries_and_inside_their_intervals(tmp_path, measure):
    """Test folds of 2, 2 and 30 queries; differences of means equal the table of differences."""
    for number, queries in ((1, 30), (2, 2), (3, 2)):
        write_set(tmp_path / f"S{number}.txt", queries=queries, first=100 * number, seed=number)
    results = benchmark(tmp_path, ["CombSUM", "Borda"], n_jobs=1)
    sizes = [len(fold.test) for fold in results.trials]
    assert sorted(sizes) == [2, 2, 30]
    rows = {record["model"]: record for record in fold_table(results, measure).records}
    for name, row in rows.items():
        assert row["mean"] == pytest.approx(np.average(results.measured(name, measure), weights=sizes))
        assert row["mean"] == pytest.approx(results.values(name, measure).mean())
        assert row["low"] < row["mean"] < row["high"]
    for record in difference_table(results, measure=measure).records:
        assert record["difference"] == pytest.approx(rows[record["model"]]["mean"] - rows["CombSUM"]["mean"])


def test_a_note_shows_the_range_over_orders_of_equal_scores(sets, results):
    ranges = []
    for fold, trial in zip(find_folds(sets), results.trials, strict=True):
        test, feature = loaded(fold.test), trial.fits["models"]["Best feature"].value
        ranges.append(AP().range_over_ties(rank_lists(test.X[:, int(feature.split()[1]) - 1], test.y, test.qid)))
    queries, low, high = np.sum(ranges, axis=0) / [1, 3, 3]
    assert queries > 0
    assert low < results.mean("Best feature", "map") < high
    note = f"Best feature: {queries:g} of 24 queries have equal scores at different labels: MAP is between {low:.4f} "
    assert f"{note}and {high:.4f}." in " ".join(fold_table(results).notes)
    assert "equal scores" not in " ".join(fold_table(results, "p@3").notes)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(sets):
    models = [SVM, EstimatorModel(name="logistic", features=Scores(), estimator=LogisticRegression())]
    one, two = (benchmark(sets, models, n_jobs=n_jobs) for n_jobs in (1, 2))
    for name in one.models:
        assert [fit.measures for fit in one.of(name).values()] == [fit.measures for fit in two.of(name).values()]


def test_rounds_are_picked_like_any_value(sets):
    staged = EstimatorModel(name="staged", features=AsGiven(), estimator=Rounds(), rounds=(1, 2, 3, 4))
    results = benchmark(sets, [staged], n_jobs=1)
    for rounds, best in zip(results.of("staged").values(), results.of("Best feature").values(), strict=True):
        assert (rounds.chosen, rounds.validation, rounds.measures) == (best.chosen, best.validation, best.measures)
        assert rounds.value == float(best.chosen + 1)


def test_picks_at_an_end_give_a_sentence(sets):
    models = [
        EstimatorModel(name=name, features=AsGiven(), estimator=Rounds(), rounds=rounds)
        for name, rounds in (("up", (3, 4)), ("down", (2, 4)), ("from one", (1, 4)))
    ]
    results = benchmark(sets, models, n_jobs=1)
    for name, outcomes in ((model.name, [*results.of(model.name).values()]) for model in models):
        least = "" if name == "from one" else "least"  # no number of rounds is below 1
        for outcome in outcomes:
            first, second = outcome.validation
            assert outcome.at_an_end == ("largest" if second > first else least if first > second else "")
        for end, value in (("least", outcomes[0].values[0]), ("largest", outcomes[0].values[1])):
            folds = [
                fold.name for fold, outcome in zip(results.trials, outcomes, strict=True) if outcome.at_an_end == end
            ]
            sentence = f"{name}: validation picked the {end} value that was tried, {value:g}, in {', '.join(folds)}"
            assert (sentence in results.ends) == bool(folds)
    assert results.ends
    assert any(outcome.chosen == 0 for outcome in results.of("from one").values())
    assert not any(outcome.at_an_end for outcome in results.of("Best feature").values())


@pytest.fixture
def sparse_sets(tmp_path):
    """Three sets of rows that take less memory as CSR, and are read as CSR."""
    rng = np.random.default_rng(0)
    for number in range(1, 4):
        lines = [
            f"{row % 3} qid:{10 * number + row // 6} {rng.integers(1, 20)}:{1 + row % 3} 40:{rng.random():.3f}\n"
            for row in range(24)
        ]
        (tmp_path / f"S{number}.txt").write_text("".join(lines))
    return tmp_path


def test_training_that_did_not_converge_is_reported(sets):
    class Warner(Ridge):
        def fit(self, X, y):
            warnings.warn("other", UserWarning, stacklevel=2)
            return super().fit(X, y)

    short = EstimatorModel(
        name="short",
        features=AsGiven(),
        estimator=LogisticRegression(max_iter=1, tol=1e-12),
        grid={"C": (1.0, 10.0)},
    )
    with pytest.warns(UserWarning, match="other"):
        results = benchmark(
            sets, [short, EstimatorModel(name="w", features=AsGiven(), estimator=Warner()), SVM], n_jobs=1
        )
    assert [outcome.unconverged for outcome in results.of("short").values()] == [2, 2, 2]
    sentence = "short: training did not converge in Fold1 (2 times), Fold2 (2 times), Fold3 (2 times)"
    assert results.unconverged == (sentence,)
    assert any(note.startswith(sentence) for note in benchmark_tables(results)[-1].notes)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["pairs", "queries"])
def test_the_gap_of_an_estimator_is_in_units_of_its_tol(sets, objective):
    estimator = RankSVM(objective=objective, tol=1e-2)
    model = EstimatorModel(name="pairs", features=AsGiven(), estimator=estimator, grid={"C": FEW})
    for fold, outcome in zip(find_folds(sets), benchmark(sets, model, n_jobs=1).of("pairs").values(), strict=True):
        train = loaded(fold.train)
        fitted = [clone(estimator).set_params(C=C).fit(train.X, train.y, qid=train.qid) for C in FEW]
        shares = [svm.result_.gap / svm.C / (svm.result_.tol / svm.tol) for svm in fitted]
        assert outcome.gaps == pytest.approx(shares)
        assert 0.0 <= max(outcome.gaps) <= 1e-2


@pytest.mark.slow
def test_sparse_data(sparse_sets):
    """Models and single features do not mind."""
    results = benchmark(sparse_sets, [SVM, BINS], n_jobs=1, single_features=True)
    assert len(results.features) == 40
    train = load_letor(sparse_sets / "S1.txt", n_features=40)
    assert sp.issparse(train.X)
    dense = BINS.features.within_queries(train.X, train.qid)
    assert dense.tolist() == train.X.toarray().tolist()
    assert results.of("bins")["Fold1"].gaps[0] <= 1e-4
    data = load_letor(sparse_sets / "S3.txt", n_features=40, sparse=False)
    expected = means(data.X[:, 39], data.y, data.qid)
    assert results.trials[0].fits["features"]["feature 40"].measures == expected


@pytest.mark.slow
def test_models_that_need_dense_features_get_them(sparse_sets):
    names = ["RankBoost", "RankNet", "RankNet-linear", "CombSUM", "CombMED", "Condorcet"]
    assert all(benchmark_models.create(name).features == AsGiven(dense=True) for name in names)
    results = benchmark(sparse_sets, names, n_jobs=1)
    data = load_letor(sparse_sets / "S3.txt", n_features=40, sparse=False)
    scores = CombSUM().fit(data.X, qid=data.qid).predict(data.X, data.qid)
    assert results.trials[0].fits["models"]["CombSUM"].measures == means(scores, data.y, data.qid)


def test_the_error_about_sparse_features_advises_dense_ones(sparse_sets):
    boosting = EstimatorModel(name="trees", features=AsGiven(), estimator=HistGradientBoostingRegressor(max_iter=2))
    with pytest.raises(InputError, match=r"trees in Fold1: its estimator does not .* features=AsGiven\(dense=True\)"):
        benchmark(sparse_sets, [boosting], n_jobs=1)
    assert benchmark(sparse_sets, [evolve(boosting, features=AsGiven(dense=True))], n_jobs=1).models[0] == "trees"


def test_dense_features_that_do_not_fit_into_memory(sparse_sets, monkeypatch):
    def full(self, *args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(sp.csr_array, "toarray", full)
    with pytest.raises(InputError, match="CombSUM in Fold1: it needs dense features: 24 rows of 40 features take"):
        benchmark(sparse_sets, ["CombSUM"], n_jobs=1)


def test_rows_of_a_query_need_not_be_together(sets, results):
    path = sets / "S2.txt"
    lines = path.read_text().splitlines(keepends=True)
    order = np.random.default_rng(0).permutation(len(lines))
    order = order[np.argsort(order % 2, kind="stable")]
    path.write_text("".join(lines[row] for row in order))
    ties_broken_otherwise = benchmark(sets, [SVM], n_jobs=1)
    assert len(ties_broken_otherwise.trials[0].test) == 8
    assert ties_broken_otherwise.of("svm")["Fold1"].gaps[0] <= 1e-4


def test_single_features_that_every_fold_has(tmp_path):
    for number in range(1, 3):
        for k, part in enumerate(("train", "vali", "test")):
            write_set(tmp_path / f"Fold{number}" / f"{part}.txt", first=1 + 10 * k, seed=k, missing_last=number == 2)
    results = benchmark(tmp_path, [SVM], n_jobs=1, single_features=True)
    assert results.features == ("feature 1", "feature 2", "feature 3")
    assert len(results.trials[0].fits["features"]) == 4


def test_single_features_have_the_names_that_a_file_gives_them(tmp_path):
    for number in range(1, 4):
        path = write_set(tmp_path / f"S{number}.txt", first=10 * number, seed=number)
        data = load_letor(path)
        write_letor(
            path, data.X, data.y, data.qid, feature_names=[f"title.L{k}" for k in range(1, data.X.shape[1] + 1)]
        )
    results = benchmark(tmp_path, [SVM], n_jobs=1, single_features=True)
    assert results.features[:2] == ("feature 1 (title.L1)", "feature 2 (title.L2)")
    assert {fold.fits["models"]["Best feature"].values for fold in results.trials} == {results.features}


def test_the_tables_show_the_results(results):
    text = as_text(summary_table(results))
    assert text.startswith("Test queries, mean over 3 folds, tiny\nModel             MAP      P@1 ")
    for name in (*results.models, *results.features):
        assert f"{results.mean(name, 'map'):.4f}   {results.mean(name, 'p@1'):.4f}" in text
    by_fold = as_text(fold_table(results))
    for name in results.models:
        cells = "   ".join(f"{outcome.measures['map']:.4f}" for outcome in results.of(name).values())
        assert f"{cells}   {results.mean(name, 'map'):.4f}" in by_fold
    titles = [table.title for table in benchmark_tables(results)]
    assert len(titles) == len(set(titles)) == 6 + 2 * len(SHOWN)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (lambda results: results.values("SVM-mpa"), "unknown benchmark model 'SVM-mpa'"),
        (
            lambda results: fold_table(results, "ndcg@11"),
            "unknown benchmark measure 'ndcg@11'. Did you mean 'ndcg@1'",
        ),
        (lambda results: measure_table(results, "map"), "name must be 'p' or 'ndcg' or 'ndcg4', got 'map'"),
    ],
)
def test_unknown_names_are_errors(results, query, message):
    with pytest.raises(InputError, match=message):
        query(results)


@pytest.mark.slow
def test_another_measure_picks_and_compares(sets):
    outcomes = benchmark(sets, [SVM, BINS], measure="ndcg@3", n_jobs=1)
    assert outcomes.measure == "ndcg@3"
    for fold, results in zip(find_folds(sets), outcomes.trials, strict=True):
        train, validation, test = loaded(fold.train), loaded(fold.validation), loaded(fold.test)
        rankers = Ranker("map", solver="frank-wolfe", tol=1e-4).path(train.X, train.y, train.qid, FEW)
        letor = NDCG(3, discount="letor")
        on_validation = [letor.mean(ranker.predict(validation.X), validation.y, validation.qid) for ranker in rankers]
        outcome = results.fits["models"]["svm"]
        assert outcome.validation == pytest.approx(on_validation)
        expected = letor.per_query(rankers[outcome.chosen].predict(test.X), test.y, test.qid).values
        assert outcome.queries["ndcg@3"] == pytest.approx(expected.tolist())
        assert outcome.measures["ndcg@3"] == means(rankers[outcome.chosen].predict(test.X), test.y, test.qid)["ndcg@3"]
        assert not np.isclose(outcome.measures["ndcg@3"], outcome.measures["map"])
    titles = [table.title for table in benchmark_tables(outcomes)]
    assert titles[2:4] == ["NDCG@3 on the test queries, tiny", "MAP on the test queries, tiny"]
    assert "Difference in NDCG@3 from svm, query by query, tiny" in titles
    assert "Validation NDCG@3" in as_text(training_table(outcomes))


def test_differences_are_over_the_test_queries(results):
    table = difference_table(results)
    assert [record["model"] for record in table.sections[0]] == ["bins", "Best feature"]
    difference = results.values("bins") - results.values("svm")
    assert len(difference) == 24
    row = table.sections[0][0]
    assert row["difference"] == pytest.approx(results.mean("bins", "map") - results.mean("svm", "map"))
    expected = scipy.stats.ttest_1samp(difference, 0.0)
    assert row["p_t"] == pytest.approx(expected.pvalue)
    assert row["low"] < row["difference"] < row["high"]
    assert row["wins"] == (difference > 1e-12).sum()
    assert row["losses"] == (difference < -1e-12).sum()
    assert row["wins"] + row["losses"] + row["ties"] == 24
    for test in ("t", "wilcoxon", "randomization"):
        p_values = [record[f"p_{test}"] for record in table.records]
        assert [record[f"holm_{test}"] for record in table.records] == holm(p_values)
    turned = difference_table(results, "bins").sections[0][0]
    assert (turned["model"], turned["difference"]) == ("svm", pytest.approx(-row["difference"]))
    assert turned["p_wilcoxon"] == pytest.approx(row["p_wilcoxon"])
    with pytest.raises(UnknownNameError, match="'binz'. Did you mean 'bins'"):
        difference_table(results, "binz")


def test_a_note_lists_warm_started_models(sets, results):
    assert "svm and bins start from the weights of the previous value, all other models from zero." in _training_note(
        results
    )
    ridge = EstimatorModel(name="ridge", features=AsGiven(), estimator=Ridge())
    assert "svm starts from the weights of the previous value" in _training_note(
        benchmark(sets, [ridge, SVM], n_jobs=1)
    )
    assert "Training starts from zero at each value." in _training_note(benchmark(sets, ridge, n_jobs=1))


def _training_note(results):
    return training_table(results).notes[0]


def test_csv_has_every_measure_of_every_fold(results):
    rows = list(csv.DictReader(io.StringIO(as_csv([record_table(results)]))))
    assert len(rows) == (3 + 4) * (3 + 1)
    for row in rows:
        for measure in ("map", "p@7", "ndcg@3", "ndcg4@10"):
            if row["fold"] == "mean":
                assert float(row[measure]) == results.mean(row["model"], measure)
            else:
                outcome = results.of(row["model"])[row["fold"]]
                assert float(row[measure]) == outcome.measures[measure]
                assert float(row["validation_map"]) == max(outcome.validation)


def test_the_files(results, tmp_path):
    written = write_tables(results, tmp_path / "new" / "out")
    assert [path.name for path in written] == ["tables.txt", "tables.md", "tables.tex", "tables.csv", "tables.json"]
    assert all(path.stat().st_size > 1000 for path in written)
    assert [table["title"] for table in json.loads(written[-1].read_text())] == [
        table.title for table in benchmark_tables(results)
    ]
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_tables(results, tmp_path / "file")


@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
def test_errors_name_the_model_and_the_fold_or_the_file(sets, n_jobs):
    wrong = EstimatorModel(name="wrong", features=AsGiven(), estimator=Ranker(C=-1.0))
    with pytest.raises(InputError, match=r"wrong in Fold\d: C must be a positive finite number"):
        benchmark(sets, [wrong], n_jobs=n_jobs)
    with pytest.raises(InputError, match="models must have different names: svm is given twice"):
        benchmark(sets, [SVM, SVM], n_jobs=n_jobs)
    (sets / "S2.txt").write_text("1 qid:1 1:one\n")
    with pytest.raises(DataFormatError, match=r"S2.txt, line 1"):
        benchmark(sets, [SVM], n_jobs=n_jobs)


def test_a_query_in_two_files_of_a_fold_is_refused(sets):
    fold = Fold("leak", (sets / "S1.txt",), (sets / "S2.txt",), (sets / "S1.txt",))
    with pytest.raises(InputError, match=r"8 queries, such as 100, may be in one file only, but .*S1.txt and .*S1.txt"):
        benchmark([fold], [SVM], n_jobs=1)
    with pytest.raises(InputError, match="folds must have different names: the list is empty"):
        benchmark([], [SVM], n_jobs=1)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (
            2,
            r"Fold1: no document of \S+S2.txt is relevant \(a label above 0\), so .* cannot choose between values",
        ),
        (3, r"Fold1: no document of \S+S3.txt is relevant \(a label above 0\), so .* and cannot compare models: check"),
    ],
)
def test_parts_without_relevant_documents_are_refused(sets, number, message):
    path = sets / f"S{number}.txt"
    path.write_text("".join("0" + line[1:] for line in path.read_text().splitlines(keepends=True)))
    with pytest.raises(InputError, match=message):
        benchmark(find_folds(sets)[:1], [SVM], n_jobs=1)


def test_one_model_needs_no_list(sets):
    assert benchmark(sets, "borda-count", n_jobs=1).models == ("BordaCount", "Best feature")
    assert benchmark(sets, SVM, n_jobs=1).models == ("svm", "Best feature")


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "models is empty"),
        ([Ridge()], r"models\[0\] is neither a name nor a model: Ridge\(\)"),
        (Ridge(), r"models\[0\] is neither a name nor a model: Ridge\(\)"),
        (["svm-map", RankingSVM], r"models\[1\] must be an object, RankingSVM\(...\)"),
    ],
)
def test_an_object_without_the_model_interface_is_an_error(sets, models, message):
    with pytest.raises(InputError, match=message):
        benchmark(sets, models, n_jobs=1)


@pytest.mark.parametrize(
    "normalize",
    ["query_z_score", *slow("query-min-max", "standard")],
)
def test_normalized_features_do_not_depend_on_scales(normalize, sets, tmp_path):
    """Powers of two change no digit, and so no figure, even for sparse features."""
    for path in sets.iterdir():
        data = load_letor(path)
        (tmp_path / "scaled").mkdir(exist_ok=True)
        write_letor(tmp_path / "scaled" / path.name, data.X * [1.0, 2.0**20, 2.0**-20, 4.0], data.y, data.qid)
    plain, scaled = (benchmark(folder, [SVM], normalize=normalize, n_jobs=1) for folder in (sets, tmp_path / "scaled"))
    for one, other in zip(plain.trials, scaled.trials, strict=True):
        assert one.fits["models"]["svm"].measures == other.fits["models"]["svm"].measures
    plain = benchmark(tmp_path / "scaled", [SVM], n_jobs=1)
    assert plain.trials[0].fits["models"]["svm"].measures != scaled.trials[0].fits["models"]["svm"].measures


def test_another_normalization_is_another_benchmark(sets, tmp_path):
    benchmark(sets, [SVM], n_jobs=1, out=tmp_path / "out")
    with pytest.raises(InputError, match="normalize"):
        benchmark(sets, [SVM], n_jobs=1, out=tmp_path / "out", normalize="standard")
    benchmark(sets, [SVM], n_jobs=1, out=tmp_path / "normalized", normalize="standard")
    with pytest.raises(InputError, match="normalize was standard, now None"):
        benchmark(sets, [SVM], n_jobs=1, out=tmp_path / "normalized")
    with pytest.raises(InputError, match="normalize must be"):
        benchmark(sets, [SVM], n_jobs=1, normalize="min")


def test_files_of_query_sizes_are_part_of_the_data(sets, tmp_path):
    expected = benchmark(sets, [SVM], n_jobs=1)
    for path in sorted(sets.iterdir()):
        lines = [line.split(" ", 2) for line in path.read_text().splitlines()]
        path.write_text("".join(f"{label} {features}\n" for label, _, features in lines))
        queries = [query for _, query, _ in lines]
        sizes = [queries.count(query) for query in dict.fromkeys(queries)]
        path.with_name(f"{path.name}.query").write_text("".join(f"{size}\n" for size in sizes))
    results = benchmark(sets, [SVM], out=tmp_path / "out", n_jobs=1)
    assert [fold.fits["models"]["svm"].queries for fold in results.trials] == [
        fold.fits["models"]["svm"].queries for fold in expected.trials
    ]
    beside = sets / "S2.txt.query"
    beside.write_text("".join(reversed(beside.read_text().splitlines(keepends=True))))
    with pytest.raises(InputError, match="the files of the folds differ"):
        benchmark(sets, [SVM], out=tmp_path / "out", n_jobs=1)


def test_weights_beside_the_files_are_a_warning(sets):
    (sets / "S1.txt.weight").write_text("1\n")
    with pytest.warns(UserWarning, match=r"not read: .*S1\.txt\.weight\. A benchmark counts all queries alike"):
        benchmark(sets, ["CombSUM"], n_jobs=1)
