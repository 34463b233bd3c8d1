"""The base class of trained models: prediction, explanation and files."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from attrs import evolve, field, fields_dict, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import FLOATS
from structsvm.foundation.categories import values_of
from structsvm.foundation.memory import require_memory
from structsvm.foundation.settings import checked_names, require_integer, require_kind
from structsvm.foundation.storage.files import write_archive
from structsvm.foundation.types import Matrix, Vector
from structsvm.models.explanation import Explanation
from structsvm.models.rows import checked_rows, filled, require_finite
from structsvm.models.training import Training

if TYPE_CHECKING:
    from structsvm.foundation.tables.table import Table
    from structsvm.models.calibration import Calibration
    from structsvm.models.drift import FeatureCheck
from importlib import import_module

from structsvm.exceptions import ModelFileError
from structsvm.foundation.storage.archives import finite_numbers, json_object, text_array
from structsvm.result import require_format

FORMAT = 1
"""Number of the format of model files; files of other formats are rejected."""


@frozen
class Parts:
    """Weights or importances, the largest first: rows with ``feature`` (from 0), ``value`` and further numbers."""

    quantity: str
    rows: tuple[dict[str, Any], ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, quantity: str, values: Vector, *notes: str) -> Self:
        """Return the parts for one value per feature; a note counts the zeros, which are left out."""
        order = np.argsort(-np.abs(values), kind="stable")
        nonzero = order[values[order] != 0.0]
        zero = len(values) - len(nonzero)
        more = (f"{zero} of {len(values)} features have {quantity} 0.",) if zero else ()
        rows = tuple({"feature": k, "value": float(values[k])} for k in nonzero.tolist())
        return cls(quantity, rows, (*notes, *more))


def _whole(_model: "TrainedModel", _attribute: object, n_features: Any) -> None:
    require_integer("n_features", n_features, 0)


@frozen(eq=False, slots=False, kw_only=True)
class TrainedModel(ABC):
    """Base class of trained models, which score documents and explain scores; `structsvm.load` returns one.

    Fitted estimators store their model as ``model_``.

    Parameters
    ----------
    n_features : number of features.
    feature_names : names of the features; None if they have numbers only.
    categories : columns of categories in data frames and tables. Each category is a feature "column=value" of 0 or 1;
        an unknown or missing text is 0 in all of them.
    fill : replacement of NaN in each feature, shape (n_features,); None: NaN is not replaced.
    training : record of the training, which `record` shows.
    calibration : curve for `predict_proba`, fitted by `calibrated`; None: not calibrated.

    Examples
    --------
    >>> from structsvm import Ranker, load
    >>> Ranker("map", C=5.0).fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).save("model.npz")
    >>> model = load("model.npz")
    >>> model.predict([[1.0], [2.0]]).argmax(), model.record["C"]
    (np.int64(1), 5.0)
    """

    form: ClassVar[str]
    """Name of the kind of model in files."""

    array_names: ClassVar[tuple[str, ...]]
    """Names of the form's own arrays in files."""

    takes_sparse: ClassVar[bool] = False
    """True if features may be sparse."""

    takes_missing: ClassVar[bool] = False
    """True if features may be NaN without a ``fill``."""

    n_features: int = field(validator=_whole)
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)
    categories: tuple[str, ...] = field(default=(), repr=False)
    fill: Vector | None = field(default=None, repr=False)
    training: Training = field(factory=Training, repr=False)
    calibration: "Calibration | None" = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without cached properties, which may refer to the model: skops stores no cycles."""
        return {name: getattr(self, name) for name in fields_dict(type(self))}

    @property
    def propagates_nan(self) -> bool:
        """True if NaN or infinity in a feature always propagates to the score; then features need no check."""
        return False

    @property
    def by_query(self) -> bool:
        """True if the score of a document depends on the other documents of its query."""
        return False

    @property
    def title(self) -> str:
        """Name for messages: the class of the estimator, or of a model made by hand."""
        return self.training.estimator or type(self).__name__

    @property
    def record(self) -> dict[str, Any]:
        """Record of the training: texts and numbers by name, None if unknown, as ``structsvm show --json`` prints."""
        training = self.training
        trained = training.trained
        return {
            "estimator" if self._joint else "ranker": self.title,
            **training.record(),
            **self._limits_in_words(),
            **({} if self._joint else {"normalize": training.settings.get("normalize")}),
            **({} if self.fill is None else {"missing": training.settings.get("missing")}),
            **({"categories": ", ".join(self.categories)} if self.categories else {}),
            **({"features": self.n_features} if self.n_features else {}),
            **self._sizes(),
            **training.counts(),
            **({} if self.calibration is None else {"calibration": str(self.calibration)}),
            **({} if trained is None or trained.choice is None else {"choice": trained.choice}),
            **({"zero_based": True} if trained is not None and trained.zero_based else {}),
            "trained": None if trained is None else trained.time,
            "version": None if trained is None else trained.version,
        }

    def named(self, names: Iterable[str] | None) -> Self:
        """Return the model with new feature names, one per feature; None returns it unchanged."""
        if names is None:
            return self
        return evolve(self, feature_names=tuple(checked_names("feature_names", names, self.n_features)))

    def predict(self, X: Any, qid: Any = None) -> Vector:
        """Return the score of each row, shape (rows,); a larger score ranks higher within a query.

        Equal rows have equal scores, to the last bit.

        Parameters
        ----------
        X : features, shape (rows, n_features), dense, or sparse if `takes_sparse`; zero rows are allowed. Contiguous
            float64 and float32 arrays are not copied. If the model has names of features, columns of a data frame are
            matched by name, and additional columns are ignored.
        qid : query id of each row, needed only if features are normalized by query. None: all rows are one query.
        """
        if not self.propagates_nan:
            return self._scores(self._filled(self.checked(X)), qid)
        X = self._filled(self._read(X))
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X, qid)
            finite = isfinite(np.add.reduce(scores))
        if not finite:
            # Finite features may overflow in the sum, so check the features themselves.
            require_finite(X, missing=False, names=self.feature_names)
        return scores

    def calibrated(
        self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, *, method: str = "isotonic"
    ) -> Self:
        """Return the model with a `Calibration`, for `predict_proba`; its scores stay the same.

        Use queries that neither trained the model nor chose its settings. Relevant documents of the training queries
        have scores that are too high, which would make the probabilities too high.

        Parameters
        ----------
        X, qid : as in `predict`; query ids are needed.
        y, sample_weight, method : as in `Calibration.of`.

        Examples
        --------
        >>> from structsvm import Ranker
        >>> from structsvm.data import load_digits_queries
        >>> train, other = load_digits_queries()
        >>> ranker = Ranker(C=10.0).fit(train.X, train.y, qid=train.qid)
        >>> model = ranker.model_.calibrated(other.X, other.y, other.qid, method="sigmoid")
        >>> model.predict_proba(other.X).shape == (len(other.y), 2)
        True
        """
        from structsvm.models.calibration import Calibration

        return evolve(self, calibration=Calibration.of(self.predict(X, qid), y, qid, sample_weight, method=method))

    def predict_proba(self, X: Any, qid: Any = None) -> Matrix:
        """Return the probabilities that each row is irrelevant and relevant, shape (rows, 2), as classifiers do.

        ``[:, 1]`` is the probability of relevance: the share of relevant documents among documents of equal score, in
        queries like the queries of `calibrated`. It never falls as scores rise, but documents of different scores may
        have equal probabilities: rank by `predict`.

        Parameters
        ----------
        X, qid : as in `predict`.
        """
        if self.calibration is None:
            raise InputError(
                f"this {self.title} is not calibrated, so it has scores but no probabilities: use "
                "model.calibrated(X, y, qid), or structsvm calibrate, with queries that it was not trained on"
            )
        relevant = self.calibration.probabilities(self.predict(X, qid))
        return np.column_stack([1.0 - relevant, relevant])

    def explain(self, X: Any, qid: Any = None) -> Explanation:
        """Return each feature's contribution to each row's score; contributions and base add up to the score.

        Features that interact share their part: networks split it by integrated gradients from the average document,
        `LambdaMART` by SHAP values, and `TreeRanker` by the change of the mean leaf value at each split.

        Parameters
        ----------
        X, qid : as in `predict`.

        Raises
        ------
        TooLargeError : memory is too short for a number for each row and feature.
        """
        X = self.checked(X)
        require_memory(
            24.0 * X.shape[0] * X.shape[1], "The contributions of all features", "explain fewer rows at a time"
        )
        explained = self._explained(self._filled(X if isinstance(X, np.ndarray) else X.toarray()), qid)
        return evolve(explained, feature_names=self.feature_names)

    def check(self, X: Any, qid: Any = None) -> "FeatureCheck":
        """Compare features with the training features: values outside their ranges, and drift of distributions.

        Parameters
        ----------
        X : as in `predict`.
        qid : query id of each row. Rows of a query are dependent, so the sample size is the number of queries. None:
            all rows are independent; if they come from few queries, this reports drift that does not exist.

        Raises
        ------
        InputError : the model has no statistics of its training features, or X has no rows.
        """
        from structsvm.foundation.queries import Queries
        from structsvm.models.drift import statistics_of

        X = self.checked(X)
        if not X.shape[0]:
            raise InputError("X has no rows to check")
        require_memory(16.0 * X.shape[0] * X.shape[1], "The features as dense rows", "check fewer rows at a time")
        statistics = statistics_of(self.training.arrays, self.n_features, self.title)
        sizes = np.ones(X.shape[0]) if qid is None else np.diff(Queries.of(qid, X.shape[0]).ptr).astype(np.float64)
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        return statistics.compared(dense, sizes, self.feature_names)

    @abstractmethod
    def parts(self) -> Parts:
        """Return the weights or importances of features, the largest first."""

    def table(self, top: int | None = None, title: str = "") -> "Table":
        """Return the table of `parts`, with names of features and the bounds that weights are at.

        Parameters
        ----------
        top : largest number of rows; None: all.
        title : title of the table.

        Examples
        --------
        >>> from structsvm.models import LinearModel
        >>> print(LinearModel(n_features=2, feature_names=("bm25", "age"), coef=[2.0, -3.0]).table())
        feature   name   weight
        ───────────────────────
              2   age        -3
              1   bm25        2
        <BLANKLINE>
        """
        from structsvm.foundation.tables.table import Column, Table

        require_integer("top", top, 1, optional=True)
        parts, names, ends = self.parts(), self.names_of_parts, self.limits()
        further = [name for name in (parts.rows[0] if parts.rows else ()) if name not in ("feature", "value")]
        records = tuple(
            {
                "feature": row["feature"] + 1,
                "name": None if names is None else names[row["feature"]],
                **{name: row[name] for name in further},
                parts.quantity: row["value"],
                **({"at_bound": ends[row["feature"]] or ""} if any(ends) else {}),
            }
            for row in parts.rows[:top]
        )
        shown = [
            "feature",
            *(["name"] if names else []),
            *further,
            parts.quantity,
            *(["at_bound"] if any(ends) else []),
        ]
        columns = (
            Column.text(name.replace("_", " "), name)
            if all(isinstance(record[name], str | bool) for record in records)
            else Column.number(name, name, "d" if name == "feature" else ".6g", missing="-")
            for name in shown
        )
        return Table(title, tuple(columns), (records,), parts.notes)

    @property
    def names_of_parts(self) -> tuple[str, ...] | None:
        """Names of the features, in the numbering of `parts`; None if they have no names."""
        return None if self._joint else self.feature_names

    def limits(self) -> "list[str | None]":
        """Return the bound that each weight is at: "low", "high", "both" if both bounds are equal, None if neither."""
        return [None] * self.n_features

    def save(self, path: str | Path) -> None:
        """Write the model to a file (npz without pickles); an existing file is replaced atomically.

        Equal models make files of equal bytes.
        """
        write_archive(path, self.arrays())

    def arrays(self) -> dict[str, Any]:
        """Return the arrays of the file; raise InputError if a setting of the training cannot be written."""
        text = {"format": FORMAT, "form": self.form, "n_features": self.n_features, **self.training.text()}
        if self.categories:
            text["categories"] = list(self.categories)
        if self.calibration is not None:
            text["calibration"] = self.calibration.text()
        try:
            written = json.dumps(text | self._numbers(), default=_plain)
        except TypeError as error:
            raise InputError(f"{self.title} cannot be written: {error}") from None
        arrays = {"model": np.array(written), **self._arrays()}
        if self.calibration is not None:
            arrays |= self.calibration.arrays()
        if self.feature_names is not None:
            arrays["feature_names"] = np.array(self.feature_names, dtype=str)
        if self.fill is not None:
            arrays["fill"] = self.fill
        result = self.training.result
        return {**arrays, **({} if result is None else result.arrays()), **self.training.arrays}

    def without_training(self) -> Self:
        """Return the model without the record of its training, to be sent to other processes."""
        return evolve(self, training=Training(self.training.estimator))

    @classmethod
    @abstractmethod
    def read(cls, numbers: Mapping[str, Any], arrays: Mapping[str, Any], common: Mapping[str, Any]) -> Self:
        """Make a model from the values of `_numbers` and `_arrays` in a file, which are checked.

        ``common`` has the arguments of `TrainedModel`. Raise KeyError or ValueError if a value is missing or malformed.
        """

    @abstractmethod
    def _arrays(self) -> dict[str, Any]:
        """Return the arrays of the model."""

    def _numbers(self) -> dict[str, Any]:
        """Return the numbers of the model, for JSON."""
        return {}

    @abstractmethod
    def _scores(self, X: NDArray[Any], qid: Any) -> Vector:
        """Return the scores of checked rows, shape (rows,)."""

    @abstractmethod
    def _explained(self, X: NDArray[Any], qid: Any) -> Explanation:
        """Return the explanation of checked dense rows."""

    def _sizes(self) -> dict[str, int]:
        """Return numbers of parts of the model, such as trees, for the record."""
        return {}

    @property
    def _joint(self) -> bool:
        """True if the model has joint features, and thus does not score rows."""
        return False

    def _limits_in_words(self) -> dict[str, Any]:
        """Return the settings of bounds and the number of weights at a bound; {} without bounds."""
        settings = self.training.settings
        limits = {name: settings[name] for name in ("bounds", "monotonic_cst") if settings.get(name) is not None}
        return {**limits, "weights_at_a_bound": sum(end is not None for end in self.limits())} if limits else {}

    def checked(self, X: Any) -> Any:
        """Return features as `predict` reads them: float64 or float32 in C order, or CSR."""
        rows = self._read(X)
        require_finite(rows, missing=self.takes_missing or self.fill is not None, names=self.feature_names)
        return rows

    def _filled(self, X: Any) -> Any:
        return X if self.fill is None else filled(X, self.fill)

    def _read(self, X: Any) -> Any:
        """Return features of the right shape and type."""
        fits = (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in FLOATS
            and X.shape[1] == self.n_features
            and X.flags.c_contiguous
        )
        if fits:
            return X
        return checked_rows(X, self.title, self.n_features, self.feature_names, self.takes_sparse, self.categories)


def model_of(ranker: Any) -> TrainedModel:
    """Return the model of a fitted estimator; return a model unchanged."""
    fitted = getattr(ranker, "model_", ranker)
    require_kind(
        "ranker", fitted, TrainedModel, "a fitted ranker, such as Ranker().fit(X, y, qid), or a model of structsvm.load"
    )
    model: TrainedModel = fitted
    return model


def _plain(value: Any) -> Any:
    """Convert NumPy numbers to Python numbers, for JSON."""
    if isinstance(value, np.generic | np.ndarray):
        # Python has no long double.
        return value.astype(np.float64).tolist() if value.dtype == np.longdouble else value.tolist()
    raise TypeError(f"{value!r} is neither a number nor text")


def at_limits(coef: Vector, limits: tuple[Vector, Vector] | None) -> "list[str | None]":
    """Return the bound that each weight is at; see `TrainedModel.limits`."""
    if limits is None:
        return [None] * len(coef)
    low, high = limits
    return [(None, "low", "high", "both")[code] for code in ((coef == low) + 2 * (coef == high)).tolist()]


_FORMS = {
    "linear": "LinearModel",
    "stumps": "StumpModel",
    "network": "NetworkModel",
    "trees": "TreeModel",
    "leaves": "LeafModel",
    "joint": "JointModel",
}
"""Modules of the forms of models, and their classes; only the form in the file is imported."""


def read_model(arrays: Mapping[str, Any]) -> TrainedModel:
    """Validate the arrays of a file and return their model; raise KeyError or ValueError if they are malformed."""
    if "model" not in arrays:
        if "result" in arrays:
            raise ModelFileError("the file contains a Result: read it with Result.load")
        raise ValueError("it holds no model")
    text = json_object(arrays, "model")
    require_format(text["format"], FORMAT)
    if text["form"] not in _FORMS:
        raise ValueError(f"unknown form of models {text['form']!r}")
    kind: type[TrainedModel] = getattr(import_module(f"structsvm.models.{text['form']}"), _FORMS[text["form"]])
    d = text["n_features"]
    require_integer("n_features", d, 0 if text["form"] == "joint" else 1)
    names = tuple(text_array(arrays, "feature_names", (d,)).tolist()) if "feature_names" in arrays else None
    calibration = _read_calibration(text["calibration"], arrays) if "calibration" in text else None
    fill = finite_numbers(arrays, "fill", (d,)) if "fill" in arrays else None
    of_calibration = {} if calibration is None else calibration.arrays()
    reserved = {"model", "feature_names", "fill", *kind.array_names, *of_calibration}
    categories = text.get("categories", [])
    if not (isinstance(categories, list) and all(values_of(column, names or ()) for column in categories)):
        raise ValueError("'categories' must be columns whose values are features")
    common = {
        "n_features": d,
        "feature_names": names,
        "categories": tuple(categories),
        "fill": fill,
        "calibration": calibration,
    }
    model = kind.read(text, arrays, {**common, "training": Training.read(text, arrays, reserved)})
    # The record reads every entry of the file, so it raises if one is malformed.
    model.record  # noqa: B018
    return model


def _read_calibration(written: Any, arrays: Mapping[str, Any]) -> Any:
    # Most models do without the import, and a process that serves starts faster.
    from structsvm.models.calibration import Calibration

    return Calibration.read(written, arrays)
