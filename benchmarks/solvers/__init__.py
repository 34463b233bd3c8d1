"""Benchmarks of solvers: time, passes and memory until the gap is proved."""
