"""From topics to rankings in one call: retrieval functions find candidates, and a trained ranker orders them."""

from structsvm.pipelines.text_ranker import TextRanker

__all__ = ["TextRanker"]
