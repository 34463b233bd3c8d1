"""Checks that a loss is what the engine takes it for, by enumeration on small examples."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.base import InScoreSpace
from structsvm.problem.sweep import compiled_kernel
from structsvm.types import Matrix, Vector

_MOST_OUTPUTS = 50_000


def check_loss(
    loss: ScoreLoss[Any] | Loss[Any, Any],
    examples: Iterable[Any] | None = None,
    *,
    trials: int = 12,
    tol: float = 1e-8,
    seed: int = 0,
) -> None:
    """Check a loss against the enumeration of its outputs.

    For every example and many vectors of scores (random ones of several sizes, ties, zeros):
    encodings have one coefficient a score; ``Δ(y, y) = 0`` and ``Δ ≥ 0``; both argmaxes reach
    the maximum over all outputs; ``scores·c(y)`` does not exceed that maximum, so that the
    hinge bounds ``Δ(y, argmax)`` from above; nothing passed in is changed; and the kernel,
    where there is one, finds planes with the same value that no scores contradict.

    Parameters
    ----------
    loss : the loss, with an ``outputs`` method that lists all outputs of a small example.
    examples : small examples: true outputs y for a `ScoreLoss`, pairs (x, y) for a `Loss`.
        Those that are not ``usable`` are passed over. None, for a `ScoreLoss` of queries: the
        labels of small ones, some with one document, only relevant ones, or none.
    trials : vectors of scores of each kind that are tried on an example.
    tol : difference that counts as rounding, times the size of the numbers.
    seed : of the random scores.

    Raises
    ------
    AssertionError : when a check fails; it names the example, the scores, what was expected
        and what came.
    InputError : when no example is usable, or one has too many outputs to list.
    """
    if examples is None and (loss.per_row or isinstance(loss, Loss)):
        raise InputError(f"{loss!r} is not of queries: give examples, a few true outputs y, or pairs (x, y) for a Loss")
    scored = InScoreSpace(loss) if isinstance(loss, Loss) else loss
    ys: list[Any] = _small_queries() if examples is None else list(examples)
    usable = [y for y in ys if scored.usable(y)]
    if not usable:
        raise InputError(f"none of the {len(ys)} examples is usable by {loss!r}: give some that are")
    params = np.array(scored.params(usable), dtype=np.float64)
    rng = np.random.default_rng(seed)
    for y in usable:
        labels = np.zeros(0) if type(scored).kernel is None else np.array(scored.labels(y), dtype=np.float64)
        _Check(scored, y, tol, *_enumerate(scored, y), labels, params).run(rng, trials)


def _small_queries() -> list[Vector]:
    rng = np.random.default_rng(0)
    binary = [rng.permutation([1.0] * r + [0.0] * (n - r)) for n in range(1, 6) for r in range(n + 1)]
    graded = [rng.integers(0, 3, size=n).astype(np.float64) for n in (3, 4, 5) for _ in range(2)]
    return binary + graded


def _enumerate(loss: ScoreLoss[Any], y: Any) -> tuple[list[Any], Matrix, Vector]:
    outputs = list(islice(loss.outputs(y), _MOST_OUTPUTS + 1))
    if len(outputs) > _MOST_OUTPUTS:
        raise InputError(f"the example {_show(y)} has over {_MOST_OUTPUTS} outputs: give smaller examples")
    codes = [np.asarray(loss.encode(output, y)) for output in [y, *outputs]]
    for output, code in zip([y, *outputs], codes, strict=True):
        if code.shape != codes[0].shape or code.ndim != 1 or not np.isfinite(code).all():
            raise AssertionError(
                f"encode must return finite numbers, as many for every output of an example. For the truth "
                f"{_show(y)} it returned shape {codes[0].shape}; for output {_show(loss.unwrap(output))} it "
                f"returned {_show(code)}"
            )
    values = np.array([loss.loss(y, output) for output in outputs])
    return outputs, np.stack(codes), values


@frozen(eq=False)
class _Check:
    """One example with all its outputs; ``codes[0]`` is that of the truth."""

    loss: ScoreLoss[Any]
    y: Any
    tol: float
    outputs: list[Any]
    codes: Matrix
    losses: Vector
    labels: Vector
    params: Vector

    def run(self, rng: np.random.Generator, trials: int) -> None:
        self._check_losses()
        tried = list(self._scores(rng, trials))
        for scores in tried:
            self._check_argmaxes(scores)
        if type(self.loss).kernel is not None:
            for scores in tried:
                self._check_kernel(scores, tried)

    def _scores(self, rng: np.random.Generator, trials: int) -> Iterator[Vector]:
        m = self.codes.shape[1]
        yield np.zeros(m)
        for size in (1.0, -1.0, 100.0):
            yield np.asarray(size * self.codes[0])
        for _ in range(trials):
            for size in (0.1, 1.0, 30.0):
                yield np.asarray(size * rng.standard_normal(m))
            yield np.asarray(rng.integers(-2, 3, size=m) / 4.0)

    def _check_losses(self) -> None:
        own = self.loss.loss(self.y, self.y)
        self._require(own == 0.0, f"Δ(y, y) must be 0; it is {own!r}")
        if not (self.losses >= 0.0).all():
            bad = int(np.argmin(self.losses >= 0.0))
            self._fail(f"Δ must be a number of at least 0; for output {self._output(bad)} it is {self.losses[bad]!r}")

    def _check_argmaxes(self, scores: Vector) -> None:
        given = scores.copy()
        augmented = self.losses + self.codes[1:] @ scores
        plain = self.codes[1:] @ scores
        found = self.loss.loss_augmented_argmax(given, self.y)
        got = self._value(found, scores, 1.0)
        self._compare("loss_augmented_argmax", "Δ + scores·c", augmented, got, found, scores)
        predicted = self._predict(given)
        self._compare("argmax", "scores·c", plain, self._value(predicted, scores, 0.0), predicted, scores)
        excess = self.codes[0] @ scores - plain.max()
        self._require(
            excess <= self._rounding(scores),
            f"scores·c(y) of the truth exceeds that of every output by {excess:.3g} at scores {_show(scores)}: "
            "the hinge is then no upper bound of the loss. c(y) must lie among the c(ŷ), or between them",
        )
        self._require(np.array_equal(given, scores), f"an argmax changed the scores it was given: {_show(scores)}")

    def _check_kernel(self, scores: Vector, others: Sequence[Vector]) -> None:
        given, labels = scores.copy(), self.labels.copy()
        plane = np.full(len(scores), np.nan)
        delta = compiled_kernel(type(self.loss).kernel)(given, labels, self.params, plane)
        self._require(
            np.array_equal(given, scores) and np.array_equal(labels, self.labels),
            f"the kernel changed the scores or labels it was given: {_show(scores)}",
        )
        self._require(
            bool(np.isfinite(plane).all() and np.isfinite(delta)),
            f"the kernel returned {delta!r} and wrote {_show(plane)} at scores {_show(scores)}: "
            "it must write every element of out",
        )
        for at in [scores, *others]:
            best = (self.losses + (self.codes[1:] - self.codes[0]) @ at).max()
            value = delta - plane @ at
            if at is scores and value < best - self._rounding(at):
                self._fail(
                    f"the kernel misses the most violated output at scores {_show(scores)}: "
                    f"Δ − scores·(c(y) − c(ŷ)) should be {best:.12g}, it is {value:.12g}"
                )
            if value > best + self._rounding(at):
                self._fail(
                    f"the kernel made a plane of no output at scores {_show(scores)}: with Δ = {delta:.12g} and "
                    f"out = {_show(plane)}, it claims {value:.12g} at scores {_show(at)}, where the maximum over "
                    f"all outputs is {best:.12g}. out must be c(y) − c(ŷ) of the output whose loss is returned"
                )

    def _predict(self, scores: Vector) -> Any:
        if isinstance(self.loss, InScoreSpace):
            x, _ = self.y
            return x, self.loss.wrapped.argmax(x, scores)
        return self.loss.argmax(scores)

    def _value(self, output: Any, scores: Vector, weight: float) -> float:
        code = np.asarray(self.loss.encode(output, self.y))
        return float(weight * self.loss.loss(self.y, output) + code @ scores)

    def _compare(self, method: str, formula: str, values: Vector, got: float, found: Any, scores: Vector) -> None:
        best = int(np.argmax(values))
        if not abs(got - values[best]) <= self._rounding(scores):
            self._fail(
                f"{method} does not return a maximiser of {formula} at scores {_show(scores)}:\n"
                f"  expected output {self._output(best)} (or an equal one), with value {values[best]:.12g}\n"
                f"  got output {_show(self.loss.unwrap(found))}, with value {got:.12g}"
            )

    def _rounding(self, scores: Vector) -> float:
        return self.tol * float(1.0 + np.abs(self.codes @ scores).max() + self.losses.max())

    def _output(self, number: int) -> str:
        return _show(self.loss.unwrap(self.outputs[number]))

    def _require(self, condition: bool, problem: str) -> None:
        if not condition:
            self._fail(problem)

    def _fail(self, problem: str) -> None:
        raise AssertionError(f"{self.loss.title}, example y = {_show(self.y)}: {problem}")


def _show(thing: Any) -> str:
    if isinstance(thing, np.ndarray):
        return np.array2string(thing, precision=6, separator=", ", threshold=40)
    return repr(thing)
