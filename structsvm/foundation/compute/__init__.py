"""Execute numeric code: compilation, threads, processes, a sort for kernels, and reductions over groups."""
