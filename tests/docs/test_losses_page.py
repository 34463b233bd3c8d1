"""The pages of the losses and of the measures are complete."""

from structsvm import losses as package
from structsvm.registry import losses, measures
from tests.docs.pages import ROOT

ABSTRACT = {"Bounded", "InterleavingLoss", "Loss", "PairwiseLoss", "ScoreLoss"}


def test_every_loss_is_on_the_page():
    text = (ROOT / "docs" / "losses.md").read_text(encoding="utf-8")
    assert [name for name in losses.names() if f"`{name}`" not in text] == []
    assert [name for name in set(package.__all__) - ABSTRACT if f"`{name}" not in text] == []


def test_every_measure_is_on_the_page_of_measures():
    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    assert [name for name in map(measures.shown, measures.built_in) if f"`{name}" not in text] == []
