"""
A learned function of a score
=============================

Figure 2 of Yue, Finley, Radlinski and Joachims (SIGIR 2007), with data. A retrieval function gives each document a
score f. Indicators :math:`1[f \\ge k]` of some thresholds k turn it into features, and a linear model of these is a
function of the score that is constant between thresholds: weights above 0 are steps up, weights below 0 steps down.
The paper reads its base functions in this way, so that their scales do not matter and a good function of each score
is learned, which need not even rise.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import Ranker
from structsvm.features import Thresholds
from structsvm.plots import COLOURS, STYLE

plt.style.use(STYLE)

# %%
# One base function, whose best scores are not the highest: beyond 1.5 documents are less likely to be relevant again,
# as pages stuffed with a word are.

rng = np.random.default_rng(0)
score = rng.normal(size=(4000, 1))
likely = 0.4 * np.exp(-0.5 * ((score[:, 0] - 1.2) / 0.5) ** 2) + 0.02
y = (rng.random(len(score)) < likely).astype(float)
qid = np.repeat(np.arange(80), 50)

# %%
# Twelve thresholds, at quantiles of the scores, and SVM-map on their indicators.

thresholds = Thresholds(bins=12).fit(score)
ranker = Ranker(loss="map", C=30.0).fit(thresholds.transform(score), y, qid=qid)
as_it_is = Ranker(loss="map", C=30.0).fit(score, y, qid=qid)

# %%
# The upper plot is the function that was learned, :math:`w \cdot \phi(f)`: the sum of all weights whose thresholds are
# at most f. The lower one shows what it had to follow: the share of relevant documents among those of about this
# score. A linear model of the score itself can only rise or fall.

grid = np.linspace(-3.0, 3.0, 601)[:, None]
figure, (learned, share) = plt.subplots(2, 1, figsize=(6.0, 4.6), sharex=True, layout="constrained")
learned.step(grid[:, 0], ranker.predict(thresholds.transform(grid)), where="post", label="of its indicators")
learned.plot(grid[:, 0], as_it_is.predict(grid), "--", label="of the score itself")
for place in thresholds.thresholds_[0][1:]:
    learned.axvline(place, color=COLOURS[4], linewidth=0.6, alpha=0.6)
learned.set(ylabel=r"learned score $w \cdot \phi$", title="Grey lines are thresholds")
learned.legend()

edges = np.linspace(-3.0, 3.0, 25)
bins = np.digitize(score[:, 0], edges)
found = [y[bins == k].mean() if (bins == k).any() else 0.0 for k in range(1, len(edges))]
share.stairs(found, edges, fill=True, alpha=0.5)
share.set(xlabel="score f of the base function", ylabel="relevant, share")

# %%
# :doc:`/features` has the transformers, and :doc:`/experiment` the paper's experiment with them.

print(f"MAP, indicators: {ranker.score(thresholds.transform(score), y, qid=qid):.3f}")
print(f"MAP, the score:  {as_it_is.score(score, y, qid=qid):.3f}")
