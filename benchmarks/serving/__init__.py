"""Benchmarks of commands, start-up, reading and prediction."""
