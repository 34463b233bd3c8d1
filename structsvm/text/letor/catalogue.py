"""The features by name, and the two lists of them."""

from collections.abc import Iterable

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.registry import retrieval_functions
from structsvm.settings import as_list, repeated, require_kind
from structsvm.text.letor.feature import Feature
from structsvm.text.letor.high_level import H1, H2, H3, H4, H5, retrieval_feature
from structsvm.text.letor.low_level import (
    L1,
    L2,
    L3,
    L4,
    L5,
    L6,
    L7,
    L8,
    L9,
    L10,
    LECTURE_L5,
    LECTURE_L6,
    LECTURE_L7,
    LECTURE_L8,
)

_HIGH = (H1, H2, H3, H4, H5)

RELEASED = (L1, L2, L3, L4, L5, L6, L7, L8, L9, L10, *_HIGH)
"""L1 to L10 and H1 to H5 as in the data that were released.

Examples
--------
>>> from structsvm.text.letor import RELEASED
>>> for feature in RELEASED[:3]:
...     print(feature.name, feature.description)
L1 term frequency
L2 logarithms of term frequencies
L3 term frequency by length
"""

LECTURED = (L1, L2, L3, L4, LECTURE_L5, LECTURE_L6, LECTURE_L7, LECTURE_L8, L9, L10, *_HIGH)
"""L1 to L10 and H1 to H5 as the lecture has them.

Examples
--------
>>> from structsvm.text.letor import LECTURED, RELEASED
>>> [feature.name for feature in LECTURED if feature not in RELEASED]
['L5_lecture', 'L6_lecture', 'L7_lecture', 'L8_lecture']
"""

_LISTS = {"released": RELEASED, "lecture": LECTURED}
_BY_NAME = {feature.name: feature for feature in (*RELEASED, *LECTURED)}


def find_features(features: str | Feature | Iterable[str | Feature]) -> tuple[Feature, ...]:
    """Return features, given by names or themselves.

    Parameters
    ----------
    features : ``"released"`` or ``"lecture"``; a name such as ``"L8"`` or ``"L8_lecture"``; the name of a
        retrieval function, such as ``"tfidf"`` or ``"lm_dirichlet(mu=500)"``; a `Feature`; or several of these.

    Raises
    ------
    UnknownNameError : there is no feature and no retrieval function of a name.
    InputError : there are none, or two have the same name.

    Examples
    --------
    >>> from structsvm.text.letor import find_features
    >>> [feature.name for feature in find_features(["L1", "L2"])]
    ['L1', 'L2']
    """
    words = "the name of a list, of a feature or of a retrieval function, a Feature, or a list of these"
    given = [features] if isinstance(features, str | Feature) else as_list("features", features, words)
    found = [feature for each in given for feature in _of(each, words)]
    names = [feature.name for feature in found]
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"feature {twice!r} is there twice: leave one out")
    if not found:
        raise InputError("features is empty: name one at least, or 'released' for all of LETOR's")
    return tuple(found)


def _of(each: str | Feature, words: str) -> tuple[Feature, ...]:
    require_kind("features", each, str | Feature, words)
    if isinstance(each, Feature):
        return (each,)
    name = each.strip()
    if name.lower() in _LISTS:
        return _LISTS[name.lower()]
    known = {key.lower(): feature for key, feature in _BY_NAME.items()}.get(name.lower().replace("-", "_"))
    if known is not None:
        return (known,)
    if not retrieval_functions.knows(name):
        raise UnknownNameError("feature", name, [*_LISTS, *_BY_NAME, *retrieval_functions.names()])
    function = retrieval_functions.create(name)
    spelled = retrieval_functions.spell(function) or name
    return (retrieval_feature("".join(spelled.split()), spelled),)
