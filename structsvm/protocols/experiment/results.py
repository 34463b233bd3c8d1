"""Results of an experiment, from which tables and figures are computed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from attrs import evolve, field, frozen

from structsvm.evaluation.significance import holm
from structsvm.evaluation.significance.paired import signed_ranks
from structsvm.exceptions import DataFormatError, InputError, brief
from structsvm.foundation.settings import as_path, require_choice, require_integer
from structsvm.foundation.storage.files import open_source, replacing
from structsvm.foundation.storage.records import from_json, require_known, to_json
from structsvm.foundation.types import Matrix, Vector
from structsvm.metrics.average_precision import AP, LEVELS
from structsvm.protocols.results import Fit, Results, look_up
from structsvm.protocols.tables import interval_record

_LARGEST = 2**27
"""Largest size of a file of results in bytes; a thousand trials of twenty models need a tenth of it."""

MAP, TIED = "map", "tied"
"""Values of each query: average precision, and share of tied documents."""

IPREC = tuple(f"iprec@{level:g}" for level in LEVELS)
"""Interpolated precision at recall 0, 0.1, ..., 1."""

WITH_BEST, WITHOUT_BEST = VARIANTS = ("with-best", "without-best")
"""The two variants: models read all base functions, or all but the best one."""

Denominators: TypeAlias = Literal["pool", "judged"]
"""R in average precision: relevant documents in the pool, or all judged relevant (trec_eval)."""


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

    @property
    def precision(self) -> Vector:
        """Interpolated precision at recall 0, 0.1, ..., 1, shape (11,)."""
        return np.array([self.measures[level] for level in IPREC])


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
class ExperimentResults(Results):
    """The results of an experiment.

    Parameters
    ----------
    header : ``header.settings`` has the `Settings`; its ``models`` has the settings of each model by name, in the
        order of the tables.
    queries : the queries, with ``id``, ``documents``, ``relevant`` and ``judged``.
    left_out : queries that are left out, each with the reason.
    functions : the base functions, best first, by MAP over all queries.
    trials : the trials by number. ``trial.fits[variant][model]`` has the picked value and its measures.

    Examples
    --------
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Settings, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> _ = run(pool, Settings(trials=5, train=2, validation=1, models=["CombSUM"]), "results", n_jobs=1)
    >>> results = ExperimentResults.load("results/results.json")
    >>> results.statistics["documents"], results.rows("with-best")[0].values.round(2).tolist()
    (147, [0.83, 0.11, 0.1, 0.7, 1.0])
    """

    queries: tuple[Query, ...] = field(repr=False)
    left_out: dict[str, str] = field(repr=False)
    functions: tuple[BaseFunction, ...] = field(repr=False)

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that were run: ``"with-best"``, ``"without-best"``."""
        return tuple(self.header.settings["variants"])

    @property
    def statistics(self) -> dict[str, int]:
        """Counts of Table 5 of the paper, and of documents: sums over queries."""
        return {
            "base functions": len(self.functions),
            "features": len(self.functions) * int(self.header.settings["bins"]),
            "queries": len(self.queries),
            "documents": sum(query.documents for query in self.queries),
            "relevant": sum(query.relevant for query in self.queries),
            "judged relevant": sum(query.judged for query in self.queries),
        }

    def functions_read(self, variant: str) -> tuple[str, ...]:
        """Return the names of the base functions that models read, best first."""
        names = tuple(function.name for function in self.functions)
        return look_up("variant", variant, {WITH_BEST: names, WITHOUT_BEST: names[1:]})

    def precision(self, variant: str, model: str) -> Vector:
        """Return a model's interpolated precision at recall 0, 0.1, ..., 1, mean over trials, shape (11,)."""
        levels = [[fit.measures[level] for level in IPREC] for fit in self.fits(variant, model)]
        return np.asarray(np.mean(levels, axis=0))

    def weights(self, variant: str, model: str) -> Matrix | None:
        """Return a model's weights of the base functions, shape (trials, functions), in the order of `functions_read`.

        The weight of a function is the weight of its score, or the sum over its indicators. The sum is the difference
        between the scores of a document that the function ranks first and a document that it did not retrieve. None if
        the model's score is not a weighted sum of base functions.
        """
        weights = [fit.weights for fit in self.fits(variant, model)]
        return None if None in weights else np.array(weights)

    def rows(self, variant: str, *, denominators: Denominators = "pool", base_functions: int = 3) -> tuple[MapRow, ...]:
        """Return the rows of a table: every model, then the best base functions.

        Base functions are ordered by MAP over all queries, an optimistic choice, as in the paper.

        Parameters
        ----------
        variant : ``"with-best"`` or ``"without-best"``; both compare with all base functions.
        denominators : R in average precision: the relevant documents in the ``"pool"``, or all ``"judged"`` relevant,
            as in trec_eval. Picked models and the order of base functions do not depend on it.
        base_functions : number of base functions.

        Raises
        ------
        UnknownNameError : unknown variant.
        InputError : another argument is invalid.
        """
        require_choice("denominators", denominators, ("pool", "judged"))
        shares = np.array([1.0 if denominators == "pool" else query.relevant / query.judged for query in self.queries])
        rankers = [(name, 0, self._averaged(variant, name)) for name in self.models]
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

    def _averaged(self, variant: str, model: str) -> dict[str, Vector]:
        """Return the means over the trials that tested each query, shape (Q,), by measure; NaN without a test."""
        values: dict[str, dict[str, list[float]]] = {
            measure: {query.id: [] for query in self.queries} for measure in (MAP, TIED)
        }
        for trial, fit in zip(self.trials, self.fits(variant, model), strict=True):
            for measure, by_query in values.items():
                for query, value in zip(trial.test, fit.queries[measure], strict=True):
                    by_query[query].append(value)
        return {
            measure: np.array([sum(tests) / len(tests) if tests else np.nan for tests in by_query.values()])
            for measure, by_query in values.items()
        }

    def save(self, path: str | Path) -> None:
        """Write the results as JSON, and make missing folders; an existing file is replaced at once or not at all.

        Raises
        ------
        InputError : the file cannot be written.
        """
        with replacing(as_path("path", path), makes_folders=True) as file:
            file.write(to_json(self) + "\n")

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


def _require_complete(results: ExperimentResults) -> None:
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


def _require_measured(ranker: str, tested: Fit | BaseFunction, queries: int) -> None:
    """Raise InputError if measures or values of queries that the tables need are missing."""
    if any(len(tested.queries.get(name, ())) != queries for name in (MAP, TIED)):
        raise InputError(f"{ranker} must rank the {queries} queries")
    if not tested.measures.keys() >= {MAP, *IPREC}:
        raise InputError(f"{ranker} must have MAP, and precision at {len(LEVELS)} levels of recall")
