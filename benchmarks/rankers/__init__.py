"""Benchmarks of rankers: measures on held-out queries, choice of C, trees, clicks and fusion."""
