"""Objects by name: spellings, hints, plug-ins, and nothing imported before its use."""

import inspect
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
import pytest
from click.testing import CliRunner

from structsvm import metrics
from structsvm.cli import main
from structsvm.exceptions import InputError, PluginError, UnknownNameError
from structsvm.losses import (
    AveragePrecision,
    FBeta,
    Multiclass,
    NDCGLoss,
    PrecisionAtK,
    RecallAtK,
    ReciprocalRank,
    ROCArea,
)
from structsvm.metrics import AP
from structsvm.registry import backends, losses, measures, rankers, registry, retrieval_functions, solvers
from structsvm.solvers import NSlack, OneSlack
from structsvm.solvers.qp import OSQP, ActiveSet, HiGHS
from structsvm.text.functions.tf_idf import TFIDF


@pytest.mark.parametrize("name", ["one-slack", "one_slack", "ONE-SLACK", " One_Slack ", "OneSlack"])
def test_hyphens_underscores_and_case_do_not_matter(name: str) -> None:
    assert solvers.create(name) == OneSlack()


def test_settings_are_passed_on() -> None:
    assert solvers.create("n-slack", tol=0.5) == NSlack(tol=0.5)


def test_an_object_is_returned_as_it_is() -> None:
    loss = ROCArea(relevant_from=2)
    assert losses.create(loss) is loss


@pytest.mark.parametrize("kind", [losses, solvers, backends, measures])
def test_every_name_is_found_and_spelled_back(kind: Any) -> None:
    for name in [*kind.built_in, *kind.names()]:
        assert isinstance(kind.find(name), type)
    for name in kind.names():
        thing = kind.create(name)
        assert kind.create(kind.spell(thing)) == thing
        assert kind.spell(thing) == name or name in ("auto", "f", "qpsolvers")  # two names of one thing


@pytest.mark.parametrize(
    ("kind", "name", "thing"),
    [
        (losses, "map(relevant_from=2)", AveragePrecision(relevant_from=2)),
        (losses, "ndcg", NDCGLoss()),
        (losses, "ndcg@3(encoding=position)", NDCGLoss(3, encoding="position")),
        (
            losses,
            "letor_ndcg@20(gain=linear,relevant_from=2)",
            NDCGLoss(20, discount="letor", gain="linear", relevant_from=2),
        ),
        (losses, "ndcg@10(truncated=true)", NDCGLoss(10, truncated=True)),
        (losses, "p@5(truncated=true)", PrecisionAtK(5, truncated=True)),
        (losses, "recall@5(relevant_from=2)", RecallAtK(5, relevant_from=2)),
        (losses, "mrr", ReciprocalRank()),
        (losses, "f0.5", FBeta(0.5)),
        (
            solvers,
            "one-slack(backend=osqp,max_iter=7,line_search=true)",
            OneSlack(backend="osqp", max_iter=7, line_search=True),
        ),
        (backends, "osqp(eps=1e-06,polishing=false)", OSQP(eps=1e-6, polishing=False)),
        (measures, "letor_ndcg@3(gain=linear)", metrics.NDCG(3, discount="letor", gain="linear")),
        (retrieval_functions, "tfidf(k=3)", TFIDF(k=3)),
    ],
)
def test_settings_in_a_name(kind: Any, name: str, thing: Any) -> None:
    assert kind.create(name) == thing
    assert kind.spell(thing) == name


WRITTEN: dict[str, dict[str, Any]] = {
    "settings": {"{eps:0.5}": {"eps": 0.5}, "none": None},
    "classes": {"[a,b]": ["a", "b"]},
    "states": {"[1,2]": [1, 2]},
    "cost": {"[[0,1],[2,0]]": [[0, 1], [2, 0]]},
    "edges": {"[[0,1]]": [[0, 1]], "complete": "complete", "none": None},
    "inference": {"exact": "exact"},
    "forbidden": {"[[a,b]]": [["a", "b"]]},
    "backend": {"osqp(eps=0.5,max_iter=7)": "osqp(eps=0.5,max_iter=7)"},
    "loss": {"ndcg@10(gain=linear)": "ndcg@10(gain=linear)"},
    "solver": {"one-slack(backend=osqp(eps=0.5),tol=0.5)": "one-slack(backend=osqp(eps=0.5),tol=0.5)"},
    "measure": {"ndcg@10(gain=linear)": "ndcg@10(gain=linear)", "none": None},
    "normalize": {"none": None, "query-min-max": "query-min-max"},
    "objective": {"queries": "queries"},
    "class_weight": {"{0:1,1:5}": {0: 1, 1: 5}, "balanced": "balanced"},
    "center": {"[1,2.5]": [1, 2.5]},
    "feature_penalty": {"[1,0]": [1, 0]},
    "bounds": {"[[0,none],[none,1]]": [[0, None], [None, 1]], "[0,inf]": [0, float("inf")]},
    "monotonic_cst": {"[1,0,-1]": [1, 0, -1], "{bm25:1}": {"bm25": 1}},
    "directions": {"[[1,0],[0,1]]": [[1, 0], [0, 1]], "coordinates": "coordinates"},
    "start": {"[1,0]": [1, 0], "first": "first"},
    "trees": {"scikit-learn": "scikit-learn", "none": None},
    "count": {"nonzero": "nonzero"},
    "weights": {"measure": "measure", "[1,0.5]": [1, 0.5]},
    "propensity": {"[0.5]": [0.5]},
    "params": {"{max_depth:4,boosting:dart,verbose:true}": {"max_depth": 4, "boosting": "dart", "verbose": True}},
}
"""Values of settings whose type is too wide, by their spelling."""


def values_of(key: str, kinds: tuple[Any, ...]) -> dict[str, Any]:
    """Return values of settings of these types, by their spelling."""
    if key in WRITTEN:
        return WRITTEN[key]
    values = {str(choice): choice for kind in kinds for choice in get_args(kind)}
    values |= {"none": None} if NoneType in kinds else {}
    values |= {"true": True, "false": False} if bool in kinds else {}
    return values | ({"0.5": 0.5} if float in kinds else {"7": 7} if int in kinds else {})


@pytest.mark.parametrize("kind", registry._MADE, ids=lambda kind: kind.kind)
def test_every_setting_of_every_object_can_be_written(kind: Any) -> None:
    for name in kind.built_in:
        class_, implied = kind.find(name), kind.implied.get(name, {})
        settings = inspect.signature(class_).parameters
        parameters = set(settings) - set(implied)
        hints = get_type_hints(class_ if attrs.has(class_) or inspect.isfunction(class_) else class_.__init__)
        at = getattr(class_, "behind_at", None)
        needed = {at: 0.5 if at == "recall" else 7} if at in parameters else {}
        cutoff = "".join(f"@{value}" for value in needed.values())
        if needed:
            assert kind.create(name + cutoff) == class_(**needed, **implied)
        for key in parameters - {at}:
            types = get_args(hints[key]) if get_origin(hints[key]) in (Union, UnionType) else (hints[key],)
            values = values_of(key, types)
            assert values
            for text, value in values.items():
                thing = kind.create(f"{name}{cutoff}({key}={text})")
                wanted = class_(**needed, **implied, **{key: value})
                if inspect.isfunction(class_):
                    assert repr(thing) == repr(wanted)
                    continue
                assert type(thing) is class_
                assert [getattr(thing, setting) for setting in settings] == [
                    getattr(wanted, setting) for setting in settings
                ]


def test_what_cannot_be_written_has_no_name() -> None:
    assert solvers.spell(OneSlack(backend=HiGHS())) is None
    assert losses.spell(Multiclass(classes=["a", "b"])) is None
    assert losses.spell(HiGHS()) is None


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (losses, "ndcg@ten", "'ndcg@ten': the cut-off after @ must be a whole number, as in 'ndcg@10'"),
        (losses, "ndcg@0", "NDCGLoss(k=...) must be an integer of at least 1, got 0"),
        (losses, "map@10", "'map@10': map takes no cut-off; write 'map'"),
        (
            losses,
            "map(depth=2)",
            "'map(depth=2)': 'depth=2' is not a setting of map; there are relevant_from, written as in",
        ),
        (losses, "ndcg(k=3)", "'ndcg(k=3)': k is the cut-off, which is written after @: write 'ndcg@3'"),
        (losses, "p(k=many)", "k is the cut-off, which is written after @: write 'p@5'"),
        (losses, "ndcg(truncated=true)", "give one, as in NDCGLoss(k=10, truncated=True) or 'ndcg@10(truncated=true)'"),
        (losses, "p@5(truncated=yes)", "truncated must be true or false, not 'yes'"),
        (losses, "map(k=3)", "'k=3' is not a setting of map"),
        (measures, "ndcg(k=3,gain=linear)", "write 'ndcg@3'"),
        (losses, "map(relevant_from=high)", "relevant_from must be a number, not 'high'"),
        (losses, "multiclass(classes=3)", "classes must be a list, as in [a,b], not '3'"),
        (rankers, "lambda_mart(params=4)", "params must be names and values, as in {a:1,b:2}, not '4'"),
        (retrieval_functions, "tfidf@3", "'tfidf@3': tfidf takes no cut-off; write 'tfidf'"),
        (losses, "ndcg@10(gain=linear", "unknown loss 'ndcg@10(gain=linear'"),
        (solvers, "n-slack(max_iter=2.5)", "max_iter must be a whole number, not '2.5'"),
        (backends, "osqp(polishing=maybe)", "polishing must be true or false, not 'maybe'"),
        (
            measures,
            "letor_ndcg@5(discount=standard)",
            "'discount=standard' is not a setting of letor_ndcg; there are empty, gain",
        ),
        (losses, "ndcg(gain=linear,gain=exponential)", "gain is given twice; leave one out"),
        (solvers, "n-slack(tol=1,tol=1)", "tol is given twice"),
        (measures, "p", "p needs a cut-off, as in 'p@5'"),
    ],
)
def test_wrong_settings_in_a_name_are_explained(kind: Any, name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        kind.create(name)
    assert message in str(caught.value)


def test_a_setting_cannot_be_given_twice() -> None:
    with pytest.raises(InputError, match="the name 'osqp\\(eps=1\\)' already sets eps: give it once"):
        backends.create("osqp(eps=1)", eps=2.0)


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        (losses, "roc-aera", "roc_area"),
        (losses, "mapp", "map"),
        (losses, "mapp(relevant_from=2)", "map"),
        (solvers, "nslak", "n-slack"),
        (solvers, "OneSlak", "one-slack"),
        (backends, "active", "active-set"),
        (backends, "cvxpot", "cvxopt"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(kind: Any, name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        kind.create(name)
    assert str(caught.value).startswith(f"unknown {kind.kind} {name!r}. Did you mean {hint!r}? Known: ")
    assert isinstance(caught.value, ValueError)


def test_a_name_unlike_any_other_gets_no_hint() -> None:
    with pytest.raises(UnknownNameError, match="^unknown loss 'xyz'. Known: [^?]*$"):
        losses.create("xyz")


def test_a_class_is_not_an_object() -> None:
    with pytest.raises(InputError, match=r"OneSlack is a class: pass an object, OneSlack\(\), or a name"):
        solvers.create(OneSlack)


@pytest.mark.parametrize("spec", [None, 3, {"name": "map"}])
@pytest.mark.parametrize("kind", [losses, solvers, backends])
def test_something_else_is_not_an_object_either(kind: Any, spec: Any) -> None:
    with pytest.raises(InputError, match=f"is not a valid {kind.kind}: pass a name"):
        kind.create(spec)


def test_names_of_classes() -> None:
    assert losses.name_of(AveragePrecision) == "map"
    assert backends.create(backends.name_of(ActiveSet)) == ActiveSet()
    assert losses.name_of(ActiveSet) is None


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (
            solvers,
            HiGHS(),
            r"HiGHS\(.*\) is not a valid solver, but a QP backend, for backend=... of a solver: pass a name",
        ),
        (backends, OneSlack(), r"OneSlack\(.*\) is not a valid QP backend, but a solver, for solver=...: pass a name"),
        (solvers, ROCArea(), r"ROCArea\(.*\) is not a valid solver, but a loss, for loss=...: pass a name \(auto, "),
        (losses, AP(), r"AP\(.*\) is not a valid loss, but a measure, for measure=..., which .*: pass a name \(map, "),
    ],
)
def test_an_object_of_another_kind_is_told_where_it_belongs(kind: Any, spec: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        kind.create(spec)


@pytest.mark.parametrize(
    ("kind", "name", "meaning"),
    [
        (
            losses,
            "err@5",
            "'err@5' is a measure, for measure=..., which a ranker reports and does not train on; "
            "a loss is needed here. Known: ",
        ),
        (losses, "HiGHS", "'HiGHS' is a QP backend, for backend=... of a solver; a loss is needed here. Known: "),
        (losses, "lightgbm", "'lightgbm' is an export format, for export(format=...); a loss is needed here. Known: "),
        (losses, "LambdaRank", "LightGBM's lambdarank is the ranker LambdaMART (train --ranker lambda_mart). Known: "),
        (solvers, "highs", "'highs' is a QP backend"),
        (backends, "n_slack", "'n_slack' is a solver, for solver=...; a QP backend is needed here. Known: "),
    ],
)
def test_a_name_of_something_else_is_told_what_it_is(
    kind: Any, name: str, meaning: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(measures.built_in, "err", "structsvm.metrics:P")
    with pytest.raises(UnknownNameError) as caught:
        kind.create(name)
    assert str(caught.value).startswith(f"unknown {kind.kind} {name!r}. {meaning}")


class PlugIn(ROCArea):
    """A loss of another package."""


class NeedsSettings(ROCArea):
    def __init__(self, depth: int) -> None:
        raise AssertionError("made without need")


class WithCutoff(ROCArea):
    """A loss of another package that is not an attrs class."""

    def __init__(self, k: int, *, discount: Callable[[int], float] | None = None, base=2.0) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        for name, value in {"k": k, "discount": discount, "base": base}.items():
            object.__setattr__(self, name, value)


@pytest.fixture
def plug_ins(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three entry points of other packages; returns the names of the loaded ones."""
    loaded: list[str] = []

    class Spied(EntryPoint):
        def load(self) -> Any:
            loaded.append(self.name)
            return super().load()

    points = [
        Spied("my_loss", f"{__name__}:PlugIn", "structsvm.losses"),
        Spied("deep", f"{__name__}:WithCutoff", "structsvm.losses"),
        Spied("needs", f"{__name__}:NeedsSettings", "structsvm.losses"),
        Spied("broken", "no_such_module:Loss", "structsvm.losses"),
        Spied("strange", "builtins:dict", "structsvm.losses"),
        Spied("map", f"{__name__}:PlugIn", "structsvm.losses"),
    ]
    monkeypatch.setitem(sys.modules, __name__, sys.modules[PlugIn.__module__])
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints(p for p in points if p.group == group))
    return loaded


def test_a_plug_in_is_found_by_its_name(plug_ins: list[str]) -> None:
    assert type(losses.create("My-Loss")).__name__ == "PlugIn"
    assert plug_ins == ["my_loss"]


def test_a_plug_in_takes_a_cutoff_and_settings(plug_ins: list[str]) -> None:
    loss = losses.create("deep@7(base=3)")
    assert (loss.k, loss.base, loss.discount) == (7, 3, None)
    assert type(losses.create("deep@7")).__name__ == "WithCutoff"
    with pytest.raises(InputError, match="deep needs a cut-off, as in 'deep@10'"):
        losses.create("deep")
    with pytest.raises(InputError, match="needs needs depth: write 'needs\\(depth=...\\)', or pass an object"):
        losses.create("needs")
    with pytest.raises(InputError, match="my_loss takes no cut-off"):
        losses.create("my_loss@3")


def test_a_plug_in_is_spelled_with_its_cutoff(plug_ins: list[str]) -> None:
    assert losses.spell(losses.create("deep@7")) == "deep@7"
    assert losses.spell(losses.create("deep@7(base=3)")) == "deep@7(base=3)"
    assert losses.spell(WithCutoff(7, discount=lambda rank: 1.0)) is None


def test_names_are_listed_without_loading_anything(plug_ins: list[str]) -> None:
    assert losses.names() == [*map(losses.shown, losses.built_in), "my_loss", "deep", "needs", "broken", "strange"]
    assert "ndcg@10" in losses.names()
    assert solvers.names() == list(solvers.built_in)
    assert plug_ins == []


def test_built_in_names_cannot_be_taken(plug_ins: list[str]) -> None:
    assert losses.create("map") == AveragePrecision()
    assert plug_ins == []


def test_a_plug_in_that_does_not_load_says_why(plug_ins: list[str]) -> None:
    words = "^the loss 'broken' of the package no_such_module cannot be imported: ModuleNotFoundError: No module named "
    with pytest.raises(PluginError, match=words) as caught:
        losses.create("broken")
    assert isinstance(caught.value, ImportError)


def test_a_plug_in_of_another_kind_says_what_it_should_be(plug_ins: list[str]) -> None:
    with pytest.raises(PluginError, match="'strange' .* is <class 'dict'>: its entry point must name a class derived"):
        losses.create("strange")


def test_broken_plug_ins_are_one_line_on_the_command_line(plug_ins: list[str]) -> None:
    done = CliRunner().invoke(main, ["train", "train.txt", "--loss", "broken", "--model", "m.npz"])
    assert done.exit_code == 1
    assert done.output.startswith(
        "structsvm: error: the loss 'broken' of the package no_such_module cannot be imported"
    )


def test_plug_ins_are_part_of_the_hint(plug_ins: list[str]) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'my_loss'"):
        losses.create("my_los")


def test_the_name_of_a_built_in_object_loads_no_plug_in(plug_ins: list[str]) -> None:
    assert losses.name_of(ROCArea) == "roc_area"
    assert plug_ins == []


def test_the_name_of_an_object_without_one_loads_no_plug_in(plug_ins: list[str]) -> None:
    assert losses.name_of(type("Nameless", (ROCArea,), {"__module__": "somewhere"})) is None
    assert plug_ins == []


def test_nothing_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, structsvm.registry as r; r.losses.names(); r.solvers.names(); r.backends.names();"
        "loaded = [m for m in sys.modules if m.startswith('structsvm.') and m.split('.')[1] in "
        "('losses', 'solvers')] + [m for m in ('cvxopt', 'osqp', 'highspy', 'numba') if m in sys.modules];"
        "r.backends.find('osqp'); print(loaded, 'osqp' in sys.modules, 'structsvm.solvers.base' in sys.modules)"
    )
    blank = "import importlib.util, sys, types; p = types.ModuleType('structsvm'); "
    blank += (
        "p.__path__ = importlib.util.find_spec('structsvm').submodule_search_locations; sys.modules['structsvm'] = p; "
    )
    run = subprocess.run([sys.executable, "-c", blank + code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] False False"


def test_a_loss_that_is_called_as_the_measure_of_ir_measures_has_its_gain() -> None:
    for name in ("nDCG@10", "nDCG", "nDCG(gain=exponential)@10"):
        assert losses.create(name).gain == measures.create(name).gain
    assert losses.create("nDCG@10") == NDCGLoss(k=10, gain="linear")
    assert losses.create("NDCG@10") == losses.create("n-dcg@10") == NDCGLoss(k=10)
    assert losses.create("nDCG@10", truncated=True) == NDCGLoss(k=10, gain="linear", truncated=True)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("precision@5", "p@5"),
        ("P_5", "p@5"),
        ("average precision", "map"),
        ("AP(relevant_from=2)", "map(relevant_from=2)"),
        ("auc", "roc_area"),
        ("reciprocal_rank", "mrr"),
        ("ndcg_cut_10", "ndcg@10(gain=linear)"),
    ],
)
def test_losses_have_the_names_of_measures_in_other_projects(name: str, ours: str) -> None:
    assert losses.spell(losses.create(name)) == ours
    with pytest.raises(UnknownNameError) as caught:
        solvers.create(name)
    assert ours not in str(caught.value)
