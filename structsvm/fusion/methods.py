"""Methods of fusion by name."""

import inspect
from typing import Any

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.fusion.base import Fusion
from structsvm.fusion.comb import CombANZ, CombMAX, CombMED, CombMIN, CombMNZ, CombSUM
from structsvm.fusion.reciprocal import InverseSquareRank, ReciprocalRankFusion
from structsvm.fusion.voting import BordaCount, Condorcet, Copeland
from structsvm.fusion.weighted import WeightedCombSUM
from structsvm.registry.spelling import Spelling, plain
from structsvm.settings import require_kind

METHODS: dict[str, type[Fusion]] = {
    "comb-min": CombMIN,
    "comb-max": CombMAX,
    "comb-med": CombMED,
    "comb-sum": CombSUM,
    "comb-anz": CombANZ,
    "comb-mnz": CombMNZ,
    "weighted-comb-sum": WeightedCombSUM,
    "rrf": ReciprocalRankFusion,
    "isr": InverseSquareRank,
    "borda": BordaCount,
    "condorcet": Condorcet,
    "copeland": Copeland,
}
"""The classes of the methods, by the name that commands and `fusion_method` know them by.

Examples
--------
>>> from structsvm.fusion import METHODS
>>> scores, y = [[5.0, 0.0], [4.0, 4.0], [0.0, 5.0]], [0, 1, 0]
>>> combinations = {name: method() for name, method in METHODS.items() if name.startswith("comb-")}
>>> [name for name, fusion in combinations.items() if fusion.fit(scores, y).score(scores, y) == 1.0]
['comb-min', 'comb-med', 'comb-sum', 'comb-anz', 'comb-mnz']
"""


def find_method(name: str) -> type[Fusion] | None:
    """Return the class of a method of fusion, None where there is no such method.

    Parameters
    ----------
    name : one of `METHODS`, or of the class; case does not matter, nor do ``-`` and ``_``.
    """
    wanted = plain(name)
    return next((cls for known, cls in METHODS.items() if wanted in (plain(known), plain(cls.__name__))), None)


def fusion_method(name: str, **settings: Any) -> Fusion:
    """Return a method of fusion by its name.

    Parameters
    ----------
    name : one of `METHODS`, or of the class; case does not matter, nor do ``-`` and ``_``, as in "CombMNZ". Settings
        may follow in parentheses, as in "rrf(rank_constant=10)".
    **settings : further settings of the method, as of its class.

    Raises
    ------
    UnknownNameError : there is no such method.
    InputError : the method has no such setting, or it may not have that value.

    Examples
    --------
    >>> from structsvm.fusion import fusion_method
    >>> fusion_method("rrf(rank_constant=10)").rank_constant
    10.0
    """
    require_kind("name", name, str, "the name of a method of fusion")
    spelling = Spelling.of(name)
    made = find_method(spelling.name)
    if made is None:
        raise UnknownNameError("method of fusion", name, METHODS)
    settings = spelling.settings(spelling.name, made, {}) | settings
    known = inspect.signature(made).parameters
    for setting in settings:
        if setting not in known:
            having = [each for each, cls in METHODS.items() if setting in inspect.signature(cls).parameters]
            whose = f"it is for {', '.join(having)}" if having else f"it has {', '.join(known)}"
            raise InputError(f"the method {name!r} has no setting {setting}: {whose}")
    method = made(**settings)
    method._require_settings()
    return method
