"""Benchmarks of indexing and retrieval."""
