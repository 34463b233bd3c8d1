"""Every public name with parameters is called with useless arguments.

The call must return, or raise an error of `structsvm.exceptions`: no TypeError, IndexError or AttributeError, and no
error of numba.
"""

import importlib

import pytest

from structsvm.exceptions import StructSVMError
from tests.docs.reference import PACKAGES
from tests.public_calls import BAD, GROUPS, NOT_CALLED, covered

pytestmark = pytest.mark.filterwarnings("ignore")

CALLED_ELSEWHERE = {"distributed", "estimators", "protocols.experiment.report", "text.functions"}
"""Packages whose public names other tests call."""

PARTS = sorted({*PACKAGES} - CALLED_ELSEWHERE)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Work in a folder in which a text that is taken for a path does no harm."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("group", GROUPS)
def test_what_cannot_be_used_is_refused_in_our_words(group: str):
    said = []
    for call in GROUPS[group]():
        for argument in call.arguments:
            for name, bad in BAD.items():
                try:
                    call.function(**{**call.arguments, argument: bad})
                except StructSVMError:
                    pass
                except Exception as error:
                    said.append(f"{call.name}({argument}={name}): {type(error).__name__}: {str(error)[:200]}")
    assert not said, "\n".join(said)


@pytest.mark.parametrize("group", GROUPS)
def test_what_can_be_used_is(group: str):
    """A call that is refused as it stands would show nothing."""
    for call in GROUPS[group]():
        if call.right:
            call.function(**call.arguments)


@pytest.mark.parametrize("part", PARTS)
def test_every_public_name_is_called(part: str):
    names = importlib.import_module(f"structsvm.{part}".rstrip(".")).__all__
    called = covered()
    missing = [name for name in names if name not in called and f"{part}.{name}".strip(".") not in NOT_CALLED]
    assert not missing, "add a right call of these to tests/public_calls.py, or say there why not"


def test_reasons_are_of_names_that_there_are():
    for path in NOT_CALLED:
        part, _, name = path.rpartition(".")
        assert name in importlib.import_module(f"structsvm.{part}".rstrip(".")).__all__, path
