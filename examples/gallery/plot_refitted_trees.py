"""
Refit the leaves of a LightGBM model
====================================

Boosting fixes the leaf values of each tree before it grows the next tree. This example keeps the trees of a LightGBM
model and learns the values of all leaves together for average precision, with and without additional weights of the
plain features. The problem is convex, and its solution has a certificate.
"""

import lightgbm
import matplotlib.pyplot as plt
import numpy as np

from structsvm import Ranker, RankerCV
from structsvm.metrics import AP
from structsvm.plots import COLORS, STYLE
from structsvm.rankers import TreeRanker

plt.style.use(STYLE)


def queries(number, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25 * number, 5))
    signal = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] + 0.5 * rng.standard_normal(len(X))
    return X, (signal > 2.0).astype(int), np.repeat(np.arange(number), 25)


train, held, new = queries(100, 0), queries(100, 1), queries(300, 2)

# %%
# LightGBM grows 160 trees, each on a sample of the rows and of the features, so that trees differ from each other.
# Relevance depends on products of features, which a linear ranker cannot express.

X, y, qid = train
model = lightgbm.LGBMRanker(
    n_estimators=160,
    num_leaves=8,
    subsample=0.8,
    subsample_freq=1,
    colsample_bytree=0.6,
    num_threads=1,
    verbosity=-1,
    seed=0,
).fit(X, y, group=[25] * 100)
linear = Ranker("map", C=10.0).fit(X, y, qid)

# %%
# Refit the first 10, 20, 40, ... trees. Held-out queries choose C, and the plot shows MAP on 300 new queries.

SIZES = (10, 20, 40, 80, 160)
found = {"LightGBM": [], "leaves refitted": [], "leaves and features refitted": []}
for size in SIZES:
    first = lightgbm.Booster(model_str=model.booster_.model_to_string(num_iteration=size))
    found["LightGBM"].append(first.predict(new[0]))
    for name, features in (("leaves refitted", False), ("leaves and features refitted", True)):
        search = RankerCV(TreeRanker("map", trees=first, features=features), Cs=np.geomspace(1.0, 10000.0, 5))
        found[name].append(search.fit(X, y, qid, validation=held).predict(new[0]))

figure, axes = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
for (name, scores), dashes in zip(found.items(), (":", "--", "-"), strict=True):
    axes.plot(SIZES, [AP().mean(each, *new[1:]) for each in scores], dashes, marker="o", markersize=4, label=name)
base = linear.score(*new)
axes.axhline(base, color=COLORS[4], linewidth=0.9)
axes.text(160, base, "a linear ranker", ha="right", va="bottom", fontsize=8)
axes.set_xscale("log", base=2)
axes.set_xticks(SIZES, labels=SIZES)
axes.set(xlabel="trees", ylabel="MAP on new queries")
axes.legend()

# %%
# The next lines show the mean difference from LightGBM with as many trees, over queries, with its standard error.

grown = [AP().per_query(scores, *new[1:]).values for scores in found["LightGBM"]]
for name in list(found)[1:]:
    for size, scores, before in zip(SIZES, found[name], grown, strict=True):
        change = AP().per_query(scores, *new[1:]).values - before
        print(f"{name:29} {size:4} trees {np.nanmean(change):+.3f} ± {np.nanstd(change) / np.sqrt(len(change)):.3f}")

# %%
# The refit gains most with few trees: 20 refitted trees rank about as well as 40 that were only boosted. From 80
# trees on, there is no gain on these data. So compare both on held-out queries before you replace a large model.
# :doc:`/howto/refit_trees` returns a model that LightGBM can score; :doc:`/rankers/tree_ranker` grows the trees, too.
