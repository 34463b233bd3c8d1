"""Messages about latent losses with mistakes, and about bad first guesses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from structsvm import Ranker, StructuralSVM
from structsvm.estimators import LatentStructuralSVM
from structsvm.exceptions import CheckError, InputError, OracleError, StructSVMError, ZeroWeightsWarning
from structsvm.foundation.types import Vector
from structsvm.losses import LatentLoss
from structsvm.solvers import OneSlack
from structsvm.testing import check_latent_loss, check_loss

BACKGROUND = np.zeros(2)
OBJECT, CLUTTER = np.array([1.0, 0.0]), np.array([0.0, 1.0])
XS = [np.stack([BACKGROUND, OBJECT, CLUTTER]), np.stack([BACKGROUND, CLUTTER, CLUTTER])] * 2
YS = [1, 0] * 2


class Boxes(LatentLoss[Any, int, Any]):
    """y is 1 if a box holds the object; h is that box, or None."""

    def joint_feature(self, x: Any, y: int, h: Any) -> Any:
        return x[h] if y else np.zeros(2)

    def loss(self, y: int, y_hat: int, h_hat: Any) -> float:
        return float(y != y_hat)

    def initial(self, x: Any, y: int) -> Any:
        return 1 if y else None

    def complete(self, x: Any, y: int, w: Vector) -> Any:
        return int(np.argmax(x @ w)) if y else None

    def loss_augmented_argmax(self, x: Any, y: int, w: Vector) -> Any:
        h = int(np.argmax(x @ w))
        return (1, h) if x[h] @ w + (y == 0) > (y == 1) else (0, None)

    def argmax(self, x: Any, w: Vector) -> Any:
        h = int(np.argmax(x @ w))
        return (1, h) if x[h] @ w > 0.0 else (0, None)

    def outputs(self, x: Any, y: int) -> Any:
        return [(0, None), *((1, h) for h in range(len(x)))]

    def completions(self, x: Any, y: int) -> Any:
        return range(len(x)) if y else [None]


def fitted(loss: Any, xs: Any = XS, ys: Any = YS) -> LatentStructuralSVM:
    return LatentStructuralSVM(loss, C=10.0, solver=OneSlack()).fit(xs, ys)


def test_an_end_at_zero_weights_is_told() -> None:
    class Empty(Boxes):
        def initial(self, x: Any, y: int) -> Any:
            return 0 if y else None

    with pytest.warns(ZeroWeightsWarning, match=r"ended at w = 0: .* latents of Empty.initial"):
        svm = fitted(Empty())
    assert svm.stationary_
    assert not svm.coef_.any()
    assert fitted(Boxes()).score(XS, YS) == 1.0


EXAMPLES = list(zip(XS, YS, strict=True))[:2]


def with_method(name: str, method: Any) -> Any:
    return type("Mine", (Boxes,), {name: method})()


def nothing(*arguments: Any) -> None:
    return None


def fails(*arguments: Any) -> Any:
    raise KeyError("oops")


def test_features_in_a_list_are_read() -> None:
    loss = with_method("joint_feature", lambda self, x, y, h: x[h].tolist() if y else [0, 0])
    check_latent_loss(loss, EXAMPLES, trials=1)
    assert fitted(loss).coef_ == pytest.approx(fitted(Boxes()).coef_)


@pytest.mark.parametrize(
    ("method", "written", "words"),
    [
        ("joint_feature", nothing, "Mine.joint_feature returned None for example 0: it must return a vector"),
        (
            "joint_feature",
            lambda self, x, y, h: x[h] if y else np.zeros(3),
            r"shape \(3,\) for example 1, and",
        ),
        ("initial", fails, "Mine.initial raised KeyError: 'oops'. It was called for example 0"),
        ("complete", fails, "Mine.complete raised KeyError: 'oops'. It was called for example 0"),
        (
            "loss_augmented_argmax",
            lambda self, x, y, w: 1,
            r"\.loss_augmented_argmax raised TypeError: it must .* pair",
        ),
    ],
)
def test_a_method_of_a_latent_loss_is_named(method: str, written: Any, words: str) -> None:
    with pytest.raises(InputError, match=f"{words}.*structsvm.testing.check_latent_loss on the loss"):
        fitted(with_method(method, written))


def test_predictions_name_the_method_and_the_example() -> None:
    svm = fitted(with_method("argmax", lambda self, x, w: 1))
    with pytest.raises(InputError, match="Mine.argmax raised TypeError: it must return a pair.* returned 1.*example 0"):
        svm.score(XS, YS)
    with pytest.raises(InputError, match=r"Boxes.argmax raised \w+: .* It was called for example 0"):
        fitted(Boxes()).predict(XS[0])


@pytest.mark.parametrize("example", [0, 2])
def test_numbers_that_are_not_finite_are_looked_for_in_the_data(example: int) -> None:
    xs = [x.copy() for x in XS]
    xs[example][:] = np.nan
    with pytest.raises(StructSVMError, match=f"NaN.*example {example}|example {example}.*NaN") as raised:
        fitted(Boxes(), xs)
    assert "kernel" not in str(raised.value)
    assert isinstance(raised.value, InputError | OracleError)


@pytest.mark.parametrize("use", [Ranker, StructuralSVM, check_loss], ids=lambda use: use.__name__)
def test_a_latent_loss_in_the_place_of_another_is_told_where_it_belongs(use: Any) -> None:
    with pytest.raises(InputError, match=r"^Boxes is a LatentLoss: LatentStructuralSVM.*check_latent_loss checks it"):
        use(Boxes()) if use is check_loss else use(Boxes()).fit(np.eye(2), [0, 1])


@pytest.mark.parametrize(
    ("method", "written", "words"),
    [
        ("completions", lambda self, x, y: 3, "Mine.completions returned 3: it must return a list"),
        ("completions", lambda self, x, y: [], "Mine.completions lists no h"),
        ("completions", LatentLoss.completions, "define completions"),
        ("initial", fails, "Mine.initial raised KeyError"),
        ("complete", fails, "Mine.complete raised KeyError"),
        ("complete", lambda self, x, y, w: 0 if y else None, r"(?s)misses the maximum.*example x = .*, y = 1.*w = \["),
    ],
)
def test_the_check_names_what_is_wrong(method: str, written: Any, words: str) -> None:
    with pytest.raises((CheckError, InputError), match=words):
        check_latent_loss(with_method(method, written), EXAMPLES, trials=2)


@frozen
class Costly(Boxes):
    """The loss of a box other than the first guess may be above 0 although its output is true."""

    size: float
    at_truth: float

    def loss(self, y: int, y_hat: int, h_hat: Any) -> float:
        same = self.at_truth if h_hat in (0, 2) else 0.0
        return self.size * (same if y == y_hat else 1.0)

    def loss_augmented_argmax(self, x: Any, y: int, w: Vector) -> Any:
        return max(self.outputs(x, y), key=lambda o: self.loss(y, *o) + w @ self.joint_feature(x, *o))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_the_loss_of_a_true_output_may_be_rounded(size: float) -> None:
    check_latent_loss(Costly(size, 1e-16), EXAMPLES, trials=1)
    with pytest.raises(CheckError, match="Costly.loss must be 0 at the true output for every h"):
        check_latent_loss(Costly(size, 1e-4), EXAMPLES, trials=1)


def test_the_check_wants_pairs() -> None:
    with pytest.raises(InputError, match=r"a list of pairs \(x, y\)"):
        check_latent_loss(Boxes(), XS)


def test_a_file_asks_for_its_loss_in_words_that_fit(tmp_path: Path) -> None:
    fitted(Boxes()).save(tmp_path / "m.npz")
    with pytest.raises(InputError, match="before predict and score$"):
        LatentStructuralSVM.load(tmp_path / "m.npz").predict(XS)
