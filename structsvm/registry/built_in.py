"""The registries of this package, with the names that are built in."""

from typing import Any

from structsvm.registry.aliases import OF_FUSIONS, OF_LOSSES, OF_MEASURES
from structsvm.registry.registry import Registry

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
        "bm25": "structsvm.text.functions:BM25",
        "okapi": "structsvm.text.functions:Okapi",
        "cosine": "structsvm.text.functions:Cosine",
        "tfidf": "structsvm.text.functions:TFIDF",
        "lm_dirichlet": "structsvm.text.functions:Dirichlet",
        "lm_jelinek_mercer": "structsvm.text.functions:JelinekMercer",
        "lm_absolute": "structsvm.text.functions:AbsoluteDiscount",
        "indri_dirichlet": "structsvm.text.functions:IndriDirichlet",
        "indri_jelinek_mercer": "structsvm.text.functions:IndriJelinekMercer",
        "terrier_tf_idf": "structsvm.text.functions:TerrierTFIDF",
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
>>> retrieval_functions.create("bm25", b=0.3)
BM25(k1=1.2, b=0.3)
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

fusions: Registry[Any] = Registry(
    "method of fusion",
    "structsvm.fusion",
    {
        "comb-min": "structsvm.fusion:CombMIN",
        "comb-max": "structsvm.fusion:CombMAX",
        "comb-med": "structsvm.fusion:CombMED",
        "comb-sum": "structsvm.fusion:CombSUM",
        "comb-anz": "structsvm.fusion:CombANZ",
        "comb-mnz": "structsvm.fusion:CombMNZ",
        "weighted-comb-sum": "structsvm.fusion:WeightedCombSUM",
        "rrf": "structsvm.fusion:ReciprocalRankFusion",
        "isr": "structsvm.fusion:InverseSquareRank",
        "borda": "structsvm.fusion:BordaCount",
        "condorcet": "structsvm.fusion:Condorcet",
        "copeland": "structsvm.fusion:Copeland",
    },
    classes=("structsvm.fusion:Fusion",),
    place="fuse_runs(method=...)",
    aliases=OF_FUSIONS,
)
"""Methods of fusion, which make one ranking of several.

Examples
--------
>>> from structsvm.registry import fusions
>>> scores, y = [[5.0, 0.0], [4.0, 4.0], [0.0, 5.0]], [0, 1, 0]
>>> combinations = {name: fusions.create(name) for name in fusions.names() if name.startswith("comb-")}
>>> [name for name, fusion in combinations.items() if fusion.fit(scores, y).score(scores, y) == 1.0]
['comb-min', 'comb-med', 'comb-sum', 'comb-anz', 'comb-mnz']
"""

exports: Registry[Any] = Registry(
    "export format",
    "structsvm.exports",
    {
        "solr": "structsvm.export.solr:Solr",
        "elasticsearch": "structsvm.export.elasticsearch:Elasticsearch",
        "svm_rank": "structsvm.export.svm_rank:SVMRank",
        "onnx": "structsvm.export.onnx_graph:ONNXGraph",
        "json": "structsvm.export.plain_json:PlainJSON",
        "numpy": "structsvm.export.numpy_archive:NumPyArchive",
    },
    classes=("structsvm.export:Format",),
    place="export(format=...)",
)
"""Export formats, in which trained rankers are written for other programs.

Examples
--------
>>> from structsvm.registry import exports
>>> ", ".join(exports.names())
'solr, elasticsearch, svm_rank, onnx, json, numpy'
"""

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
"""Click models, which say how likely users click at each position.

Examples
--------
>>> from structsvm.registry import click_models
>>> click_models.create("power(positions=3)").propensity.round(2).tolist()
[1.0, 0.5, 0.33]
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
"""All registries by the names that ``structsvm list`` has for them.

Examples
--------
>>> from structsvm.registry import REGISTRIES
>>> [name for name, registry in REGISTRIES.items() if registry.knows("map")]
['losses', 'measures']
"""
