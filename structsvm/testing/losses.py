"""Checks that a loss is what the engine takes it for, by enumeration on small examples where it can be had."""

import warnings
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from structsvm.exceptions import CheckError, InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.shared.graded_pairs import GradedPairsLoss
from structsvm.registry import losses
from structsvm.settings import is_integer, require_integer
from structsvm.testing.methods import MOST_OUTPUTS, Methods, show, unchanged
from structsvm.testing.ties import Known
from structsvm.types import Matrix, Vector

_CUTOFF = 2
"""What replaces a cut-off that is never reached."""


def check_loss(
    loss: str | ScoreLoss[Any] | Loss[Any, Any],
    examples: Iterable[Any] | None = None,
    *,
    trials: int = 12,
    tol: float = 1e-8,
    seed: int = 0,
) -> None:
    """Check a loss against the enumeration of its outputs.

    For every example and many vectors of scores: encodings have one coefficient a score;
    ``Δ(y, y) = 0`` and ``Δ ≥ 0``; both argmaxes reach the maximum over all outputs;
    ``scores·c(y)`` does not exceed that maximum, so that the hinge bounds ``Δ(y, argmax)`` from
    above; nothing passed in is changed; and the kernel, where there is one, finds planes with
    the same value that no scores contradict. Once, that ``operator`` gives each row one score,
    unless ``scores_rows`` is False.

    Scores are random ones of several sizes, zeros, and such at which a small mistake changes the output: along rays
    and lines, they are walked onto ties of ``Δ + scores·c`` between two outputs, and a thousandth of Δ to either
    side. An argmax that weighs Δ by 0.99 is wrong there, on whatever scale encodings are.

    An example whose outputs are not listed, or more than 50,000, is checked less closely, which a warning says: against
    the truth and all outputs that the argmaxes themselves return for it, at these scores and others.

    Where ``loss.exact`` is False, the argmaxes and the kernel may fall short of the maximum, by
    whatever amount (below the truth too, which the engine then takes instead). All else is
    checked: what they return must be an output, and a plane that of an output, since the lower
    bound relies on it.

    Parameters
    ----------
    loss : the loss, by name or as an object, with an ``outputs`` method that lists all outputs
        of a small example.
    examples : a few small examples: true outputs y for a `ScoreLoss`, pairs (x, y) for a `Loss`.
        Those that are not ``usable`` are passed over. None, for a `ScoreLoss` of queries: the
        labels of small ones, some with one document, only relevant ones, or none. Their
        labels are 0 to 2, for a `GradedPairsLoss` 0 to 4: give examples with yours where they are others.
        A loss whose cut-off, an integer attribute ``k``, they do not exceed is checked with k = 2 as well
        where ``k`` is a field of its attrs class; else a warning says that its cut-off was not looked at.
    trials : vectors of scores of each kind that are tried on an example; half as many rays and lines with ties are.
    tol : difference that counts as rounding, times the size of the numbers.
    seed : of the random scores.

    Raises
    ------
    CheckError : when a check fails or a method does; it names the method, the example, the
        scores, what was expected and what came.
    InputError : when the examples are not of the right kind, or none is usable.

    Examples
    --------
    >>> from structsvm.testing import check_loss
    >>> check_loss("map", trials=2)
    """
    require_integer("trials", trials, 0)
    require_integer("seed", seed, 0)
    chosen: ScoreLoss[Any] | Loss[Any, Any] = losses.create(loss)
    if examples is None and (chosen.per_row or not chosen.scores_rows):
        raise InputError(
            f"{chosen!r} is not of queries: give examples, a few true outputs y, or pairs (x, y) for a Loss"
        )
    ys: list[Any] = _small_queries(chosen) if examples is None else _checked_examples(chosen, list(examples))
    if not ys:
        raise InputError(f"no examples were given to check {chosen!r} with: give a few, or None for those of queries")
    methods = Methods.of(chosen, ys)
    methods.operator()
    usable = [y for y in ys if methods.usable(y)]
    if not usable:
        why = methods.loss.why_none_usable(ys)
        raise InputError(f"{methods.loss.title} can learn from none of the {len(ys)} examples: {why}. Give some others")
    params = methods.params(usable)
    rng = np.random.default_rng(seed)
    length = None
    unlisted = 0
    for y in usable:
        if examples is None:
            length = len(y)
        check = _Check.of(methods, y, length, tol, params)
        length = None if methods.generic is None else len(check.known.truth)
        unlisted += not check.known.complete
        check.run(rng, trials)
    if unlisted:
        warnings.warn(
            f"{unlisted} of {len(usable)} examples of {methods.loss.title} have outputs that are not listed by its "
            f"method outputs, or more than {MOST_OUTPUTS:,}: their argmaxes were compared with outputs that they "
            "returned at other scores, so that one which never comes up was not missed. Give smaller examples too",
            UserWarning,
            stacklevel=2,
        )
    if examples is None:
        _check_cutoff(chosen, max(map(len, usable)), trials, tol, seed)


def _check_cutoff(loss: ScoreLoss[Any] | Loss[Any, Any], longest: int, trials: int, tol: float, seed: int) -> None:
    """Check a loss whose cut-off no example reaches with a cut-off that some do."""
    cutoff = getattr(loss, "k", None)
    if not is_integer(cutoff, longest):
        return
    kind: Any = type(loss)
    settings: Any = loss
    if attrs.has(kind) and "k" in attrs.fields_dict(kind):
        shorter = attrs.evolve(settings, k=_CUTOFF)
        try:
            check_loss(shorter, trials=trials, tol=tol, seed=seed)
        except (CheckError, InputError) as error:
            found = type(error)
            raise found(f"{error}\n  with the cut-off k={_CUTOFF} in the place of {cutoff}") from error
    else:
        warnings.warn(
            f"{type(loss).__name__} has the cut-off k={cutoff}, which the queries of up to {longest} documents that "
            f"check_loss tries do not reach: check it with k={_CUTOFF} too, or give longer examples",
            UserWarning,
            stacklevel=3,
        )


def _small_queries(loss: ScoreLoss[Any] | Loss[Any, Any]) -> list[Vector]:
    """Return labels of small queries; one of all grades that are in use, for a loss that weighs pairs of them."""
    rng = np.random.default_rng(0)
    binary = [rng.permutation([1.0] * r + [0.0] * (n - r)) for n in range(1, 6) for r in range(n + 1)]
    graded = [rng.integers(0, 3, size=n).astype(np.float64) for n in (3, 4, 5) for _ in range(2)]
    grades = [np.arange(5.0)] if isinstance(loss, GradedPairsLoss) else []
    return binary + graded + grades


def _checked_examples(loss: ScoreLoss[Any] | Loss[Any, Any], examples: list[Any]) -> list[Any]:
    """Return the examples where each is a pair for a `Loss`, and none is one for a `ScoreLoss`."""
    name = type(loss).__name__
    for example in examples:
        pair = isinstance(example, tuple | list) and len(example) == 2
        if isinstance(loss, Loss) and not pair:
            raise InputError(f"{name} is a Loss: an example is a pair (x, y), not {show(example)}")
        if isinstance(loss, ScoreLoss) and pair and _features_and_output(loss, *example):
            raise InputError(
                f"{name} is a ScoreLoss, which sees no features: an example is a true output y, not a pair (x, y)"
            )
    return [tuple(example) for example in examples] if isinstance(loss, Loss) else examples


def _features_and_output(loss: ScoreLoss[Any], x: Any, y: Any) -> bool:
    """Say whether this looks like the rows of a query with their labels, or like one row with its label."""
    shape = getattr(x, "shape", ())
    return (len(shape) == 2 and np.shape(y) == shape[:1]) or (loss.per_row and len(shape) == 1)


@frozen(eq=False)
class _Check:
    """One example with the outputs that are known of it."""

    methods: Methods
    y: Any
    tol: float
    known: Known
    labels: Vector
    params: Vector

    @classmethod
    def of(cls, methods: Methods, y: Any, length: int | None, tol: float, params: Vector) -> "_Check":
        """List the outputs of an example where that can be done, with encodings of that length."""
        own = methods.encode(y, y, length)
        outputs = methods.outputs(y)
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
        return cls(methods, y, tol, known, labels, params)

    def run(self, rng: np.random.Generator, trials: int) -> None:
        own = self.methods.delta(self.y, self.y)
        if own != 0.0:
            raise self.methods.wrong("loss", f"returned {own!r} for the truth: Δ(y, y) must be 0", self.y)
        tried, found = [], []
        for scores in map(self.known.within, self._scores(rng, trials)):
            tried.append(scores)
            found += [self._check_argmax(method, scores) for method in ("loss_augmented_argmax", "argmax")]
            self._require_bound(scores)
        if not self.known.complete:
            for each in found:
                self._require_maximiser(*each)
        if self.methods.loss.kernel is not None:
            for scores in tried[:4]:
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

    def _check_argmax(self, method: str, scores: Vector) -> tuple[str, Vector, Any, float]:
        """Compare the value of the output that an argmax finds with the largest of all; return what it found."""
        augmented = method == "loss_augmented_argmax"
        given, before = scores.copy(), deepcopy(self.y)
        find = self.methods.augmented if augmented else self.methods.predicted
        found = find(given, self.y)
        if not np.array_equal(given, scores):
            raise self._wrong(method, "changed the scores it was given: work on a copy", scores)
        if not unchanged(self.y, before):
            verdict = f"changed the example it was given, which was {show(before)}: work on a copy"
            raise self._wrong(method, verdict, scores)
        try:
            code = self.methods.encode(found, self.y, len(scores))
            predicted = self.methods.encode(found, self.y, len(scores), predicted=True)
            delta = self.methods.delta(self.y, found) if augmented or not self.known.complete else 0.0
        except CheckError as error:
            reason = str(error).partition("\n")[0]
            verdict = f"returned {self._output(found)}, which is no output: {reason}"
            raise self._wrong(method, verdict, scores) from error
        got = float(code @ scores) + delta if augmented else float(predicted @ scores)
        best = float(self.known.values(scores, augmented=augmented).max())
        if self.known.complete and got > best + self._rounding(scores):
            raise self._wrong(
                method,
                f"returned {self._output(found)}, which is none of the outputs that outputs lists: "
                f"its value is {got:.12g}, and theirs are at most {best:.12g}",
                scores,
            )
        self.known.take(found, code, predicted, delta)
        self._require_maximiser(method, scores, found, got)
        return method, scores, found, got

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
        invented = claimed > best + allowed
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

    def _wrong(self, method: str, verdict: str, scores: Vector) -> CheckError:
        return self.methods.wrong(method, verdict, self.y, scores=scores)
