"""
Figure 2 of the paper: learn a function of a score
==================================================

A linear model can use a raw score in two ways only: higher is better, or lower is better. Binning replaces the score
by indicators :math:`1[f \\ge k]` of several thresholds k. A linear model of the indicators can be any step function
of the score. Yue, Finley, Radlinski and Joachims (SIGIR 2007) bin the scores of each of their retrieval functions, so
that the scales of scores do not matter. This page reproduces their Figure 2, with data.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import Ranker
from structsvm.features import Thresholds
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# In this example the best scores are not the highest: beyond 1.5, documents are less likely to be relevant again,
# like pages stuffed with keywords.

rng = np.random.default_rng(0)
score = rng.normal(size=(4000, 1))
likely = 0.4 * np.exp(-0.5 * ((score[:, 0] - 1.2) / 0.5) ** 2) + 0.02
y = (rng.random(len(score)) < likely).astype(float)
qid = np.repeat(np.arange(80), 50)

# %%
# Set twelve thresholds at quantiles of the scores, and train SVM-map on their indicators. For comparison, train
# another SVM-map on the score itself.

thresholds = Thresholds(bins=12).fit(score)
ranker = Ranker(loss="map", C=30.0).fit(thresholds.transform(score), y, qid=qid)
as_it_is = Ranker(loss="map", C=30.0).fit(score, y, qid=qid)

# %%
# The upper plot shows the learned function :math:`w \cdot \phi(f)`: the sum of the weights of all thresholds up to f.
# The lower plot shows the truth, the share of relevant documents at each score. The model of the score itself can
# only rise or fall.

grid = np.linspace(-3.0, 3.0, 601)[:, None]
figure, (learned, share) = plt.subplots(2, 1, figsize=(6.0, 4.6), sharex=True, layout="constrained")
learned.step(grid[:, 0], ranker.predict(thresholds.transform(grid)), where="post", label="of its indicators")
learned.plot(grid[:, 0], as_it_is.predict(grid), "--", label="of the score itself")
for place in thresholds.thresholds_[0][1:]:
    learned.axvline(place, color=COLORS[4], linewidth=0.6, alpha=0.6)
learned.set(ylabel=r"learned score $w \cdot \phi$", title="Gray lines are thresholds")
learned.legend()

edges = np.linspace(-3.0, 3.0, 25)
bins = np.digitize(score[:, 0], edges)
found = [y[bins == k].mean() if (bins == k).any() else 0.0 for k in range(1, len(edges))]
share.stairs(found, edges, fill=True, alpha=0.5)
share.set(xlabel="score f of the base function", ylabel="relevant, share")

print(f"MAP, indicators: {ranker.score(thresholds.transform(score), y, qid=qid):.3f}")
print(f"MAP, the score:  {as_it_is.score(score, y, qid=qid):.3f}")

# %%
# :doc:`/features` describes the transformers, and :doc:`/experiment` the paper's experiment with them.
