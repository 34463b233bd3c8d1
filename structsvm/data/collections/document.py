"""Documents: an id, and the text of each field."""

from collections.abc import Mapping
from typing import Any

from attrs import Attribute, field, frozen

from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.data.trec_faults import BLANKS
from structsvm.exceptions import InputError, quoted
from structsvm.settings import require_kind


def valid_id(instance: Any, _attribute: "Attribute[str]", value: Any) -> None:
    """Require an id that can stand in a run."""
    what = f"the {type(instance).__name__.lower()}"
    require_kind(f"the id of {what}", value, str, "text")
    if not value:
        raise InputError(f"{what} has an empty id")
    if BLANKS.search(value):
        raise InputError(f"the id {quoted(value)} of {what} has a blank, tab or line end in it, as none in a run has")
    if len(value) > MOST_CHARACTERS:
        raise InputError(f"{what} has an id of {len(value)} characters, {quoted(value)}; it may have {MOST_CHARACTERS}")
    _require_characters(f"the id of {what}", value)


def valid_fields(instance: Any, _attribute: "Attribute[Mapping[str, str]]", value: Any) -> None:
    """Require text by name."""
    what = f"the fields of {type(instance).__name__.lower()} {quoted(instance.id)}"
    require_kind(what, value, Mapping, "text by name")
    for name, text in value.items():
        if not (isinstance(name, str) and isinstance(text, str)):
            raise InputError(f"{what} must be text by name, got {name!r}: {text!r}")
        _require_characters(f"the field {quoted(name)} of {what[14:]}", text)


def _require_characters(what: str, text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} has half a character in it, U+{ord(text[error.start]):04X}, a surrogate without the other: "
            "remove it"
        ) from None


@frozen
class Document:
    """A document of a collection.

    Parameters
    ----------
    id : what runs and judgments call it: 1 to 1000 characters without blank, tab or line end.
    fields : text by the name of the field.

    Raises
    ------
    InputError : the id cannot stand in a run, or the fields are not text by name.

    Examples
    --------
    >>> from structsvm.data import Document
    >>> Document("17", {"title": "On slipstreams", "text": "A wing in a slipstream."}).is_empty
    False
    """

    id: str = field(validator=valid_id)
    fields: Mapping[str, str] = field(validator=valid_fields)

    @property
    def is_empty(self) -> bool:
        """Whether no field has a text that is more than white space."""
        return not any(text.strip() for text in self.fields.values())
