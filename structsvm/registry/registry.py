"""Objects of one kind by name: built-in names and the entry points of other packages."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from attrs import field, frozen

from structsvm.exceptions import InputError, PluginError, UnknownNameError
from structsvm.registry.aliases import OF_LOSSES, OF_MEASURES, Aliases
from structsvm.registry.spelling import Spelling, plain, require_complete, spell

T = TypeVar("T")

_ELSEWHERE = {
    "precision": "p",
    "ap": "map",
    "averageprecision": "map",
    "auc": "roc_area",
    "rocauc": "roc_area",
    "rr": "mrr",
    "reciprocalrank": "mrr",
}
"""What losses are called elsewhere, and here."""


@frozen
class Registry(Generic[T]):
    """Names of one kind of object.

    Parameters
    ----------
    kind : what the objects are, in words.
    group : entry point group in which other packages register theirs.
    built_in : name to ``"module:class"``.
    classes : ``"module:class"`` of the classes that all these objects derive from.
    place : the argument that such an object is for.
    implied : the settings that a built-in name stands for, where it stands for more than a class.
    cutoffs : built-in names that take a cut-off, each with one that messages and lists show.
    aliases : names of other programs that are read, too.
    related : ``"module:class"`` of what is taken for such an object and is none, each with what messages say of it.

    Examples
    --------
    >>> from structsvm.registry import losses
    >>> losses.spell(losses.create("NDCG@10"))
    'ndcg@10'
    """

    kind: str
    group: str
    built_in: dict[str, str]
    classes: tuple[str, ...]
    place: str
    implied: Mapping[str, Mapping[str, Any]] = field(factory=dict, kw_only=True)
    cutoffs: Mapping[str, float] = field(factory=dict, kw_only=True)
    aliases: Aliases = field(factory=Aliases, kw_only=True)
    related: Mapping[str, str] = field(factory=dict, kw_only=True)

    def names(self) -> list[str]:
        """Return all names, some with a cut-off as an example; the built-in ones are first."""
        return [self.shown(name) for name in self._all()]

    def shown(self, known: str) -> str:
        """Return a registered name with a cut-off as an example, where it takes one."""
        return f"{known}@{self.cutoffs[known]}" if known in self.cutoffs else known

    def find(self, name: str) -> type[T]:
        """Import and return the class of that name; underscores, hyphens and case do not matter.

        Raises
        ------
        UnknownNameError : when nothing has that name; it tells the nearest one.
        PluginError : when the package that registered it cannot be imported.
        """
        return self._class(self._known(name))

    def create(self, spec: str | T, **settings: Any) -> T:
        """Return the object of that name, made with these settings; an object is returned as it is.

        Parameters
        ----------
        spec : an object, or a name, with cut-off and settings of its own or without:
            ``"ndcg@10"``, ``"map(relevant_from=2)"``.
        **settings : more settings.

        Raises
        ------
        UnknownNameError : when nothing has that name; it tells the nearest one.
        InputError : when ``spec`` is a class instead of an object, or an object of another kind;
            when a setting in the name is wrong or lacking.
        PluginError : when the package that registered the name cannot be imported.
        """
        if isinstance(spec, str):
            name, text = self._known(spec), self._spelling(spec)
            made, cutoff = self._class(name), self.cutoffs.get(name, 10)
            written = text.settings(name, made, self.implied.get(name, {}), cutoff)
            twice = sorted(set(written) & set(settings))
            if twice:
                raise InputError(f"the name {spec!r} says what {twice[0]} is: it cannot be given a second time")
            require_complete(name, made, written | settings, cutoff)
            return made(**written, **settings)
        if isinstance(spec, type):
            raise InputError(f"{spec.__name__} is a class: pass an object, {spec.__name__}(), or a name")
        if not self.holds(spec):
            for target, advice in self.related.items():
                if isinstance(spec, _imported(target)):
                    raise InputError(f"{type(spec).__name__} {advice}")
            other = next((each for each in _registries() if each.holds(spec)), None)
            meaning = f", but a {other.kind}, for {other.place}" if other else ""
            raise InputError(
                f"{spec!r} is no {self.kind}{meaning}: pass a name ({', '.join(self.names())}) or an object"
            )
        return spec

    def holds(self, thing: object) -> bool:
        """Say whether an object is of this kind."""
        return isinstance(thing, tuple(_imported(target) for target in self.classes))

    def name_of(self, kind: type[T]) -> str | None:
        """Return a name that leads to a class; None where it has no name."""
        return next(iter(self._names_of(kind)), None)

    def spell(self, thing: T) -> str | None:
        """Return the name that `create` makes an equal object of; None where no name does.

        ``losses.spell(NDCG(k=10))`` is ``"ndcg@10"``. Settings that are not the default follow in
        parentheses; an object with one that cannot be written there, an array say, has no name.
        """
        implied = {name: self.implied.get(name, {}) for name in self._names_of(type(thing))}
        fitting = [
            name
            for name, settings in implied.items()
            if all(getattr(thing, key) == value for key, value in settings.items())
        ]
        name = max(fitting, key=lambda name: len(implied[name]), default=None)
        return None if name is None else spell(name, thing, implied[name])

    def knows(self, text: str) -> bool:
        """Say whether a text starts with a name, built in or registered by another package."""
        wanted = plain(Spelling.of(text).name)
        return any(plain(known) == wanted for known in self._all())

    def _known(self, text: str) -> str:
        """Return the name, as it is registered, that a text starts with."""
        wanted = plain(self._spelling(text).name)
        for known in self._all():
            if plain(known) == wanted:
                return known
        raise UnknownNameError(self.kind, text, self.names(), _other_meaning(text, self.kind) or self._meant(text))

    def _spelling(self, text: str) -> Spelling:
        """Return the parts of a text, an alias translated where no plug-in has its name."""
        written = Spelling.of(text)
        translated = self.aliases.translated(written)
        if translated.name != written.name and plain(written.name) in map(plain, self._plugins()):
            return written
        return translated

    def _meant(self, text: str) -> str:
        """Ask for the name that another project's name stands for here; "" where it is not known."""
        spelling = Spelling.of(text)
        known = _ELSEWHERE.get(plain(spelling.name))
        if known not in self.built_in:
            return ""
        near = self.shown(known) if spelling.cutoff is None else f"{known}@{spelling.cutoff}"
        return f"Did you mean {near!r}?"

    def _all(self) -> Iterator[str]:
        """Yield the built-in names, and then those of plug-ins, for which all installed packages are asked."""
        yield from self.built_in
        yield from (name for name in self._plugins() if name not in self.built_in)

    def _class(self, known: str) -> type[T]:
        target = self.built_in.get(known)
        return cast(type[T], self._plugged_in(self._plugins()[known]) if target is None else _imported(target))

    def _plugged_in(self, plugin: EntryPoint) -> Any:
        """Import and return the class of another package."""
        package = plugin.dist.name if plugin.dist else plugin.module
        where = f"the {self.kind} {plugin.name!r} of the package {package}"
        try:
            made = plugin.load()
        except Exception as error:
            raise PluginError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
        wanted = tuple(_imported(target) for target in self.classes)
        if not (isinstance(made, type) and issubclass(made, wanted)):
            bases = " or ".join(base.__name__ for base in wanted)
            raise PluginError(f"{where} is {made!r}: its entry point must name a class derived from {bases}")
        return made

    def _names_of(self, kind: type[T]) -> list[str]:
        package = _package(kind.__module__)
        targets = {name: plugin.value for name, plugin in self._plugins().items()} | self.built_in
        return [name for name in self._all() if _package(targets[name]) == package and self._class(name) is kind]

    def _plugins(self) -> dict[str, EntryPoint]:
        return {entry_point.name: entry_point for entry_point in entry_points(group=self.group)}


def _imported(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def _registries() -> "tuple[Registry[Any], ...]":
    return losses, solvers, backends, measures, retrieval_functions, rankers


def _other_meaning(text: str, kind: str) -> str:
    """Say what a name stands for among the objects of another kind; "" where nothing is called so."""
    for registry in _registries():
        if registry.knows(text):
            return f"{text!r} is a {registry.kind}, for {registry.place}; a {kind} is needed here."
    return ""


def _package(target: str) -> str:
    return target.partition(":")[0].partition(".")[0]


losses: Registry[Any] = Registry(
    "loss",
    "structsvm.losses",
    {
        "map": "structsvm.losses:AveragePrecision",
        "roc_area": "structsvm.losses:ROCArea",
        "swapped_pairs": "structsvm.losses:SwappedPairs",
        "weighted_ranks": "structsvm.losses:WeightedRanks",
        "zero_one": "structsvm.losses:ZeroOne",
        "ndcg": "structsvm.losses:NDCG",
        "letor_ndcg": "structsvm.losses:NDCG",
        "mrr": "structsvm.losses:ReciprocalRank",
        "p": "structsvm.losses:PrecisionAtK",
        "recall": "structsvm.losses:RecallAtK",
        "f1": "structsvm.losses:FBeta",
        "f2": "structsvm.losses:FBeta",
        "f0.5": "structsvm.losses:FBeta",
        "f": "structsvm.losses:FBeta",
        "prbep": "structsvm.losses:PrecisionRecallBreakEven",
        "multiclass": "structsvm.losses:Multiclass",
        "chain_hamming": "structsvm.losses:ChainHamming",
    },
    classes=("structsvm.losses:ScoreLoss", "structsvm.losses:Loss"),
    place="loss=...",
    implied={
        "letor_ndcg": {"discount": "letor"},
        "f1": {"beta": 1.0},
        "f2": {"beta": 2.0},
        "f0.5": {"beta": 0.5},
    },
    cutoffs={"ndcg": 10, "letor_ndcg": 10, "p": 5, "recall": 10},
    aliases=OF_LOSSES,
    related={
        "structsvm.losses:LatentLoss": (
            "is a LatentLoss: LatentStructuralSVM(loss=...) learns with it, and structsvm.testing.check_latent_loss "
            "checks it"
        )
    },
)
"""Losses, which rankers and structural SVMs learn to make small.

Examples
--------
>>> from structsvm.registry import losses
>>> losses.create("NDCG@10").k
10
>>> losses.spell(losses.create("f", beta=2.0))
'f2'
>>> "map" in losses.names()
True
"""

solvers: Registry[Any] = Registry(
    "solver",
    "structsvm.solvers",
    {
        "auto": "structsvm.solvers:Auto",
        "one-slack": "structsvm.solvers:OneSlack",
        "n-slack": "structsvm.solvers:NSlack",
        "frank-wolfe": "structsvm.solvers:FrankWolfe",
    },
    classes=("structsvm.solvers:Solver",),
    place="solver=...",
)
"""Solvers, which minimise problems.

Examples
--------
>>> from structsvm.registry import solvers
>>> solvers.create("one_slack", tol=0.01).tol
0.01
>>> solvers.names()
['auto', 'one-slack', 'n-slack', 'frank-wolfe']
"""

backends: Registry[Any] = Registry(
    "QP backend",
    "structsvm.qp",
    {
        "active-set": "structsvm.qp:ActiveSet",
        "cvxopt": "structsvm.qp:CVXOPT",
        "osqp": "structsvm.qp:OSQP",
        "highs": "structsvm.qp:HiGHS",
        "auto": "structsvm.qp:ActiveSet",
    },
    classes=("structsvm.qp:QPBackend",),
    place="backend=... of a solver",
)
"""QP backends, which solve the quadratic programmes of cutting-plane solvers.

Examples
--------
>>> from structsvm.registry import backends
>>> backends.find("highs").name
'highs'
>>> backends.spell(backends.create("auto"))
'active-set'
"""

measures: Registry[Any] = Registry(
    "measure",
    "structsvm.measures",
    {
        "map": "structsvm.metrics:AP",
        "roc_area": "structsvm.metrics:ROCArea",
        "ndcg": "structsvm.metrics:NDCG",
        "letor_ndcg": "structsvm.metrics:NDCG",
        "p": "structsvm.metrics:P",
        "recall": "structsvm.metrics:Recall",
        "mrr": "structsvm.metrics:RR",
        "success": "structsvm.metrics:Success",
        "rprec": "structsvm.metrics:RPrec",
        "err": "structsvm.metrics:ERR",
        "rbp": "structsvm.metrics:RBP",
        "bpref": "structsvm.metrics:BPref",
        "infap": "structsvm.metrics:InfAP",
        "judged": "structsvm.metrics:JudgedShare",
        "iprec": "structsvm.metrics:IPrec",
        "11pt_avg": "structsvm.metrics:ElevenPoint",
        "gm_map": "structsvm.metrics:GMAP",
        "set_p": "structsvm.metrics:SetP",
        "set_recall": "structsvm.metrics:SetRecall",
        "set_f": "structsvm.metrics:SetF",
        "set_map": "structsvm.metrics:SetMAP",
        "num_q": "structsvm.metrics:NumQ",
        "num_ret": "structsvm.metrics:NumRet",
        "num_rel": "structsvm.metrics:NumRel",
        "num_rel_ret": "structsvm.metrics:NumRelRet",
    },
    classes=("structsvm.metrics:Measure",),
    place="measure=..., which a ranker reports and does not train on",
    implied={"letor_ndcg": {"discount": "letor"}},
    cutoffs={
        "ndcg": 10,
        "letor_ndcg": 10,
        "p": 5,
        "recall": 10,
        "success": 5,
        "err": 20,
        "judged": 10,
        "iprec": 0.1,
    },
    aliases=OF_MEASURES,
)
"""Measures, by which rankings are judged.

Examples
--------
>>> from structsvm.registry import measures
>>> measures.create("P@1").mean([0.9, 0.5, 0.1], [0, 1, 0])
0.0
>>> measures.create("recip_rank").mean([0.9, 0.5, 0.1], [0, 1, 0])  # as trec_eval calls it
0.5
"""

retrieval_functions: Registry[Any] = Registry(
    "retrieval function",
    "structsvm.retrieval",
    {
        "cosine": "structsvm.text.functions:Cosine",
        "tfidf": "structsvm.text.functions:TFIDF",
        "okapi": "structsvm.text.functions:Okapi",
        "lm_dirichlet": "structsvm.text.functions:Dirichlet",
        "lm_jelinek_mercer": "structsvm.text.functions:JelinekMercer",
        "lm_absolute": "structsvm.text.functions:AbsoluteDiscount",
        "indri_dirichlet": "structsvm.text.functions:IndriDirichlet",
        "indri_jelinek_mercer": "structsvm.text.functions:IndriJelinekMercer",
        "terrier_bm25": "structsvm.text.functions:TerrierBM25",
        "terrier_tf_idf": "structsvm.text.functions:TerrierTFIDF",
        "lucene_bm25": "structsvm.text.functions:LuceneBM25",
    },
    classes=("structsvm.text.functions:RetrievalFunction",),
    place="function=...",
)
"""Retrieval functions, which score documents by the terms of a query.

Examples
--------
>>> from structsvm.registry import retrieval_functions
>>> retrieval_functions.create("lm_dirichlet(mu=500)").mu
500.0
>>> retrieval_functions.create("okapi", b=0.3)
Okapi(k1=1.2, b=0.3, k3=7.0)
"""

rankers: Registry[Any] = Registry(
    "ranker",
    "",  # none of other packages: `structsvm.load` could not read their files
    {
        "ranker": "structsvm.estimators:Ranker",
        "rank_svm": "structsvm.rankers:RankSVM",
        "maximum_entropy": "structsvm.rankers:MaximumEntropy",
        "weight_search": "structsvm.rankers:WeightSearch",
        "rank_boost": "structsvm.rankers:RankBoost",
        "rank_net": "structsvm.rankers:RankNet",
        "lambda_mart": "structsvm.rankers:LambdaMART",
    },
    classes=("structsvm.estimators.ranking:RankingEstimator",),
    place="train --ranker",
)
"""Rankers, as ``structsvm train --ranker`` has them.

Examples
--------
>>> from structsvm.registry import rankers
>>> rankers.find("rank-svm").__name__
'RankSVM'
>>> rankers.create("rank_boost(n_rounds=50)").n_rounds
50
"""
