"""RankBoost word for word: every pair has an entry in D, every stump is tried."""

import math

import numpy as np

EQUAL = 1e-12


def candidates(X):
    """Every (feature, threshold, value if missing) that can separate documents, in order."""
    for f in range(X.shape[1]):
        present = X[~np.isnan(X[:, f]), f]
        lacks = len(present) < len(X)
        thresholds = np.unique(present)[:-1].tolist()
        if lacks and len(present) > 0:
            thresholds = [-math.inf, *thresholds]
        for threshold in thresholds:
            for missing in (False, True) if lacks else (False,):
                yield f, threshold, missing


def stump(X, f, threshold, missing):
    return np.where(np.isnan(X[:, f]), float(missing), X[:, f] > threshold).astype(float)


def boost(X, better, worse, weights, rounds):
    """Return the stumps as (feature, threshold, missing, alpha, r), the products of Z, D and the scores."""
    rows = np.unique(np.concatenate([better, worse]))
    rankers = [(c, stump(X, *c)) for c in candidates(X[rows])]
    D = weights / weights.sum()
    scores, product = np.zeros(len(X)), 1.0
    stumps, products = [], []
    for _ in range(rounds):
        best, r = None, 0.0
        for c, h in rankers:
            value = float((D * (h[better] - h[worse])).sum())
            if abs(value) > abs(r) + EQUAL:
                best, r, chosen = c, value, h
        if best is None:
            break
        bounded = min(max(r, -1.0 + EQUAL), 1.0 - EQUAL)
        alpha = 0.5 * math.log((1.0 + bounded) / (1.0 - bounded))
        before, D = D, D * np.exp(alpha * (chosen[worse] - chosen[better]))
        Z = D.sum()
        D /= Z
        product *= Z
        scores += alpha * chosen
        stumps.append((*best, alpha, r))
        products.append(product)
        if abs(r) >= 1.0 - EQUAL and np.allclose(D, before, rtol=0.0, atol=EQUAL):
            break
    return stumps, np.array(products), D, scores
