"""LETOR's features by their definitions, one document at a time, in plain Python; nothing is the library's."""

from collections import Counter
from math import log

from tests.text.functions.literal import Collection, absolute, dirichlet, divergence, jelinek_mercer, okapi


class Dense:
    """A field of a collection: a list of tokens for each document."""

    def __init__(self, documents):
        self.documents = documents
        self.N = len(documents)
        self.collection = Collection(documents)
        self.df = Counter(term for tokens in documents for term in set(tokens))
        self.cf = Counter(term for tokens in documents for term in tokens)

    def values(self, names, query, document):
        """Return features of a document, given by number, for a query, a list of tokens."""
        return [getattr(self, name)(query, self.documents[document]) for name in names]

    def known(self, query):
        return [term for term in sorted(set(query)) if term in self.df]

    def shared(self, query, d):
        return [term for term in self.known(query) if term in d]

    def idf(self, term):
        return log(self.N / self.df[term])

    def log_idf(self, term):
        return log(self.idf(term) if self.df[term] < self.N else log(self.N / (self.N - 0.5)))

    def L1(self, q, d):
        return sum(d.count(t) for t in self.shared(q, d))

    def L2(self, q, d):
        return sum(log(d.count(t) + 1) for t in self.shared(q, d))

    def L3(self, q, d):
        return sum(d.count(t) / len(d) for t in self.shared(q, d))

    def L4(self, q, d):
        return sum(log(d.count(t) / len(d) + 1) for t in self.shared(q, d))

    def L5(self, q, d):
        return sum(self.idf(t) for t in self.known(q))

    def L6(self, q, d):
        return sum(self.log_idf(t) for t in self.known(q))

    def L7(self, q, d):
        return sum(log(self.N / self.cf[t] + 1) for t in self.known(q))

    def L8(self, q, d):
        return sum(log(d.count(t) / len(d) * self.idf(t) + 1) for t in self.shared(q, d))

    def L9(self, q, d):
        return sum(d.count(t) * self.idf(t) for t in self.shared(q, d))

    def L10(self, q, d):
        return sum(log(d.count(t) / len(d) * self.N / self.cf[t] + 1) for t in self.shared(q, d))

    def L5_lecture(self, q, d):
        return sum(self.idf(t) for t in self.shared(q, d))

    def L6_lecture(self, q, d):
        return sum(self.log_idf(t) for t in self.shared(q, d))

    def L7_lecture(self, q, d):
        return sum(log(self.N / self.cf[t] + 1) for t in self.shared(q, d))

    def L8_lecture(self, q, d):
        return sum(log(d.count(t) / len(d)) * log(self.N / self.df[t] + 1) for t in self.shared(q, d))

    def H1(self, q, d):
        return okapi(self.collection, q, d)

    def H2(self, q, d):
        return log(max(self.H1(q, d), 0.01))

    def H3(self, q, d):
        return divergence(dirichlet)(self.collection, q, d, mu=2000.0)

    def H4(self, q, d):
        return divergence(jelinek_mercer)(self.collection, q, d, weight=0.1)

    def H5(self, q, d):
        return divergence(absolute)(self.collection, q, d, delta=0.7)
