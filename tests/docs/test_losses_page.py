"""The page of the losses is complete."""

from structsvm import losses as package
from structsvm.registry import losses
from tests.docs.pages import ROOT

ABSTRACT = {"Bounded", "InterleavingLoss", "Loss", "PairwiseLoss", "ScoreLoss"}


def test_every_loss_is_on_the_page():
    text = (ROOT / "docs" / "losses.md").read_text(encoding="utf-8")
    assert [name for name in losses.names() if f"`{name}`" not in text] == []
    assert [name for name in set(package.__all__) - ABSTRACT if f"`{name}" not in text] == []
