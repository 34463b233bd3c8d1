"""
A path of C, picked by validation
=================================

C weighs the hinge loss against the regulariser, and no theory says which value is best. So one fits a path of them,
each from the weights and cuts of the one before, and lets queries that were held out pick.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import Ranker
from structsvm.data import load_digits_queries
from structsvm.plots import COLOURS, STYLE, RegularisationPathDisplay, WeightsDisplay

plt.style.use(STYLE)

# %%
# Sixty short queries of handwritten digits. The features are 25 similarities of a query and a document, and 60
# columns of noise, so that there is something to overfit.

train, test = load_digits_queries(n_train=60, n_test=60, n_candidates=30)
rng = np.random.default_rng(0)
X, new_X = (np.hstack([data.X, rng.normal(size=(len(data.X), 60))]) for data in (train, test))
Cs = np.logspace(-2, 3, 11)
display = RegularisationPathDisplay.from_estimator(Ranker(loss="map"), X, train.y, train.qid, Cs=Cs, folds=4)

# %%
# Training MAP rises with C to the end. Held-out MAP rises and falls again, when the weights begin to follow the
# noise; areas reach a standard deviation of the four folds to either side. A fold that picks another C than its
# neighbour is no reason to worry where the line is flat: models there are all but as good.
#
# The weights along the path: the regulariser holds them near 0 on the left. Those of similarities leave it first, and
# on the right those of noise are as large.

ranker, path = Ranker(loss="map", warm_start=True), []
for C in Cs:
    path.append(ranker.set_params(C=C).fit(X, train.y, qid=train.qid).coef_)
path = np.array(path)
figure, axes = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
noise = axes.plot(Cs, path[:, 25:], color=COLOURS[4], linewidth=0.6)
similar = axes.plot(Cs, path[:, :25], color=COLOURS[0], linewidth=1.1)
axes.set(xscale="log", xlabel="C", ylabel="weight", title="Weights along the path")
axes.legend([similar[0], noise[0]], ["of similarities", "of noise"])

# %%
picked = Cs[np.argmax(display.values["validation"].mean(axis=0))]
for C in (Cs[0], picked, Cs[-1]):
    score = Ranker(C=C).fit(X, train.y, qid=train.qid).score(new_X, test.y, qid=test.qid)
    print(f"C = {C:8.3f}: test MAP {score:.3f}{' (picked)' if picked == C else ''}")

# %%
# What the picked model looks at: its largest weights are those of similarities, and noise comes eleventh.

ranker = Ranker(loss="map", C=picked).fit(X, train.y, qid=train.qid)
names = [f"similarity {k}" for k in range(1, 26)] + [f"noise {k}" for k in range(1, 61)]
WeightsDisplay.from_estimator(ranker, names, top=12)

# %%
# :doc:`/howto/C_and_tol` says what values are usual, and what C is in other programs. scikit-learn's searches work
# as well: ``RegularisationPathDisplay.from_search`` draws one.
