"""Check a loss's methods against each other on one example, at scores that reveal a wrong argmax, such as ties."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, Self

import numpy as np
from attrs import define, field, frozen

from structsvm.exceptions import CheckError
from structsvm.foundation.types import Matrix, Vector
from structsvm.problem.checking.methods import Malformed, Methods, show, unchanged
from structsvm.problem.checks import lead_of_unreachable, unreachable

_BESIDE = 1e-3
"""Distance from a tie, relative to the difference of the tied outputs."""

_MOST_STEPS = 200
"""Largest number of ties that are passed along a line."""

_MOST_TURNS = 40
"""Largest number of turns of a direction towards an output."""

_MOST_KEPT = 3_000
"""Largest number of outputs stored for an example whose outputs are not listed."""


@define(eq=False)
class Known:
    """The known outputs of an example, all of them if ``complete``; ``bounds`` limit the valid scores.

    ``codes`` and ``predicted`` are their encodings for the augmented and the plain argmax, one per row.
    """

    outputs: list[Any]
    codes: Matrix
    predicted: Matrix
    losses: Vector
    truth: Vector
    complete: bool
    bounds: tuple[Vector, Vector] | None = None
    _seen: set[bytes] = field(factory=set)

    def take(self, output: Any, code: Vector, predicted: Vector, loss: float) -> None:
        """Add an output, unless all are known."""
        key = np.append(code, loss).tobytes()
        if self.complete or key in self._seen or len(self.outputs) >= _MOST_KEPT:
            return
        self._seen.add(key)
        self.outputs.append(output)
        self.codes = np.vstack([self.codes, code])
        self.predicted = np.vstack([self.predicted, predicted])
        self.losses = np.append(self.losses, loss)

    def values(self, scores: Vector, *, augmented: bool = True) -> Vector:
        """Return ``Δ + scores·c(ŷ)`` of each output, or its value for prediction."""
        return np.asarray(self.losses + self.codes @ scores if augmented else self.predicted @ scores)

    def rounding(self, scores: Vector, tol: float) -> float:
        """Return the tolerance for values: ``tol`` times the spread of outputs, plus the rounding of float64 sums."""
        apart = np.abs(self.codes @ scores - self.truth @ scores).max() + self.losses.max()
        sums = (np.abs(self.codes) @ np.abs(scores)).max()
        return float(tol * apart + 1e-13 * (1.0 + sums))

    def direction(self, rng: np.random.Generator, *, to_truth: bool = False) -> Vector:
        """Draw a direction: any, scaled like the encodings, along few scores, or favouring an output or the truth."""
        m = self.codes.shape[1]
        apart = self.codes - self.truth
        kind = 3 if to_truth else int(rng.integers(4))
        u: Vector = np.asarray(rng.standard_normal(m))
        if kind == 1:
            scale = np.sqrt(np.mean(apart**2, axis=0))
            u = np.divide(u, scale, out=np.zeros(m), where=scale > 0.0)
        elif kind == 2:
            u[rng.random(m) > 2.5 / m] = 0.0
        elif kind == 3:
            favoured = np.zeros(m) if to_truth else apart[rng.integers(len(apart))]
            u = _in_favor(favoured - apart, u * np.abs(apart).max())
        if self.bounds is not None:
            low, high = self.bounds
            u = np.where(low >= 0.0, np.abs(u), np.where(high <= 0.0, -np.abs(u), u))
        return u if u.any() else self.within(np.ones(m))

    def within(self, scores: Vector) -> Vector:
        """Return the nearest scores within the bounds."""
        return scores if self.bounds is None else np.clip(scores, *self.bounds)

    def ties(self, at: Vector, along: Vector) -> Iterator[tuple[float, float]]:
        """Yield t > 0 at which the best output changes on ``at + t · along``, and a small step in t beside the tie."""
        height, slope = self.values(at), self.codes @ along
        level = np.abs(height).max() + self.losses.max()
        leading = np.flatnonzero(height >= height.max() - 1e-12 * level)
        now = int(leading[np.argmax(slope[leading])])
        least = 1e-9 * np.abs(slope - self.truth @ along).max()
        reached = 0.0
        for _ in range(_MOST_STEPS):
            steeper = np.flatnonzero(slope > slope[now] + least)
            if not len(steeper):
                return
            t = (height[now] - height[steeper]) / (slope[steeper] - slope[now])
            first = float(t.min())
            level = 1e-12 * (1.0 + abs(first))
            tied = steeper[t <= first + level]
            following = int(tied[np.argmax(slope[tied])])
            if first > reached + level:
                yield first, _BESIDE * float(self.losses.max()) / float(slope[following] - slope[now])
            now, reached = following, max(first, reached)

    def probes(self, rng: np.random.Generator, *, to_truth: bool = False) -> Iterator[Vector]:
        """Yield scores on ties and on either side of them, along a ray from 0 and along a line from a tie.

        An argmax that weighs Δ by a factor f changes its output at f times the correct scores, so it is wrong beside a
        tie on a ray: on the near side if f < 1, on the far side if f > 1. ``to_truth`` makes the ray favor the truth.
        """
        along = self.direction(rng, to_truth=to_truth)
        ties = [t for t, _ in self.ties(np.zeros(len(along)), along)]
        if not ties:
            return
        steps = [float(rng.choice(ties)), ties[-1]]
        for t in steps:
            yield (1.0 - _BESIDE) * t * along
            yield (1.0 + _BESIDE) * t * along
        tie = steps[0] * along
        yield tie
        across = self.direction(rng)
        others = list(self.ties(tie, across))
        if not others:
            return
        t, beside = others[int(rng.integers(len(others)))]
        yield tie + (t - beside) * across
        yield tie + (t + beside) * across
        yield tie + 0.5 * t * across


def _in_favor(margins: Matrix, u: Vector) -> Vector:
    """Turn u, within a few perceptron steps, until the output with these margins has the largest value along it."""
    for _ in range(_MOST_TURNS):
        values = margins @ u
        worst = int(np.argmin(values))
        if values[worst] >= 0.0:
            break
        u = u + 1.5 * abs(values[worst]) / (margins[worst] @ margins[worst]) * margins[worst]
    return u


_REPEATED = 3
"""Outputs of an example whose loss and encoding are computed twice."""


@frozen(eq=False)
class ExampleCheck:
    """One example with its known outputs.

    ``y`` is a copy for the methods and must stay equal to ``before``; ``tol`` is the relative rounding tolerance.
    Unless ``predicts``, `argmax` need not find a maximum, but its outputs still count as known.
    """

    methods: Methods
    y: Any
    before: Any
    tol: float
    known: Known
    labels: Vector
    params: Vector
    predicts: bool = True
    place: str = "this example"

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
        place: str = "this example",
    ) -> Self:
        """Encode the truth and, if ``listed`` and possible, all outputs."""
        copy = copied(y)
        # Objects without a comparison differ from their copies: compare the copy with itself then.
        before, y = y if unchanged(copy, y) else copy, copy
        truth = methods.encode(y, y, length)
        # Other methods may read the labels.
        labels = np.zeros(0) if methods.loss.kernel is None else methods.labels(y)
        outputs = methods.outputs(y) if listed else None
        if outputs is None and methods.loss.unreachable_truths:
            maximizer, _ = methods.augmented(np.zeros_like(truth), y)
            code = methods.encode(maximizer, y, len(truth))[None]
            table = Known([maximizer], code, code, np.array([methods.delta(y, maximizer)]), truth, complete=False)
        elif outputs is None:
            table = Known([y], truth[None], truth[None], np.zeros(1), truth, complete=False)
        else:
            codes = np.stack([methods.encode(output, y, len(truth)) for output in outputs])
            predicted = codes
            if methods.loss.predicting is not methods.loss:
                predicted = np.stack([methods.encode(output, y, len(truth), predicted=True) for output in outputs])
            deltas = np.array([methods.delta(y, output) for output in outputs])
            table = Known(outputs, codes, predicted, deltas, truth, complete=True)
        if methods.generic is not None:
            table.bounds = methods.weight_bounds(len(truth), y)
        return cls(methods, y, before, tol, table, labels, params, predicts, place)

    def run(
        self, rng: np.random.Generator, trials: int, *, interpreted: int = 4, ended: Callable[[], bool] = bool
    ) -> None:
        """Check the methods at many random scores; the kernel runs in Python at the first ``interpreted`` ones."""
        loss_of_truth = self.methods.delta(self.y, self.y)
        if loss_of_truth > self.tol:
            raise self.methods.wrong("loss", f"returned {loss_of_truth!r} for the truth: Δ(y, y) must be 0", self.y)
        tried, answers = [], []
        for scores in map(self.known.within, self._scores(rng, trials)):
            tried.append(scores)
            answers.append(self._check_argmax("loss_augmented_argmax", scores, repeated=len(tried) <= _REPEATED))
            if self.predicts:
                answers.append(self._check_argmax("argmax", scores))
            elif not self.known.complete:
                self._take_prediction(scores)
            self._require_bound(scores)
            if ended():
                break
        if not self.known.complete:
            for answer in answers:
                self._require_maximizer(*answer)
        if self.methods.loss.kernel is not None:
            for scores in tried[:interpreted]:
                self.methods.run_interpreted(self.y, scores, self.labels, self.params)
            self._check_kernel(np.stack(tried))

    def _scores(self, rng: np.random.Generator, trials: int) -> Iterator[Vector]:
        truth = self.known.truth
        m = len(truth)
        yield np.zeros(m)
        for size in (1.0, -1.0, 100.0):
            yield np.asarray(size * truth)
        for _ in range(trials):
            for size in (0.1, 1.0, 30.0):
                yield np.asarray(size * rng.standard_normal(m))
            yield np.asarray(rng.integers(-2, 3, size=m) / 4.0)
        for k in range((trials + 1) // 2):
            yield from self.known.probes(rng, to_truth=k % 3 == 0)

    def _require_bound(self, scores: Vector) -> None:
        if self.methods.loss.unreachable_truths:
            return
        excess = self.known.truth @ scores - self.known.values(scores, augmented=False).max()
        if excess > self._rounding(scores):
            raise self._wrong(
                "encode",
                f"gives the true output a value {excess:.3g} above the best output, so the hinge does not bound the "
                "loss. Encode the true output as one of the outputs, or as a mean of them; if it may lie outside the "
                "outputs, set unreachable_truths = True in the class",
                scores,
            )

    def _check_argmax(
        self, method: str, scores: Vector, *, repeated: bool = False
    ) -> tuple[str, Vector, Any, float, float | None]:
        """Compare the value of an argmax's output, and its bound, with the largest value; return all of them."""
        augmented = method == "loss_augmented_argmax"
        argument = scores.copy()
        bound = None
        if augmented:
            answer, bound = self.methods.augmented(argument, self.y)
        else:
            answer = self.methods.predicted(argument, self.y)
        if not np.array_equal(argument, scores):
            raise self._wrong(method, "changed the scores: work on a copy", scores)
        self._require_unchanged(method, scores)
        try:
            code = predicted = self.methods.encode(answer, self.y, len(scores))
            if self.methods.loss.predicting is not self.methods.loss:
                predicted = self.methods.encode(answer, self.y, len(scores), predicted=True)
            delta = self.methods.delta(self.y, answer) if augmented or not self.known.complete else 0.0
        except Malformed as error:
            reason = str(error).partition("\n")[0]
            verdict = f"returned {self._output(answer)}, which is not a valid output: {reason}"
            raise self._wrong(method, verdict, scores, type(error)) from error
        self._require_unchanged("loss or encode", scores)
        if repeated:
            self._require_repeatable(answer, code, delta)
        got = float(code @ scores) + delta if augmented else float(predicted @ scores)
        best = float(self.known.values(scores, augmented=augmented).max())
        most = max(best, float(self.known.truth @ scores)) if self.methods.loss.unreachable_truths else best
        if self.known.complete and got > most + self._rounding(scores):
            raise self._wrong(
                method,
                f"returned {self._output(answer)}, which outputs does not list: its value is {got:.12g}, and the best "
                f"listed output has {best:.12g}",
                scores,
            )
        if augmented or _distinct(scores):
            self.known.take(answer, code, predicted, delta)
        self._require_maximizer(method, scores, answer, got, bound)
        return method, scores, answer, got, bound

    def _take_prediction(self, scores: Vector) -> None:
        """Add the prediction at these scores to the known outputs, if it has no ties."""
        if not _distinct(scores):
            return
        try:
            prediction = self.methods.predicted(scores.copy(), self.y)
            code = self.methods.encode(prediction, self.y, len(scores))
            self.known.take(prediction, code, code, self.methods.delta(self.y, prediction))
        except (Malformed, NotImplementedError):
            return

    def _require_unchanged(self, method: str, scores: Vector) -> None:
        if not unchanged(self.y, self.before):
            verdict = f"changed the example, which was {show(self.before)}: work on a copy"
            raise self._wrong(method, verdict, scores)

    def _require_repeatable(self, output: Any, code: Vector, delta: float) -> None:
        """Reject a loss that returns different numbers for the same output when it is called again."""
        again = self.methods.delta(self.y, output)
        if abs(again - delta) > self.tol * (1.0 + delta):
            verdict = f"returned {delta!r} and then {again!r} for the same output: Δ(y, ŷ) must not vary"
            raise self.methods.wrong("loss", verdict, self.y, output=output)
        recoded = self.methods.encode(output, self.y, len(code))
        if np.abs(recoded - code).max(initial=0.0) > self.tol * (1.0 + np.abs(code).max(initial=0.0)):
            verdict = f"returned {show(code)} and then {show(recoded)} for the same output: c(ŷ) must not vary"
            raise self.methods.wrong("encode", verdict, self.y, output=output)

    def _require_maximizer(self, method: str, scores: Vector, output: Any, got: float, bound: float | None) -> None:
        """Reject an output, or its bound, that is below a known output."""
        augmented = method == "loss_augmented_argmax"
        values = self.known.values(scores, augmented=augmented)
        best = int(np.argmax(values))
        short = self.methods.loss.exact and not got >= values[best] - self._rounding(scores)
        unbounded = bound is not None and not values[best] - self._rounding(scores) <= bound
        truth_leads = augmented and not self.known.complete and self.known.outputs[best] is self.y
        if (short or unbounded) and truth_leads and lead_of_unreachable(self.methods.loss, self.y):
            raise CheckError(unreachable(self.methods.loss, self.place, float(values[best]) - got))
        if bound is not None and not values[best] - self._rounding(scores) <= bound < np.inf:
            raise self._wrong(
                method,
                f"returned a bound of {bound:.12g}, but {self._output(self.known.outputs[best])} has Δ + "
                f"{self.methods.value} = {values[best]:.12g}: a bound must be finite and at least as large for every "
                "output",
                scores,
            )
        if short:
            raise self._wrong(
                method,
                f"does not return a maximizer of {'Δ + ' if augmented else ''}{self.methods.value}:\n"
                f"  expected {self._output(self.known.outputs[best])} (or an equal one), with value "
                f"{values[best]:.12g}\n"
                f"  got {self._output(output)}, with value {got:.12g}{self._if_an_order(output, scores)}",
                scores,
            )

    def _if_an_order(self, output: Any, scores: Vector) -> str:
        """Explain the format of outputs if this one looks like a list of documents."""
        numbers = np.asarray(output) if isinstance(output, np.ndarray | list) else np.zeros(0)
        if numbers.dtype.kind not in "iu" or not np.array_equal(np.sort(numbers), np.arange(len(scores))):
            return ""
        return "\n  This looks like document numbers, best first; an output is one number per document, larger is ahead"

    def _check_kernel(self, tried: Matrix) -> None:
        """Compare the kernel's planes at several scores, one per row, with the best value at each."""
        best = np.array([self.known.values(scores).max() - self.known.truth @ scores for scores in tried])
        allowed = np.array([self._rounding(scores) for scores in tried])
        deltas, planes, missed = np.empty(len(tried)), np.empty_like(tried), np.zeros(len(tried))
        for k, scores in enumerate(tried):
            deltas[k], planes[k], missed[k] = self._plane(scores)
        claimed = deltas[:, None] - planes @ tried.T
        # The known outputs of an inexact loss do not bound the maximum, unless all outputs are known.
        loss = self.methods.loss
        most = np.maximum(best, 0.0) if loss.unreachable_truths else best
        invented = (claimed > most + allowed) & (self.known.complete or loss.exact)
        short = (loss.exact or loss.bounded) & (claimed.diagonal() + missed < best - allowed)
        wrong = np.flatnonzero(short | invented.any(axis=1))
        if not len(wrong):
            return
        k = int(wrong[0])
        if short[k]:
            raise self._wrong(
                "kernel",
                f"misses the most violated output: Δ − scores·(c(y) − c(ŷ)){' plus out[-1]' * loss.bounded} is "
                f"{claimed[k, k] + missed[k]:.12g} and should be {'at least ' * loss.bounded}{best[k]:.12g}",
                tried[k],
            )
        at = int(np.argmax(invented[k]))
        among = "all outputs" if self.known.complete else "all outputs that loss_augmented_argmax returned"
        raise self._wrong(
            "kernel",
            f"returned a plane of no output: out must be c(y) − c(ŷ) of the output whose loss is returned.\n"
            f"  Its Δ = {deltas[k]:.12g} and out = {show(planes[k])} give {claimed[k, at]:.12g} at scores "
            f"{show(tried[at])}, but the maximum over {among} is {best[at]:.12g}",
            tried[k],
        )

    def _plane(self, scores: Vector) -> tuple[float, Vector, float]:
        """Return the kernel's loss, its plane, and the part of the hinge that the argmax may have missed."""
        argument, labels = scores.copy(), self.labels.copy()
        plane = np.full(len(scores) + self.methods.loss.bounded, np.nan)
        delta = self.methods.kernel(self.y, argument, labels, self.params, plane)
        if not (np.array_equal(argument, scores) and np.array_equal(labels, self.labels)):
            raise self._wrong("kernel", "changed the scores or labels: it may write only to out", scores)
        if not (np.isfinite(plane).all() and np.isfinite(delta)):
            raise self._wrong(
                "kernel", f"returned {delta!r} and wrote {show(plane)}: it must write every element of out", scores
            )
        return delta, plane[: len(scores)], float(plane[-1]) if self.methods.loss.bounded else 0.0

    def _rounding(self, scores: Vector) -> float:
        return self.known.rounding(scores, self.tol)

    def _output(self, output: Any) -> str:
        return show(self.methods.loss.unwrap(output))

    def _wrong(self, method: str, verdict: str, scores: Vector, kind: type[CheckError] = CheckError) -> CheckError:
        return self.methods.wrong(method, verdict, self.y, kind=kind, scores=scores)


def _distinct(scores: Vector) -> bool:
    """Return True if all scores differ; an encoding may average over ties, and only the truth may have ties."""
    return len(np.unique(scores)) == len(scores)


def copied(thing: Any) -> Any:
    """Return a deep copy, which methods may change; the object itself if it cannot be copied."""
    try:
        return deepcopy(thing)
    except Exception:
        return thing
