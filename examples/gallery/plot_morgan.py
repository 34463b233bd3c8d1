"""
How many query terms to learn: Morgan's figure
==============================================

How should the terms of a long query be weighted? Morgan, Greiff and Henderson (HLT-NAACL 2004) let learners choose
the weights from documents that were judged for the topic, for queries of one term, two terms and more, and drew
average precision against the length of the query. Here is their figure, with SVM-map as a third learner, on a small
collection of made-up documents.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np

from structsvm.data import Qrels
from structsvm.plots import STYLE, MeanCurvesDisplay
from structsvm.protocols import AsGiven, EstimatorModel, RankingSVM
from structsvm.protocols.morgan import MorganSettings, SearchedWeights, morgan
from structsvm.rankers import MaximumEntropy
from structsvm.text import Analyzer, Index

plt.style.use(STYLE)

# %%
# The documents are random words; those that are relevant to a topic have some words of that topic mixed in.

WORDS = [f"w{k:02}" for k in range(60)]
share = 1.0 / np.arange(1.0, len(WORDS) + 1.0)
rng = np.random.default_rng(0)
topics = {str(k): [f"t{k}{letter}" for letter in "abcdef"] for k in range(1, 7)}
documents, judged = [], []
for number in range(500):
    words = rng.choice(WORDS, size=rng.integers(8, 40), p=share / share.sum()).tolist()
    for topic, own in topics.items():
        relevant = rng.random() < 0.08
        if relevant or rng.random() < 0.12:  # words of a topic are in other documents, too
            words += rng.choice(own, size=rng.integers(1, 5 if relevant else 3)).tolist()
        if relevant:
            judged.append((topic, f"D{number:03}", 1))
    documents.append((f"D{number:03}", {"text": " ".join(rng.permutation(words))}))
index = Index.build(documents, Analyzer())
qrels = Qrels.from_grades(*map(list, zip(*judged, strict=True)))

# %%
# Three methods: weight search, which maximises average precision itself, maximum entropy, and SVM-map. Terms are
# added in the order of how well they tell relevant documents from others. Each method sees training documents only.

methods = (
    SearchedWeights(),
    EstimatorModel(name="MaximumEntropy", features=AsGiven(), estimator=MaximumEntropy(), grid={"C": (1.0, 10.0)}),
    RankingSVM(name="SVM-map", features=AsGiven(), loss="map", Cs=(1.0, 10.0)),
)
with tempfile.TemporaryDirectory() as folder:
    results = morgan(index, qrels, MorganSettings(terms=8, repeats=1, methods=methods), folder, jobs=1)

# %%
# On training documents weight search is ahead, and the more so the more terms there are. On test documents it is
# behind, and falls as terms are added: it has overfitted, while the regularisers of the others hold them back. The
# shaded areas are 95% confidence intervals of the mean over six topics.

figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.4), sharey=True, layout="constrained")
lengths = np.arange(1, results.terms + 1)
for axes, part in zip(panels, ("train", "test"), strict=True):
    curves = {method: results.per_topic(method, part) for method in results.methods}
    MeanCurvesDisplay(lengths, curves, xlabel="terms in the query", ylabel="average precision").plot(axes)
    axes.set_title(f"{'training' if part == 'train' else 'test'} documents")
panels[1].get_legend().remove()
panels[1].set_ylabel("")

# %%
# :doc:`/text/morgan` has the results on Cranfield and Vaswani, from the command ``structsvm morgan``.
