"""Names with a cut-off and settings, as in ``ndcg@10(gain=linear)``: read, and written back.

The one grammar of losses, measures, solvers and backends: a name, ``@`` and a cut-off where there
is one (the setting ``k``, or what the class calls `behind_at`), and settings that are not the default in
parentheses, behind the cut-off or in front of it. Case does not matter in a name, nor do ``-``, ``_`` and
blanks, with one exception: ``nDCG``, in this case, is ir_measures' measure and has linear gain, as a loss too
(`structsvm.registry.aliases`). A setting that may be a list has its numbers in brackets, as in ``weights=[2,1]``.
"""

import inspect
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from types import UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np
from attrs import frozen, has

from structsvm.exceptions import InputError

_FORM = re.compile(
    r"(?P<name>[^@()]*)(?:\((?P<before>[^()]*)\)(?=@))?(?:@(?P<cutoff>[^@()]*))?(?:\((?P<options>[^()]*)\))?"
)
_MOST_DIGITS = 18
"""As many as all integers of 64 bits can have."""
_UNWRITABLE = re.compile(r"[,=()@\[\s]")
_COMMA = re.compile(r",(?![^\[\]]*\])")
"""A comma that is not in a list of numbers."""


def plain(name: str) -> str:
    """Return a name as names are compared: in lower case, without ``-``, ``_`` and blanks."""
    if not isinstance(name, str):
        raise InputError(f"a name must be text, got {name!r}")
    return re.sub(r"[-_\s]", "", name).lower()


def is_whole(text: str) -> bool:
    """Say whether a text is a whole number that is read: one of more digits counts nothing that there is."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


@frozen
class Spelling:
    """The parts of a text that names something.

    Parameters
    ----------
    text : the whole.
    name : what is in front of the cut-off and the settings; the whole text where it has another form.
    cutoff : what is behind ``@``; None without one.
    options : the settings, each as ``"key=value"``.
    """

    text: str
    name: str
    cutoff: str | None
    options: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Take a text apart."""
        form = _FORM.fullmatch(text.strip())
        if form is None:
            return cls(text, text, None, ())
        written = f"{form['before'] or ''},{form['options'] or ''}"
        options = tuple(filter(None, (option.strip() for option in _COMMA.split(written))))
        return cls(text, form["name"].strip(), form["cutoff"], options)

    def settings(self, name: str, made: type, implied: Mapping[str, Any], cutoff: float = 10) -> dict[str, Any]:
        """Return the settings that the text asks for, as arguments of a class.

        Parameters
        ----------
        name : the name as it is registered.
        made : the class.
        implied : settings that the name alone stands for.
        cutoff : cut-off that messages give as an example.

        Raises
        ------
        InputError : there is no such setting, or its value is of another kind.
        """
        parameters, kinds = _parameters(made), _kinds(made)
        settings = dict(implied)
        at = _behind_at(made)
        if self.cutoff is not None:
            if at not in parameters:
                raise InputError(f"{self.text!r}: {name} takes no cut-off; write {name!r}")
            number = self.cutoff.strip()
            if float in kinds.get(at, ()):
                settings[at] = _read(self.text, at, number, (float,))
            elif is_whole(number):
                settings[at] = int(number)
            else:
                raise InputError(f"{self.text!r}: the cut-off after @ must be a whole number, as in '{name}@{cutoff}'")
        known = sorted(set(parameters) - set(implied) - {at})
        for option in self.options:
            key, _, value = (part.strip() for part in option.partition("="))
            if key == at and at in parameters:
                shown = value if is_whole(value) else cutoff
                what = "k is the cut-off, which" if at == "k" else f"{at}"
                raise InputError(f"{self.text!r}: {what} is written after @: write '{name}@{shown}'")
            if key not in known or not value:
                shown = next((each for each in known if each != "measure"), "measure")
                there = f"there are {', '.join(known)}, written as in '{name}({shown}=...)'" if known else "it has none"
                raise InputError(f"{self.text!r}: {option!r} is no setting of {name}; {there}")
            if key in settings:
                raise InputError(f"{self.text!r}: {key} is given twice; leave one out")
            settings[key] = _read(self.text, key, value, kinds.get(key, (Any,)))
        return settings


def require_complete(name: str, made: type, settings: Mapping[str, Any], cutoff: float = 10) -> None:
    """Refuse settings that lack one which the class cannot do without.

    Raises
    ------
    InputError : one is lacking; the message says how to write it.
    """
    lacking = [
        key
        for key, parameter in _parameters(made).items()
        if parameter.default is parameter.empty and key not in settings
    ]
    at = _behind_at(made)
    if at in lacking:
        raise InputError(f"{name} needs {'a cut-off' if at == 'k' else at}, as in '{name}@{cutoff}'")
    if lacking:
        raise InputError(f"{name} needs {' and '.join(lacking)}: write '{name}({lacking[0]}=...)', or pass an object")


def spell(name: str, thing: object, leave_out: Collection[str]) -> str | None:
    """Return the text that leads to an object; None where a setting cannot be written.

    Parameters
    ----------
    name : the name that its class is registered by.
    thing : the object.
    leave_out : settings that are not written, such as those that the name alone stands for.
    """
    made: type = type(thing)
    settings = {}
    for key, parameter in _parameters(made).items():
        value = getattr(thing, key, None)
        if key in leave_out or value is parameter.default or (np.isscalar(value) and value == parameter.default):
            continue
        written = _written(value)
        if written is None:
            return None
        settings[key] = written
    return joined(name, settings, _behind_at(made))


def joined(name: str, settings: Mapping[str, Any], at: str = "k") -> str:
    """Return a name with one setting, the cut-off, behind ``@``, where it is there, and the others in parentheses."""
    cutoff = f"@{settings[at]}" if at in settings else ""
    options = ",".join(f"{key}={value}" for key, value in settings.items() if key != at)
    return name + cutoff + (f"({options})" if options else "")


def _behind_at(made: type) -> str:
    """Return the setting that is written behind ``@``: the attribute `behind_at` of the class, or the cut-off k."""
    return str(getattr(made, "behind_at", "k"))


@cache
def _parameters(made: type) -> dict[str, inspect.Parameter]:
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {key: each for key, each in inspect.signature(made).parameters.items() if each.kind in named}


@cache
def _kinds(made: type) -> dict[str, tuple[Any, ...]]:
    """Return the types that each setting of a class may have, as far as its annotations say."""
    hints = get_type_hints(made if has(made) else made.__init__)  # type: ignore[misc]
    return {key: get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,) for key, hint in hints.items()}


def _read(text: str, key: str, value: str, kinds: tuple[Any, ...]) -> Any:
    """Return the value of a setting of these types; a number, where it looks like one, if they are not known."""
    for kind in kinds:
        if get_origin(kind) is Literal:
            return next((choice for choice in get_args(kind) if str(choice).lower() == value.lower()), value)
    if bool in kinds and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if str in kinds:
        return value if kinds == (str,) else _numbers_of(value) or value
    number = float if float in kinds else int if int in kinds else None
    if number is not None:
        try:
            return number(value)
        except ValueError:
            what = "a number" if number is float else "a whole number"
            raise InputError(f"{text!r}: {key} must be {what}, not {value!r}") from None
    if bool in kinds:
        raise InputError(f"{text!r}: {key} must be true or false, not {value!r}")
    if Any not in kinds:
        raise InputError(f"{text!r}: {key} cannot be written in a name: pass an object")
    for guess in (int, float):
        with suppress(ValueError):
            return guess(value)
    return value


def _numbers_of(value: str) -> list[float] | None:
    """Return the numbers of a list such as ``[2,1]``; None where it is something else."""
    if value.startswith("[") and value.endswith("]"):
        with suppress(ValueError):
            return [float(each) for each in value[1:-1].split(",")]
    return None


def _written(value: Any) -> str | None:
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, int | float | np.number):
        return f"{value!s}".removesuffix(".0")
    return value if isinstance(value, str) and value and not _UNWRITABLE.search(value) else None
