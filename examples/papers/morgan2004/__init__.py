"""Morgan's experiment (Morgan, Greiff and Henderson, HLT-NAACL 2004, section 4): average precision by query length.

``morgan(Index.load(folder), load_qrels(path), MorganSettings(), out)`` compares weight search, maximum entropy and
SVM-map on queries of 1 to 20 terms, topic by topic, and returns `MorganResults`.
"""

from examples.papers.morgan2004.methods import FittedWeights, Method, SearchedWeights, paper_methods
from examples.papers.morgan2004.plan import morgan
from examples.papers.morgan2004.results import MorganResults, TopicTrial
from examples.papers.morgan2004.settings import MorganSettings
from examples.papers.morgan2004.topics import TopicCounts

__all__ = [
    "FittedWeights",
    "Method",
    "MorganResults",
    "MorganSettings",
    "SearchedWeights",
    "TopicCounts",
    "TopicTrial",
    "morgan",
    "paper_methods",
]
