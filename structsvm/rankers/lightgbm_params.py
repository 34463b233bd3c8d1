"""Parameters of LightGBM, by all the names that it knows them by."""

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from structsvm.exceptions import InputError


@frozen
class _Parameter:
    """A parameter that LightGBM is not given by hand.

    Parameters
    ----------
    instead : what to use in its place.
    aliases : its other names, by LightGBM's documentation of parameters (version 4.7); releases may add some.
    """

    instead: str
    aliases: frozenset[str]

    @classmethod
    def of(cls, instead: str, aliases: str) -> "_Parameter":
        return cls(instead, frozenset(aliases.split()))


_OURS = {
    "objective": _Parameter.of("always 'lambdarank'", "objective_type app application loss"),
    "metric": _Parameter.of("the parameter measure, on validation", "metrics metric_types"),
    "num_iterations": _Parameter.of(
        "the parameter n_estimators",
        "num_iteration n_iter num_tree num_trees num_round num_rounds nrounds num_boost_round n_estimators max_iter",
    ),
    "early_stopping_round": _Parameter.of(
        "the parameter patience", "early_stopping_rounds early_stopping n_iter_no_change"
    ),
    "learning_rate": _Parameter.of("the parameter learning_rate", "shrinkage_rate eta"),
    "num_leaves": _Parameter.of("the parameter num_leaves", "num_leaf max_leaves max_leaf max_leaf_nodes"),
    "min_data_in_leaf": _Parameter.of(
        "the parameter min_child_samples", "min_data_per_leaf min_data min_child_samples min_samples_leaf"
    ),
    "seed": _Parameter.of("the parameter random_state", "random_seed random_state"),
}
_BOOSTING = "boosting_type boost"


def require_params_of_its_own(params: dict[str, Any]) -> None:
    """Refuse those that the estimator has as parameters of its own, or that are fixed.

    Raises
    ------
    InputError : it names the first, and what to use instead.
    """
    for canonical, ours in _OURS.items():
        for name in params:
            if name in _names(canonical, ours.aliases):
                raise InputError(f"LambdaMART(params=...) must not have {name!r}: that is {ours.instead}")


def require_fixed_trees(params: dict[str, Any]) -> None:
    """Refuse boosting by which earlier trees change after the scores on validation data were measured.

    Raises
    ------
    InputError : it names the parameter.
    """
    for name in _names("boosting", _BOOSTING.split()):
        if params.get(name) == "dart":
            raise InputError(
                f"LambdaMART(params={{{name!r}: 'dart'}}) takes no validation: earlier trees are scaled anew with each "
                "tree, so that no number of first trees has the scores that were measured. Leave validation out"
            )


def _names(canonical: str, aliases: Iterable[str]) -> set[str]:
    """Return all names of a parameter: those written here and those that the LightGBM installed knows."""
    from lightgbm import basic

    known = getattr(getattr(basic, "_ConfigAliases", None), "get", None)
    return {canonical, *aliases, *(known(canonical) if known is not None else ())}
