"""Parse and write names with a cut-off and settings, such as ``ndcg@10(gain=linear)``.

The grammar: a name, ``@`` and the setting in the class's attribute `behind_at` (``k``, the cut-off, for losses and
measures), and other settings in parentheses, before or after the cut-off. Names ignore case, ``-``, ``_`` and blanks;
only ``nDCG`` in this case is the measure of ir_measures with linear gain (`structsvm.registry.spelling`). A value is a
number, ``true``, ``false``, ``none``, a text, the name of an object with its own settings, a list as in
``weights=[2,1]``, or pairs as in ``params={max_depth:4}``.
"""

import inspect
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from attrs import evolve, field, frozen, has

from structsvm.exceptions import InputError, brief

N = TypeVar("N", int, float)

_NAME = re.compile(r"[^@()]*")
_OPEN, _CLOSE = "([{", ")]}"
_MOST_DIGITS = 18
"""Digits that always fit a 64-bit integer."""
_UNWRITABLE = re.compile(r"[,=()@\[\s]")


def name_key(name: str) -> str:
    """Return a name in the form for comparison: lower case, without ``-``, ``_`` and blanks."""
    if not isinstance(name, str):
        raise InputError(f"a name must be text, got {brief(name)}")
    return re.sub(r"[-_\s]", "", name).lower()


def is_whole(text: str) -> bool:
    """Return whether a text is a whole number with at most `_MOST_DIGITS` digits from 0 to 9."""
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def parse_number(text: str, kind: type[N]) -> N:
    """Parse an int or float; raise ValueError also for ``1_0`` and for digits other than 0 to 9, unlike Python."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return kind(text)


@frozen
class Spelling:
    """The parts of a name; ``name`` is the whole text if it violates the grammar, ``cutoff`` is None without ``@``."""

    text: str
    name: str
    cutoff: str | None
    options: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        name, rest = _begin(text.strip())
        before, rest = _in_parentheses(rest)
        cutoff = None
        if rest.startswith("@"):
            cutoff, rest = _begin(rest[1:])
            behind, rest = _in_parentheses(rest)
        else:
            before, behind = "", before
        if rest:
            return cls(text, text, None, ())
        options = (option.strip() for part in (before, behind) for option in split_outside(part, ","))
        return cls(text, name.strip(), cutoff, tuple(filter(None, options)))

    def gives(self, setting: str) -> bool:
        """Return True if the parentheses have this setting."""
        return any(option.partition("=")[0].strip() == setting for option in self.options)

    def settings(self, name: str, class_: type, implied: Mapping[str, Any], cutoff: float = 10) -> dict[str, Any]:
        """Return the settings of the text as arguments of a class; ``name`` and ``implied`` are as registered."""
        parameters, kinds = parameters_of(class_), _kinds(class_)
        settings = dict(implied)
        at = _behind_at(class_)
        if self.cutoff is not None:
            if at is None:
                raise InputError(f"{self.text!r}: {name} takes no cut-off; write {name!r}")
            number = self.cutoff.strip()
            if float in kinds.get(at, ()):
                settings[at] = _read(self.text, at, number, (float,))
            elif is_whole(number):
                settings[at] = int(number)
            else:
                raise InputError(f"{self.text!r}: the cut-off after @ must be a whole number, as in '{name}@{cutoff}'")
        names = sorted(set(parameters) - set(implied) - {at})
        for option in self.options:
            key, _, value = (part.strip() for part in option.partition("="))
            if key == at:
                shown = value if is_whole(value) else cutoff
                what = "k is the cut-off, which" if at == "k" else f"{at}"
                raise InputError(f"{self.text!r}: {what} is written after @: write '{name}@{shown}'")
            if key not in names or not value:
                shown = next((option for option in names if option != "measure"), "measure")
                there = f"there are {', '.join(names)}, written as in '{name}({shown}=...)'" if names else "it has none"
                raise InputError(f"{self.text!r}: {option!r} is not a setting of {name}; {there}")
            if key in settings:
                raise InputError(f"{self.text!r}: {key} is given twice; leave one out")
            settings[key] = _read(self.text, key, value, kinds.get(key, (Any,)))
        return settings


def require_complete(name: str, class_: type, settings: Mapping[str, Any], cutoff: float = 10) -> None:
    """Raise InputError if a required setting is missing."""
    lacking = [
        key
        for key, parameter in parameters_of(class_).items()
        if parameter.default is parameter.empty and key not in settings
    ]
    at = _behind_at(class_)
    if at in lacking:
        raise InputError(f"{name} needs {'a cut-off' if at == 'k' else at}, as in '{name}@{cutoff}'")
    if lacking:
        raise InputError(f"{name} needs {' and '.join(lacking)}: write '{name}({lacking[0]}=...)', or pass an object")


def spell(name: str, thing: object, leave_out: Collection[str]) -> str | None:
    """Return the text for an object, without the settings in ``leave_out``; None if a setting cannot be written."""
    class_: type = type(thing)
    settings = {}
    for key, parameter in parameters_of(class_).items():
        value = getattr(thing, key, None)
        if key in leave_out or value is parameter.default or (np.isscalar(value) and value == parameter.default):
            continue
        written = _written(value)
        if written is None:
            return None
        settings[key] = written
    return joined(name, settings, _behind_at(class_))


def joined(name: str, settings: Mapping[str, Any], at: str | None = "k") -> str:
    """Return a name with the setting ``at`` behind ``@``, and all other settings in parentheses."""
    cutoff = "" if at is None or at not in settings else f"@{settings[at]}"
    options = ",".join(f"{key}={value}" for key, value in settings.items() if key != at)
    return name + cutoff + (f"({options})" if options else "")


def split_outside(text: str, separator: str) -> list[str]:
    """Split a text at separators outside of parentheses, brackets and braces."""
    parts, depth, begin = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == separator and depth <= 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [*parts, text[begin:]]


def _begin(text: str) -> tuple[str, str]:
    """Split a text before the first ``@`` or parenthesis."""
    end = _NAME.match(text).end()  # type: ignore[union-attr]
    return text[:end], text[end:]


def _in_parentheses(text: str) -> tuple[str, str]:
    """Split off the content of leading parentheses; "" and the whole text without parentheses."""
    depth = 0
    for place, character in enumerate(text if text.startswith("(") else ""):
        depth += (character in _OPEN) - (character in _CLOSE)
        if not depth:
            return text[1:place], text[place + 1 :]
    return "", text


def _behind_at(class_: type) -> str | None:
    """Return the setting that follows ``@``: the attribute `behind_at` of the class, if it is a setting."""
    at: str | None = getattr(class_, "behind_at", None)
    return at if at in parameters_of(class_) else None


@cache
def parameters_of(class_: type[Any]) -> dict[str, inspect.Parameter]:
    """Return the settings of a class by name."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {key: item for key, item in inspect.signature(class_).parameters.items() if item.kind in named}


@cache
def _kinds(class_: type) -> dict[str, tuple[Any, ...]]:
    """Return the types of each setting, from the annotations of the class."""
    hints = get_type_hints(class_ if has(class_) else class_.__init__)  # type: ignore[misc]
    return {key: get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,) for key, hint in hints.items()}


def _read(text: str, key: str, value: str, kinds: tuple[Any, ...]) -> Any:
    """Parse the value of a setting with these types; infer its type if they are not known."""
    for kind in kinds:
        if get_origin(kind) is Literal:
            return next((choice for choice in get_args(kind) if str(choice).lower() == value.lower()), value)
    if NoneType in kinds and value.lower() == "none":
        return None
    if bool in kinds and value.lower() in ("true", "false"):
        return value.lower() == "true"
    composite = not {bool, int, float, str, NoneType}.issuperset(kinds)
    if composite and value[:1] + value[-1:] in ("[]", "{}"):
        return _looks_like(value)
    number = float if float in kinds else int if int in kinds else None
    if str in kinds:
        with suppress(ValueError):
            return value if number is None else parse_number(value, number)
        return value
    if number is not None:
        try:
            return parse_number(value, number)
        except ValueError:
            what = "a number" if number is float else "a whole number"
            raise InputError(f"{text!r}: {key} must be {what}, not {value!r}") from None
    if bool in kinds:
        raise InputError(f"{text!r}: {key} must be true or false, not {value!r}")
    if Any in kinds:
        return _looks_like(value)
    if any(get_origin(kind) in (list, tuple) for kind in kinds):
        raise InputError(f"{text!r}: {key} must be a list, as in [a,b], not {value!r}")
    if any(get_origin(kind) is dict for kind in kinds):
        raise InputError(f"{text!r}: {key} must be names and values, as in {{a:1,b:2}}, not {value!r}")
    raise InputError(f"{text!r}: {key} cannot be written in a name: pass an object")


def _looks_like(value: str) -> Any:
    """Infer a number, list, dict, truth value, None or text from a text."""
    value = value.strip()
    inside = [part for part in split_outside(value[1:-1], ",") if part.strip()]
    if value[:1] + value[-1:] == "[]":
        return [_looks_like(part) for part in inside]
    pairs = [split_outside(part, ":") for part in inside]
    if value[:1] + value[-1:] == "{}" and all(len(pair) == 2 for pair in pairs):
        return {_looks_like(key): _looks_like(item) for key, item in pairs}
    for guess in (int, float):
        with suppress(ValueError):
            return parse_number(value, guess)
    return {"true": True, "false": False, "none": None}.get(value.lower(), value)


def _written(value: Any) -> str | None:
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, int | float | np.number):
        return f"{value!s}".removesuffix(".0")
    if isinstance(value, dict) and value:
        pairs = {_written(key): _written(item) for key, item in value.items()}
        return None if None in (*pairs, *pairs.values()) else f"{{{','.join(map(':'.join, pairs.items()))}}}"  # type: ignore[arg-type]
    return value if isinstance(value, str) and value and not _UNWRITABLE.search(value) else None


_NUMBERED = re.compile(r"(?P<name>.+?)[_.](?P<number>\d*\.?\d+)")
"""trec_eval writes ``P_5``, and on its command line ``P.5``; a level of recall may be ``.10``."""


@frozen
class Aliases:
    """Translations of names and settings of other programs to the names of this package.

    - ``names``: name to our name with settings. Keys are case-sensitive or of `name_key`; ``name(setting)`` matches
      only this setting.
    - ``numbered``: `name_key` of names followed by ``_`` or ``.`` and a number, to the setting of the number, or ``@``.
    - ``settings``: setting to our setting.
    - ``values``: for each of our settings, value to our value.
    """

    names: Mapping[str, str] = field(factory=dict)
    numbered: Mapping[str, str] = field(factory=dict)
    settings: Mapping[str, str] = field(factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(factory=dict)

    def translated(self, spelling: Spelling) -> Spelling:
        """Return a spelling with our names; its `text` stays as written."""
        name, cutoff, options = spelling.name, spelling.cutoff, [self._translated(text) for text in spelling.options]
        numbered = _NUMBERED.fullmatch(name)
        setting = self.numbered.get(name_key(numbered["name"])) if numbered else None
        if numbered and setting and (setting != "@" or cutoff is None):
            name = numbered["name"]
            if setting == "@":
                cutoff = numbered["number"]
            else:
                options.append(f"{setting}={numbered['number']}")
        bare = name_key(name.rstrip("."))
        if not numbered and cutoff is None and (bare.endswith("cut") or (name[-1:] in "_." and bare in self.numbered)):
            raise InputError(f"{spelling.text!r} lacks its number: write it as in {name.rstrip('_.')}_10")
        present = {option.partition("=")[0].strip() for option in options}
        keys = (name, *(f"{name_key(name)}({key})" for key in sorted(present)), name_key(name))
        here = next((self.names[key] for key in keys if key in self.names), None)
        if here is not None:
            spelled = Spelling.of(here)
            name = spelled.name
            options = [*(option for option in spelled.options if option.partition("=")[0] not in present), *options]
        return evolve(spelling, name=name, cutoff=cutoff, options=tuple(options))

    def _translated(self, option: str) -> str:
        key, equals, value = (part.strip() for part in option.partition("="))
        here = self.settings.get(key, key)
        if not equals or here not in {*self.settings.values(), *self.values}:
            return option
        bare = value.strip("'\"")
        return f"{here}={self.values.get(here, {}).get(bare, bare)}"


_NAMES = {
    "ap": "map",
    "averageprecision": "map",
    "precision": "p",
    "r": "recall",
    "rr": "mrr",
    "reciprank": "mrr",
    "reciprocalrank": "mrr",
    "auc": "roc_area",
    "rocauc": "roc_area",
    "nDCG": "ndcg(gain=linear)",
    "ndcgcut": "ndcg(gain=linear)",
}
_NUMBERED_NAMES = {"p": "@", "recall": "@", "ndcgcut": "@"}

OF_MEASURES = Aliases(
    names={
        **_NAMES,
        "mapcut": "map",
        "iprecatrecall": "iprec",
        "setr": "set_recall",
        "setap": "set_map",
        "gmap": "gm_map",
        "swappedpairs": "ordered_pairs",
        "prbep": "rprec",
        "numret(relevant_from)": "num_rel_ret",
    },
    numbered={**_NUMBERED_NAMES, "success": "@", "mapcut": "@", "iprecatrecall": "@", "setf": "recall_weight"},
    settings={"rel": "relevant_from", "dcg": "gain", "beta": "recall_weight"},
    values={"gain": {"log2": "linear", "exp-log2": "exponential"}},
)
"""Names of trec_eval and ir_measures, and some of scikit-learn; ``nDCG`` of ir_measures has linear gain."""

OF_LOSSES = Aliases(names=_NAMES, numbered=_NUMBERED_NAMES)
"""The names of measures that are losses too, with the same settings."""

OF_FUSIONS = Aliases(names={"reciprocalrankfusion": "rrf", "inversesquarerank": "isr", "bordacount": "borda"})
"""Class names of fusion methods that differ from their registered names."""

OF_MODELS = Aliases(names={"rrf": "ReciprocalRankFusion", "isr": "InverseSquareRank", "borda": "BordaCount"})
"""Models that are methods of fusion, by the names of these methods."""
