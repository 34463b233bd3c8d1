"""Hinges as a loss of PyTorch."""

from typing import Any

from structsvm.exceptions import InputError, NotInstalledError
from structsvm.losses import ScoreLoss
from structsvm.objectives.hinges import Hinge
from structsvm.objectives.recent import Recent
from structsvm.settings import require_choice

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as error:
    raise NotInstalledError(
        "structsvm.objectives.for_torch needs PyTorch: pip install 'structural-svm[torch]'."
    ) from error


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
    """Return the hinge of each usable query, differentiable in the scores; times its weight κ, where it has one.

    For labels that stay the same: what depends on them alone is prepared once, in the `Hinge`. Scores are copied to the
    processor, the gradient is found there with the hinges, kept, and multiplied by what comes in. A second derivative
    is refused: it is 0 wherever there is one.

    Parameters
    ----------
    scores : tensor of floats, one a row, shape (n,), on any device.
    hinge : of the n rows.

    Returns
    -------
    Tensor of shape (U,), in the order of ``hinge.ids``, of the type and on the device of the scores.

    Raises
    ------
    InputError : when scores are no vector of n finite floats.
    """
    _require_floats(scores)
    return _Hinges.apply(scores, hinge)


class HingeLoss(torch.nn.Module):
    """The hinges of a loss as a module: ``HingeLoss("map")(scores, y, qid)``.

    Parameters
    ----------
    loss : name or object; see `Hinge`.
    reduction : "mean" over the usable queries, 0 where there are none; "sum"; or "none".
    padding : label that marks what is no document, where scores are padded.
    """

    def __init__(self, loss: str | ScoreLoss[Any] = "map", *, reduction: str = "mean", padding: float = -1.0) -> None:
        super().__init__()
        require_choice("HingeLoss(reduction=...)", reduction, ("mean", "sum", "none"))
        self.reduction = reduction
        self.padding = padding
        self._recent = Recent(loss, none_usable=True)

    def forward(self, scores: Any, y: Any, qid: Any = None) -> Any:
        """Return the hinge.

        Parameters
        ----------
        scores : flat, shape (n,), or padded, a query a row, shape (batch, list).
        y : labels, of the shape of the scores; padded where they are ``padding``.
        qid : query id of each score where these are flat; rows of a query need not be together. None: one query.

        Returns
        -------
        Tensor of shape (), of the type and on the device of the scores. With ``reduction="none"``: of flat scores the
        hinge of each usable query, in order of first appearance; of padded ones that of each row, shape (batch,), with
        0 for those that are not usable.

        Raises
        ------
        InputError : shapes do not fit, or labels or scores cannot be used; it says why.
        """
        _require_floats(scores)
        y = torch.as_tensor(y)
        if scores.shape != y.shape or scores.ndim not in (1, 2) or (scores.ndim == 2 and qid is not None):
            raise InputError(
                "scores and y must be of one shape, (n,) with qid or (batch, list) without, got "
                f"{tuple(scores.shape)} and {tuple(y.shape)}{'' if qid is None else ' with qid'}"
            )
        if scores.ndim == 1:
            ids = _numbers(qid).numpy() if isinstance(qid, torch.Tensor) else qid
            hinge = self._recent.of(_numbers(y).numpy(), ids)
            return self._reduced(hinge_values(scores, hinge), len(hinge))
        kept = y != self.padding
        rows = kept.nonzero()[:, 0].cpu().numpy()
        hinge = self._recent.of(_numbers(y[kept]).numpy(), rows)
        values = hinge_values(scores[kept.to(scores.device)], hinge)
        if self.reduction == "none":
            return scores.new_zeros(len(scores)).index_put((torch.from_numpy(hinge.ids).to(scores.device),), values)
        return self._reduced(values, len(hinge))

    def extra_repr(self) -> str:
        """Return the settings, as modules show them."""
        return f"{self._recent.loss!r}, reduction={self.reduction!r}"

    def _reduced(self, values: Any, queries: int) -> Any:
        if self.reduction == "none":
            return values
        return values.sum() / max(queries, 1) if self.reduction == "mean" else values.sum()


def _numbers(tensor: Any) -> Any:
    """Return a copy on the processor, in float64 where they are floats, which NumPy may not have."""
    there = tensor.detach().cpu()
    return there.to(torch.float64) if there.is_floating_point() else there


def _require_floats(scores: Any) -> None:
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        what = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise InputError(f"scores must be a tensor of floats, got {what}")
