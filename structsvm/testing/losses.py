"""Check a loss, by enumeration on small examples if possible."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from structsvm.exceptions import CheckError, InputError
from structsvm.foundation.settings import is_integer, require_integer
from structsvm.foundation.types import Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.problem.checking.example import ExampleCheck
from structsvm.problem.checking.methods import MOST_OUTPUTS, Methods, show
from structsvm.registry import losses

_GRADES = np.arange(5.0)
_COMMON_GRADE = 2
_LONGER = (8, 11, 15, 21)
"""Numbers of documents in queries whose outputs are not listed."""

_CUTOFF = 2
"""Cut-off that replaces one that is never reached."""


def check_loss(
    loss: str | ScoreLoss[Any] | Loss[Any, Any],
    examples: Iterable[Any] | None = None,
    *,
    trials: int = 12,
    tol: float = 1e-8,
    random_state: int = 0,
) -> None:
    """Check a loss against the enumeration of its outputs.

    For every example and many vectors of scores, the check requires that

    - encodings ``c(y)`` have one coefficient per score,
    - ``Δ(y, y) = 0`` and ``Δ ≥ 0``,
    - both argmaxes reach the maximum over all outputs,
    - ``scores·c(y)`` does not exceed that maximum, so that the hinge is an upper bound of ``Δ(y, argmax)``, unless the
      loss has ``unreachable_truths``,
    - no argument is changed,
    - the kernel, if any, finds planes of the same value, valid at all scores.

    Once, it checks that ``operator`` gives each row one score, unless ``scores_rows`` is False.

    Scores are zeros, random ones of several sizes, and scores at which a small mistake changes the output: ties of
    ``Δ + scores·c`` between two outputs, and a thousandth of Δ to either side. The first fit of a process with a loss
    runs a short form of this check; see `ScoreLoss.check_before_fit`.

    An example whose outputs are not listed, or number more than 50,000, is checked less closely, with a warning:
    against the truth and the outputs that the argmaxes return for it at any of the scores. If ``loss.exact`` is False,
    the argmaxes and the kernel may fall short of the maximum by any amount. All other requirements apply: results must
    be outputs, and planes belong to outputs, because the lower bound relies on this.

    Parameters
    ----------
    loss : the loss, by name or as an object, with an ``outputs`` method that lists all outputs of a small example.
    examples : a few small examples: true outputs y for a `ScoreLoss`, pairs (x, y) for a `Loss`. Examples that are not
        ``usable`` are skipped. Default, for a `ScoreLoss` of queries: labels from 0 to 4 of small queries (some have
        one document, only relevant documents, or none), and of queries of 8 to 21 documents, whose outputs are not
        listed. If no query reaches the cut-off (integer attribute ``k``), a second check uses k = 2. If ``k`` is not a
        field of an attrs class, a warning replaces this check.
    trials : number of score vectors of each kind per example; ties are sought along half as many rays and lines.
    tol : relative difference that counts as rounding.
    random_state : seed of the random scores.

    Raises
    ------
    CheckError : a check or a method fails; the message gives the method, the example, the scores, and the expected and
        the actual value.

    Examples
    --------
    >>> check_loss("map", trials=2)
    """
    require_integer("trials", trials, 0)
    require_integer("random_state", random_state, 0)
    resolved: ScoreLoss[Any] | Loss[Any, Any] = losses.create(loss)
    if examples is None and (resolved.per_row or not resolved.scores_rows):
        raise InputError(
            f"{resolved!r} is not of queries: give examples, a few true outputs y, or pairs (x, y) for a Loss"
        )
    small = _small_queries() if examples is None else list(resolved.truths(None, _checked_examples(resolved, examples)))
    longer: list[Any] = _longer_queries() if examples is None else []
    if not small:
        raise InputError(f"no examples were given to check {resolved!r} with: give a few, or None for built-in queries")
    methods = Methods.of(resolved, small + longer)
    methods.operator()
    usable = [y for y in small if methods.usable(y)]
    if not usable:
        why = methods.loss.why_none_usable(small)
        raise InputError(
            f"{methods.loss.title} cannot learn from any of the {len(small)} examples: {why}. Give other examples"
        )
    rng = np.random.default_rng(random_state)
    params = methods.params(usable)
    length = None
    unlisted = 0
    for y in usable:
        if examples is None:
            length = len(y)
        with _named_grades(y, by_caller=examples is not None):
            check = ExampleCheck.of(methods, y, length, tol, params)
            length = None if methods.generic is None else len(check.known.truth)
            unlisted += not check.known.complete
            check.run(rng, trials)
    if unlisted:
        warnings.warn(
            f"{unlisted} of {len(usable)} examples of {methods.loss.title} have more than {MOST_OUTPUTS:,} outputs, or "
            "the method outputs does not list them. Their argmaxes were only compared with outputs that they returned "
            "at other scores, so the check cannot notice an output that is never returned. Give smaller examples too",
            UserWarning,
            stacklevel=2,
        )
    if examples is None:
        _check_cutoff(resolved, max(map(len, usable)), trials, tol, random_state)
    for y in filter(methods.usable, longer):
        with _named_grades(y, by_caller=False):
            # The outputs found at different scores are compared with one another.
            check = ExampleCheck.of(methods, y, len(y), tol, methods.params([y]), listed=False)
            check.run(rng, (trials + 3) // 4, interpreted=1)


@contextmanager
def _named_grades(y: Any, *, by_caller: bool) -> Iterator[None]:
    """Add to an error that labels above 2 may not occur in the user's data."""
    try:
        yield
    except CheckError as error:
        if not by_caller and np.max(y) > _COMMON_GRADE:
            way = f"\n  labels up to {_GRADES[-1]:.0f} are tried: if yours are others, give examples with them"
            raise type(error)(f"{error}{way}") from None
        raise


def _check_cutoff(
    loss: ScoreLoss[Any] | Loss[Any, Any], longest: int, trials: int, tol: float, random_state: int
) -> None:
    """Check a loss whose cut-off no example reaches with a smaller cut-off."""
    cutoff = getattr(loss, "k", None)
    if not is_integer(cutoff, longest):
        return
    kind: Any = type(loss)
    settings: Any = loss
    if attrs.has(kind) and "k" in attrs.fields_dict(kind):
        shorter = attrs.evolve(settings, k=_CUTOFF)
        try:
            check_loss(shorter, trials=trials, tol=tol, random_state=random_state)
        except (CheckError, InputError) as error:
            error_class = type(error)
            raise error_class(f"{error}\n  with the cut-off k={_CUTOFF} instead of {cutoff}") from error
    else:
        warnings.warn(
            f"{type(loss).__name__} has the cut-off k={cutoff}, which the queries of up to {longest} documents that "
            f"check_loss tries do not reach: check it with k={_CUTOFF} too, or give longer examples",
            UserWarning,
            stacklevel=3,
        )


def _small_queries() -> list[Vector]:
    """Return labels of queries whose outputs can be listed: two kinds of document, and grades."""
    rng = np.random.default_rng(0)
    binary = [rng.permutation([1.0] * r + [0.0] * (n - r)) for n in range(1, 6) for r in range(n + 1)]
    graded = [rng.integers(0, 3, size=n).astype(np.float64) for n in (3, 4, 5)]
    high = [rng.permutation(_GRADES)[:n] for n in (3, 4, 5)]
    return binary + graded + high


def _longer_queries() -> list[Vector]:
    """Return labels of queries with too many outputs to list."""
    rng = np.random.default_rng(1)
    graded = [rng.permutation(np.resize(_GRADES, n)) for n in _LONGER]
    return [*graded, np.minimum(graded[1], 1.0)]


def _checked_examples(loss: ScoreLoss[Any] | Loss[Any, Any], examples: Iterable[Any]) -> list[Any]:
    """Return the examples; reject pairs for a `ScoreLoss` and other values for a `Loss`."""
    name, examples = type(loss).__name__, list(examples)
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
    """Return True if this looks like the rows of a query with their labels, or like one row with its label."""
    shape = getattr(x, "shape", ())
    return (len(shape) == 2 and np.shape(y) == shape[:1]) or (loss.per_row and len(shape) == 1)
