"""Methods of fusion by name."""

from typing import Any

from structsvm.fusion.base import Fusion
from structsvm.registry import fusions
from structsvm.settings import require_kind


def fusion_method(name: str, **settings: Any) -> Fusion:
    """Return a method of fusion by its name.

    Parameters
    ----------
    name : one of `structsvm.registry.fusions`, or of the class; case does not matter, nor do ``-`` and ``_``, as in
        "CombMNZ". Settings may follow in parentheses, as in "rrf(rank_constant=10)".
    **settings : further settings of the method, as of its class.

    Raises
    ------
    UnknownNameError : there is no such method.
    InputError : the method has no such setting, or it may not have that value.
    PluginError : the package that registered the name cannot be imported.

    Examples
    --------
    >>> from structsvm.fusion import fusion_method
    >>> fusion_method("rrf(rank_constant=10)").rank_constant
    10.0
    """
    require_kind("name", name, str, "the name of a method of fusion")
    method: Fusion = fusions.create(name, **settings)
    method._require_settings()
    return method
