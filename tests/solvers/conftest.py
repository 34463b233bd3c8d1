"""Backends to test with: all that are installed."""

from importlib.util import find_spec

import pytest

from structsvm.registry.built_in import DEFAULT_BACKENDS

needs_cvxopt = pytest.mark.skipif(find_spec("cvxopt") is None, reason="needs cvxopt")
BACKENDS = [pytest.param(name, marks=needs_cvxopt if name == "cvxopt" else ()) for name in DEFAULT_BACKENDS]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


CUTTING_PLANE = ["one-slack", "n-slack"]


@pytest.fixture(params=CUTTING_PLANE)
def cutting_plane(request: pytest.FixtureRequest) -> str:
    """A solver with a QP backend."""
    return str(request.param)


@pytest.fixture(params=[*CUTTING_PLANE, "frank-wolfe"])
def solver_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)
