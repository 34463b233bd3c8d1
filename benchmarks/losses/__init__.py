"""Benchmarks of losses: for rankings, for classes and sequences, and by users."""
