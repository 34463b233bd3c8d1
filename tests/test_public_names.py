"""Every public name with parameters is called with useless arguments.

The call must return, or raise an error of `structsvm.exceptions`: no TypeError, IndexError or AttributeError, and no
error of numba.
"""

import contextlib
import inspect
import io
import re

import pytest

from structsvm.exceptions import StructSVMError
from tests.docs.reference import PACKAGES
from tests.public_calls import BAD, MADE, UNCHECKED, calls, public_names

pytestmark = pytest.mark.filterwarnings("ignore")

CALLED_ELSEWHERE = {"distributed", "protocols.experiment.report"}
"""Packages whose public names other tests call."""

each_package = pytest.mark.parametrize("package", sorted({*PACKAGES} - CALLED_ELSEWHERE))


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Work in a folder in which a text that is taken for a path does no harm."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(("text", "eight NaN"), id="some"),
        pytest.param(tuple(BAD), id="all", marks=pytest.mark.slow),
    ],
)
@each_package
def test_useless_arguments_are_errors_of_the_package(package: str, kinds: tuple[str, ...]):
    faults = []
    for call in calls(package):
        for argument in call.parameters if call.name not in UNCHECKED else ():
            for name in kinds if f"{call.name}.{argument}" not in UNCHECKED else ():
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        call.function(**{argument: BAD[name]})
                except StructSVMError:
                    pass
                except Exception as error:
                    faults.append(f"{call.name}.{argument}={name}: {type(error).__name__}: {str(error)[:200]}")
    assert not faults, "\n".join(faults)


@each_package
def test_every_public_name_is_called(package: str):
    called = {word for call in calls(package) for word in re.findall(r"\w+", call.name)}
    made = {name for name, value in public_names(package).items() if inspect.isabstract(value) or not callable(value)}
    missing = {*public_names(package)} - called - made - MADE
    assert not missing, "call these in the examples of their docstrings, or in tests/public_calls.py"
