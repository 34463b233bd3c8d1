"""Arguments of LightGBM, XGBoost and CatBoost are errors that name the argument for queries."""

import inspect
import pickle

import numpy as np
import pytest

from structsvm import Ranker
from structsvm.estimators import RampRanker
from structsvm.exceptions import InputTypeError
from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, WeightSearch

X = np.array([[0.0], [1.0], [2.0], [0.5]])
y = np.array([0.0, 1.0, 1.0, 0.0])
RANKERS = [Ranker, RampRanker, RankSVM, RankBoost, RankNet, LambdaMART, MaximumEntropy, WeightSearch]


@pytest.mark.parametrize("ranker", RANKERS)
def test_group_sizes(ranker):
    wanted = rf"^{ranker.__name__}.fit has no group: .*qid=np.repeat\(np.arange\(len\(group\)\), group\)$"
    with pytest.raises(InputTypeError, match=wanted):
        ranker().fit(X, y, group=[2, 2])
    assert list(inspect.signature(ranker.fit).parameters)[:4] == ["self", "X", "y", "qid"]


def test_suggested_calls_work():
    group = [2, 2]
    qid = np.repeat(np.arange(len(group)), group)
    ranker = Ranker().fit(X, y, qid=qid)
    assert ranker.score(X, y, qid=qid) == 1.0
    with pytest.raises(InputTypeError, match="Ranker.score has no group_id: the query id of each row is qid here"):
        ranker.score(X, y, group_id=qid)
    with pytest.raises(InputTypeError, match="Ranker.path has no groups"):
        ranker.path(X, y, groups=qid)
    assert pickle.loads(pickle.dumps(ranker)).predict(X).tolist() == ranker.predict(X).tolist()


def test_of_several_words_the_first_that_is_known_elsewhere_is_told():
    several = dict.fromkeys(("one", "two", "group", "eval_set", "three"), 1)
    with pytest.raises(InputTypeError, match=r"^Ranker\.fit has no group: "):
        Ranker().fit(X, y, **several)
    with pytest.raises(TypeError, match="argument 'one'$"):
        Ranker().fit(X, y, one=1, two=2)


@pytest.mark.parametrize("ranker", RANKERS)
def test_words_that_predict_does_not_take_are_of_the_class_that_is_used(ranker):
    fitted = ranker().fit(X, y, qid=[0, 0, 1, 1])
    takes = "qid" in inspect.signature(ranker.predict).parameters
    with pytest.raises(InputTypeError, match=rf"^{ranker.__name__}\.predict has no group: ") as caught:
        fitted.predict(X, group=[2, 2])
    assert ("qid=np.repeat" in str(caught.value)) is takes
    with pytest.raises(TypeError, match=rf"^{ranker.__name__}\.predict\(\) got an unexpected keyword argument 'rows'$"):
        fitted.predict(X, rows=3)


@pytest.mark.parametrize(
    ("ranker", "way_out"), [(Ranker, "fit a path over C"), (RankBoost, r"validation=\(X, y, qid\)")]
)
def test_data_that_are_held_out(ranker, way_out):
    with pytest.raises(InputTypeError, match=rf"^{ranker.__name__}\.fit has no eval_set: .*{way_out}"):
        ranker().fit(X, y, eval_set=[(X, y)])


@pytest.mark.parametrize("word", ["init_score", "base_margin", "baseline"])
def test_scores_to_begin_with(word):
    with pytest.raises(InputTypeError, match=rf"^Ranker\.fit has no {word}: .*as one more column of X"):
        Ranker().fit(X, y, **{word: [0, 0, 0, 0]})


def test_a_ranker_that_takes_the_word_is_given_it():
    class Grouped(RankSVM):
        def fit(self, X, y, group):
            return super().fit(X, y, qid=np.repeat(np.arange(len(group)), group))

    assert Grouped().fit(X, y, group=[2, 2]).n_features_in_ == 1
