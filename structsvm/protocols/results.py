"""Results of all protocols: the fits and measures of each model in each trial, and the values of each query."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, TypeVar

import numpy as np
from attrs import asdict, evolve, field, filters, frozen

from structsvm.evaluation.paired_columns import interval_record
from structsvm.evaluation.significance import holm
from structsvm.evaluation.significance.paired import signed_ranks
from structsvm.exceptions import DataFormatError, InputError, UnknownNameError, brief
from structsvm.foundation.settings import as_path, require_choice, require_integer
from structsvm.foundation.storage.files import open_source, replacing
from structsvm.foundation.storage.records import Header, from_json, require_known, to_json
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics import AP
from structsvm.metrics.base import TieRange
from structsvm.protocols.model import Value
from structsvm.training.choose import which_end

T = TypeVar("T")

_LARGEST = 2**27
"""Largest size of a file of results in bytes; a thousand trials of twenty models need a tenth of it."""

MAP, TIED = "map", "tied"
"""Values of each query: average precision, and share of tied documents."""

LOWEST, HIGHEST = "lowest", "highest"
"""Ends of the range of the validation measure over the orders of equal scores, for each query of a fit with ties."""

MODELS, FEATURES = "models", "features"
"""Groups of fits of a benchmark: models, and single features if requested."""

WITH_BEST, WITHOUT_BEST = VARIANTS = ("with-best", "without-best")
"""Groups of fits of an experiment, its variants: models read all base functions, or all but the best one."""

Denominators: TypeAlias = Literal["pool", "judged"]
"""R in average precision: relevant documents in the pool, or all judged relevant (trec_eval)."""


def look_up(kind: str, name: object, values: Mapping[str, T]) -> T:
    """Return the value of a name; raise UnknownNameError with the nearest name if unknown."""
    if not isinstance(name, str) or name not in values:
        raise UnknownNameError(kind, name if isinstance(name, str) else brief(name), values)
    return values[name]


@frozen(kw_only=True)
class ModelFit:
    """A model in one trial: each value of its hyper-parameter, the position of the ``chosen`` one, and its measures.

    ``seconds`` are without ``compile_seconds``, the compilation of machine code during all fits.
    """

    measures: Mapping[str, float] = field(repr=False)
    queries: Mapping[str, tuple[float, ...]] = field(repr=False)
    values: tuple[Value, ...]
    validation: tuple[float, ...] = field(repr=False)
    train: tuple[float, ...] = field(default=(), repr=False)
    test: tuple[float, ...] = field(default=(), repr=False)
    seconds: tuple[float, ...] = field(repr=False)
    gaps: tuple[float | None, ...] = field(repr=False)
    chosen: int
    features: int
    weights: tuple[float, ...] | None = field(default=None, repr=False)
    warm_started: bool = False
    unconverged: int = 0
    compile_seconds: float = 0.0

    def __attrs_post_init__(self) -> None:
        """Require numbers for each value, because results may come from a file."""
        count = len(self.values)
        lists = (self.validation, self.seconds, self.gaps, self.train or self.values, self.test or self.values)
        if any(len(numbers) != count for numbers in lists):
            raise InputError(
                "values, validation, seconds, gaps, and train and test if given, must have as many entries"
            )
        if not 0 <= self.chosen < count:
            raise InputError(f"chosen must be from 0 to {count - 1}, got {self.chosen}")

    @property
    def value(self) -> Value:
        """The chosen value."""
        return self.values[self.chosen]

    @property
    def at_an_end(self) -> str:
        """The end of the range that was chosen, "least" or "largest"; "" if a wider range cannot help."""
        if any(isinstance(value, str) for value in self.values):
            return ""
        end = which_end(self.validation, self.chosen)
        # Counts start at 1, so a range that starts there cannot grow.
        return "" if end == "least" and isinstance(self.value, int) and self.value == 1 else end


def known_gaps(fits: Iterable[ModelFit]) -> list[float]:
    """Return the certified gaps of all values, without values that have no certificate."""
    return [gap for fit in fits for gap in fit.gaps if gap is not None]


@frozen
class Trial:
    """One split of the queries: their ids, numbers of documents of the three sets, and fits by group and model."""

    name: str
    train: tuple[str, ...] = field(repr=False)
    validation: tuple[str, ...] = field(repr=False)
    test: tuple[str, ...] = field(repr=False)
    documents: tuple[int, int, int]
    seconds: float
    fits: Mapping[str, Mapping[str, ModelFit]] = field(repr=False)

    def __attrs_post_init__(self) -> None:
        """Require test queries and fits that tested them, because results may come from a file."""
        fits = [fit for group in self.fits.values() for fit in group.values()]
        if not (fits and self.test):
            raise InputError("a trial must have fits and test queries")
        if any(len(values) != len(self.test) for fit in fits for values in fit.queries.values()):
            raise InputError(f"every fit must rank the {len(self.test)} test queries of its trial")


@frozen
class Query:
    """A query with the numbers of documents and relevant documents in its pool, and of all judged relevant."""

    id: str
    documents: int
    relevant: int
    judged: int


@frozen(kw_only=True)
class BaseFunction:
    """A base function as a ranker of the pool; documents that it did not retrieve are tied last."""

    measures: Mapping[str, float] = field(repr=False)
    queries: Mapping[str, tuple[float, ...]] = field(repr=False)
    name: str
    retrieved: float

    @property
    def mean_ap(self) -> float:
        """MAP over all queries."""
        return self.measures[MAP]


@frozen(kw_only=True)
class MapRow:
    """A row of a table of MAP; ``place`` is 0 for a model, and ``values`` has each query's mean over trials, or NaN.

    ``low`` and ``high`` are the ends of the 95% interval of ``map``. ``p_value`` is Wilcoxon's, and ``holm`` its
    correction for all comparisons with the first row.
    """

    name: str
    place: int
    map: float
    low: float | None
    high: float | None
    tied: float
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    p_value: float | None = None
    holm: float | None = None
    values: Vector = field(repr=False, eq=False)


@frozen(kw_only=True)
class Results:
    """The results of a benchmark or an experiment.

    Parameters
    ----------
    header : data, versions and settings; ``header.settings["models"]`` has the settings of each model by name.
    trials : the folds or trials in order. ``trial.fits[group][name]`` has the chosen hyper-parameter and its measures.
        An experiment has its variants as groups; a benchmark has "models" and, if measured, "features": single
        features, such as "feature 1", or "feature 1 (title.L1)" if files name them.
    queries : the queries of an experiment, with ``id``, ``documents``, ``relevant`` and ``judged``.
    left_out : queries of an experiment that are left out, each with the reason.
    functions : the base functions of an experiment, by descending MAP over all queries.
    title : title in tables, such as the name of the data.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries, load_digits_runs, pool_runs
    >>> from structsvm.protocols.letor import benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> _ = write_folds("folds", data, folds=3)
    >>> results = benchmark("folds", ["CombSUM", "Borda"], n_jobs=1)
    >>> {name: round(results.mean(name, "ndcg@10"), 2) for name in results.models}
    {'CombSUM': 0.68, 'BordaCount': 0.67, 'Best feature': 0.56}
    >>> from structsvm.protocols.experiment import Settings, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> _ = run(pool, Settings(trials=5, train=2, validation=1, models=["CombSUM"]), "results", n_jobs=1)
    >>> results = Results.load("results/results.json")
    >>> results.statistics["documents"], results.rows("with-best")[0].values.round(2).tolist()
    (147, [0.83, 0.11, 0.1, 0.7, 1.0])
    """

    header: Header
    trials: tuple[Trial, ...] = field(repr=False)
    queries: tuple[Query, ...] = field(default=(), repr=False)
    left_out: dict[str, str] = field(factory=dict, repr=False)
    functions: tuple[BaseFunction, ...] = field(default=(), repr=False)
    title: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of the tables."""
        return tuple(self.header.settings["models"])

    @property
    def reference(self) -> str:
        """The first model, which is compared with each other model."""
        return self.models[0]

    @property
    def measure(self) -> str:
        """Name of the measure that chooses hyper-parameters on the validation queries."""
        return str(self.header.settings.get("measure", MAP))

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures with a value for each query; in a benchmark, the validation measure is the first."""
        fit = next(iter(next(iter(self.trials[0].fits.values())).values()))
        return tuple(name for name in fit.queries if name not in (LOWEST, HIGHEST))

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the single features that all folds have."""
        first, *others = (trial.fits.get(FEATURES, {}) for trial in self.trials)
        return tuple(name for name in first if all(name in fits for fits in others))

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants of an experiment that were run: ``"with-best"``, ``"without-best"``."""
        return tuple(self.header.settings["variants"])

    @property
    def statistics(self) -> dict[str, int]:
        """Counts as in Table 5 of the paper, and the number of documents, summed over queries."""
        return {
            "base functions": len(self.functions),
            "features": len(self.functions) * int(self.header.settings["bins"]),
            "queries": len(self.queries),
            "documents": sum(query.documents for query in self.queries),
            "relevant": sum(query.relevant for query in self.queries),
            "judged relevant": sum(query.judged for query in self.queries),
        }

    def fits(self, group: str, model: str) -> tuple[ModelFit, ...]:
        """Return a model's fits in a group, trial by trial; raise UnknownNameError for unknown names."""
        return tuple(look_up("model", model, look_up("variant", group, trial.fits)) for trial in self.trials)

    def of(self, name: str) -> dict[str, ModelFit]:
        """Return the fits of a model or single feature by the name of the fold."""
        return {
            fold.name: look_up("benchmark model", name, {**fold.fits[MODELS], **fold.fits.get(FEATURES, {})})
            for fold in self.trials
        }

    def measured(self, name: str, measure: str) -> tuple[float, ...]:
        """Return a measure of a model or single feature on the test queries, fold by fold."""
        return tuple(look_up("benchmark measure", measure, fit.measures) for fit in self.of(name).values())

    def mean(self, name: str, measure: str) -> float:
        """Return the mean of a measure over the test queries of all folds.

        Each query counts once. LETOR publishes the mean of the folds' means (`measured`) instead; both are equal if
        folds have equally many test queries.
        """
        return float(np.average(self.measured(name, measure), weights=[len(fold.test) for fold in self.trials]))

    def values(self, name: str, measure: str | None = None, group: str | None = None) -> Vector:
        """Return the value of each query: the mean over the trials that tested it, or NaN if no trial did.

        ``measure`` is one of `measures`; None: the validation measure. ``group`` is a variant of an experiment. In a
        benchmark, each fold tests its own queries, whose values follow one another in the order of the folds.
        """
        tests: dict[Any, list[float]] = {query.id: [] for query in self.queries}
        fits = self.of(name).values() if group is None else self.fits(group, name)
        for trial, fit in zip(self.trials, fits, strict=True):
            of_queries = look_up("measure with values of queries", measure or self.measure, fit.queries)
            for query, value in zip(trial.test, of_queries, strict=True):
                tests.setdefault(query if self.queries else (trial.name, query), []).append(value)
        return np.array([sum(values) / len(values) if values else np.nan for values in tests.values()])

    @property
    def ends(self) -> tuple[str, ...]:
        """Sentences about models whose chosen hyper-parameter is an end of its range; a wider range may do better."""
        sentences = []
        for name in self.models:
            for end, position in (("least", 0), ("largest", -1)):
                fits = {fold: fit for fold, fit in self.of(name).items() if fit.at_an_end == end}
                if fits:
                    value = next(iter(fits.values())).values[position]
                    folds = ", ".join(fits)
                    sentences.append(f"{name}: validation picked the {end} value that was tried, {value:g}, in {folds}")
        return tuple(sentences)

    @property
    def ties(self) -> tuple[str, ...]:
        """Sentences about models whose measure depends on the order of documents with equal scores."""
        sentences = []
        for name in self.models:
            queries = [fit.queries for fit in self.of(name).values()]
            low, high = (np.concatenate([of.get(end, of[self.measure]) for of in queries]) for end in (LOWEST, HIGHEST))
            ties = TieRange.of(low, high, lambda values: float(values.mean()))
            if ties.queries:
                sentences.append(f"{name}: {ties.note(self.measure.upper(), len(low))}")
        return tuple(sentences)

    @property
    def unconverged(self) -> tuple[str, ...]:
        """Sentences about models whose training did not converge."""
        sentences = []
        for name in self.models:
            times = {fold: fit.unconverged for fold, fit in self.of(name).items() if fit.unconverged}
            if times:
                where = (f"{fold} ({count} times)" if count > 1 else fold for fold, count in times.items())
                sentences.append(f"{name}: training did not converge in {', '.join(where)}")
        return tuple(sentences)

    def functions_read(self, variant: str) -> tuple[str, ...]:
        """Return the names of the base functions that models read, best first."""
        names = tuple(function.name for function in self.functions)
        return look_up("variant", variant, {WITH_BEST: names, WITHOUT_BEST: names[1:]})

    def weights(self, variant: str, model: str) -> Matrix | None:
        """Return a model's weights of the base functions, shape (trials, functions), in the order of `functions_read`.

        The weight of a function is the weight of its score, or the sum of its indicators' weights: how much its first
        document gains on a document that it did not retrieve. None if the model's score is not a weighted sum of base
        functions.
        """
        weights = [fit.weights for fit in self.fits(variant, model)]
        return None if None in weights else np.array(weights)

    def rows(self, variant: str, *, denominators: Denominators = "pool", base_functions: int = 3) -> tuple[MapRow, ...]:
        """Return the rows of a table: every model, then the best base functions.

        Base functions are ordered by MAP over all queries, an optimistic choice, as in the paper.

        Parameters
        ----------
        variant : ``"with-best"`` or ``"without-best"``; both compare with all base functions.
        denominators : documents that R counts in average precision: the relevant ones of the ``"pool"``, or all
            ``"judged"`` relevant, as in trec_eval. Chosen models and the order of base functions do not depend on it.
        base_functions : number of base functions.

        Raises
        ------
        UnknownNameError : unknown variant.
        InputError : another argument is invalid.
        """
        require_choice("denominators", denominators, ("pool", "judged"))
        shares = np.array([1.0 if denominators == "pool" else query.relevant / query.judged for query in self.queries])
        rankers = [
            (name, 0, {measure: self.values(name, measure, variant) for measure in (MAP, TIED)}) for name in self.models
        ]
        rankers += [
            (function.name, place, {name: np.array(values) for name, values in function.queries.items()})
            for place, function in enumerate(self.functions[:base_functions], start=1)
        ]
        tested = ~np.isnan(rankers[0][2][MAP])
        rows: list[MapRow] = []
        for name, place, averages in rankers:
            values = averages[MAP] * shares
            rows.append(
                MapRow(
                    name=name,
                    place=place,
                    map=float(values[tested].mean()),
                    **interval_record(values[tested], AP.value_range),
                    tied=float(averages[TIED][tested].mean()),
                    values=values,
                    **(_against(rows[0].values[tested], values[tested]) if rows else {}),
                )
            )
        by_holm = holm([row.p_value for row in rows])
        return tuple(evolve(row, holm=p) for row, p in zip(rows, by_holm, strict=True))

    def save(self, path: str | Path) -> None:
        """Write the results as JSON, and make missing folders; an existing file is replaced at once or not at all.

        Raises
        ------
        InputError : the file cannot be written.
        """
        with replacing(as_path("path", path), makes_folders=True) as file:
            file.write(to_json(asdict(self, recurse=False, filter=filters.exclude("title"))) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read results that `save` wrote.

        Raises
        ------
        InputError : the file is missing or malformed.
        """
        try:
            with open_source(as_path("path", path)) as file:
                content = file.read(_LARGEST + 1)
            if len(content) > _LARGEST:
                raise InputError(f"it is larger than {_LARGEST >> 20} MB, the limit for results")
            results = from_json(content.decode(), cls)
            require_known(results.header.format)
            _require_complete(results)
            return results
        except DataFormatError:
            raise
        except ValueError as error:
            raise InputError(f"{path} does not hold the results of an experiment: {error}") from None


def _against(reference: Vector, values: Vector) -> dict[str, Any]:
    """Return wins, losses and ties of the reference model, and the p-value of Wilcoxon's test."""
    paired = signed_ranks(reference, values)
    counts = {"wins": paired.wins, "losses": paired.losses, "ties": paired.ties}
    return {**counts, "p_value": paired.p_values["wilcoxon"]}


def _require_complete(results: Results) -> None:
    """Raise InputError for results that cannot fill the tables."""
    settings, ids = results.header.settings, {query.id for query in results.queries}
    variants, models = settings.get("variants"), settings.get("models")
    if not isinstance(models, dict):
        raise InputError("the setting models must have the settings of each model by name")
    if not (ids and results.functions and results.trials and models):
        raise InputError("it must have at least one query, base function, trial and model")
    if not isinstance(variants, list) or not variants or any(name not in VARIANTS for name in variants):
        raise InputError(f"its variants must be {WITH_BEST} or {WITHOUT_BEST}, or both, got {brief(variants)}")
    require_integer("the number of bins", settings.get("bins"), 1)
    if len(ids) < len(results.queries):
        raise InputError("its queries must have different ids")
    for query in results.queries:
        if not (query.judged > 0 and 0 <= query.relevant <= query.documents):
            raise InputError(f"the counts of query {query.id!r} contradict each other: {query}")
    for function in results.functions:
        _require_measured(f"base function {function.name!r}", function, len(results.queries))
    counts: dict[tuple[str, str], int] = {}
    for trial in results.trials:
        if not ids.issuperset([*trial.train, *trial.validation, *trial.test]):
            raise InputError(f"trial {trial.name} refers to queries beyond the {len(ids)} known ones")
        if trial.fits.keys() != set(variants) or any(fits.keys() != models.keys() for fits in trial.fits.values()):
            raise InputError(f"trial {trial.name} must have a fit of every variant and model, and no other")
        for variant, fits in trial.fits.items():
            functions = len(results.functions_read(variant))
            for name, fit in fits.items():
                _require_measured(f"{name} in trial {trial.name}", fit, len(trial.test))
                if not fit.test:
                    raise InputError(f"{name} must be tested at each value in trial {trial.name}")
                if len(fit.values) != counts.setdefault((variant, name), len(fit.values)):
                    raise InputError(f"{name} tries another number of values in trial {trial.name}")
                if fit.weights is not None and len(fit.weights) != functions:
                    raise InputError(f"{name} must weigh the {functions} base functions in trial {trial.name}")


def _require_measured(ranker: str, tested: ModelFit | BaseFunction, queries: int) -> None:
    """Raise InputError if measures or values of queries that the tables need are missing."""
    if any(len(tested.queries.get(name, ())) != queries for name in (MAP, TIED)):
        raise InputError(f"{ranker} must rank the {queries} queries")
    if MAP not in tested.measures:
        raise InputError(f"{ranker} must have MAP")
