"""Documents and topics: an id, and text by field."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Attribute, field, frozen

from structsvm.data.pairs import MOST_CHARACTERS, NO_WORD
from structsvm.exceptions import InputError, brief, quoted
from structsvm.foundation.settings import require_kind

ALL = "all"
"""Name that stands for all parts of a topic together."""

_DEFAULTS = ("title", "description", "text")
"""Parts of a topic to search with by default: the first part that the topic has."""

_MARK = "\ufeff"


def _valid_id(instance: Any, _attribute: "Attribute[str]", value: Any) -> None:
    """Raise InputError for an id that a run cannot contain."""
    what = f"the id of the {type(instance).__name__.lower()}"
    if not isinstance(value, str):
        raise InputError(f"{what} must be text, got {brief(value)}")
    if not value:
        raise InputError(f"{what} is empty: give it an id")
    if NO_WORD.search(value):
        raise InputError(f"{what}, {quoted(value)}, must not contain a blank, tab, line end or NUL")
    if len(value) > MOST_CHARACTERS:
        raise InputError(f"{what} has {len(value)} characters, {quoted(value)}: it may have {MOST_CHARACTERS}")
    _require_characters(value, what)


def _valid_fields(instance: Any, _attribute: "Attribute[Mapping[str, str]]", value: Any) -> None:
    """Raise InputError unless fields map names to text."""
    what = f"of {type(instance).__name__.lower()} {quoted(instance.id)}"
    if not isinstance(value, Mapping):
        raise InputError(f"the fields {what} must be text by name, got {brief(value)}")
    for name, text in value.items():
        if not (isinstance(name, str) and isinstance(text, str)):
            raise InputError(f"the fields {what} must be text by name, got {brief(name)}: {text!r}")
        _require_characters(name, f"the name of a field {what}")
        _require_characters(text, f"a field {what}")


def _require_characters(text: str, what: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        raise InputError(f"{what} contains half a character, the lone surrogate {code}: remove it") from None


def _can_begin_a_line(_instance: Any, _attribute: "Attribute[str]", value: str) -> None:
    if value.startswith("#"):
        raise InputError(f"the id of the topic, {quoted(value)}, begins with '#', which makes lines of runs comments")
    if value.startswith(_MARK):
        raise InputError(f"the id of the topic, {quoted(value)}, begins with a byte order mark, U+FEFF: remove it")


@frozen
class Document:
    """A document of a collection.

    Parameters
    ----------
    id : its id in runs and judgments: 1 to 1000 characters without blank, tab, line end or NUL.
    fields : text by the name of the field.

    Examples
    --------
    >>> Document("17", {"title": "On slipstreams", "text": "A wing in a slipstream."}).is_empty
    False
    """

    id: str = field(validator=_valid_id)
    fields: Mapping[str, str] = field(validator=_valid_fields)

    @property
    def is_empty(self) -> bool:
        """True if no field has text other than white space."""
        return not any(text.strip() for text in self.fields.values())


@frozen
class Topic:
    r"""A topic: the description of an information need, in one or more parts.

    Parameters
    ----------
    id : its id in runs and judgments: as for `Document`, and not beginning with ``#`` or a byte order mark.
    fields : text by the name of the part. TREC's parts are called ``title``, ``description`` and ``narrative``,
        whatever the tags in the file.

    Examples
    --------
    >>> topic = Topic("301", {"title": "Organized crime", "description": "Identify organizations."})
    >>> topic.query(), topic.query("description"), topic.query("all")
    ('Organized crime', 'Identify organizations.', 'Organized crime\nIdentify organizations.')
    """

    id: str = field(validator=[_valid_id, _can_begin_a_line])
    fields: Mapping[str, str] = field(validator=_valid_fields)

    def query(self, part: str | None = None) -> str:
        """Return the text to search with.

        Parameters
        ----------
        part : name of a part, such as ``title``; or ``all``: all parts, one per line, in the order of the file. None:
            the first of title, description and text that the topic has, or else all parts. Functions that search for
            several topics use the first part of this list that all topics have.
        """
        require_kind("part", part, str | None, "the name of a part, or None")
        if part is None:
            part = next((name for name in _DEFAULTS if name in self.fields), ALL)
        if part == ALL:
            return "\n".join(self.fields.values())
        if part not in self.fields:
            parts = ", ".join(self.fields) or "none"
            raise InputError(f"topic {quoted(self.id)} has no part {part!r}; its parts: {parts}, or {ALL!r} for all")
        return self.fields[part]


def common_part(topics: Sequence[Topic]) -> str | None:
    """Return the part that all topics are searched by if they differ in their default parts; warn about it."""
    counts = {name: sum(name in topic.fields for topic in topics) for name in _DEFAULTS}
    first = next((name for name in _DEFAULTS if counts[name]), None)
    if first is None or counts[first] == len(topics):
        return None
    part = next((name for name in _DEFAULTS if counts[name] == len(topics)), None)
    searched = f"all are searched by their {part}" if part else "other parts of these topics are searched"
    warnings.warn(
        f"{len(topics) - counts[first]} of {len(topics)} topics have no {first}, so {searched}; "
        f"query={ALL!r} searches by all parts",
        stacklevel=3,
    )
    return part
