"""What an experiment found, with all that its tables and figures are made of."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self, TypeAlias

import numpy as np
from attrs import field, frozen

from structsvm.exceptions import DataFormatError, InputError
from structsvm.metrics.measures.interpolated_precision import LEVELS
from structsvm.protocols.model import look_up
from structsvm.protocols.pick import Picked
from structsvm.settings import require_choice, require_integer
from structsvm.significance import SignedRankTest, signed_rank_test
from structsvm.storage.files import open_source, replacing
from structsvm.storage.records import Header, as_json, from_json, require_known
from structsvm.types import Matrix, Vector

_LARGEST = 2**27
"""Bytes of a file of results at most; those of a thousand trials of twenty models come to a tenth."""

WITH_BEST, WITHOUT_BEST = "with-best", "without-best"
"""The two variants: models read all base functions, or all but the best one.

Examples
--------
>>> from structsvm.protocols.experiment import WITH_BEST, WITHOUT_BEST, Settings
>>> Settings().variants == (WITH_BEST, WITHOUT_BEST)
True
>>> Settings(variants=[WITHOUT_BEST]).variants  # in half the time
('without-best',)
"""

Denominators: TypeAlias = Literal["pool", "judged"]
"""R in average precision: relevant documents in the pool, or all judged relevant (trec_eval)."""

Ties: TypeAlias = Literal["order", "average"]
"""Documents of one score: in the tie order (see `Collection`), or averaged over all their orders."""


@frozen
class Query:
    """A query.

    Parameters
    ----------
    id : its id, of a topic say.
    documents : documents in its pool.
    relevant : relevant documents among them.
    judged : documents judged relevant, in the pool or not.

    Examples
    --------
    >>> from structsvm.protocols.experiment import Query
    >>> query = Query("q7", documents=120, relevant=5, judged=8)
    >>> query.relevant / query.judged  # the most that trec_eval's average precision can be in this pool
    0.625
    """

    id: str
    documents: int
    relevant: int
    judged: int


@frozen
class Ranked:
    """How well documents were ranked, query by query.

    Parameters
    ----------
    ap : average precision in the tie order, R = relevant documents in the pool, shape (Q,).
    ap_over_ties : the same averaged over all orders of tied documents, shape (Q,).
    tied : share of the documents that have their score in common with another one, shape (Q,); of those
        that were retrieved, for a base function.

    Examples
    --------
    >>> from statistics import fmean
    >>> from structsvm.protocols.experiment import Ranked
    >>> ranked = Ranked(ap=(1.0, 0.5), ap_over_ties=(0.75, 0.5), tied=(0.4, 0.0))
    >>> fmean(ranked.ap) - fmean(ranked.ap_over_ties)  # how much of MAP the order of tied documents is
    0.125
    """

    ap: tuple[float, ...] = field(repr=False)
    ap_over_ties: tuple[float, ...] = field(repr=False)
    tied: tuple[float, ...] = field(repr=False)

    def __attrs_post_init__(self) -> None:
        """Refuse what measures no queries: results may come from a file."""
        if not len(self.ap) == len(self.ap_over_ties) == len(self.tied):
            raise InputError("ap, ap_over_ties and tied must have as many entries, one a query")

    @classmethod
    def of(cls, ap: Vector, ap_over_ties: Vector, tied: Vector) -> Self:
        """Make it from arrays."""
        return cls(tuple(ap.tolist()), tuple(ap_over_ties.tolist()), tuple(tied.tolist()))


@frozen
class BaseFunction:
    """A base function, a submission say, as a ranker of the pool; what it did not retrieve is tied and comes last.

    Parameters
    ----------
    name : its name.
    retrieved : share of the pool's documents that it retrieved.
    ranked : how well it ranks each query of the experiment.
    precision : interpolated precision over the pool at recall 0, 0.1, ..., 1, mean over the test queries of all trials;
        None where an older version made the results.

    Examples
    --------
    >>> from structsvm.protocols.experiment import BaseFunction, Ranked
    >>> ranked = Ranked(ap=(1.0, 0.5), ap_over_ties=(1.0, 0.4), tied=(0.0, 0.2))
    >>> BaseFunction("bm25", retrieved=0.8, ranked=ranked).mean_ap
    0.75
    """

    name: str
    retrieved: float
    ranked: Ranked
    precision: tuple[float, ...] | None = field(default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        """Refuse precision at other levels."""
        _require_levels(self.precision)

    @property
    def mean_ap(self) -> float:
        """MAP over all queries, in the tie order."""
        return float(np.mean(self.ranked.ap))


@frozen
class Fit(Picked):
    """A model in one trial: the values of its hyper-parameter, the one picked, and how that did.

    Parameters
    ----------
    values, validation, seconds, gaps, chosen : see `structsvm.protocols.pick.Picked`.
    test : MAP on the test queries at each value, in the tie order.
    features : number of features (weights) of the model.
    ranked : how well the model picked ranks each test query, in the order of `Trial.test`.
    precision : its interpolated precision over the pool at recall 0, 0.1, ..., 1, mean over the test queries; None
        where an older version made the results.
    weights : of a model that is a weighted sum: for each base function that it reads, in the order of
        `Results.functions_read`, the weight of its score, or the sum of the weights of its indicators. It is what a
        document gains by being ranked first by that function over not being retrieved. None of other models, and where
        an older version made the results.

    Examples
    --------
    >>> from structsvm.protocols.experiment import Fit, Ranked
    >>> fit = Fit(
    ...     values=(0.1, 1.0, 10.0), validation=(0.5, 0.7, 0.6), seconds=(0.2, 0.1, 0.1), gaps=(9e-4, 8e-4, 7e-4),
    ...     chosen=1, test=(0.4, 0.6, 0.65), features=50,
    ...     ranked=Ranked(ap=(0.7, 0.5), ap_over_ties=(0.7, 0.5), tied=(0.0, 0.0)),
    ... )
    >>> fit.value, fit.test[fit.chosen]
    (1.0, 0.6)
    """

    test: tuple[float, ...]
    features: int
    ranked: Ranked
    precision: tuple[float, ...] | None = field(default=None, repr=False)
    weights: tuple[float, ...] | None = field(default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        """Refuse what no trial comes to."""
        super().__attrs_post_init__()
        if len(self.test) != len(self.values):
            raise InputError("test and values must have as many entries")
        _require_levels(self.precision)


@frozen
class Trial:
    """One trial.

    Parameters
    ----------
    number : number of the trial, from 0.
    train, validation, test : positions of its queries in `Results.queries`, ascending.
    seconds : how long it took, features and scoring included.
    fits : the fit of each model by name, for each variant.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Settings, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(pool, Settings(trials=5, train=2, validation=1, models=["CombSUM"]), folder, jobs=1)
    >>> trial = results.trials[0]
    >>> [results.queries[k].id for k in trial.test], trial.fits["with-best"]["CombSUM"].ranked.ap
    (['2', '5'], (0.1125, 1.0))
    """

    number: int
    train: tuple[int, ...] = field(repr=False)
    validation: tuple[int, ...] = field(repr=False)
    test: tuple[int, ...] = field(repr=False)
    seconds: float
    fits: dict[str, dict[str, Fit]] = field(repr=False)

    def __attrs_post_init__(self) -> None:
        """Refuse a trial that tests nothing, or of which a fit tests other queries."""
        fits = [fit for of_variant in self.fits.values() for fit in of_variant.values()]
        if not (fits and self.test):
            raise InputError("a trial must have fits and test queries")
        if any(len(fit.ranked.ap) != len(self.test) for fit in fits):
            raise InputError(f"every fit must rank the {len(self.test)} test queries of its trial")


@frozen
class Row:
    """A row of a table.

    Parameters
    ----------
    name : name of the model or base function.
    place : 1, 2 or 3 for the best, second and third base function; 0 for a model.
    values : average precision of each query, a model's averaged over the trials that tested it; NaN
        for a query that no trial tested. Shape (Q,).
    mean : their mean, MAP.
    tied : mean share of tied documents.
    against : the reference model against this row (wins are the reference's); None for the reference.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Settings, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(pool, Settings(trials=5, train=2, validation=1, models=["CombSUM"]), folder, jobs=1)
    >>> reference, best, *_ = results.rows("with-best")
    >>> f"{reference.name} {reference.mean:.2f}, {best.name} {best.mean:.2f}"
    'CombSUM 0.55, rows 0.65'
    >>> best.against.wins, best.against.losses  # of CombSUM
    (3, 2)
    """

    name: str
    place: int
    values: Vector = field(repr=False, eq=False)
    mean: float
    tied: float
    against: SignedRankTest | None


@frozen
class Results:
    """The results of an experiment.

    Parameters
    ----------
    header : the settings are ``trials``, ``train``, ``validation``, ``bins``, ``seed``, ``variants``, and ``models``,
        the settings of each by name, in the order of the tables; the data, documents, scores, labels and names.
    queries : the queries, in the order of all values per query.
    left_out : queries that could not take part, and why.
    functions : the base functions, best first, by MAP over all queries.
    trials : the trials, by number.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Results, Settings, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run(pool, Settings(trials=5, train=2, validation=1, models=["CombSUM"]), folder, jobs=1)
    ...     results = Results.load(Path(folder) / "results.json")
    >>> results.statistics["documents"], results.per_query("with-best", "CombSUM").round(2).tolist()
    (147, [0.83, 0.11, 0.1, 0.7, 1.0])
    """

    header: Header
    queries: tuple[Query, ...] = field(repr=False)
    left_out: dict[str, str] = field(repr=False)
    functions: tuple[BaseFunction, ...] = field(repr=False)
    trials: tuple[Trial, ...] = field(repr=False)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of the tables."""
        return tuple(self.header.settings["models"])

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that were run: ``"with-best"``, ``"without-best"``."""
        return tuple(self.header.settings["variants"])

    @property
    def reference(self) -> str:
        """The model that all others are compared with: the first."""
        return self.models[0]

    @property
    def statistics(self) -> Mapping[str, int]:
        """What Table 5 of the paper counts, and the documents: summed over queries."""
        return {
            "base functions": len(self.functions),
            "features": len(self.functions) * int(self.header.settings["bins"]),
            "queries": len(self.queries),
            "documents": sum(query.documents for query in self.queries),
            "relevant": sum(query.relevant for query in self.queries),
            "judged relevant": sum(query.judged for query in self.queries),
        }

    def fits(self, variant: str, model: str) -> tuple[Fit, ...]:
        """Return a model's fits, trial by trial.

        Raises
        ------
        UnknownNameError : there is no such variant or model.
        """
        return tuple(look_up("model", model, look_up("variant", variant, trial.fits)) for trial in self.trials)

    def per_query(
        self, variant: str, model: str, *, denominators: Denominators = "pool", ties: Ties = "order"
    ) -> Vector:
        """Return a model's average precision for each query, averaged over the trials that tested it; else NaN.

        Parameters
        ----------
        variant : ``"with-best"`` or ``"without-best"``.
        model : its name.
        denominators, ties : see `rows`.

        Returns
        -------
        values : shape (Q,), in the order of ``queries``.

        Raises
        ------
        UnknownNameError : there is no such variant or model.
        InputError : another argument is none of those of `rows`.
        """
        return self._scaled(self._averaged(variant, model, _field(ties)), denominators)

    def functions_read(self, variant: str) -> tuple[str, ...]:
        """Return the names of the base functions that models read, best first.

        Raises
        ------
        UnknownNameError : there is no such variant.
        """
        names = tuple(function.name for function in self.functions)
        return look_up("variant", variant, {WITH_BEST: names, WITHOUT_BEST: names[1:]})

    def precision(self, variant: str, model: str) -> Vector | None:
        """Return a model's interpolated precision at recall 0, 0.1, ..., 1: the mean over trials of their test queries.

        Returns
        -------
        values : shape (11,); None where an older version made the results.

        Raises
        ------
        UnknownNameError : there is no such variant or model.
        """
        found = [fit.precision for fit in self.fits(variant, model)]
        return None if None in found else np.mean(np.array(found), axis=0)

    def weights(self, variant: str, model: str) -> Matrix | None:
        """Return a model's weights of the base functions that it reads; see `Fit`.

        Returns
        -------
        weights : shape (trials, functions read); None where the model is no weighted sum of what base functions say, or
            an older version made the results.

        Raises
        ------
        UnknownNameError : there is no such variant or model.
        """
        found = [fit.weights for fit in self.fits(variant, model)]
        return None if None in found else np.array(found)

    def rows(
        self, variant: str, *, denominators: Denominators = "pool", ties: Ties = "order", base_functions: int = 3
    ) -> tuple[Row, ...]:
        """Return the rows of a table: every model, then the best base functions.

        The base functions are those that are best over all queries, an optimistic choice, as in the
        paper. Without the best one, models cannot read it; the rows to compare with stay.

        Parameters
        ----------
        variant : ``"with-best"`` or ``"without-best"``.
        denominators : R in average precision: the relevant documents in the ``"pool"``, or all ``"judged"`` so, as
            in trec_eval. What is best and what is picked depends neither on this nor on ``ties``.
        ties : documents of one score in the tie ``"order"`` (see `Collection`), or the ``"average"`` over all orders.
        base_functions : how many.

        Raises
        ------
        UnknownNameError : there is no such variant.
        InputError : another argument is none of these.
        """
        models = [
            (name, 0, self._averaged(variant, name, _field(ties)), self._averaged(variant, name, "tied"))
            for name in self.models
        ]
        functions = [
            (function.name, place, np.array(getattr(function.ranked, _field(ties))), np.array(function.ranked.tied))
            for place, function in enumerate(self.functions[:base_functions], start=1)
        ]
        tested = ~np.isnan(models[0][2])
        reference = self._scaled(models[0][2], denominators)[tested]
        rows = []
        for k, (name, place, values, tied) in enumerate(models + functions):
            scaled = self._scaled(values, denominators)
            against = signed_rank_test(reference, scaled[tested]) if k > 0 else None
            mean, share = float(scaled[tested].mean()), float(tied[tested].mean())
            rows.append(Row(name, place, scaled, mean, share, against))
        return tuple(rows)

    def _averaged(self, variant: str, model: str, what: str) -> Vector:
        total, times = np.zeros(len(self.queries)), np.zeros(len(self.queries))
        for trial, fit in zip(self.trials, self.fits(variant, model), strict=True):
            tested = list(trial.test)
            total[tested] += getattr(fit.ranked, what)
            times[tested] += 1
        return np.asarray(np.divide(total, times, out=np.full(len(total), np.nan), where=times > 0))

    def _scaled(self, values: Vector, denominators: Denominators) -> Vector:
        require_choice("denominators", denominators, ("pool", "judged"))
        if denominators == "pool":
            return values
        return np.asarray(values * [query.relevant / query.judged for query in self.queries])

    def save(self, path: str | Path) -> None:
        """Write the results as JSON; an existing file is replaced at once or not at all.

        Raises
        ------
        InputError : when no file can be put there.
        """
        with replacing(Path(path)) as file:
            file.write(as_json(self) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read results that `save` wrote.

        Raises
        ------
        InputError : when the file is missing, or holds something else; it says where.
        """
        try:
            with open_source(Path(path)) as file:
                content = file.read(_LARGEST + 1)
            if len(content) > _LARGEST:
                raise InputError(f"it has more than {_LARGEST >> 20} MB, as no results have")
            results = from_json(content.decode(), cls)
            require_known(results.header.format)
            results._require_complete()
            return results
        except DataFormatError:
            raise
        except ValueError as error:
            raise InputError(f"{path} does not hold the results of an experiment: {error}") from None

    def _require_complete(self) -> None:
        """Refuse results that no experiment comes to, as tables cannot be made of them."""
        settings, Q = self.header.settings, len(self.queries)
        variants, models = settings.get("variants"), settings.get("models")
        if not isinstance(models, dict):
            raise InputError("the setting models must have the settings of each model by name")
        if not (self.queries and self.functions and self.trials and models):
            raise InputError("it must have queries, base functions, trials and models, one at least of each")
        if (
            not isinstance(variants, list)
            or not variants
            or not all(each in (WITH_BEST, WITHOUT_BEST) for each in variants)
        ):
            raise InputError(f"its variants must be {WITH_BEST} or {WITHOUT_BEST}, or both, and are {variants!r}")
        require_integer("the number of bins", settings.get("bins"), 1)
        for query in self.queries:
            if not (query.judged > 0 and 0 <= query.relevant <= query.documents):
                raise InputError(f"the counts of query {query.id!r} cannot be: {query}")
        for function in self.functions:
            if len(function.ranked.ap) != Q:
                raise InputError(f"base function {function.name!r} must rank the {Q} queries")
        tried: dict[tuple[str, str], int] = {}
        for trial in self.trials:
            if not all(0 <= query < Q for query in (*trial.train, *trial.validation, *trial.test)):
                raise InputError(f"trial {trial.number} has queries beyond the {Q} that there are")
            if trial.fits.keys() != set(variants) or any(fits.keys() != models.keys() for fits in trial.fits.values()):
                raise InputError(f"trial {trial.number} must have a fit of every variant and model, and no other")
            for variant, fits in trial.fits.items():
                for name, fit in fits.items():
                    if len(fit.values) != tried.setdefault((variant, name), len(fit.values)):
                        raise InputError(f"{name} tries another number of values in trial {trial.number}")
                    read = len(self.functions_read(variant))
                    if fit.weights is not None and len(fit.weights) != read:
                        raise InputError(f"{name} must weigh the {read} base functions in trial {trial.number}")


def _require_levels(precision: tuple[float, ...] | None) -> None:
    if precision is not None and len(precision) != len(LEVELS):
        raise InputError(f"precision must be at {len(LEVELS)} levels of recall, got {len(precision)}")


_FIELD = {"order": "ap", "average": "ap_over_ties"}


def _field(ties: Ties) -> str:
    """Return the name of the values in `Ranked`."""
    require_choice("ties", ties, _FIELD)
    return _FIELD[ties]
