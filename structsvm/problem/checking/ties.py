"""Scores at which a wrong argmax shows: on ties between outputs of ``Δ + scores·c``, and to either side of them."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from attrs import define, field

from structsvm.types import Matrix, Vector

_BESIDE = 1e-3
"""How far from a tie, as a part of what the outputs that tie differ by."""

_MOST_STEPS = 200
"""Ties along a line that are walked over at most."""

_MOST_TURNS = 40
"""Turns of a direction towards an output at most."""

_MOST_KEPT = 3_000
"""Outputs that are kept of an example whose outputs are not listed."""


@define(eq=False)
class Known:
    """The outputs of an example that are known: all, where they are listed, or those that came up.

    Parameters
    ----------
    outputs : the outputs.
    codes : their encodings, one a row.
    predicted : the encodings by which predictions are made, which are these for all but a few losses.
    losses : their losses.
    truth : encoding of the truth.
    complete : whether these are all.
    bounds : smallest and largest scores that the argmaxes are made for; None: all.
    """

    outputs: list[Any]
    codes: Matrix
    predicted: Matrix
    losses: Vector
    truth: Vector
    complete: bool
    bounds: tuple[Vector, Vector] | None = None
    _seen: set[bytes] = field(factory=set)

    @classmethod
    def alone(cls, y: Any, truth: Vector) -> Self:
        """Return the truth as the one output that is known."""
        return cls([y], truth[None], truth[None], np.zeros(1), truth, complete=False)

    def take(self, output: Any, code: Vector, predicted: Vector, loss: float) -> None:
        """Take in an output that came up, where not all were known."""
        key = np.append(code, loss).tobytes()
        if self.complete or key in self._seen or len(self.outputs) >= _MOST_KEPT:
            return
        self._seen.add(key)
        self.outputs.append(output)
        self.codes = np.vstack([self.codes, code])
        self.predicted = np.vstack([self.predicted, predicted])
        self.losses = np.append(self.losses, loss)

    def values(self, scores: Vector, *, augmented: bool = True) -> Vector:
        """Return ``Δ + scores·c(ŷ)`` of each, or the value by which it is predicted."""
        return np.asarray(self.losses + self.codes @ scores if augmented else self.predicted @ scores)

    def rounding(self, scores: Vector, tol: float) -> float:
        """Return the difference of values that counts as rounding.

        That is ``tol`` times what outputs differ by, and what sums in float64 may be off.
        """
        apart = np.abs(self.codes @ scores - self.truth @ scores).max() + self.losses.max()
        sums = (np.abs(self.codes) @ np.abs(scores)).max()
        return float(tol * apart + 1e-13 * (1.0 + sums))

    def direction(self, rng: np.random.Generator, *, to_truth: bool = False) -> Vector:
        """Draw a direction: any, on the scale of the encodings, along few scores, or one that favours some output.

        Parameters
        ----------
        rng : random numbers.
        to_truth : draw one of the last kind, that favours the truth.
        """
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
            u = _in_favour(favoured - apart, u * np.abs(apart).max())
        if self.bounds is not None:
            low, high = self.bounds
            u = np.where(low >= 0.0, np.abs(u), np.where(high <= 0.0, -np.abs(u), u))
        return u if u.any() else self.within(np.ones(m))

    def within(self, scores: Vector) -> Vector:
        """Return the nearest scores within the bounds."""
        return scores if self.bounds is None else np.clip(scores, *self.bounds)

    def ties(self, at: Vector, along: Vector) -> Iterator[tuple[float, float]]:
        """Yield where the output of the largest value changes on the line ``at + t · along`` with ``t > 0``.

        Each with how far from there the two that tie differ in value by a small part of the largest loss.
        """
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
        """Yield scores on ties and to either side of them, along a ray from 0 and along a line from a tie.

        An argmax that weighs Δ by a factor f changes its output at f times the scores at which the right one does, so
        that it is wrong beside a tie on a ray: on the near side where f is below 1, on the far side where it is above.

        Parameters
        ----------
        rng : random numbers.
        to_truth : let the ray be in favour of the truth, which few are.
        """
        along = self.direction(rng, to_truth=to_truth)
        ties = [t for t, _ in self.ties(np.zeros(len(along)), along)]
        if not ties:
            return
        chosen = [float(rng.choice(ties)), ties[-1]]
        for t in chosen:
            yield (1.0 - _BESIDE) * t * along
            yield (1.0 + _BESIDE) * t * along
        tie = chosen[0] * along
        yield tie
        across = self.direction(rng)
        others = list(self.ties(tie, across))
        if not others:
            return
        t, beside = others[int(rng.integers(len(others)))]
        yield tie + (t - beside) * across
        yield tie + (t + beside) * across
        yield tie + 0.5 * t * across


def _in_favour(margins: Matrix, u: Vector) -> Vector:
    """Turn a direction until one output has the largest value along it, if that can be done soon (a perceptron).

    Parameters
    ----------
    margins : encoding of that output minus that of each.
    u : where to begin.
    """
    for _ in range(_MOST_TURNS):
        values = margins @ u
        worst = int(np.argmin(values))
        if values[worst] >= 0.0:
            break
        u = u + 1.5 * abs(values[worst]) / (margins[worst] @ margins[worst]) * margins[worst]
    return u
