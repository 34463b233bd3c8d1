"""Parameters that make no sense are refused before anything is trained, by their names."""

import inspect

import numpy as np
import pytest

from structsvm import Problem, Ranker, RankerCV, StructuralSVM, StructuralSVMCV
from structsvm.distributed import DaskRanker
from structsvm.estimators import RampRanker
from structsvm.exceptions import InputError
from structsvm.fusion import CombSUM, Condorcet
from structsvm.losses import AveragePrecision
from structsvm.metrics import AP, NDCG
from structsvm.solvers import OneSlack
from structsvm.solvers.qp import HiGHS
from tests.small_problems import Kronecker

BOTH = [
    ({"C": 0.0}, "C must be a positive finite number, got 0.0"),
    ({"tol": -1.0}, r"\(tol=...\) must be a positive finite number or None, got -1.0"),
    ({"solver": "one slak"}, "Did you mean 'one-slack'?"),
    ({"solver": HiGHS()}, r"is not a valid solver, but a QP backend, for backend=... of a solver"),
    ({"solver": OneSlack}, r"OneSlack is a class: pass an object, OneSlack\(\)"),
    ({"max_iter": 0}, r"\(max_iter=...\) must be an integer of at least 1"),
    ({"fit_intercept": "no"}, r"\(fit_intercept=...\) must be True or False, got 'no'"),
    ({"warm_start": None}, r"\(warm_start=...\) must be True or False, got None"),
    ({"tol": np.nan}, r"\(tol=...\) must be a positive finite number or None, got nan"),
    ({"intercept_scaling": True}, r"\(intercept_scaling=...\) must be a positive finite number, got True"),
]
OF_RANKERS = [
    ({"measure": 3}, r"3 is not a valid measure: pass a name \(map, .*\) or an object"),
    ({"measure": NDCG}, "NDCG is a class: pass an object"),
    ({"measure": "ndgc@10"}, "unknown measure 'ndgc@10'. Did you mean 'ndcg@10'?"),
    ({"loss": Kronecker()}, r"Ranker\(loss=...\) must be a ScoreLoss, .* Kronecker is a Loss .*: use StructuralSVM"),
    ({"loss": "mpa"}, "unknown loss 'mpa'. Did you mean 'map'?"),
    ({"loss": AveragePrecision}, r"AveragePrecision is a class: pass an object, AveragePrecision\(\)"),
    ({"loss": "map@5"}, "'map@5': map takes no cut-off; write 'map'"),
    ({"loss": AP()}, r"AP\(.*\) is not a valid loss"),
    ({"loss": "multiclass"}, "'multiclass' does not give each row one score, .*: use StructuralSVM"),
]


@pytest.fixture(autouse=True)
def nothing_is_trained(monkeypatch):
    monkeypatch.setattr("structsvm.training.objective.Objective.minimize", lambda *args: pytest.fail("trained"))


@pytest.mark.parametrize(("parameters", "message"), BOTH + OF_RANKERS)
def test_a_ranker_looks_at_its_parameters_first(queries, parameters, message):
    X, y, qid = queries
    with pytest.raises(InputError, match=message):
        Ranker(**parameters).fit(X, y, qid=qid)


@pytest.mark.parametrize(("parameters", "message"), BOTH)
def test_a_structural_svm_looks_at_its_parameters_first(queries, parameters, message):
    X, y, _ = queries
    with pytest.raises(InputError, match=message):
        StructuralSVM(**parameters).fit(X, y)


def test_a_solver_as_backend_is_an_error():
    with pytest.raises(InputError, match="is not a valid QP backend, but a solver, for solver="):
        OneSlack(backend=OneSlack()).solve(Problem.from_queries(np.eye(2), [0, 1], [1, 1]))


@pytest.mark.parametrize(
    "function", [Ranker, Ranker.fit, Ranker.path, Ranker.score, StructuralSVM, StructuralSVM.fit, StructuralSVM.score]
)
def test_signatures_can_be_read(function):
    assert "Union" not in str(inspect.signature(function))
    assert all(len(str(parameter)) < 80 for parameter in inspect.signature(function).parameters.values())


@pytest.mark.parametrize(("kind", "own"), [(RampRanker, set()), (DaskRanker, {"shuffle", "client", "timeout"})])
def test_rankers_of_other_kinds_take_what_ranker_takes(kind, own):
    """scikit-learn reads parameters from signatures."""
    parameters, of_ranker = (dict(inspect.signature(each).parameters) for each in (kind, Ranker))
    assert parameters.keys() - of_ranker.keys() == own
    assert [parameters[name] for name in of_ranker] == list(of_ranker.values())
    given = {name: object() for name in parameters}
    assert vars(kind(**given)) == given


@pytest.mark.parametrize("estimator", [Ranker, RankerCV, RampRanker, StructuralSVMCV, CombSUM, Condorcet])
def test_messages_of_python_name_the_class(estimator):
    with pytest.raises(TypeError, match=rf"^{estimator.__name__}\.__init__\(\) got an unexpected"):
        estimator(unknown=1)
