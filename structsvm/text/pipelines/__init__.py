"""Rank documents for topics in one call: retrieval functions find candidates, and a trained ranker orders them."""
