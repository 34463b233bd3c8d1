"""Execution: compilation, threads, processes, a sort for kernels, and reductions over groups."""
