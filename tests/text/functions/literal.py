"""Scores of one document, written down straight from the formulas, one term after the other."""

import math


class Collection:
    """Documents as lists of tokens."""

    def __init__(self, documents):
        self.documents = documents
        self.N = len(documents)
        self.C = sum(map(len, documents))
        self.avg = self.C / self.N

    def df(self, t):
        return sum(t in d for d in self.documents)

    def cf(self, t):
        return sum(d.count(t) for d in self.documents)

    def p(self, t):
        return self.cf(t) / self.C

    def known(self, query):
        """The terms of a query that the collection has, as often as the query has them."""
        return [t for t in query if self.cf(t)]


def lemur_idf(c, t):
    return math.log((c.N + 1) / (c.df(t) + 0.5))


def cosine(c, Q, d):
    terms = c.known(Q)
    q = {t: terms.count(t) * lemur_idf(c, t) for t in terms}
    v = {t: d.count(t) * lemur_idf(c, t) for t in d}
    product = sum(q[t] * v.get(t, 0.0) for t in q)
    return product / math.sqrt(sum(x * x for x in q.values())) / (math.sqrt(sum(x * x for x in v.values())) or 1.0)


def tfidf(c, Q, d, k1=1.0, b=0.5, k=1.0):
    return sum(
        Q.count(t) / (Q.count(t) + k)
        * lemur_idf(c, t) ** 2
        * d.count(t) / (d.count(t) + k1 * (1 - b + b * len(d) / c.avg))
        for t in set(Q) & set(d)
    )  # fmt: skip


def okapi(c, Q, d, k1=1.2, b=0.75, k3=7.0):
    return sum(
        math.log((c.N - c.df(t) + 0.5) / (c.df(t) + 0.5))
        * (k1 + 1) * d.count(t) / (d.count(t) + k1 * (1 - b + b * len(d) / c.avg))
        * (k3 + 1) * Q.count(t) / (k3 + Q.count(t))
        for t in set(Q) & set(d)
    )  # fmt: skip


def terrier_tf_idf(c, Q, d, k1=1.2, b=0.75):
    return sum(
        Q.count(t) * math.log2(c.N / c.df(t) + 1) * k1 * d.count(t)
        / (d.count(t) + k1 * (1 - b + b * len(d) / c.avg))
        for t in set(Q) & set(d)
    )  # fmt: skip


def bm25(c, Q, d, k1=1.2, b=0.75):
    return sum(
        Q.count(t) * math.log(1 + (c.N - c.df(t) + 0.5) / (c.df(t) + 0.5))
        * d.count(t) / (d.count(t) + k1 * (1 - b + b * len(d) / c.avg))
        for t in set(Q) & set(d)
    )  # fmt: skip


def dirichlet(c, t, d, mu=1000.0):
    return (d.count(t) + mu * c.p(t)) / (len(d) + mu)


def jelinek_mercer(c, t, d, weight=0.5):
    return (1 - weight) * (d.count(t) / len(d) if d else 0.0) + weight * c.p(t)


def absolute(c, t, d, delta=0.7):
    if not d:
        return c.p(t)
    return max(d.count(t) - delta, 0.0) / len(d) + delta * len(set(d)) / len(d) * c.p(t)


def divergence(model):
    """Σ_t p(t|Q) ln(p(t|d) / p(t|Q)), term by term, without any rewriting."""

    def score(c, Q, d, **settings):
        terms = c.known(Q)
        share = {t: terms.count(t) / len(terms) for t in terms}
        return sum(p * math.log(model(c, t, d, **settings) / p) for t, p in share.items())

    return score


def likelihood(model):
    """The mean logarithm of the probability of a token of the query."""

    def score(c, Q, d, **settings):
        terms = c.known(Q)
        return sum(math.log(model(c, t, d, **settings)) for t in terms) / len(terms)

    return score


SCORES = {
    "cosine": cosine,
    "tfidf": tfidf,
    "bm25": bm25,
    "okapi": okapi,
    "lm_dirichlet": divergence(dirichlet),
    "lm_jelinek_mercer": divergence(jelinek_mercer),
    "lm_absolute": divergence(absolute),
    "indri_dirichlet": lambda c, Q, d, mu=2500.0: likelihood(dirichlet)(c, Q, d, mu=mu),
    "indri_jelinek_mercer": lambda c, Q, d, weight=0.4: likelihood(jelinek_mercer)(c, Q, d, weight=weight),
    "terrier_tf_idf": terrier_tf_idf,
}
SETTINGS = {
    "tfidf": {"k1": 2.0, "b": 0.3, "k": 3.0},
    "okapi": {"k1": 0.5, "b": 1.0, "k3": 2.0},
    "lm_dirichlet": {"mu": 3.5},
    "lm_jelinek_mercer": {"weight": 0.1},
    "lm_absolute": {"delta": 0.25},
    "indri_dirichlet": {"mu": 3.5},
    "indri_jelinek_mercer": {"weight": 0.1},
    "terrier_tf_idf": {"k1": 3.0, "b": 0.1},
    "bm25": {"k1": 3.0, "b": 0.0},
}
