"""Measures from text: ``map``, ``roc_area``, ``ndcg@10``, ``letor_ndcg@10``, ``p@5``, ``mrr``."""

import re
from typing import Any

import attrs

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.metrics.base import Measure
from structsvm.metrics.measures import AP, NDCG, RR, P, ROCArea

_MEASURES: dict[str, tuple[type[Measure], dict[str, Any]]] = {
    "map": (AP, {}),
    "roc_area": (ROCArea, {}),
    "ndcg": (NDCG, {}),
    "letor_ndcg": (NDCG, {"discount": "letor"}),
    "p": (P, {}),
    "mrr": (RR, {}),
}
_WITH_CUTOFF = {"ndcg": "ndcg@10", "letor_ndcg": "letor_ndcg@10", "p": "p@5"}
_FORM = re.compile(r"(?P<name>[^@()]*)(?:@(?P<k>[^@()]*))?(?:\((?P<options>[^()]*)\))?")


def measure_names() -> list[str]:
    """Return the names that `parse_measure` reads, with a cut-off as an example where there may be one."""
    return [_WITH_CUTOFF.get(name, name) for name in _MEASURES]


def parse_measure(text: str) -> Measure:
    """Return the measure of that name; ``str(measure)`` is the name again.

    Case does not matter, nor do ``-``, ``_`` and blanks. A cut-off follows ``@``. Settings that
    are not the default stand in parentheses: ``map(relevant_from=2,empty=skip)``.

    Parameters
    ----------
    text : the name.

    Raises
    ------
    UnknownNameError : no measure is called so; the message has the nearest name.
    InputError : a cut-off or setting is wrong, or lacking.

    Examples
    --------
    >>> parse_measure("NDCG@10")
    NDCG(empty='zero', k=10, discount='standard', gain='exponential')
    >>> str(parse_measure("letor-ndcg@10"))
    'letor_ndcg@10'
    """
    form = _FORM.fullmatch(text.strip())
    names = {_plain(name): name for name in _MEASURES}
    if form is None or _plain(form["name"]) not in names:
        raise UnknownNameError("measure", text, measure_names())
    name = names[_plain(form["name"])]
    measure, implied = _MEASURES[name]
    settings = implied | _settings(text, form["options"], measure)
    if form["k"] is not None:
        if name not in _WITH_CUTOFF:
            raise InputError(f"{text!r}: {name} takes no cut-off; write {name!r}")
        if not form["k"].strip().isdecimal():
            raise InputError(f"{text!r}: the cut-off after @ must be a whole number, as in {_WITH_CUTOFF[name]!r}")
        settings["k"] = int(form["k"])
    elif name == "p":
        raise InputError(f"{text!r}: precision needs a cut-off, as in {_WITH_CUTOFF[name]!r}")
    return measure(**settings)


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()


def _settings(text: str, options: str | None, measure: type[Measure]) -> dict[str, Any]:
    """Return the settings in parentheses as arguments of the class."""
    known = {setting.name for setting in attrs.fields(measure)} - set(measure.named_by)
    settings: dict[str, Any] = {}
    for option in filter(None, (options or "").split(",")):
        key, _, value = (part.strip() for part in option.partition("="))
        if key not in known or not value:
            raise InputError(
                f"{text!r}: {option.strip()!r} is no setting; there are {', '.join(sorted(known))}, "
                "written as in 'map(empty=skip)'"
            )
        try:
            settings[key] = float(value) if key == "relevant_from" else value.lower()
        except ValueError:
            raise InputError(f"{text!r}: {key} must be a number, not {value!r}") from None
    return settings
