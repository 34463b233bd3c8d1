"""The settings of an experiment."""

from typing import Any

from attrs import Attribute, asdict, field, filters, frozen

from structsvm.exceptions import InputError
from structsvm.protocols.catalogue import create_model, paper_model_names
from structsvm.protocols.experiment.results import WITH_BEST, WITHOUT_BEST
from structsvm.protocols.model import Model, as_models, require_different_names
from structsvm.settings import at_least

VARIANTS = (WITH_BEST, WITHOUT_BEST)


def _some_variants(_: Any, attribute: "Attribute[Any]", value: tuple[str, ...]) -> None:
    if not value or len(set(value)) < len(value) or not set(value) <= set(VARIANTS):
        raise InputError(f"Settings(variants=...) must be one or both of {', '.join(VARIANTS)}, got {value!r}")


@frozen(kw_only=True)
class Settings:
    """The settings of an experiment; the defaults are those of the paper.

    Parameters
    ----------
    trials : number of trials.
    train, validation : queries of a trial that models learn from, and that pick the hyper-parameter.
        The others are tested on.
    bins : thresholds of each base function.
    seed : seed of the splits.
    models : names of models (`structsvm.protocols.model_names`) or objects; the first is what all others are compared
        with. By default those of the paper.
    variants : "with-best", models read all base functions; "without-best", all but the best one. Both
        by default.

    Examples
    --------
    >>> from structsvm.protocols.experiment import Settings
    >>> Settings(trials=10).trials
    10
    """

    trials: int = field(default=50, validator=at_least(1))
    train: int = field(default=10, validator=at_least(1))
    validation: int = field(default=5, validator=at_least(1))
    bins: int = field(default=50, validator=at_least(1))
    seed: int = field(default=0, validator=at_least(0))
    models: tuple[str | Model, ...] = field(factory=lambda: tuple(paper_model_names()), converter=as_models)
    variants: tuple[str, ...] = field(default=VARIANTS, converter=tuple, validator=_some_variants)

    def __attrs_post_init__(self) -> None:
        require_different_names("Settings(models=...)", self.made())

    def made(self) -> tuple[Model, ...]:
        """Return the models as objects."""
        return tuple(create_model(each, self.bins) if isinstance(each, str) else each for each in self.models)

    def as_text(self) -> dict[str, Any]:
        """Return the settings as JSON has them: those of each model by name, as text."""
        models = {model.name: repr(model) for model in self.made()}
        return {
            **asdict(self, filter=filters.exclude("models", "variants")),
            "variants": list(self.variants),
            "models": models,
        }
