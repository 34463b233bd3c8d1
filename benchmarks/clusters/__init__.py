"""Benchmarks of training on several machines, and the model of their network."""
