import pickle

import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.objectives import Hinge

torch = pytest.importorskip("torch")
from structsvm.objectives.for_torch import TorchHinge, hinge_values  # noqa: E402
from tests.small_problems import hinge  # noqa: E402

Y = np.array([1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0])
QID = np.array([3, 3, 1, 1, 1, 2, 2, 3, 1, 9])
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]


def scores_of(seed=0, **settings):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(10)).to(**settings).requires_grad_()


@pytest.mark.parametrize("loss", ["map", "ndcg@10", "roc_area", "p@2", "swapped_pairs", "mrr"])
def test_gradients_are_those_of_finite_differences(loss):
    of = Hinge(loss, Y, QID, sample_weight=1.0 + QID)
    assert torch.autograd.gradcheck(lambda scores: hinge_values(scores, of), (scores_of(),))
    assert torch.autograd.gradcheck(lambda scores: TorchHinge(loss)(scores, torch.from_numpy(Y), QID), (scores_of(),))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_values_and_gradients_are_those_of_hinge(dtype, device):
    scores = scores_of(dtype=dtype, device=device)
    expected = hinge("map", scores.detach().double().cpu().numpy(), Y, QID)
    value = TorchHinge("map", reduction="sum")(scores, torch.from_numpy(Y).to(device), torch.from_numpy(QID).to(device))
    (3.0 * value).backward()
    assert value.dtype == scores.grad.dtype == dtype
    assert value.device == scores.device
    tolerance = 1e-2 if dtype == torch.bfloat16 else 1e-6
    assert value.item() == pytest.approx(expected.values.sum(), rel=tolerance)
    np.testing.assert_allclose(scores.grad.double().cpu(), 3.0 * expected.gradient, rtol=tolerance)


def test_reductions():
    scores, y = scores_of(), torch.from_numpy(Y)
    values = TorchHinge(reduction="none")(scores, y, QID)
    np.testing.assert_allclose(values.detach(), hinge("map", scores.detach().numpy(), Y, QID).values)
    assert TorchHinge(reduction="sum")(scores, y, QID).item() == pytest.approx(values.sum().item())
    assert TorchHinge()(scores, y, QID).item() == pytest.approx(values.mean().item())
    assert TorchHinge()(scores, y).item() == pytest.approx(hinge("map", scores.detach().numpy(), Y).values.item())


def test_padded_lists_are_queries():
    generator = np.random.default_rng(1)
    scores = torch.from_numpy(generator.standard_normal((4, 5))).requires_grad_()
    y = torch.tensor([[1, 0, -1, -1, -1], [0, 0, 0, 0, -1], [0, 2, 1, 0, 1], [-1, -1, -1, -1, -1]])
    kept = (y != -1).numpy()
    flat = hinge("ndcg", scores.detach().numpy()[kept], y.numpy()[kept].astype(float), np.nonzero(kept)[0])
    values = TorchHinge("ndcg", reduction="none")(scores, y)
    np.testing.assert_allclose(values.detach(), [flat.values[0], 0.0, flat.values[1], 0.0])
    values.sum().backward()
    np.testing.assert_allclose(scores.grad.numpy()[kept], flat.gradient)
    assert not scores.grad.numpy()[~kept].any()
    assert TorchHinge("ndcg")(scores, y).item() == pytest.approx(flat.values.mean())


def test_batches_without_a_usable_query_count_nothing():
    scores = torch.zeros((2, 3), requires_grad=True)
    for reduction in ("mean", "sum"):
        value = TorchHinge(reduction=reduction)(scores, torch.zeros((2, 3)))
        value.backward()
        assert value.item() == 0.0
        assert not scores.grad.any()


def test_a_module_can_be_kept():
    module = TorchHinge("ndcg@10", reduction="sum")
    module(scores_of(), torch.from_numpy(Y), QID)
    assert repr(pickle.loads(pickle.dumps(module))) == repr(module) == "TorchHinge('ndcg@10', reduction='sum')"


def test_mistakes_are_told():
    y = torch.from_numpy(Y)
    with pytest.raises(InputError, match="tensor of floats, got ndarray"):
        TorchHinge()(Y, y)
    with pytest.raises(InputError, match=r"tensor of floats, got torch.int64"):
        TorchHinge()(torch.zeros(10, dtype=torch.int64), y)
    with pytest.raises(InputError, match=r"must have one shape.*\(10,\) and \(9,\)"):
        TorchHinge()(scores_of(), y[:9])
    with pytest.raises(InputError, match="with qid"):
        TorchHinge()(torch.zeros((2, 5)), torch.zeros((2, 5)), torch.zeros((2, 5)))
    with pytest.raises(InputError, match="Training has diverged"):
        TorchHinge()(scores_of() * float("nan"), y, QID)
    with pytest.raises(InputError, match="reduction"):
        TorchHinge(reduction="median")
    scores = scores_of()
    (first,) = torch.autograd.grad(TorchHinge()(scores, y, QID) ** 2, scores, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
