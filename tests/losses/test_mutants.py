"""`check_loss` finds mistakes in the code of every shipped argmax."""

from typing import Any

import pytest

from tests.losses.cases import MUTANTS, cases_of
from tests.losses.mutants import Mutant, is_found, sample
from tests.slow import slow

CASES_OF_TARGETS = [
    pytest.param(case.loss, case.outputs, target, id=f"{case.loss!r}, {target}")
    for case in cases_of(MUTANTS)
    for target in case.targets
]


@pytest.mark.parametrize("number", [5, *slow(8)])
@pytest.mark.parametrize(("loss", "examples", "target"), CASES_OF_TARGETS)
def test_mistakes_in_an_argmax_are_found(loss: Any, examples: Any, target: str, number: int) -> None:
    """Some mutants change nothing, such as the size of a buffer, so two in five may survive."""
    mutants = sample(loss, target, 8)[:number]
    survivors = [mutant.title for mutant in mutants if not is_found(loss, mutant, examples)]
    assert len(survivors) <= 0.4 * len(mutants), "\n".join(survivors)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "examples", "target"), CASES_OF_TARGETS)
def test_the_same_code_without_a_mistake_is_accepted(loss: Any, examples: Any, target: str) -> None:
    home = sample(loss, target, 1)[0].module
    assert not is_found(loss, Mutant(target, home, None), examples)
