"""Topics: an id, and the text of each part."""

from collections.abc import Mapping
from typing import Any

from attrs import Attribute, field, frozen

from structsvm.data.collections.document import valid_fields, valid_id
from structsvm.exceptions import InputError, quoted
from structsvm.settings import require_kind

ALL = "all"
"""The part of a topic that is all parts together."""

_MARK = "\ufeff"


def _can_begin_a_line(_instance: Any, _attribute: "Attribute[str]", value: str) -> None:
    if value.startswith("#"):
        raise InputError(f"the id {quoted(value)} of the topic begins with '#', which makes lines of runs comments")
    if value.startswith(_MARK):
        raise InputError(
            f"the id {quoted(value)} of the topic begins with a byte order mark, U+FEFF, which makes files of runs "
            "unreadable: remove it"
        )


@frozen
class Topic:
    r"""A topic: what somebody wants to know.

    Parameters
    ----------
    id : its id in runs and judgments: 1 to 1000 characters without blank, tab, line end or NUL, the first neither
        ``#`` nor a byte order mark.
    fields : text by the name of the part. The parts of TREC's topics are ``title``, ``description`` and ``narrative``,
        whatever the tags of a file are.

    Raises
    ------
    InputError : the id cannot stand in a run, or the fields are not text by name.

    Examples
    --------
    >>> from structsvm.data import Topic
    >>> topic = Topic("301", {"title": "Organized crime", "description": "Identify organizations."})
    >>> topic.query(), topic.query("title"), topic.query("all")
    ('Identify organizations.', 'Organized crime', 'Organized crime\nIdentify organizations.')
    """

    id: str = field(validator=[valid_id, _can_begin_a_line])
    fields: Mapping[str, str] = field(validator=valid_fields)

    def query(self, part: str | None = None) -> str:
        """Return the text to search with.

        Parameters
        ----------
        part : name of a part, such as ``title``, ``description`` or ``narrative``; ``all``: all of them, a line each,
            in the order of the file. None: the description where the topic has one, else all it has.

        Raises
        ------
        InputError : the topic has no such part; the message names those that it has.
        """
        require_kind("part", part, str | None, "the name of a part, or None")
        if part is None:
            part = "description" if "description" in self.fields else ALL
        if part == ALL:
            return "\n".join(self.fields.values())
        if part not in self.fields:
            raise InputError(
                f"topic {quoted(self.id)} has no {part}: there is {', '.join(self.fields) or 'nothing'}; "
                f"{ALL!r} is all of it"
            )
        return self.fields[part]
