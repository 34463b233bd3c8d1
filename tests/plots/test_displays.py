"""Displays draw the given or computed values, and reject values that cannot be drawn."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold

from structsvm import Ranker, RankerCV, StructuralSVMCV
from structsvm.data import load_digits_queries
from structsvm.evaluation import mean_interval
from structsvm.exceptions import InputError, NotInstalledError, UnknownNameError
from structsvm.fusion import WeightedCombSUM
from structsvm.metrics import AP, IPrec, rank_lists
from structsvm.plots import (
    ConvergenceDisplay,
    FusionWeightsDisplay,
    InterpolatedPrecisionDisplay,
    MeansDisplay,
    QueryDifferencesDisplay,
    RegularizationPathDisplay,
    ReliabilityDisplay,
    WeightsDisplay,
)
from structsvm.plots.style import BLUE, INK
from structsvm.rankers import RankBoost
from structsvm.solvers import OneSlack


@pytest.fixture(scope="module")
def data():
    return load_digits_queries(n_train=12, n_test=12, n_candidates=40)[0]


@pytest.fixture(scope="module")
def ranker(data):
    return Ranker(C=1.0).fit(data.X, data.y, qid=data.qid)


class TestAll:
    def test_a_figure_of_its_own_is_in_the_style(self):
        display = WeightsDisplay([1.0]).plot()
        assert display.figure_ is display.ax_.figure
        assert not display.ax_.spines["top"].get_visible()
        assert display.ax_.xaxis.label.get_color() == INK

    def test_axes_that_are_given_stay_as_they_are(self, axes):
        display = WeightsDisplay([1.0]).plot(axes)
        assert display.ax_ is axes
        assert axes.spines["top"].get_visible()

    def test_it_can_be_drawn_again(self, axes):
        display = WeightsDisplay([1.0, 2.0]).plot()
        first = display.ax_
        assert display.plot(axes).ax_ is axes
        assert first is not axes

    def test_settings_of_matplotlib(self, axes):
        display = WeightsDisplay([1.0]).plot(axes, color="red")
        assert display.bars_[0].get_facecolor() == (1.0, 0.0, 0.0, 1.0)
        with pytest.raises(InputError, match=r"WeightsDisplay\.plot: .* unexpected keyword argument 'colr'"):
            WeightsDisplay([1.0]).plot(axes, colr="red")

    @pytest.mark.parametrize(
        ("display", "arguments", "settings", "message"),
        [
            (ConvergenceDisplay, ({},), {}, "curves is empty"),
            (ConvergenceDisplay, ([1],), {}, "by name"),
            (ConvergenceDisplay, ({"a": 3},), {}, r"curves\['a'\] must be a pair"),
            (ConvergenceDisplay, ({"a": ([1, 2], [1.0])},), {}, "the values of 'a' must be 2 numbers"),
            (ConvergenceDisplay, ({"a": ([1, 2], [1.0, np.nan])},), {}, "the values of 'a' must be finite"),
            (ConvergenceDisplay, ({"a": ([1, 2], [1.0, 2.0])},), {"y": "bounds"}, "a row for each of 2 steps, got 1"),
            (ConvergenceDisplay, ({"a": ([1], [1.0])},), {"x": "hours"}, "x must be 'seconds' or"),
            (
                ConvergenceDisplay,
                ({"a": ([1], [1.0])},),
                {"unfinished": ["b"]},
                "must be names of curves, 'a', got 'b'",
            ),
            (RegularizationPathDisplay, ([0.1, 1.0], [0.3]), {}, "must be finite, in one or more rows of 2 numbers"),
            (RegularizationPathDisplay, ([0.1, 1.0], None), {}, "got None"),
            (RegularizationPathDisplay, ([], []), {}, "Cs must be a list of at least one number"),
            (QueryDifferencesDisplay, ([0.1, 0.2], [0.1]), {}, "second must be 2 numbers"),
            (QueryDifferencesDisplay, ([0.1], [np.nan]), {}, "second must be finite"),
            (QueryDifferencesDisplay, ([0.1], [0.2]), {"names": ("a",)}, "names must be 2 texts"),
            (QueryDifferencesDisplay, ([0.1], [0.2]), {"names": "ab"}, "names must be a list of 2 texts, got 'ab'"),
            (WeightsDisplay, ([],), {}, "values must be a list"),
            (WeightsDisplay, ([1.0], ["a", "b"]), {}, "names must be 1 texts"),
            (WeightsDisplay, ([[1.0]],), {}, "its shape"),
            (ReliabilityDisplay, ([0.5, 1.5], [0, 1]), {}, "must be from 0 to 1, got 0.5 to 1.5: pass predict_proba"),
            (ReliabilityDisplay, ([0.1, 0.2], [1]), {}, "there are 2 scores, but y has shape"),
            (InterpolatedPrecisionDisplay, ([0.0, 1.0], {"a": [1.0]}), {}, "the precision of 'a' must be 2 numbers"),
            (FusionWeightsDisplay, ({"a": [0.0, 0.0]},), {}, "are all 0"),
            (FusionWeightsDisplay, ({"a": [[1.0, 0.0], [0.0, 0.0]]},), {}, "are all 0 in a fit"),
            (FusionWeightsDisplay, ({"a": [[[1.0]]]},), {}, "must be a list of at least one number"),
            (FusionWeightsDisplay, ({"a": [1.0], "b": [1.0, 2.0]},), {}, "the weights of 'b' must be 1 numbers"),
            (FusionWeightsDisplay, ({"a": [1.0]}, ["x", "y"]), {}, "systems must be 1 texts"),
        ],
    )
    def test_invalid_values_are_errors(self, display, arguments, settings, message):
        with pytest.raises(InputError, match=message):
            display(*arguments, **settings)

    def test_invalid_axes_are_errors(self):
        with pytest.raises(InputError, match="ax must be axes of Matplotlib"):
            WeightsDisplay([1.0]).plot(object())

    def test_without_matplotlib(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(NotInstalledError, match=r"pip install 'structural-svm\[plot\]'"):
            WeightsDisplay([1.0]).plot()


FOUR = [[0.0], [1.0], [2.0], [1.0]], [0, 1, 1, 0]


class TestConvergence:
    def test_the_excess_is_of_one_objective(self):
        results = {f"C = {C:g}": Ranker(C=C).fit(*FOUR, qid=[0, 0, 1, 1]).result_ for C in (1.0, 100.0)}
        with pytest.raises(InputError, match="the values of C differ"):
            ConvergenceDisplay.from_results(results, y="excess")

    @pytest.mark.parametrize(("x", "name"), [("seconds", "seconds"), ("iterations", "iteration"), ("passes", "passes")])
    def test_gaps_of_a_result(self, x, name, ranker, axes):
        result = ranker.result_
        display = ConvergenceDisplay.from_results(result, x=x, ax=axes)
        (line,) = display.lines_
        assert line.get_xdata() == pytest.approx(
            [max(getattr(step, name), 1e-6 * (x == "seconds")) for step in result.history]
        )
        assert line.get_ydata() == pytest.approx([max(step.gap / step.C, 1e-12) for step in result.history])
        assert axes.get_yscale() == "log"
        assert axes.get_xscale() == ("log" if x == "seconds" else "linear")
        assert [each.get_ydata()[0] for each in axes.lines if each is not line] == [result.tol]
        assert (axes.get_xlabel().split()[0], axes.get_ylabel()) == (x, "certified gap / C")

    def test_bounds(self, ranker, axes):
        display = ConvergenceDisplay.from_estimator(ranker, x="passes", y="bounds", ax=axes)
        history = ranker.result_.history
        assert display.lines_[0].get_ydata() == pytest.approx([step.primal for step in history])
        assert display.dual_lines_[0].get_ydata() == pytest.approx([step.dual for step in history])
        solver = ranker.result_.solver_name
        assert [text.get_text() for text in axes.get_legend().texts] == [f"{solver}, primal", f"{solver}, dual"]

    def test_several_over_their_best_lower_bound(self, data, ranker, axes):
        other = Ranker(solver="one-slack").fit(data.X, data.y, qid=data.qid)
        display = ConvergenceDisplay.from_estimator({"a": ranker, "b": other}, y="excess", ax=axes)
        lowest = max(ranker.result_.dual, other.result_.dual)
        for line, result in zip(display.lines_, (ranker.result_, other.result_), strict=True):
            assert line.get_ydata() == pytest.approx([max(step.primal - lowest, 1e-12) for step in result.history])
        assert [text.get_text() for text in axes.get_legend().texts] == ["a", "b"]
        assert display.lines_[0].get_color() != display.lines_[1].get_color()

    def test_a_cross_where_a_run_ended_early(self, data, axes):
        early = Ranker(C=100.0, solver=OneSlack(max_iter=2)).fit(data.X, data.y, qid=data.qid)
        display = ConvergenceDisplay.from_estimator({"early": early}, ax=axes)
        assert list(display.crosses_) == ["early"]
        assert display.crosses_["early"].get_xdata()[-1] == display.lines_[0].get_xdata()[-1]

    def test_estimators_without_a_result(self):
        with pytest.raises(InputError, match="RankBoost has no result_"):
            ConvergenceDisplay.from_estimator(RankBoost(1).fit(*FOUR, qid=[0, 0, 1, 1]))
        with pytest.raises(NotFittedError, match="Ranker instance is not fitted"):
            ConvergenceDisplay.from_estimator(Ranker())
        with pytest.raises(InputError, match=r"results\['a'\] must be a Result"):
            ConvergenceDisplay.from_results({"a": 3})


class TestRegularizationPath:
    Cs = (0.1, 1.0, 10.0)

    def test_the_path_of_a_ranker_is_that_of_fits_from_nothing(self, data, axes):
        ranker = Ranker(tol=1e-4)
        display = RegularizationPathDisplay.from_estimator(
            ranker, data.X, data.y, data.qid, Cs=[1.0, 0.1], folds=2, ax=axes
        )
        assert display.lines_["validation"].get_xdata().tolist() == [0.1, 1.0]
        folds = list(GroupKFold(2).split(data.X, groups=data.qid))
        for k, C in enumerate(self.Cs[:2]):
            result = [
                Ranker(C=C, tol=1e-4)
                .fit(data.X[a], data.y[a], qid=data.qid[a])
                .score(data.X[b], data.y[b], qid=data.qid[b])
                for a, b in folds
            ]
            assert display.values["validation"][:, k] == pytest.approx(result, abs=5e-3)
        assert set(display.areas_) == {"train", "validation"}
        assert display.picks.sum() == 2
        assert axes.get_xscale() == "log"
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("C", "MAP")
        assert ranker.C == 1.0
        assert not hasattr(ranker, "coef_")

    def test_a_grid_search(self, axes):
        result = {
            "params": [{"C": 10.0}, {"C": 0.1}],
            "split0_test_score": np.array([0.4, 0.2]),
            "split1_test_score": np.array([0.6, 0.3]),
        }
        search = SimpleNamespace(n_splits_=2, estimator=Ranker(measure="ndcg@10"), cv_results_=result)
        display = RegularizationPathDisplay.from_search(search, ax=axes)
        assert display.lines_["validation"].get_ydata() == pytest.approx([0.25, 0.5])
        assert display.picks.tolist() == [0.0, 2.0]
        assert axes.get_ylabel() == "NDCG@10"
        search.cv_results_ = {"params": [{"C": 1.0, "tol": 0.1}]}
        with pytest.raises(InputError, match="vary only C, but varies C, tol"):
            RegularizationPathDisplay.from_search(search)
        with pytest.raises(InputError, match="search must be a fitted RankerCV, StructuralSVMCV or GridSearchCV"):
            RegularizationPathDisplay.from_search(GridSearchCV(Ranker(), {"C": [1.0]}))

    def test_a_search_over_structures(self, axes):
        search = StructuralSVMCV(Cs=[1.0, 10.0, 1000.0], cv=3).fit(*load_iris(return_X_y=True))
        display = RegularizationPathDisplay.from_search(search, ax=axes)
        assert display.lines_["validation"].get_ydata() == pytest.approx(search.mean_scores_)
        assert axes.get_ylabel() == "score"

    def test_a_choice_of_C(self, axes):
        search = SimpleNamespace(Cs_=np.array([0.1, 10.0]), scores_by_name_={"p@5": np.array([[0.2, 0.4], [0.3, 0.6]])})
        display = RegularizationPathDisplay.from_search(search, ax=axes)
        assert display.lines_["validation"].get_ydata() == pytest.approx([0.25, 0.5])
        assert axes.get_ylabel() == "P@5"

    def test_the_band_of_a_search_is_the_interval_of_its_queries(self, data, axes):
        search = RankerCV(Cs=[1.0, 10.0], cv=GroupKFold(2)).fit(data.X, data.y, qid=data.qid)
        display = RegularizationPathDisplay.from_search(search, ax=axes)
        wanted = [mean_interval(values) for values in search.scores_by_query_]
        assert search.intervals_.tolist() == [list(each) for each in wanted]
        assert display.intervals.tolist() == [list(each) for each in wanted]
        corners = display.areas_["validation"].get_paths()[0].vertices
        for C, ends in zip(search.Cs_, wanted, strict=True):
            assert set(ends) <= {y for x, y in corners.tolist() if x == C}
        crossed = RegularizationPathDisplay.from_estimator(Ranker(), data.X, data.y, data.qid, Cs=[1.0, 10.0], folds=2)
        assert crossed.intervals == pytest.approx(display.intervals, abs=1e-6)

    def test_a_measure_that_is_not_that_of_the_estimator(self, data, axes):
        given = data.X, data.y, data.qid
        settings = {"Cs": [1.0, 10.0], "folds": 2}
        display = RegularizationPathDisplay.from_estimator(Ranker(), *given, **settings, measure="p@5", ax=axes)
        wanted = RegularizationPathDisplay.from_estimator(Ranker(measure="p@5"), *given, **settings)
        assert display.values["validation"] == pytest.approx(wanted.values["validation"])
        assert axes.get_ylabel() == "P@5"
        with pytest.raises(UnknownNameError, match="unknown measure 'foo'"):
            RegularizationPathDisplay.from_estimator(Ranker(), *given, measure="foo")

    def test_discs_are_on_the_line_of_test_queries(self, axes):
        display = RegularizationPathDisplay(self.Cs, [0.1, 0.3, 0.2], test=[0.2, 0.3, 0.4], picks=[1, 3, 0]).plot(axes)
        assert display.discs_.get_offsets().tolist() == [[0.1, 0.2], [1.0, 0.3], [10.0, 0.4]]
        assert display.discs_.get_sizes().tolist() == [40.0, 120.0, 0.0]
        assert display.lines_["test"].get_color() == BLUE

    def test_settings_must_be_numbers(self, axes):
        RegularizationPathDisplay(["a", "b"], [0.1, 0.2]).plot(axes)
        assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b"]

    def test_invalid_estimators_are_errors(self, data):
        with pytest.raises(InputError, match="must be a ranker with C"):
            RegularizationPathDisplay.from_estimator(RankBoost(), data.X, data.y, data.qid)
        with pytest.raises(InputError, match="folds cannot split these queries: .* number of groups: 12"):
            RegularizationPathDisplay.from_estimator(Ranker(), data.X, data.y, data.qid, folds=13)


class TestMeans:
    def test_of_lists(self, data, axes):
        lists = {name: rank_lists(data.X[:, k], data.y, data.qid) for k, name in enumerate("ab")}
        display = MeansDisplay.from_lists(lists, measure="map", ax=axes, color="red")
        for place, (name, ranked) in enumerate(lists.items()):
            values = AP().of(ranked).values
            assert display.means[name] == pytest.approx(values.mean())
            assert display.intervals[name] == mean_interval(values)
            segment = display.dots_.lines[2][0].get_segments()[place]
            assert segment == pytest.approx(np.array([[end, place] for end in display.intervals[name]]))
        assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
        assert axes.get_xlabel() == "MAP"

    def test_a_second_display_beside_the_first(self, axes):
        for shift in (-0.2, 0.2):
            display = MeansDisplay({"a": [0.1, 0.3], "equal": [0.5, 0.5]}, method="bootstrap").plot(axes, shift=shift)
            assert display.dots_.lines[0].get_ydata().tolist() == [shift, 1.0 + shift]
        assert display.intervals["equal"] is None

    def test_a_sum_has_no_mean(self, data):
        with pytest.raises(InputError, match="is a sum over queries: choose a measure that is a mean"):
            MeansDisplay.from_lists(rank_lists(data.X[:, 0], data.y, data.qid), measure="num_ret")


class TestQueryDifferences:
    def test_of_scores(self, data, axes):
        first, second = data.X[:, 0], data.X[:, 9]
        display = QueryDifferencesDisplay.from_predictions(
            first, second, data.y, data.qid, names=("rows", "columns"), ax=axes
        )
        of_first, of_second = (AP().of(rank_lists(each, data.y, data.qid)).values for each in (first, second))
        wanted = of_first - of_second
        drawn = sum(bars.get_data().values for bars in display.bars_)
        assert drawn == pytest.approx(np.sort(wanted)[::-1])
        assert display.mean_line_.get_ydata()[0] == pytest.approx(wanted.mean())
        wins, losses = (wanted > 0).sum(), (wanted < 0).sum()
        assert axes.get_title(loc="left") == f"rows against columns: {wins} better, {losses} worse, 0 the same"
        assert axes.get_ylabel() == "difference of AP"
        low, high = mean_interval(wanted)
        band = display.band_.get_window_extent().transformed(axes.transData.inverted())
        assert (band.y0, band.y1) == pytest.approx((low, high))

    def test_equal_differences_have_no_band(self, axes):
        assert QueryDifferencesDisplay([0.5, 0.5], [0.25, 0.25]).plot(axes).band_ is None

    def test_of_rankers(self, data, ranker, axes):
        other = Ranker(loss="roc_area").fit(data.X, data.y, qid=data.qid)
        display = QueryDifferencesDisplay.from_estimators(
            ranker, other, data.X, data.y, data.qid, measure="p@5", ax=axes
        )
        assert display.names == ("Ranker", "Ranker")
        assert display.measure == "P@5"

    def test_rankers_that_were_fitted_with_qid_are_not_drawn_without(self, data, ranker):
        with pytest.raises(InputError, match=r"this Ranker was fitted with qid.*qid=np\.zeros\(len\(X\)\) if all rows"):
            QueryDifferencesDisplay.from_estimators(ranker, ranker, data.X, data.y)
        with pytest.raises(InputError, match="pass the qid of these rows"):
            InterpolatedPrecisionDisplay.from_estimator(ranker, data.X, data.y)
        with pytest.raises(InputError, match="a ranker must be an object with predict, got 3"):
            QueryDifferencesDisplay.from_estimators(ranker, 3, data.X, data.y, data.qid)

    def test_rankers_that_normalize_by_query_are_given_the_queries(self, data):
        first, second = (Ranker(C=C, normalize="query-z-score").fit(data.X, data.y, data.qid) for C in (0.1, 10.0))
        display = QueryDifferencesDisplay.from_estimators(first, second, data.X, data.y, data.qid)
        values = [
            AP().of(rank_lists(each.predict(data.X, data.qid), data.y, data.qid)).values for each in (first, second)
        ]
        assert display.differences == pytest.approx(np.sort(values[0] - values[1])[::-1])

    def test_queries_that_only_one_has_are_left_out(self, axes):
        one = rank_lists([2.0, 1.0, 2.0, 1.0], [1, 0, 0, 1], [1, 1, 2, 2])
        other = rank_lists([1.0, 2.0, 2.0, 1.0], [1, 0, 0, 1], [1, 1, 3, 3])
        assert QueryDifferencesDisplay.from_lists(one, other, ax=axes).differences.tolist() == [0.5]
        with pytest.raises(InputError, match="no query has a value of map in both rankings"):
            QueryDifferencesDisplay.from_lists(one, rank_lists([1.0, 2.0], [1, 0], [9, 9]))


class TestWeights:
    def test_of_a_ranker(self, ranker, axes):
        display = WeightsDisplay.from_estimator(ranker, [f"f{k}" for k in range(25)], top=5, ax=axes)
        order = np.argsort(-np.abs(ranker.coef_))[:5]
        assert [bar.get_width() for bar in display.bars_] == pytest.approx(ranker.coef_[order])
        assert [text.get_text() for text in axes.get_yticklabels()] == [f"f{k}" for k in order]
        assert axes.yaxis_inverted()
        assert axes.get_xlabel() == "weight"
        assert display.left_out == 20

    def test_names_of_the_fit_and_numbers(self, ranker, data, axes):
        largest = int(np.abs(ranker.coef_).argmax())
        assert WeightsDisplay.from_estimator(ranker, ax=axes).names[0] == f"feature {largest + 1}"
        named = RankBoost(3).fit(data.X, data.y, qid=data.qid).name_features([f"x{k}" for k in range(25)])
        display = WeightsDisplay.from_estimator(named, ax=axes)
        assert display.names[0].startswith("x")

    def test_estimators_without_weights(self):
        with pytest.raises(InputError, match="ranker must be a fitted ranker, .* or a model of structsvm.load"):
            WeightsDisplay.from_estimator(LinearRegression().fit([[0.0], [1.0]], [0, 1]))


class TestReliability:
    def test_of_a_calibrated_model(self, data, ranker, axes):
        with pytest.raises(InputError, match="this Ranker is not calibrated"):
            ReliabilityDisplay.from_estimator(ranker, data.X, data.y, data.qid)
        model = ranker.model_.calibrated(data.X, data.y, data.qid)
        display = ReliabilityDisplay.from_estimator(model, data.X, data.y, data.qid, ax=axes)
        # Isotonic probabilities are the shares of the queries that they were fitted on.
        np.testing.assert_allclose(display.predicted, display.observed, atol=0.03)
        assert display.counts.sum() == len(data.y)
        assert axes.get_title(loc="left") == "480 documents of 12 queries"
        assert (display.low <= display.observed).all()
        assert (display.observed <= display.high).all()

    def test_bins_and_weights_of_queries(self):
        display = ReliabilityDisplay([0.1, 0.3, 0.3, 0.3, 1.0], [1, 0, 2, 2, 1], [1, 1, 1, 1, 2], n_bins=4)
        assert display.counts.tolist() == [1, 3, 1]
        np.testing.assert_allclose(display.observed, [1.0, 2 / 3, 1.0])
        one = ReliabilityDisplay([0.2] * 5, [0, 0, 0, 0, 1], [1, 1, 1, 1, 2])
        assert one.observed.tolist() == [0.5]
        # One query has no spread.
        assert (display.low.tolist(), display.high.tolist()) == ([0.0] * 3, [1.0] * 3)

    def test_intervals_cover_the_shares_of_dependent_documents(self):
        rng, qid, covered = np.random.default_rng(0), np.repeat(np.arange(60), 20), 0
        for _ in range(200):
            share = rng.beta(1.0, 9.0, 60)[qid]
            display = ReliabilityDisplay(np.full(1200, 0.1), rng.random(1200) < share, qid)
            covered += display.low[0] <= 0.1 <= display.high[0]
        assert 180 <= covered <= 198


class TestInterpolatedPrecision:
    def test_of_rankers_as_the_measure_has_it(self, data, ranker, axes):
        display = InterpolatedPrecisionDisplay.from_estimator({"a": ranker}, data.X, data.y, data.qid, ax=axes)
        (line,) = display.lines_
        scores = ranker.predict(data.X)
        wanted = [IPrec(k / 10).mean(scores, data.y, data.qid) for k in range(11)]
        assert line.get_ydata() == pytest.approx(wanted)
        assert line.get_xdata() == pytest.approx(np.linspace(0.0, 1.0, 11))
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("recall", "interpolated precision")

    def test_many_names_are_beside_the_axes_in_the_order_of_the_lines(self, axes):
        heights = [0.5, 0.9, 0.1, 0.7, 0.3, 0.8, 0.2, 0.6, 0.4]
        InterpolatedPrecisionDisplay([0.0, 1.0], {f"{each}": [each, 0.0] for each in heights}).plot(axes)
        assert [text.get_text() for text in axes.get_legend().texts] == [str(k / 10) for k in range(9, 0, -1)]
        assert axes.get_legend().get_bbox_to_anchor().x0 >= axes.bbox.x1

    def test_queries_without_a_relevant_document_are_left_out(self, axes):
        display = InterpolatedPrecisionDisplay.from_predictions(
            [2.0, 1.0, 2.0, 1.0], [1, 0, 0, 0], [1, 1, 2, 2], levels=2, ax=axes
        )
        assert display.curves["ranking"].tolist() == [1.0, 1.0]
        with pytest.raises(InputError, match="no query of 'ranking' has a relevant document"):
            InterpolatedPrecisionDisplay.from_predictions([1.0, 2.0], [0, 0])


class TestFusionWeights:
    def test_shares(self, data, axes):
        scores, names = data.X[:, :3], ["a", "b", "c"]
        fusions = {
            "by MAP": WeightedCombSUM().fit(scores, data.y, data.qid),
            "learned": WeightedCombSUM(weights=Ranker()).fit(scores, data.y, data.qid),
        }
        display = FusionWeightsDisplay.from_estimator(fusions, names, ax=axes)
        for line, fusion in zip(display.lines_, fusions.values(), strict=True):
            assert line.get_xdata() == pytest.approx(fusion.weights_ / np.abs(fusion.weights_).sum())
            assert line.get_linestyle() == "None"
        assert [text.get_text() for text in axes.get_yticklabels()] == names
        assert [text.get_text() for text in axes.get_legend().texts] == ["by MAP", "learned"]

    def test_several_fits_have_a_mean_and_a_middle_half(self, axes):
        fits = [[3.0, 1.0], [4.0, -4.0], [0.0, 2.0]]
        display = FusionWeightsDisplay({"a": fits, "b": [1.0, 1.0]}).plot(axes)
        assert display.shares["a"] == pytest.approx([(0.75 + 0.5 + 0.0) / 3, (0.25 - 0.5 + 1.0) / 3])
        assert list(display.spread_lines_) == ["a"]
        ends = [segment[:, 0].tolist() for segment in display.spread_lines_["a"].get_segments()]
        assert ends == [[0.25, 0.625], [-0.125, 0.625]]
        heights = [line.get_ydata() for line in display.lines_]
        assert (heights[0] < [0.0, 1.0]).all()
        assert (heights[1] > [0.0, 1.0]).all()

    def test_estimators_without_weights(self):
        with pytest.raises(InputError, match="RankBoost has no weights of systems"):
            FusionWeightsDisplay.from_estimator(RankBoost(1).fit(*FOUR, qid=[0, 0, 1, 1]))
        with pytest.raises(NotFittedError, match="WeightedCombSUM instance is not fitted"):
            FusionWeightsDisplay.from_estimator(WeightedCombSUM())
