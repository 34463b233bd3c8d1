"""One example of a loss: its methods against one another, over all of its outputs if they are known."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, Self

import numpy as np
from attrs import frozen

from structsvm.exceptions import CheckError
from structsvm.problem.checking.methods import Malformed, Methods, show, unchanged
from structsvm.problem.checking.ties import Known
from structsvm.types import Matrix, Vector

_REPEATED = 3
"""Outputs of an example whose loss and encoding are asked for twice."""


@frozen(eq=False)
class ExampleCheck:
    """One example with its known outputs.

    Parameters
    ----------
    methods : the methods of the loss.
    y : a copy of the example, which the methods get.
    before : the example, which that copy must stay equal to.
    tol : difference that counts as rounding, times the size of the numbers.
    known : the outputs.
    labels, params : what the kernel reads.
    predicts : whether `argmax` must find a maximum too. If not, its outputs are still compared with the others.
    """

    methods: Methods
    y: Any
    before: Any
    tol: float
    known: Known
    labels: Vector
    params: Vector
    predicts: bool = True

    @classmethod
    def of(
        cls,
        methods: Methods,
        y: Any,
        length: int | None,
        tol: float,
        params: Vector,
        *,
        listed: bool = True,
        predicts: bool = True,
    ) -> Self:
        """Encode the truth, and list all outputs with encodings of its length, if `listed` and they can be had."""
        copy = copied(y)
        # Objects without a comparison differ from their copies: compare the copy with itself then.
        before, y = y if unchanged(copy, y) else copy, copy
        own = methods.encode(y, y, length)
        outputs = methods.outputs(y) if listed else None
        if outputs is None:
            known = Known.alone(y, own)
        else:
            codes = np.stack([methods.encode(output, y, len(own)) for output in outputs])
            predicted = codes
            if methods.loss.predicting is not methods.loss:
                predicted = np.stack([methods.encode(output, y, len(own), predicted=True) for output in outputs])
            deltas = np.array([methods.delta(y, output) for output in outputs])
            known = Known(outputs, codes, predicted, deltas, own, complete=True)
        if methods.generic is not None:
            known.bounds = methods.weight_bounds(len(own), y)
        labels = np.zeros(0) if methods.loss.kernel is None else methods.labels(y)
        return cls(methods, y, before, tol, known, labels, params, predicts)

    def run(
        self, rng: np.random.Generator, trials: int, *, interpreted: int = 4, ended: Callable[[], bool] = bool
    ) -> None:
        """Try many scores.

        Parameters
        ----------
        rng : random numbers.
        trials : how many scores of each kind.
        interpreted : scores at which the kernel runs in Python before it is compiled.
        ended : whether to try no more scores.
        """
        own = self.methods.delta(self.y, self.y)
        if own > self.tol:
            raise self.methods.wrong("loss", f"returned {own!r} for the truth: Δ(y, y) must be 0", self.y)
        tried, found = [], []
        for scores in map(self.known.within, self._scores(rng, trials)):
            tried.append(scores)
            found.append(self._check_argmax("loss_augmented_argmax", scores, repeated=len(tried) <= _REPEATED))
            if self.predicts:
                found.append(self._check_argmax("argmax", scores))
            elif not self.known.complete:
                self._take_prediction(scores)
            self._require_bound(scores)
            if ended():
                break
        if not self.known.complete:
            for each in found:
                self._require_maximiser(*each)
        if self.methods.loss.kernel is not None:
            for scores in tried[:interpreted]:
                self.methods.run_interpreted(self.y, scores, self.labels, self.params)
            self._check_kernel(np.stack(tried))

    def _scores(self, rng: np.random.Generator, trials: int) -> Iterator[Vector]:
        own = self.known.truth
        m = len(own)
        yield np.zeros(m)
        for size in (1.0, -1.0, 100.0):
            yield np.asarray(size * own)
        for _ in range(trials):
            for size in (0.1, 1.0, 30.0):
                yield np.asarray(size * rng.standard_normal(m))
            yield np.asarray(rng.integers(-2, 3, size=m) / 4.0)
        for k in range((trials + 1) // 2):
            yield from self.known.probes(rng, to_truth=k % 3 == 0)

    def _require_bound(self, scores: Vector) -> None:
        excess = self.known.truth @ scores - self.known.values(scores, augmented=False).max()
        if excess > self._rounding(scores):
            raise self._wrong(
                "encode",
                f"gives the truth a value that exceeds that of every output by {excess:.3g}: the hinge is then no "
                "upper bound of the loss. The truth must lie among the outputs, or between them",
                scores,
            )

    def _check_argmax(self, method: str, scores: Vector, *, repeated: bool = False) -> tuple[str, Vector, Any, float]:
        """Compare the value of the output that an argmax finds with the largest of all; return what it found."""
        augmented = method == "loss_augmented_argmax"
        given = scores.copy()
        find = self.methods.augmented if augmented else self.methods.predicted
        found = find(given, self.y)
        if not np.array_equal(given, scores):
            raise self._wrong(method, "changed the scores it was given: work on a copy", scores)
        self._require_unchanged(method, scores)
        try:
            code = predicted = self.methods.encode(found, self.y, len(scores))
            if self.methods.loss.predicting is not self.methods.loss:
                predicted = self.methods.encode(found, self.y, len(scores), predicted=True)
            delta = self.methods.delta(self.y, found) if augmented or not self.known.complete else 0.0
        except Malformed as error:
            reason = str(error).partition("\n")[0]
            verdict = f"returned {self._output(found)}, which is no output: {reason}"
            raise self._wrong(method, verdict, scores, type(error)) from error
        self._require_unchanged("loss or encode", scores)
        if repeated:
            self._require_repeatable(found, code, delta)
        got = float(code @ scores) + delta if augmented else float(predicted @ scores)
        best = float(self.known.values(scores, augmented=augmented).max())
        if self.known.complete and got > best + self._rounding(scores):
            raise self._wrong(
                method,
                f"returned {self._output(found)}, which is none of the outputs that outputs lists: "
                f"its value is {got:.12g}, and theirs are at most {best:.12g}",
                scores,
            )
        if augmented or _distinct(scores):
            self.known.take(found, code, predicted, delta)
        self._require_maximiser(method, scores, found, got)
        return method, scores, found, got

    def _take_prediction(self, scores: Vector) -> None:
        """Add the prediction at these scores to the known outputs, if there is one without ties."""
        if not _distinct(scores):
            return
        try:
            found = self.methods.predicted(scores.copy(), self.y)
            code = self.methods.encode(found, self.y, len(scores))
            self.known.take(found, code, code, self.methods.delta(self.y, found))
        except (Malformed, NotImplementedError):
            return

    def _require_unchanged(self, method: str, scores: Vector) -> None:
        if not unchanged(self.y, self.before):
            verdict = f"changed the example it was given, which was {show(self.before)}: work on a copy"
            raise self._wrong(method, verdict, scores)

    def _require_repeatable(self, output: Any, code: Vector, delta: float) -> None:
        """Refuse a loss that returns other numbers for the same output when it is called again."""
        again = self.methods.delta(self.y, output)
        if abs(again - delta) > self.tol * (1.0 + delta):
            verdict = f"returned {delta!r}, and {again!r} when it was called again: Δ(y, ŷ) must stay the same"
            raise self.methods.wrong("loss", verdict, self.y, output=output)
        recoded = self.methods.encode(output, self.y, len(code))
        if np.abs(recoded - code).max(initial=0.0) > self.tol * (1.0 + np.abs(code).max(initial=0.0)):
            verdict = f"returned {show(code)}, and {show(recoded)} when it was called again: c(ŷ) must stay the same"
            raise self.methods.wrong("encode", verdict, self.y, output=output)

    def _require_maximiser(self, method: str, scores: Vector, found: Any, got: float) -> None:
        augmented = method == "loss_augmented_argmax"
        values = self.known.values(scores, augmented=augmented)
        best = int(np.argmax(values))
        if self.methods.loss.exact and not got >= values[best] - self._rounding(scores):
            raise self._wrong(
                method,
                f"does not return a maximiser of {'Δ + ' if augmented else ''}{self.methods.value}:\n"
                f"  expected {self._output(self.known.outputs[best])} (or an equal one), with value "
                f"{values[best]:.12g}\n"
                f"  got {self._output(found)}, with value {got:.12g}{self._if_an_order(found, scores)}",
                scores,
            )

    def _if_an_order(self, found: Any, scores: Vector) -> str:
        """Explain what an output is where this one may be a list of documents."""
        numbers = np.asarray(found) if isinstance(found, np.ndarray | list) else np.zeros(0)
        if numbers.dtype.kind not in "iu" or not np.array_equal(np.sort(numbers), np.arange(len(scores))):
            return ""
        return "\n  If these are document numbers, best first: an output is one number per document, larger is ahead"

    def _check_kernel(self, tried: Matrix) -> None:
        """Compare the planes that the kernel finds at several scores, one a row, with the best at each of them."""
        best = np.array([self.known.values(scores).max() - self.known.truth @ scores for scores in tried])
        allowed = np.array([self._rounding(scores) for scores in tried])
        deltas, planes = np.empty(len(tried)), np.empty_like(tried)
        for k, scores in enumerate(tried):
            deltas[k], planes[k] = self._plane(scores)
        claimed = deltas[:, None] - planes @ tried.T
        # The outputs that are known of an inexact loss bound nothing, unless all are known.
        bounded = self.known.complete or self.methods.loss.exact
        invented = (claimed > best + allowed) & bounded
        short = self.methods.loss.exact & (claimed.diagonal() < best - allowed)
        wrong = np.flatnonzero(short | invented.any(axis=1))
        if not len(wrong):
            return
        k = int(wrong[0])
        if short[k]:
            raise self._wrong(
                "kernel",
                f"misses the most violated output: Δ − scores·(c(y) − c(ŷ)) should be {best[k]:.12g}, "
                f"it is {claimed[k, k]:.12g}",
                tried[k],
            )
        at = int(np.argmax(invented[k]))
        among = "all outputs" if self.known.complete else "all outputs that loss_augmented_argmax returned"
        raise self._wrong(
            "kernel",
            f"made a plane of no output: out must be c(y) − c(ŷ) of the output whose loss is returned.\n"
            f"  With Δ = {deltas[k]:.12g} and out = {show(planes[k])}, it claims {claimed[k, at]:.12g} at scores "
            f"{show(tried[at])}, where the maximum over {among} is {best[at]:.12g}",
            tried[k],
        )

    def _plane(self, scores: Vector) -> tuple[float, Vector]:
        """Return the loss and the plane that the kernel finds."""
        given, labels = scores.copy(), self.labels.copy()
        plane = np.full(len(scores), np.nan)
        delta = self.methods.kernel(self.y, given, labels, self.params, plane)
        if not (np.array_equal(given, scores) and np.array_equal(labels, self.labels)):
            raise self._wrong("kernel", "changed the scores or labels it was given: it may write to out only", scores)
        if not (np.isfinite(plane).all() and np.isfinite(delta)):
            raise self._wrong(
                "kernel", f"returned {delta!r} and wrote {show(plane)}: it must write every element of out", scores
            )
        return delta, plane

    def _rounding(self, scores: Vector) -> float:
        return self.known.rounding(scores, self.tol)

    def _output(self, output: Any) -> str:
        return show(self.methods.loss.unwrap(output))

    def _wrong(self, method: str, verdict: str, scores: Vector, kind: type[CheckError] = CheckError) -> CheckError:
        return self.methods.wrong(method, verdict, self.y, kind=kind, scores=scores)


def _distinct(scores: Vector) -> bool:
    """Return whether no scores are equal: an encoding may average over ties, which only the truth may have."""
    return len(np.unique(scores)) == len(scores)


def copied(thing: Any) -> Any:
    """Return a copy of a loss or an example, which methods may change; itself if it cannot be copied."""
    try:
        return deepcopy(thing)
    except Exception:
        return thing
