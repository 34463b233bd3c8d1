"""Measures from text and back."""

import pytest

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.metrics import AP, NDCG, RR, Measure, P, Recall, ROCArea, parse_measure

NAMES: dict[str, Measure] = {
    "map": AP(),
    "roc_area": ROCArea(),
    "ndcg": NDCG(),
    "ndcg@10": NDCG(10),
    "letor_ndcg": NDCG(discount="letor"),
    "letor_ndcg@10": NDCG(k=10, discount="letor"),
    "ndcg@10(gain=linear)": NDCG(10, gain="linear"),
    "p@5": P(5),
    "recall@10": Recall(10),
    "recall@3(relevant_from=2)": Recall(3, relevant_from=2),
    "mrr": RR(),
    "map(empty=skip,relevant_from=2)": AP(relevant_from=2, empty="skip"),
    "p@5(relevant_from=0.5)": P(5, relevant_from=0.5),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_and_printed_back(name: str) -> None:
    assert parse_measure(name) == NAMES[name]
    assert str(NAMES[name]) == name


@pytest.mark.parametrize("text", ["Roc-Area", "ROC_AREA", "rocarea", " roc area "])
def test_case_and_separators_do_not_matter(text: str) -> None:
    assert parse_measure(text) == ROCArea()


@pytest.mark.parametrize("text", ["LETOR-NDCG@ 10", "letor_ndcg@10", "LetorNDCG@10()"])
def test_case_and_separators_do_not_matter_with_a_cutoff(text: str) -> None:
    assert parse_measure(text) == NDCG(10, discount="letor")


@pytest.mark.parametrize(("text", "near"), [("mapp", "map"), ("roc", "roc_area"), ("ndgc@10", "ndcg@10")])
def test_unknown_names_get_the_nearest_known_one(text: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=f"no measure named '{text}'. Did you mean '{near}'"):
        parse_measure(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("map@10", "map takes no cut-off; write 'map'"),
        ("p", "p needs a cut-off, as in 'p@5'"),
        ("recall", "recall needs a cut-off, as in 'recall@10'"),
        ("recall@0", "must be an integer of at least 1"),
        ("f1", "'f1' is a loss, for loss=...; a measure is needed here. Known: "),
        ("ndcg@ten", "cut-off after @ must be a whole number, as in 'ndcg@10'"),
        ("ndcg@0", "must be an integer of at least 1"),
        ("map(gain=linear)", "'gain=linear' is no setting of map; there are empty, relevant_from"),
        ("map(skip)", "'skip' is no setting"),
        ("map(empty=none)", "must be 'zero' or 'skip', got 'none'"),
        ("map(relevant_from=high)", "relevant_from must be a number, not 'high'"),
    ],
)
def test_wrong_settings_are_explained(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_measure(text)
