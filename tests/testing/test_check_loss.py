"""check_loss finds and locates every mistake of a collection of plausible ones."""

from collections.abc import Callable, Iterable
from typing import Any

import numba
import numpy as np
import pytest
from attrs import frozen

from structsvm.exceptions import CheckError, InputError
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, Multiclass, ROCArea, ScoreLoss, ZeroOne
from structsvm.problem import Problem
from structsvm.testing import check_loss
from tests.small_problems import Kronecker, PlainROCArea

BASES: dict[str, tuple[Any, Any]] = {
    "AveragePrecision": (AveragePrecision(), None),
    "ROCArea": (ROCArea(), None),
    "PlainROCArea": (PlainROCArea(), None),
    "ZeroOne": (ZeroOne(), [1.0, -1.0]),
    "Multiclass": (Multiclass(classes=range(4)), range(4)),
    "Kronecker": (Kronecker(), [(np.array([1.0, -0.5]), k) for k in range(3)]),
}
RANKING = ["AveragePrecision", "ROCArea", "PlainROCArea"]
COMPILED = ["AveragePrecision", "ROCArea", "ZeroOne", "Multiclass"]
IN_SCORES = [*RANKING, "ZeroOne", "Multiclass"]


@frozen
class Mutation:
    """One method of a class replaced by a function of the method that was there, and of its arguments."""

    name: str
    bases: list[str]
    method: str
    replacement: Callable[..., Any]
    complaint: str = "Mutant"


def second_best(right: Any, self: Any, scores: Vector, y: Any) -> Any:
    """The best output with a loss other than the loss of the best output."""
    outputs = list(self.outputs(y))
    values = [self.loss(y, output) + scores @ self.encode(output, y) for output in outputs]
    best = int(np.argmax(values))
    others = [k for k in range(len(outputs)) if self.loss(y, outputs[k]) != self.loss(y, outputs[best])]
    return outputs[max(others, key=lambda k: values[k], default=best)]


def eq_5_as_printed(right: Any, self: Any, scores: Vector, y: Vector) -> Vector:
    """The paper's equation (5) leaves out 1/(RN): scores count RN times too much."""
    relevant = self.relevant(y)
    return right(self, scores * relevant.sum() * (~relevant).sum(), y)


def overwrite(right: Any, self: Any, scores: Vector, *y: Any) -> Any:
    result = np.array(right(self, scores, *y))
    scores[:] = 7.0
    return result if result.ndim else result.item()


ARGMAX = "loss_augmented_argmax"
MUTATIONS = [
    Mutation("scores with the wrong sign", IN_SCORES, ARGMAX, lambda right, self, s, y: right(self, -s, y), ARGMAX),
    Mutation("prediction instead", IN_SCORES, ARGMAX, lambda right, self, s, y: self.argmax(s), ARGMAX),
    Mutation("truth instead", IN_SCORES, ARGMAX, lambda right, self, s, y: y, ARGMAX),
    Mutation("margin of two", IN_SCORES, ARGMAX, lambda right, self, s, y: right(self, s / 2, y), ARGMAX),
    Mutation("second best", IN_SCORES, ARGMAX, second_best, ARGMAX),
    Mutation("factor 1/(RN) missing", RANKING[:2], ARGMAX, eq_5_as_printed, ARGMAX),
    Mutation("scores overwritten", RANKING, ARGMAX, overwrite, "changed the scores"),
    Mutation("predicts the worst", IN_SCORES, "argmax", lambda right, self, s: right(self, -s), "argmax does not"),
    Mutation("rounded predictions", RANKING, "argmax", lambda right, self, s: np.round(s), "argmax does not"),
    Mutation("truth costs", IN_SCORES, "loss", lambda right, self, y, y_hat: 0.1 + right(self, y, y_hat), "must be 0"),
    Mutation("negative", IN_SCORES, "loss", lambda right, self, y, y_hat: -right(self, y, y_hat), "at least 0"),
    Mutation("NaN", IN_SCORES, "loss", lambda right, self, y, y_hat: right(self, y, y_hat) and np.nan, "at least 0"),
    Mutation("other scale", IN_SCORES, "loss", lambda right, self, y, y_hat: 2 * right(self, y, y_hat), ARGMAX),
    Mutation("half of Ψ", IN_SCORES, "encode", lambda right, self, y_hat, y: 0.5 * right(self, y_hat, y)),
    Mutation("−Ψ", IN_SCORES, "encode", lambda right, self, y_hat, y: -right(self, y_hat, y)),
    Mutation(
        "truth beyond all outputs",
        RANKING,
        "encode",
        lambda right, self, y_hat, y: right(self, y_hat, y) * (1.5 if y_hat is y else 1.0),
        "does not bound the",
    ),
    Mutation(
        "length depends on the output",
        IN_SCORES,
        "encode",
        lambda right, self, y_hat, y: np.append(right(self, y_hat, y), [0.0] * int(self.loss(y, y_hat) > 0)),
        "one per score",
    ),
    Mutation("sign", ["Kronecker"], ARGMAX, lambda right, self, x, y, w: right(self, x, y, -w), ARGMAX),
    Mutation("no loss", ["Kronecker"], ARGMAX, lambda right, self, x, y, w: self.argmax(x, w), ARGMAX),
    Mutation("truth", ["Kronecker"], ARGMAX, lambda right, self, x, y, w: y, ARGMAX),
    Mutation("another's cost", ["Kronecker"], ARGMAX, lambda right, self, x, y, w: right(self, x, 2 - y, w), ARGMAX),
    Mutation("off by one", ["Kronecker"], ARGMAX, lambda right, self, x, y, w: (right(self, x, y, w) + 1) % 3, ARGMAX),
    Mutation("worst", ["Kronecker"], "argmax", lambda right, self, x, w: right(self, x, -w), "argmax does not"),
    Mutation("costs transposed", ["Kronecker"], "loss", lambda right, self, y, y_hat: right(self, y_hat, y), ARGMAX),
    Mutation("truth costs", ["Kronecker"], "loss", lambda right, self, y, y_hat: 1.0, "must be 0"),
    Mutation("scaled", ["Kronecker"], "joint_feature", lambda right, self, x, y: (1 + y) * right(self, x, y)),
    Mutation(
        "length", ["Kronecker"], "joint_feature", lambda right, self, x, y: right(self, x, y)[: 6 - y], "same number"
    ),
]


def without(thing: Any, **namespace: Any) -> type:
    """A subclass of the class of a loss with other methods."""
    return type("Mutant", (type(thing),), namespace)


def rebuilt(base: str, **namespace: Any) -> Any:
    loss, _ = BASES[base]
    mutant = without(loss, **namespace)
    return mutant(classes=loss.classes) if isinstance(loss, Multiclass) else mutant()


@pytest.mark.parametrize(
    ("mutation", "base"),
    [pytest.param(each, base, id=f"{base}: {each.name}") for each in MUTATIONS for base in each.bases],
)
def test_mistakes_in_python_methods_are_found(mutation: Mutation, base: str) -> None:
    right = getattr(type(BASES[base][0]), mutation.method)
    mutant = rebuilt(base, kernel=None, **{mutation.method: lambda *args: mutation.replacement(right, *args)})
    with pytest.raises(AssertionError, match=mutation.complaint):
        check_loss(mutant, BASES[base][1])


def silent(scores, labels, params, out):  # type: ignore[no-untyped-def]
    """Write nothing."""
    return 0.0


def no_violation(scores, labels, params, out):  # type: ignore[no-untyped-def]
    """Claim that the truth is the argmax."""
    out[:] = 0.0
    return 0.0


def free_lunch(scores, labels, params, out):  # type: ignore[no-untyped-def]
    """Claim a loss that no output has."""
    out[:] = 0.0
    return 2.0


def not_a_number(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    return np.nan


def vandal(scores, labels, params, out):  # type: ignore[no-untyped-def]
    """Change the scores."""
    out[:] = 0.0
    scores[:] = 0.5
    return 0.0


@pytest.mark.parametrize("base", COMPILED)
@pytest.mark.parametrize(
    ("kernel", "complaint"),
    [
        (silent, "must write every element of out"),
        (no_violation, "misses the most violated output"),
        (free_lunch, "returned a plane of no output"),
        (not_a_number, "kernel returned nan"),
        (vandal, "changed the scores"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_kernels_that_are_wrong_in_any_loss_are_found(base: str, kernel: Any, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_loss(rebuilt(base, kernel=staticmethod(kernel)), BASES[base][1])


def altered(kernel: Any, alter: Any) -> Any:
    """A kernel that writes the right plane and then alters it."""
    right, alter = numba.njit(kernel), numba.njit(alter)

    def mutant(scores, labels, params, out):  # type: ignore[no-untyped-def]
        result = np.empty_like(out)
        delta = right(scores, labels, params, result)
        return delta + alter(scores, labels, result, out)

    return staticmethod(mutant)


def opposite(scores, labels, found, out):  # type: ignore[no-untyped-def]
    out[:] = -found
    return 0.0


def first_forgotten(scores, labels, found, out):  # type: ignore[no-untyped-def]
    out[1:] = found[1:]
    return 0.0


def loss_too_small(scores, labels, found, out):  # type: ignore[no-untyped-def]
    out[:] = found
    return -1e-3


@pytest.mark.parametrize(
    ("base", "alter"),
    [
        ("ROCArea", first_forgotten),
        pytest.param("ROCArea", loss_too_small, marks=pytest.mark.slow),
        *(pytest.param(base, opposite, marks=pytest.mark.slow) for base in COMPILED[1:]),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_kernels_that_are_a_little_wrong_are_found(base: str, alter: Any) -> None:
    kernel = altered(type(BASES[base][0]).kernel, alter)
    with pytest.raises(AssertionError, match="kernel"):
        check_loss(rebuilt(base, kernel=kernel), BASES[base][1])


@pytest.mark.parametrize(
    ("base", "methods"),
    [
        ("AveragePrecision", {ARGMAX: lambda self, s, y: s, "argmax": lambda self, s: -s}),
        ("Multiclass", {ARGMAX: lambda self, s, y: y, "argmax": lambda self, s: 0}),
        ("Kronecker", {ARGMAX: lambda self, x, y, w: 2, "argmax": lambda self, x, w: 1}),
    ],
)
def test_inexact_argmaxes_need_not_reach_the_maximum(base: str, methods: Any) -> None:
    with pytest.raises(AssertionError, match="does not return a maximizer"):
        check_loss(rebuilt(base, kernel=None, **methods), BASES[base][1])
    check_loss(rebuilt(base, kernel=None, exact=False, **methods), BASES[base][1])


def test_an_inexact_kernel_need_not_reach_the_maximum() -> None:
    check_loss(rebuilt("ROCArea", kernel=staticmethod(no_violation), exact=False))
    for kernel, complaint in ((free_lunch, "returned a plane of no output"), (silent, "must write every element")):
        with pytest.raises(AssertionError, match=complaint):
            check_loss(rebuilt("ROCArea", kernel=staticmethod(kernel), exact=False))


@pytest.mark.parametrize(
    ("method", "replacement", "complaint"),
    [
        ("loss", lambda right, self, y, y_hat: 0.1 + right(self, y, y_hat), "must be 0"),
        (
            "encode",
            lambda right, self, y_hat, y: right(self, y_hat, y) * (1.5 if y_hat is y else 1.0),
            "does not bound the",
        ),
        (ARGMAX, overwrite, "changed the scores"),
    ],
)
def test_all_else_of_an_inexact_loss_is_checked(method: str, replacement: Any, complaint: str) -> None:
    right = getattr(ROCArea, method)
    mutant = rebuilt("ROCArea", kernel=None, exact=False, **{method: lambda *args: replacement(right, *args)})
    with pytest.raises(AssertionError, match=complaint):
        check_loss(mutant)


@pytest.mark.parametrize("exact", [True, False])
def test_an_output_that_is_not_listed_is_found(exact: bool) -> None:
    """Twice the loss that any output has: an invented output would falsify the lower bound."""

    class Inventive(Interval):
        def loss(self, y: int, y_hat: int) -> float:
            return super().loss(y, y_hat) if y_hat < 11 else 2.0

        def encode(self, y_hat: int, y: int) -> Vector:
            return super().encode(min(y_hat, 10), y)

        def loss_augmented_argmax(self, scores: Vector, y: int) -> int:
            return 11

    Inventive.exact = exact  # type: ignore[method-assign, assignment]
    with pytest.raises(AssertionError, match="returned 11, which outputs does not list: its value"):
        check_loss(Inventive(), [0, 3])


def test_a_message_names_loss_example_scores_and_both_outputs() -> None:
    mutant = rebuilt("ZeroOne", kernel=None, **{ARGMAX: lambda self, s, y: y})
    with pytest.raises(AssertionError) as caught:
        check_loss(mutant, [1.0])
    assert str(caught.value) == (
        "Mutant.loss_augmented_argmax does not return a maximizer of Δ + scores·c(ŷ):\n"
        "  expected -1.0 (or an equal one), with value 1\n"
        "  got 1.0, with value 0\n"
        "  example y = 1.0\n"
        "  scores = [0.]"
    )


class Interval(ScoreLoss[int]):
    """Outputs 0..10 that score 1 at their own position; only some examples can be learned from."""

    def encode(self, y_hat: int, y: int) -> Vector:
        return np.eye(11)[y_hat]

    def loss(self, y: int, y_hat: int) -> float:
        return abs(y - y_hat) / 10

    def loss_augmented_argmax(self, scores: Vector, y: int) -> int:
        return int(np.argmax(abs(y - np.arange(11)) / 10 + scores))

    def argmax(self, scores: Vector) -> int:
        return int(np.argmax(scores))

    def usable(self, y: int) -> bool:
        return y < 5

    def outputs(self, y: int) -> Iterable[int]:
        if y == 4:
            return (k % 11 for k in range(10**9))
        return range(11)


def test_examples_that_are_not_usable_are_passed_over() -> None:
    check_loss(Interval(), [0, 3, 9])
    with pytest.raises(
        InputError, match=r"Interval cannot learn from any of the 2 examples: Interval\.usable\(y\) is false"
    ):
        check_loss(Interval(), [7, 9])


def test_of_too_many_outputs_those_that_come_up_are_compared() -> None:
    with pytest.warns(UserWarning, match="1 of 2 examples of Interval have more than"):
        check_loss(Interval(), [3, 4])


class Unlisted(Kronecker):
    """A loss that does not list its outputs."""

    outputs = Kronecker.__mro__[1].outputs


@pytest.mark.parametrize("factor", [0.5, 0.95, 0.99, 1.05])
@pytest.mark.parametrize("scale", [0.01, 1.0, 1000.0])
def test_wrong_weights_of_the_loss_are_found_though_outputs_are_not_listed(factor: float, scale: float) -> None:
    examples = [(scale * np.array([1.0, -0.5]), k) for k in range(3)]
    right = Kronecker.loss_augmented_argmax
    wrong = type("Mutant", (Unlisted,), {ARGMAX: lambda self, x, y, w: right(self, x, y, w / factor)})
    with pytest.raises(CheckError, match="Mutant.loss_augmented_argmax does not return a maximizer"):
        check_loss(wrong(), examples)


def test_a_loss_that_does_not_list_its_outputs_is_told_so() -> None:
    with pytest.warns(UserWarning, match="3 of 3 examples of Unlisted have more than"):
        check_loss(Unlisted(), BASES["Kronecker"][1])


@pytest.mark.parametrize("factor", [0.5, 0.7, 0.9, 0.95, 0.99, 1.01])
@pytest.mark.parametrize("base", [*RANKING, "ZeroOne", "Multiclass", "Kronecker"])
def test_small_mistakes_in_the_weight_of_the_loss_are_found(base: str, factor: float) -> None:
    right = getattr(type(BASES[base][0]), ARGMAX)
    if base == "Kronecker":
        wrong = {ARGMAX: lambda self, x, y, w: right(self, x, y, w / factor)}
    else:
        wrong = {ARGMAX: lambda self, scores, y: right(self, scores / factor, y), "kernel": None}
    with pytest.raises(CheckError, match="Mutant.loss_augmented_argmax does not return a maximizer"):
        check_loss(rebuilt(base, **wrong), BASES[base][1], trials=4)


@pytest.mark.parametrize("base", ["ZeroOne", "Multiclass", "Kronecker"])
def test_losses_that_are_not_of_queries_need_examples(base: str) -> None:
    with pytest.raises(InputError, match="give examples"):
        check_loss(BASES[base][0])


class Positive(Kronecker):
    """Right if the first weight is at least 0, as graph cuts are."""

    def weight_bounds(self, d: int) -> tuple[Vector, Vector]:
        return np.where(np.arange(d) == 0, 0.0, -np.inf), np.full(d, np.inf)

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> int:
        return super().loss_augmented_argmax(x, y, np.append(abs(w[0]), w[1:]))

    def argmax(self, x: Vector, w: Vector) -> int:
        return super().argmax(x, np.append(abs(w[0]), w[1:]))


def test_a_loss_may_be_right_for_some_weights() -> None:
    examples = BASES["Kronecker"][1]
    check_loss(Positive(), examples)
    with pytest.raises(CheckError, match="does not return a maximizer"):
        check_loss(type("Anywhere", (Positive,), {"weight_bounds": lambda self, d: None})(), examples)
    check_loss(
        type("Above", (Positive,), {"weight_bounds": lambda self, d: (0.0, None)})(), examples
    )  # as fits take it
    right = Positive.loss_augmented_argmax
    wrong = type("Wrong", (Positive,), {ARGMAX: lambda self, x, y, w: right(self, x, y, w / 0.95)})
    with pytest.raises(CheckError, match="does not return a maximizer"):
        check_loss(wrong(), examples)
    for odd in (3.0, ("low", "high"), (np.zeros(2),)):  # which no fit takes either
        with pytest.raises(CheckError, match=r"weight_bounds returned .*: it"):
            check_loss(type("Odd", (Positive,), {"weight_bounds": lambda self, d, odd=odd: odd})(), examples)
    with pytest.raises(CheckError, match="weight_bounds returned"):
        check_loss(type("Odd", (Positive,), {"weight_bounds": lambda self, d: (np.ones(2), np.ones(2))})(), examples)
    odd = type("Odd", (Positive,), {"weight_bounds": lambda self, d: (np.ones(2), None)})()
    with pytest.raises(InputError, match="weight_bounds: the smallest weights must be one number or"):
        Problem.from_examples([x for x, _ in examples], [0, 1, 2], loss=odd)
