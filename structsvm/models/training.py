"""The record of how a model was trained."""

import os
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Self

import numpy as np
from attrs import asdict, field, frozen
from numpy.typing import NDArray

from structsvm.foundation.settings import is_number, require_integer
from structsvm.foundation.storage.archives import require_names
from structsvm.foundation.types import Vector
from structsvm.result import Result

_COUNTS = {"best_iteration_": "best_iteration", "n_examples_": "examples", "n_left_out_": "left_out"}
"""Fitted counts, and their names in the record."""


@cache
def _version() -> str:
    """Return the installed version; looking it up takes as long as some fits."""
    from importlib.metadata import version

    return version("structural-svm")


@frozen
class Trained:
    """The time of training in UTC (ISO 8601), the version of structural-svm, and how a setting was chosen, in words.

    ``zero_based`` tells how ``structsvm train`` read LETOR files; None: not at all. If the environment has
    SOURCE_DATE_EPOCH, as in reproducible builds, the time is its value.
    """

    version: str
    time: str
    choice: str | None = None
    zero_based: bool | None = None

    @classmethod
    def now(cls) -> Self:
        """Return the record of a training that ends now."""
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        seconds = int(epoch) if epoch.isascii() and epoch.isdigit() else time.time()
        return cls(_version(), datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds"))

    @classmethod
    def read(cls, written: Any) -> Self:
        """Return the record in a file; raise `ValueError` if it is malformed."""
        if not isinstance(written, dict) or not all(
            isinstance(value, bool if name == "zero_based" else str) for name, value in written.items()
        ):
            raise ValueError("the time of training must be a JSON object of texts; zero_based is true or false")
        require_names("the time of training", written, ("version", "time", "choice", "zero_based"), ("version", "time"))
        return cls(**written)


@frozen(eq=False)
class Training:
    """How a model was trained, in JSON, and the ``arrays`` that ``fit`` set; empty for a model made by hand."""

    estimator: str = ""
    settings: Mapping[str, Any] = field(factory=dict, repr=False)
    fitted: Mapping[str, Any] = field(factory=dict, repr=False)
    trained: Trained | None = field(default=None, repr=False)
    result: Result | None = field(default=None, repr=False)
    arrays: Mapping[str, NDArray[Any]] = field(factory=dict, repr=False)

    def text(self) -> dict[str, Any]:
        """Return everything but the arrays, for JSON."""
        when = None if self.trained is None else asdict(self.trained, filter=lambda _, value: value is not None)
        return {
            "estimator": self.estimator,
            "settings": dict(self.settings),
            "fitted": dict(self.fitted),
            "trained": when,
        }

    @classmethod
    def read(cls, text: Mapping[str, Any], arrays: Mapping[str, Any], others: Collection[str]) -> Self:
        """Return the training in a file from its `text` and arrays; ``others`` are the names of the model's arrays."""
        if not isinstance(text["estimator"], str):
            raise ValueError(f"estimator must be text, got {text['estimator']!r}")
        for name in ("settings", "fitted"):
            if not isinstance(text[name], dict):
                raise ValueError(f"{name} must be a JSON object, got {text[name]!r}")
        trained = None if text["trained"] is None else Trained.read(text["trained"])
        result = Result.from_arrays(arrays) if "result" in arrays else None
        names_of_model = {*others, *(() if result is None else result.arrays())}
        more = {name: arrays[name] for name in arrays if name not in names_of_model}
        return cls(text["estimator"], text["settings"], text["fitted"], trained, result, more)

    def weight_limits(self, d: int, names: tuple[str, ...] | None) -> tuple[Vector, Vector] | None:
        """Return the smallest and largest of d weights by ``bounds`` and ``monotonic_cst``; None if both are unset."""
        bounds, signs = self.settings.get("bounds"), self.settings.get("monotonic_cst")
        if bounds is None and signs is None:
            return None
        ends = zip(read_bounds([None, None] if bounds is None else bounds), (-np.inf, np.inf), strict=True)
        low, high = (np.full(d, none if end is None else end, dtype=np.float64) for end, none in ends)
        if signs is not None:
            listed = [signs.get(name, 0) for name in names or ()] if isinstance(signs, dict) else signs
            sign = np.broadcast_to(np.asarray(listed, dtype=np.float64), (d,))
            low, high = np.where(sign > 0, np.maximum(low, 0.0), low), np.where(sign < 0, np.minimum(high, 0.0), high)
        return low, high

    def record(self) -> dict[str, Any]:
        """Return the entries of `TrainedModel.record` that do not depend on the weights."""
        settings, result = self.settings, self.result
        record: dict[str, Any] = {}
        if "loss" in settings:
            loss = settings["loss"]
            # A loss without a name is written as its text.
            record["loss"] = str(loss["text"] if isinstance(loss, dict) else loss)
        if result is None:
            record |= {name: value for name, value in settings.items() if isinstance(value, bool | int | float | str)}
        elif "stationary_" in self.fitted:
            record |= {"C": result.C, "solver": result.solver_name, **self._descent(result), "tol": result.tol}
        else:
            record |= {"C": result.C, "solver": result.solver_name, "status": result.message, "primal": result.primal}
            record |= {"dual": result.dual, "gap_over_C": result.gap / result.C, "tol": result.tol}
            if result.history:
                last = result.history[-1]
                record |= {"iterations": last.iteration, "seconds": last.seconds}
                record |= {"compile_seconds": last.compile_seconds}
        return record

    def counts(self) -> dict[str, int]:
        """Return the counts of the record."""
        counts = {name: self.fitted[key] for key, name in _COUNTS.items() if key in self.fitted}
        for name, count in counts.items():
            require_integer(name, count, 0)
        return counts

    def _descent(self, result: Result) -> dict[str, Any]:
        """Return the record of a descent; its objective is not convex, so it has no gap."""
        stationary = self.fitted["stationary_"]
        proved = "stationary within 2 tol * C, which the last convex problem proved"
        return {
            "status": f"{proved if stationary else 'not proved stationary'}. The last convex problem: {result.message}",
            "stationary": stationary,
            "objective": self.fitted["objective_"],
            "rounds": len(self.arrays["rounds"]),
            "last_gap_over_C": result.gap / result.C,
        }


def read_bounds(written: Any) -> tuple[Any, Any]:
    """Parse smallest and largest weights: one for all, or an array; null in JSON means no bound."""
    ends = [end if isinstance(end, list) else [end] for end in written] if isinstance(written, list) else []
    if len(ends) != 2 or not all(number is None or is_number(number) for end in ends for number in end):
        raise ValueError(f"bounds must be two ends, each null, a number or a list of both, got {written!r}")
    low, high = (
        np.array([none if number is None else number for number in end], dtype=np.float64) if end is all_ else all_
        for end, all_, none in zip(ends, written, (-np.inf, np.inf), strict=True)
    )
    return low, high
