"""The registries of this package with their built-in names."""

from typing import Any

from structsvm.registry.registry import Registry
from structsvm.registry.spelling import OF_FUSIONS, OF_LOSSES, OF_MEASURES, OF_MODELS

losses: Registry[Any] = Registry(
    "loss",
    "structsvm.losses",
    {
        "map": "structsvm.losses:AveragePrecision",
        "roc_area": "structsvm.losses:ROCArea",
        "swapped_pairs": "structsvm.losses:SwappedPairs",
        "weighted_ranks": "structsvm.losses:WeightedRanks",
        "zero_one": "structsvm.losses:ZeroOne",
        "ndcg": "structsvm.losses:NDCGLoss",
        "letor_ndcg": "structsvm.losses:NDCGLoss",
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
        "graph_hamming": "structsvm.losses:GraphHamming",
        "multilabel_hamming": "structsvm.losses:MultiLabelHamming",
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
    advice={"lambdarank": "LightGBM's lambdarank is the ranker LambdaMART (train --ranker lambda_mart)."},
)
"""Losses, which rankers and structural SVMs minimize.

Examples
--------
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
"""Solvers of training problems.

Examples
--------
>>> solvers.create("one_slack", tol=0.01).tol
0.01
>>> solvers.names()
['auto', 'one-slack', 'n-slack', 'frank-wolfe']
"""

_QPSOLVERS = (
    "clarabel", "copt", "daqp", "ecos", "gurobi", "mosek", "piqp", "proxqp", "qpalm", "quadprog", "scs"
)  # fmt: skip
"""Solvers of qpsolvers that have a backend of their name."""

backends: Registry[Any] = Registry(
    "QP backend",
    "structsvm.solvers.qp",
    {
        "active-set": "structsvm.solvers.qp:ActiveSet",
        "cvxopt": "structsvm.solvers.qp:CVXOPT",
        "osqp": "structsvm.solvers.qp:OSQP",
        "highs": "structsvm.solvers.qp:HiGHS",
        **dict.fromkeys([*_QPSOLVERS, "qpsolvers"], "structsvm.solvers.qp:QPSolvers"),
        "auto": "structsvm.solvers.qp:ActiveSet",
    },
    classes=("structsvm.solvers.qp:QPBackend",),
    place="backend=... of a solver",
    implied={name: {"solver": name} for name in _QPSOLVERS},
)
"""QP backends, which solve the quadratic programs of cutting-plane solvers.

Examples
--------
>>> backends.find("highs").name
'highs'
>>> backends.spell(backends.create("auto"))
'active-set'
"""

DEFAULT_BACKENDS = ("active-set", "cvxopt", "osqp", "highs")
"""The backends that a comparison runs if it names none."""

measures: Registry[Any] = Registry(
    "measure",
    "structsvm.measures",
    {
        "map": "structsvm.metrics:AP",
        "roc_area": "structsvm.metrics:AUC",
        "ordered_pairs": "structsvm.metrics:OrderedPairs",
        "ndcg": "structsvm.metrics:NDCG",
        "letor_ndcg": "structsvm.metrics:NDCG",
        "p": "structsvm.metrics:P",
        "recall": "structsvm.metrics:Recall",
        "mrr": "structsvm.metrics:RR",
        "success": "structsvm.metrics:Success",
        "rprec": "structsvm.metrics:Rprec",
        "err": "structsvm.metrics:ERR",
        "rbp": "structsvm.metrics:RBP",
        "bpref": "structsvm.metrics:Bpref",
        "infap": "structsvm.metrics:InfAP",
        "judged": "structsvm.metrics:Judged",
        "iprec": "structsvm.metrics:IPrec",
        "11pt_avg": "structsvm.metrics.average_precision:ElevenPoint",
        "gm_map": "structsvm.metrics.average_precision:GMAP",
        "set_p": "structsvm.metrics.sets:SetP",
        "set_recall": "structsvm.metrics.sets:SetRecall",
        "set_f": "structsvm.metrics.sets:SetF",
        "set_map": "structsvm.metrics.sets:SetAP",
        "num_q": "structsvm.metrics.sets:NumQ",
        "num_ret": "structsvm.metrics.sets:NumRet",
        "num_rel": "structsvm.metrics.sets:NumRel",
        "num_rel_ret": "structsvm.metrics.sets:NumRelRet",
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
    advice={
        **dict.fromkeys(("zero_one", "weighted_ranks"), "The nearest measure is 'roc_area'."),
        **dict.fromkeys(("f1", "f2", "f0.5", "f"), "The nearest measure is 'rprec', the F-measure of R documents."),
        **dict.fromkeys(
            ("multiclass", "chain_hamming", "graph_hamming", "multilabel_hamming"),
            "StructuralSVM.score reports one minus this loss.",
        ),
    },
)
"""Measures, which evaluate rankings.

Examples
--------
>>> measures.create("P@1").mean([0.9, 0.5, 0.1], [0, 1, 0])
0.0
>>> measures.create("recip_rank").mean([0.9, 0.5, 0.1], [0, 1, 0])  # as trec_eval calls it
0.5
"""

retrieval_functions: Registry[Any] = Registry(
    "retrieval function",
    "structsvm.retrieval",
    {
        "bm25": "structsvm.text.functions.tf_idf:BM25",
        "okapi": "structsvm.text.functions.tf_idf:Okapi",
        "cosine": "structsvm.text.functions.tf_idf:Cosine",
        "tfidf": "structsvm.text.functions.tf_idf:TFIDF",
        "lm_dirichlet": "structsvm.text.functions.language_models:Dirichlet",
        "lm_jelinek_mercer": "structsvm.text.functions.language_models:JelinekMercer",
        "lm_absolute": "structsvm.text.functions.language_models:AbsoluteDiscount",
        "indri_dirichlet": "structsvm.text.functions.language_models:IndriDirichlet",
        "indri_jelinek_mercer": "structsvm.text.functions.language_models:IndriJelinekMercer",
        "terrier_tf_idf": "structsvm.text.functions.tf_idf:TerrierTFIDF",
    },
    classes=("structsvm.text.functions:RetrievalFunction",),
    place="function=...",
)
"""Retrieval functions, which score documents by the terms of a query.

Examples
--------
>>> retrieval_functions.create("lm_dirichlet(mu=500)").mu
500.0
>>> retrieval_functions.create("bm25", b=0.3)
BM25(k1=1.2, b=0.3)
"""

rankers: Registry[Any] = Registry(
    "ranker",
    # No plug-ins: `structsvm.load` reads only models of built-in forms.
    "",
    {
        "ranker": "structsvm.estimators:Ranker",
        "rank_svm": "structsvm.rankers:RankSVM",
        "maximum_entropy": "structsvm.rankers:MaximumEntropy",
        "weight_search": "structsvm.rankers:WeightSearch",
        "rank_boost": "structsvm.rankers:RankBoost",
        "rank_net": "structsvm.rankers:RankNet",
        "lambda_mart": "structsvm.rankers:LambdaMART",
        "trees": "structsvm.rankers:TreeRanker",
    },
    classes=("structsvm.estimators.ranking:RankingEstimator",),
    place="train --ranker",
)
"""Rankers, for ``structsvm train --ranker``.

Examples
--------
>>> rankers.find("rank-svm").__name__
'RankSVM'
>>> rankers.create("rank_boost(n_estimators=50)").n_estimators
50
"""

fusions: Registry[Any] = Registry(
    "method of fusion",
    "structsvm.fusion",
    {
        "comb-min": "structsvm.fusion.comb:CombMIN",
        "comb-max": "structsvm.fusion.comb:CombMAX",
        "comb-med": "structsvm.fusion.comb:CombMED",
        "comb-sum": "structsvm.fusion:CombSUM",
        "comb-anz": "structsvm.fusion.comb:CombANZ",
        "comb-mnz": "structsvm.fusion:CombMNZ",
        "weighted-comb-sum": "structsvm.fusion:WeightedCombSUM",
        "rrf": "structsvm.fusion:ReciprocalRankFusion",
        "isr": "structsvm.fusion.ranks:InverseSquareRank",
        "borda": "structsvm.fusion:BordaCount",
        "condorcet": "structsvm.fusion:Condorcet",
        "copeland": "structsvm.fusion:Copeland",
    },
    classes=("structsvm.fusion:Fusion",),
    place="fuse_runs(method=...)",
    aliases=OF_FUSIONS,
)
"""Methods of fusion, which combine several rankings.

Examples
--------
>>> scores, y = [[5.0, 0.0], [4.0, 4.0], [0.0, 5.0]], [0, 1, 0]
>>> combinations = {name: fusions.create(name) for name in fusions.names() if name.startswith("comb-")}
>>> [name for name, fusion in combinations.items() if fusion.fit(scores, y).score(scores, y) == 1.0]
['comb-min', 'comb-med', 'comb-sum', 'comb-anz', 'comb-mnz']
"""

exports: Registry[Any] = Registry(
    "export format",
    "structsvm.exports",
    {
        "solr": "structsvm.models.export.search_engines:Solr",
        "elasticsearch": "structsvm.models.export.search_engines:Elasticsearch",
        "svm_rank": "structsvm.models.export.plain:SVMRank",
        "lightgbm": "structsvm.models.export.lightgbm_text:LightGBMText",
        "onnx": "structsvm.models.export.onnx_graph:ONNXGraph",
        "json": "structsvm.models.export.plain:PlainJSON",
        "numpy": "structsvm.models.export.plain:NumPyArchive",
    },
    classes=("structsvm.models.export:Format",),
    place="export(format=...)",
)
"""Export formats of trained rankers for other programs."""

click_models: Registry[Any] = Registry(
    "click model",
    "structsvm.click_models",
    {
        "position": "structsvm.clicks:PositionBias",
        "power": "structsvm.clicks:PowerBias",
    },
    classes=("structsvm.clicks:ClickModel",),
    place="weigh(bias=...) and simulate(bias=...)",
)
"""Click models, which give the probability of a click at each position."""

_SYSTEMS = (
    *("RankSVM", "RankSVM-queries", "RankBoost", "RankNet", "RankNet-linear", "MaximumEntropy"),
    *("WeightSearch", "LambdaMART"),
    *(target.partition(":")[2] for target in fusions.built_in.values()),
)
"""Models of benchmarks and experiments besides their own models: rankers, and methods of fusion by class."""


def _models(target: str, command: str, first: tuple[str, ...]) -> Registry[Any]:
    """Return a registry whose names all lead to one function of the name."""
    names = (*first, *_SYSTEMS)
    return Registry(
        f"{command} model",
        # Other packages cannot add models: each model has the features and grids of one protocol.
        "",
        dict.fromkeys(names, target),
        classes=("structsvm.protocols.model:ProtocolModel",),
        place=f"{command} --models",
        implied={name: {"name": name} for name in names},
        aliases=OF_MODELS,
    )


benchmark_models: Registry[Any] = _models(
    "structsvm.protocols.catalogue:benchmark_model",
    "benchmark",
    ("SVM-map", "SVM-map-bins", "SVM-roc", "SVM-ndcg", "SVM-map-trees"),
)
"""Models of LETOR's benchmark.

"SVM-map", "SVM-roc" and "SVM-ndcg" are linear in the features, and optimize average precision, ROC area and NDCG; "SVM-
map-bins" reads indicators of 10 quantiles of each feature instead (section 4.2 of the paper on SVM-map), and "SVM-map-
trees" is a `TreeRanker`. All other models are classes of `structsvm.rankers`, and methods of fusion, which read the
features as the scores of systems.

Examples
--------
>>> model = benchmark_models.create("svm-ndcg")
>>> model.loss, len(model.Cs), model.Cs[0], model.Cs[-1]
('ndcg', 17, 0.01, 1000000.0)
>>> benchmark_models.create("rank_boost").rounds[-1]
300
"""

experiment_models: Registry[Any] = _models(
    "structsvm.protocols.catalogue:experiment_model",
    "experiment",
    (
        "SVM-map",
        "SVM-roc",
        *(f"SVM-acc{kind}{intercept}" for intercept in ("", "+b") for kind in ("", "2", "3", "4")),
    ),
)
"""Models for runs of retrieval systems.

The models of the paper on SVM-map are "SVM-map", "SVM-roc" and "SVM-acc" to "SVM-acc4"; classification models with an
intercept are "SVM-acc+b", ... Their setting ``bins`` is the number of thresholds of each base function. The remaining
models are classes of `structsvm.rankers` and methods of fusion. Rankers read min-max normalized scores, with 0 for
missing scores; RankBoost, LambdaMART and methods of fusion read the original scores, and know which scores are missing.
"""

REGISTRIES: dict[str, Registry[Any]] = {
    "rankers": rankers,
    "losses": losses,
    "solvers": solvers,
    "backends": backends,
    "measures": measures,
    "retrieval-functions": retrieval_functions,
    "fusions": fusions,
    "exports": exports,
    "click-models": click_models,
}
"""All registries by their names in ``structsvm list``."""
