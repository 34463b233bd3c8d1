"""
Choose C by validation
======================

C sets how much the training queries count compared with keeping the weights small. No theory tells the best value. So
train a series of models, a *path* of C, and choose the model that ranks held-out queries best. Each fit starts from
the previous one, so a path costs little more than its last model.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import Ranker
from structsvm.data import load_digits_queries
from structsvm.plots import COLORS, STYLE, RegularizationPathDisplay, WeightsDisplay

plt.style.use(STYLE)

# %%
# The data are sixty short queries of handwritten digits. The features are 25 similarities between query and document,
# and 60 columns of noise, so that a model can overfit.

train, test = load_digits_queries(n_train=60, n_test=60, n_candidates=30)
rng = np.random.default_rng(0)
X, new_X = (np.hstack([data.X, rng.normal(size=(len(data.X), 60))]) for data in (train, test))
Cs = np.logspace(-2, 3, 11)
display = RegularizationPathDisplay.from_estimator(Ranker(loss="map"), X, train.y, train.qid, Cs=Cs, folds=4)

# %%
# Training MAP rises with C all the way. Held-out MAP rises, then falls when the weights begin to fit the noise. The
# shaded areas reach one standard deviation of the four folds to either side. If the curve is flat, different folds
# may choose different values of C. This does not matter, because these models are nearly equally good.
#
# The next plot shows the weights along the path. On the left, the regularizer keeps all of them near 0. The weights
# of similarities grow first; on the right, the weights of noise are as large.

ranker, path = Ranker(loss="map", warm_start=True), []
for C in Cs:
    path.append(ranker.set_params(C=C).fit(X, train.y, qid=train.qid).coef_)
path = np.array(path)
figure, axes = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
noise = axes.plot(Cs, path[:, 25:], color=COLORS[4], linewidth=0.6)
similar = axes.plot(Cs, path[:, :25], color=COLORS[0], linewidth=1.1)
axes.set(xscale="log", xlabel="C", ylabel="weight", title="Weights along the path")
axes.legend([similar[0], noise[0]], ["of similarities", "of noise"])

# %%
# On new queries, the value of C that validation chose does better than both ends of the path.

picked = Cs[np.argmax(display.values["validation"].mean(axis=0))]
for C in (Cs[0], picked, Cs[-1]):
    score = Ranker(C=C).fit(X, train.y, qid=train.qid).score(new_X, test.y, qid=test.qid)
    print(f"C = {C:8.3f}: test MAP {score:.3f}{' (picked)' if picked == C else ''}")

# %%
# The largest weights of the chosen model belong to similarities; the first noise column comes eleventh.

ranker = Ranker(loss="map", C=picked).fit(X, train.y, qid=train.qid)
names = [f"similarity {k}" for k in range(1, 26)] + [f"noise {k}" for k in range(1, 61)]
WeightsDisplay.from_estimator(ranker, names, top=12)

# %%
# :doc:`/howto/C_and_tol` lists usual values and converts C from other programs. To draw a search by scikit-learn, use
# ``RegularizationPathDisplay.from_search``.
