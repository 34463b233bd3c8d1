"""
Combine several rankings into one
=================================

Fifteen ways to compare handwritten digits act as fifteen retrieval systems. Each system retrieves the images that it
considers most similar to a query. Fusion merges their rankings into one: without training, with weights by the
quality of each system alone, or with weights that a structural SVM learned.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import Ranker
from structsvm.data import load_digits_runs, pool_runs
from structsvm.fusion import CombSUM, ReciprocalRankFusion, WeightedCombSUM
from structsvm.plots import STYLE, FusionWeightsDisplay, InterpolatedPrecisionDisplay, QueryDifferencesDisplay

plt.style.use(STYLE)

# %%
# The pool has a row for each document that any system retrieved and a column for each system. A value is NaN if the
# system did not retrieve the document. Train on half of the queries and test on the other half.

pool = pool_runs(*load_digits_runs(n_queries=60, n_candidates=200, depth=50))
scores, names = pool.X, list(pool.run_names)
train = pool.qid.astype(int) <= 30
learn, test = (
    (scores[train], pool.y[train], pool.qid[train]),
    (scores[~train], pool.y[~train], pool.qid[~train]),
)

fusions = {
    "CombSUM": CombSUM(),
    "reciprocal ranks": ReciprocalRankFusion(),
    "weights by MAP": WeightedCombSUM(power=4.0),
    "weights by SVM-map": WeightedCombSUM(weights=Ranker(loss="map", C=100.0)),
}
for fusion in fusions.values():
    fusion.fit(learn[0], learn[1], qid=learn[2])
fused = {name: fusion.predict(test[0], qid=test[2]) for name, fusion in fusions.items()}

# %%
# The next plot shows the weights of the two methods that learn. Weights by MAP measure the quality of each system
# alone. SVM-map also measures its contribution beside the other systems. ``rows`` is weak alone but useful in
# combination; ``manhattan`` is redundant and gets a small weight; ``jaccard`` gets a negative weight.

weighted = {name: fusion for name, fusion in fusions.items() if isinstance(fusion, WeightedCombSUM)}
FusionWeightsDisplay.from_estimator(weighted, names)

# %%
# The next plot shows precision at each level of recall on the test queries, interpolated as in trec_eval. For
# comparison, the plot includes the system that was best alone on the training queries.

best = int(np.argmax(weighted["weights by MAP"].weights_))
systems = {f"{names[best]}, alone": np.nan_to_num(test[0][:, best], nan=-1e9), **fused}
InterpolatedPrecisionDisplay.from_predictions(systems, test[1], test[2])

# %%
# A mean hides the differences between queries. The learned weights are better than CombSUM on most queries and worse
# on some.

QueryDifferencesDisplay.from_predictions(
    fused["weights by SVM-map"], fused["CombSUM"], test[1], test[2], names=("SVM-map", "CombSUM")
)

# %%
# :doc:`/fusion` describes all methods, with results on TREC's Robust track. :doc:`/experiment` compares models that
# learn to combine runs.
