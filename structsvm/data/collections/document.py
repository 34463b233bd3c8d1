"""Documents: an id, and the text of each field."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import Attribute, field, frozen

from structsvm.data.pairs import MOST_CHARACTERS
from structsvm.data.trec_faults import NO_WORD
from structsvm.exceptions import InputError, quoted


def valid_id(instance: Any, _attribute: "Attribute[str]", value: Any) -> None:
    """Require an id that can stand in a run."""
    what = type(instance).__name__.lower()
    if not isinstance(value, str):
        raise InputError(f"the id of the {what} must be text, got {value!r}")
    if not value:
        raise InputError(f"the {what} has an empty id")
    if NO_WORD.search(value):
        raise InputError(
            f"the id {quoted(value)} of the {what} has a blank, tab, line end or NUL in it, as none may have"
        )
    if len(value) > MOST_CHARACTERS:
        raise InputError(f"the {what} has an id of {len(value)} characters, {quoted(value)}; {MOST_CHARACTERS} may be")
    _require_characters(value, lambda: f"the id of the {what}")


def valid_fields(instance: Any, _attribute: "Attribute[Mapping[str, str]]", value: Any) -> None:
    """Require text by name."""

    def what() -> str:
        return f"of {type(instance).__name__.lower()} {quoted(instance.id)}"

    if not isinstance(value, Mapping):
        raise InputError(f"the fields {what()} must be text by name, got {value!r}")
    for name, text in value.items():
        if not (isinstance(name, str) and isinstance(text, str)):
            raise InputError(f"the fields {what()} must be text by name, got {name!r}: {text!r}")
        _require_characters(name, lambda: f"the name of a field {what()}")
        _require_characters(text, lambda: f"a field {what()}")


def _require_characters(text: str, what: Callable[[], str]) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what()} has half a character in it, U+{ord(text[error.start]):04X}, a surrogate without the other: "
            "remove it"
        ) from None


@frozen
class Document:
    """A document of a collection.

    Parameters
    ----------
    id : its id in runs and judgments: 1 to 1000 characters without blank, tab, line end or NUL.
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
