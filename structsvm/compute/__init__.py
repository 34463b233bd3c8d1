"""How the work is done: machine code, threads, processes, the sort that kernels share, and reductions over groups."""
