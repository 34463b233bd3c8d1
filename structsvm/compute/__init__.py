"""How the work is done: machine code, threads, processes, and the sort that kernels share."""
