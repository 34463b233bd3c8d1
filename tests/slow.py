"""Cases of parametrized tests for `make test-all` only."""

from typing import Any

import pytest


def slow(*cases: Any) -> list[Any]:
    """Mark cases as slow; a tuple has a value for each argument."""
    return [pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.slow) for case in cases]
