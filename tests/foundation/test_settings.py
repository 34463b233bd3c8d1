"""Valid values of settings, and the names in the messages about invalid ones."""

import attrs
import numpy as np
import pytest
import scipy.sparse as sp

from structsvm.exceptions import InputError
from structsvm.foundation import settings


@pytest.mark.parametrize(
    ("value", "smallest", "fits"),
    [(1, 1, True), (np.int32(3), 1, True), (0, 1, False), (-5, -9, True)]
    + [(value, 0, False) for value in (True, np.True_, 1.0, np.float64(1.0), "1", None)],
)
def test_integers(value, smallest, fits):
    assert settings.is_integer(value, smallest) == fits
    if not fits:
        with pytest.raises(InputError, match=rf"^k must be an integer of at least {smallest}, got "):
            settings.require_integer("k", value, smallest)


@pytest.mark.parametrize(
    ("value", "bounds", "must"),
    [
        (0.0, {"above": 0.0}, "a positive finite number"),
        (np.inf, {"above": 0.0}, "a positive finite number"),
        (np.nan, {}, "a finite number"),
        (True, {}, "a finite number"),
        ("1", {}, "a finite number"),
        (1, {"above": 1.0}, "a finite number above 1"),
        (-0.5, {"at_least": 0.0}, "a finite number of at least 0"),
        ("x", {"above": 0.0, "optional": True}, "a positive finite number or None"),
        (None, {"above": 0.0}, "a positive finite number"),
    ],
)
def test_numbers_that_are_refused(value, bounds, must):
    with pytest.raises(InputError, match=f"^C must be {must}, got {value!r}$"):
        settings.require_number("C", value, **bounds)


def test_what_is_accepted():
    settings.require_number("C", np.float32(0.5), above=0.0, at_least=0.5)
    settings.require_number("C", 3, above=2.0)
    settings.require_number("C", None, optional=True)
    settings.require_integer("k", None, 1, optional=True)
    settings.require_choice("how", None, ["a", None])
    settings.require_switch("on", np.False_)


def test_choices_and_switches():
    with pytest.raises(InputError, match="^how must be 'a' or None, got 'b'$"):
        settings.require_choice("how", "b", ["a", None])
    with pytest.raises(InputError, match=r"^how must be 'a', got \[\]$"):
        settings.require_choice("how", [], ["a"])
    with pytest.raises(InputError, match="^on must be True or False, got 1$"):
        settings.require_switch("on", 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"k": 0}, r"Set\(k=...\) must be an integer of at least 1, got 0"),
        ({"C": -1.0}, r"Set\(C=...\) must be a positive finite number, got -1.0"),
        ({"low": np.inf}, r"Set\(low=...\) must be a finite number, got inf"),
        ({"how": "c"}, r"Set\(how=...\) must be 'a' or 'b', got 'c'"),
        ({"on": None}, r"Set\(on=...\) must be True or False, got None"),
    ],
)
def test_validators_name_class_and_field(arguments, said):
    @attrs.frozen
    class Set:
        k: int = attrs.field(default=1, validator=settings.at_least(1))
        C: float = attrs.field(default=1.0, validator=settings.positive)
        low: float = attrs.field(default=0.0, validator=settings.finite)
        how: str = attrs.field(default="a", validator=settings.one_of("a", "b"))
        on: bool = attrs.field(default=True, validator=settings.truth_value)

    assert Set() == Set()
    with pytest.raises(InputError, match=f"^{said}$"):
        Set(**arguments)


@pytest.mark.parametrize("value", [sp.bsr_array(np.eye(2)), np.broadcast_to(1.0, 10**12)], ids=["sparse", "too long"])
def test_values_that_cannot_be_listed_are_an_error(value):
    with pytest.raises(InputError, match="names must be strings, got"):
        settings.as_list("names", value, "strings")
