"""Measures from text and back."""

from contextlib import suppress
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.metrics import (
    AP,
    AUC,
    ERR,
    NDCG,
    RBP,
    RR,
    Bpref,
    InfAP,
    IPrec,
    Judged,
    Measure,
    OrderedPairs,
    P,
    Recall,
    Rprec,
    Success,
    parse_measure,
)
from structsvm.metrics.average_precision import GMAP, ElevenPoint
from structsvm.metrics.sets import NumRelRet, SetAP, SetF, SetP, SetRecall
from structsvm.registry import losses, measures, registry

NAMES: dict[str, Measure] = {
    "map": AP(),
    "roc_area": AUC(),
    "ordered_pairs": OrderedPairs(),
    "ndcg": NDCG(),
    "ndcg@10": NDCG(10),
    "letor_ndcg": NDCG(discount="letor"),
    "letor_ndcg@10": NDCG(k=10, discount="letor"),
    "ndcg@10(gain=linear)": NDCG(10, gain="linear"),
    "p@5": P(5),
    "recall@10": Recall(10),
    "recall@3(relevant_from=2)": Recall(3, relevant_from=2),
    "mrr": RR(),
    "map@100": AP(100),
    "mrr@10": RR(10),
    "iprec@0.1": IPrec(0.1),
    "rbp@20(p=0.95)": RBP(20, p=0.95),
    "err@20": ERR(20),
    "err(max_grade=2)": ERR(max_grade=2),
    "set_f(recall_weight=4)": SetF(recall_weight=4),
    "map(empty=skip,relevant_from=2)": AP(relevant_from=2, empty="skip"),
    "p@5(relevant_from=0.5)": P(5, relevant_from=0.5),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_and_printed_back(name: str) -> None:
    assert parse_measure(name) == NAMES[name]
    assert str(NAMES[name]) == name


@pytest.mark.parametrize("text", ["Roc-Area", "ROC_AREA", "rocarea", " roc area "])
def test_case_and_separators_do_not_matter(text: str) -> None:
    assert parse_measure(text) == AUC()


@pytest.mark.parametrize("text", ["LETOR-NDCG@ 10", "letor_ndcg@10", "LetorNDCG@10()"])
def test_case_and_separators_do_not_matter_with_a_cutoff(text: str) -> None:
    assert parse_measure(text) == NDCG(10, discount="letor")


@pytest.mark.parametrize(("text", "near"), [("mapp", "map"), ("roc", "roc_area"), ("ndgc@10", "ndcg@10")])
def test_unknown_names_get_the_nearest_known_one(text: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown measure '{text}'. Did you mean '{near}'"):
        parse_measure(text)


@pytest.mark.parametrize("name", losses.built_in)
def test_each_loss_is_a_measure_or_its_error_names_the_nearest(name: str) -> None:
    with suppress(InputError):
        assert parse_measure(losses.shown(name))
        return
    with pytest.raises(UnknownNameError, match="The nearest measure is|StructuralSVM.score reports"):
        parse_measure(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bpref@10", "bpref takes no cut-off; write 'bpref'"),
        ("p", "p needs a cut-off, as in 'p@5'"),
        ("recall", "recall needs a cut-off, as in 'recall@10'"),
        ("recall@0", "must be an integer of at least 1"),
        ("f1", "'f1' is a loss, for loss=...; a measure is needed here. The nearest measure is 'rprec', "),
        ("ndcg@ten", "cut-off after @ must be a whole number, as in 'ndcg@10'"),
        ("ndcg@0", "must be an integer of at least 1"),
        ("map(gain=linear)", "'gain=linear' is not a setting of map; there are empty, relevant_from"),
        ("iprec", "iprec needs recall, as in 'iprec@0.1'"),
        ("iprec@1.5", "must be from 0 to 1, got 1.5"),
        ("iprec@half", "recall must be a number, not 'half'"),
        ("iprec(recall=0.5)", "recall is written after @: write 'iprec@0.1'"),
        ("P_0", "must be an integer of at least 1"),
        ("P_5(gain=linear)", "'gain=linear' is not a setting of p"),
        ("nDCG(gains=1)@10", "'gains=1' is not a setting of ndcg"),
        ("rbp(p=1)", "must be between 0 and 1, got 1"),
        ("map(rel=2)@5(empty=skip)(empty=zero)", "unknown measure"),
        ("map(empty=skip)(relevant_from=2)", "unknown measure"),
        ("map(skip)", "'skip' is not a setting"),
        ("map(empty=none)", "must be 'zero' or 'skip', got 'none'"),
        ("map(relevant_from=high)", "relevant_from must be a number, not 'high'"),
    ],
)
def test_wrong_settings_are_explained(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_measure(text)


ALIASES: dict[str, Measure] = {
    "swapped_pairs": OrderedPairs(),
    "prbep": Rprec(),
    "recip_rank": RR(),
    "P_5": P(5),
    "P.5": P(5),
    "recall_100": Recall(100),
    "map_cut_10": AP(10),
    "ndcg_cut_10": NDCG(10, gain="linear"),
    "ndcg_cut_10(gain=exponential)": NDCG(10),
    "Rprec": Rprec(),
    "iprec_at_recall_0.10": IPrec(0.1),
    "iprec_at_recall_.10": IPrec(0.1),
    "iprec_at_recall_1.00": IPrec(1.0),
    "set_F_.5": SetF(recall_weight=0.5),
    "set_P": SetP(),
    "set_F": SetF(),
    "set_F.2": SetF(recall_weight=2.0),
    "set_recall": SetRecall(),
    "infAP": InfAP(),
    "success_1": Success(1),
    "11pt_avg": ElevenPoint(),
    "gm_map": GMAP(),
    "num_rel_ret": NumRelRet(),
    "AP": AP(),
    "AP(rel=2)@100": AP(100, relevant_from=2),
    "RR@10": RR(10),
    "R@10": Recall(10),
    "nDCG@10": NDCG(10, gain="linear"),
    "nDCG(dcg='log2')@10": NDCG(10, gain="linear"),
    "nDCG(dcg='exp-log2')@10": NDCG(10),
    "NDCG@10": NDCG(10),
    "ERR@20": ERR(20),
    "RBP(p=0.8)": RBP(),
    "RBP(p=0.95,rel=2)": RBP(p=0.95, relevant_from=2),
    "Judged@10": Judged(10),
    "IPrec@0.1": IPrec(0.1),
    "SetP": SetP(),
    "SetR": SetRecall(),
    "SetF(beta=2.0)": SetF(recall_weight=2.0),
    "SetAP": SetAP(),
    "Bpref": Bpref(),
    "NumRet(rel=1)": NumRelRet(relevant_from=1),
}


@pytest.mark.parametrize("name", ALIASES)
def test_names_of_trec_eval_and_ir_measures(name: str) -> None:
    assert parse_measure(name) == ALIASES[name]


@pytest.mark.parametrize("name", measures.names())
def test_every_measure_is_read_back_from_its_text(name: str) -> None:
    assert str(parse_measure(name)) == name


def test_a_plug_in_is_not_hidden_by_an_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = EntryPoint("ap", "structsvm.metrics:RR", measures.group)
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints([plugin]))
    assert parse_measure("AP") == RR()


def test_the_gain_of_ndcg_is_told() -> None:
    assert "2^grade - 1" in NDCG().note
    assert "grades" in NDCG(gain="linear").note
    assert str(parse_measure("nDCG@10")) == "ndcg@10(gain=linear)"
