"""Scores that reveal a wrong argmax: on ties between outputs of ``Δ + scores·c``, and on either side of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import define, field

from structsvm.foundation.types import Matrix, Vector

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
