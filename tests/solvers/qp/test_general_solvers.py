"""CVXOPT, OSQP, HiGHS and solvers of qpsolvers."""

import sys

import numpy as np
import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError

from structsvm.exceptions import InputError, NotInstalledError
from structsvm.registry import backends
from structsvm.solvers.qp import CVXOPT, OSQP, DualQP, HiGHS, QPSolvers
from structsvm.solvers.qp.qpsolvers import PACKAGES
from structsvm.testing import check_backend
from tests.slow import slow
from tests.solvers.qp.programs import GENERAL_BACKENDS, random_qp


@pytest.fixture(params=GENERAL_BACKENDS, ids=lambda backend: backend.name)
def backend(request):
    pytest.importorskip(request.param.package or "numpy")
    return request.param()


@pytest.mark.parametrize("seed", [0, *slow(1, 2)])
def test_passes_check_backend(backend, seed):
    check_backend(backend, random_state=seed)


def test_solves_well_conditioned_programs_itself(backend):
    for seed in range(5):
        qp = random_qp(seed, size=25, d=40, groups=1 + 2 * seed, C=10.0)
        assert not backend.solve(evolve(qp, tol=1e-6)).handed_over


def test_groups_without_cuts(backend):
    qp = DualQP(np.eye(2), np.array([1.0, 0.5]), np.array([1, 3]), np.full(5, 0.7), 1e-6)
    solution = backend.solve(qp)
    assert not solution.handed_over
    np.testing.assert_allclose(solution.a, [0.7, 0.5], atol=1e-4)


def test_prints_nothing(backend, capfd):
    """Problems without an active constraint, with one, and one on which the solver gives up."""
    for tol, size, C in ((1e-6, 1, 1e6), (1e-6, 20, 1.0), (0.0, 60, 1e5)):
        backend.solve(random_qp(0, size, 5, 1, C, tol=tol))
    assert capfd.readouterr() == ("", "")


def test_a_poor_limit_costs_time_and_not_the_optimum():
    qp = random_qp(0, size=40, d=20, groups=3, C=100.0, tol=1e-6)
    for backend in (CVXOPT(max_iter=1), OSQP(max_iter=1), HiGHS(time_limit=1e-9)):
        pytest.importorskip(backend.package)
        solution = backend.solve(qp)
        assert solution.handed_over
        assert qp.gap(solution.a) <= 1e-6


def test_the_global_options_of_cvxopt_are_left_alone():
    solvers = pytest.importorskip("cvxopt.solvers")
    before = dict(solvers.options)
    CVXOPT(reltol=1e-4, max_iter=7).solve(random_qp(0, size=10, d=5, groups=1, C=1.0, tol=1e-6))
    assert solvers.options == before


def test_highs_starts_hot_from_its_basis():
    highspy = pytest.importorskip("highspy")
    whole = random_qp(0, size=40, d=60, groups=1, C=100.0, tol=1e-7)
    first = DualQP(whole.H[:39, :39], whole.b[:39], whole.group[:39], whole.cap, 1e-7)
    start = HiGHS().solve(first)
    iterations = []
    run = highspy.Highs.run

    def counted(self):
        status = run(self)
        iterations.append(self.getInfo().qp_iteration_count)
        return status

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(highspy.Highs, "run", counted)
        HiGHS().solve(whole, start)
        HiGHS().solve(whole)
    hot, cold = iterations
    assert 4 * hot < cold


@pytest.mark.parametrize("backend", GENERAL_BACKENDS, ids=lambda backend: backend.name)
def test_a_missing_package_is_named_with_the_way_to_get_it(backend, monkeypatch):
    monkeypatch.setitem(sys.modules, backend.package, None)
    with pytest.raises(NotInstalledError, match="pip install") as caught:
        backend().solve(random_qp(0, size=3, d=3, groups=1, C=1.0))
    assert "install structsvm" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CVXOPT(reltol=0.0), r"CVXOPT\(reltol=...\) must be a positive finite number, got 0.0"),
        (lambda: CVXOPT(max_iter=0), r"CVXOPT\(max_iter=...\) must be an integer of at least 1"),
        (lambda: OSQP(eps=float("nan")), r"OSQP\(eps=...\) must be a positive finite number"),
        (lambda: OSQP(max_iter=10.5), r"OSQP\(max_iter=...\) must be an integer"),
        (lambda: OSQP(polishing=1), r"OSQP\(polishing=...\) must be True or False"),
        (lambda: HiGHS(time_limit=-1), r"HiGHS\(time_limit=...\) must be a positive finite number"),
    ],
)
def test_settings_out_of_range_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_backends_are_values():
    assert OSQP(eps=1e-6) == OSQP(eps=1e-6) != OSQP()
    assert repr(HiGHS(time_limit=2.0)) == "HiGHS(time_limit=2.0)"
    with pytest.raises(FrozenInstanceError):
        CVXOPT().reltol = 1.0


@pytest.mark.parametrize("solver", PACKAGES)
def test_solvers_of_qpsolvers_pass_check_backend(solver):
    backend = backends.create(solver)
    if backend.missing():
        pytest.skip(f"needs {backend.missing()}")
    if solver in ("copt", "gurobi", "mosek"):
        pytest.skip("needs a license")
    check_backend(backend)


@pytest.mark.parametrize("solver", [*PACKAGES, "cvxopt", "highs", "kvxopt", "osqp", "pyqpmad"])
def test_an_unknown_setting_of_a_solver_is_an_error(solver):
    if solver not in pytest.importorskip("qpsolvers").available_solvers:
        pytest.skip(f"needs {solver}")
    with pytest.raises(InputError, match=rf"^{solver} fails with the settings {{'speed': 3}}: .*speed|incompatible"):
        QPSolvers(solver, {"speed": 3}).solve(random_qp(0, 5, 3, 1, 1.0, tol=1e-6))


@pytest.mark.parametrize("value", [-1.0, "long", [1.0]])
def test_a_setting_of_highs_out_of_range_is_an_error(value):
    pytest.importorskip("qpsolvers")
    with pytest.raises(InputError, match=r"^highs fails with the settings {'time_limit': .*Correct or remove them.$"):
        QPSolvers("highs", {"time_limit": value}).solve(random_qp(0, 5, 3, 1, 1.0, tol=1e-6))


@pytest.mark.parametrize(
    ("solver", "settings"),
    [
        ("cvxopt", {"reltol": 1e-9}),
        ("highs", {"qp_regularization_value": 0.0, "verbose": False}),
        ("kvxopt", {"maxiters": 50}),
        ("piqp", {"eps_abs": 1e-9, "backend": "sparse"}),
        ("pyqpmad", {"tolerance": 1e-10}),
        ("qpalm", {"eps_abs": 1e-10}),
    ],
)
def test_a_setting_that_a_solver_has_is_accepted(solver, settings):
    if solver not in pytest.importorskip("qpsolvers").available_solvers:
        pytest.skip(f"needs {solver}")
    assert not QPSolvers(solver, settings).solve(random_qp(0, 5, 3, 1, 1.0, tol=1e-6)).handed_over


def test_a_solver_that_is_not_installed_is_an_error_with_the_installed_ones():
    pytest.importorskip("qpsolvers")
    with pytest.raises(NotInstalledError, match="finds no solver 'nil'; installed are .*daqp"):
        QPSolvers("nil").solve(random_qp(0, 5, 3, 1, 1.0, tol=1e-6))


def test_failures_other_than_of_numbers_warn_and_the_built_in_backend_solves(monkeypatch):
    qpsolvers, qp = pytest.importorskip("qpsolvers"), random_qp(0, 5, 3, 1, 1.0, tol=1e-6)

    def without_license(*_args, **_settings):
        raise RuntimeError("no license")

    monkeypatch.setattr(qpsolvers, "solve_problem", without_license)
    with pytest.warns(UserWarning, match="daqp fails: no license; active-set solves its programs"):
        solution = QPSolvers("daqp").solve(qp)
    assert solution.handed_over
    assert qp.gap(solution.a) <= 1e-6


@pytest.mark.parametrize(
    "text", ["clarabel", "quadprog", "qpsolvers(solver=kvxopt)", "daqp(settings={dual_tol:1e-10})"]
)
def test_names_of_solvers_are_read_and_written(text):
    assert backends.spell(backends.create(text)) == text
