"""Train PyTorch models: hinges as a loss function."""

from typing import Any

from structsvm.exceptions import InputError
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import require_choice
from structsvm.losses import ScoreLoss
from structsvm.objectives.hinges import Hinge, Recent

with needed("structsvm.objectives.for_torch needs PyTorch", "torch"):
    import torch
    from torch.autograd.function import once_differentiable


class _Hinges(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Any, hinge: Hinge) -> Any:
        values, gradient = hinge(_numbers(scores).numpy())
        ctx.hinge = hinge
        ctx.save_for_backward(torch.from_numpy(gradient).to(scores))
        return torch.from_numpy(hinge.weights * values).to(scores)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, incoming: Any) -> Any:
        (gradient,) = ctx.saved_tensors
        return gradient * torch.from_numpy(ctx.hinge.per_row(_numbers(incoming).numpy())).to(gradient), None


def hinge_values(scores: Any, hinge: Hinge) -> Any:
    """Return the hinge of each usable query times its weight κ, differentiable in the scores, shape (U,).

    Use this if labels stay the same. Values are in the order of ``hinge.ids``; the CPU computes them with the gradient.
    Second derivatives raise an error.

    Parameters
    ----------
    scores : tensor of floats, shape (n,), on any device.
    hinge : hinge of the n rows.
    """
    _require_floats(scores)
    return _Hinges.apply(scores, hinge)


class TorchHinge(torch.nn.Module):
    """The hinges of a loss as a PyTorch module: ``TorchHinge("map")(scores, y, qid)``.

    Parameters
    ----------
    loss : name or object; see `structsvm.objectives.Hinge`.
    reduction : "mean" over the usable queries (0 without usable queries), "sum", or "none".
    padding : label that marks padded positions.
    """

    def __init__(self, loss: str | ScoreLoss[Any] = "map", *, reduction: str = "mean", padding: float = -1.0) -> None:
        super().__init__()
        require_choice("TorchHinge(reduction=...)", reduction, ("mean", "sum", "none"))
        self.reduction = reduction
        self.padding = padding
        self._recent = Recent(loss, none_usable=True)

    def forward(self, scores: Any, y: Any, qid: Any = None) -> Any:
        """Return the hinge, a tensor of shape () with the dtype and device of the scores.

        With ``reduction="none"``, flat scores give the hinge of each usable query, in order of first appearance; padded
        scores give the hinge of each row, shape (batch,), 0 if unusable.

        Parameters
        ----------
        scores : flat, shape (n,), or padded with one query per row, shape (batch, list).
        y : labels, same shape; ``padding`` marks padded positions.
        qid : query id of each flat score; rows of a query need not be contiguous. Default: one query.
        """
        _require_floats(scores)
        y = torch.as_tensor(y)
        if scores.shape != y.shape or scores.ndim not in (1, 2) or (scores.ndim == 2 and qid is not None):
            raise InputError(
                "scores and y must have one shape, (n,) with qid or (batch, list) without, got "
                f"{tuple(scores.shape)} and {tuple(y.shape)}{'' if qid is None else ' with qid'}"
            )
        if scores.ndim == 1:
            ids = _numbers(qid).numpy() if isinstance(qid, torch.Tensor) else qid
            hinge = self._recent.of(_numbers(y).numpy(), ids)
            return self._reduced(hinge_values(scores, hinge), len(hinge))
        real = y != self.padding
        rows = real.nonzero()[:, 0].cpu().numpy()
        hinge = self._recent.of(_numbers(y[real]).numpy(), rows)
        values = hinge_values(scores[real.to(scores.device)], hinge)
        if self.reduction == "none":
            return scores.new_zeros(len(scores)).index_put((torch.from_numpy(hinge.ids).to(scores.device),), values)
        return self._reduced(values, len(hinge))

    def extra_repr(self) -> str:
        """Return the settings for the module's representation."""
        return f"{self._recent.loss!r}, reduction={self.reduction!r}"

    def _reduced(self, values: Any, queries: int) -> Any:
        if self.reduction == "none":
            return values
        return values.sum() / max(queries, 1) if self.reduction == "mean" else values.sum()


def _numbers(tensor: Any) -> Any:
    """Return a CPU copy; floats become float64, because NumPy lacks some of torch's float types."""
    there = tensor.detach().cpu()
    return there.to(torch.float64) if there.is_floating_point() else there


def _require_floats(scores: Any) -> None:
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        what = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise InputError(f"scores must be a tensor of floats, got {what}")
