"""The records of rankers' capabilities."""

from inspect import signature

import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Lasso

from structsvm.distributed import DaskRanker
from structsvm.estimators import RampRanker
from structsvm.fusion import CombSUM
from structsvm.registry import rankers
from structsvm.registry.capabilities import Capabilities, capabilities_of

CLASSES = [*map(rankers.find, rankers.built_in), RampRanker, DaskRanker, CombSUM]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_records_agree_with_the_methods(kind):
    said = capabilities_of(kind)
    assert said is kind.capabilities
    assert said.takes_qid_at_predict == ("qid" in signature(kind.predict).parameters)
    assert said.is_staged == hasattr(kind, "staged_predict")
    assert said.has_path == (hasattr(kind, "path") and kind is not RampRanker)
    assert said.has_certificate == said.has_path
    tags = kind().__sklearn_tags__()
    assert tags.input_tags.sparse == said.takes_sparse
    assert tags.target_tags.required == (kind is not CombSUM)


def test_estimators_of_others_are_judged_by_their_methods():
    assert capabilities_of(GradientBoostingRegressor()) == Capabilities(is_staged=True)
    assert capabilities_of(Lasso()) == Capabilities(), "its path is of another kind"
