"""What is left in a model file of an object whose class has no registered name."""

from typing import Any

from attrs import frozen

from structsvm.exceptions import InputError


@frozen(repr=False)
class Unregistered:
    """The text of a loss or solver whose class has no registered name: enough to predict, not to fit.

    It is no name, whatever it looks like: a class ``MRR`` of one's own is not the built-in loss "mrr".

    Parameters
    ----------
    text : what ``repr`` said of the object, or its class with ``(...)`` behind where that was an address.
    """

    text: str

    def __repr__(self) -> str:
        return self.text


def require_object(place: str, thing: Any) -> None:
    """Refuse the text of an object in the place of the object.

    Parameters
    ----------
    place : parameter of the estimator that it is for, "loss" or "solver".
    thing : its value.

    Raises
    ------
    InputError : when it is `Unregistered`; it names the class and the way out.
    """
    if isinstance(thing, Unregistered):
        raise InputError(
            f"this model was trained with the {place} {thing.text!r}, whose class is not registered, so that its file "
            f"has no more than this text: set_params({place}={thing.text.partition('(')[0]}(...)) first"
        )
