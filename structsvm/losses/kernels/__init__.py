"""Loss-augmented argmaxes as plain functions that the engine compiles.

Each has the signature ``(scores, labels, params, out) -> Δ`` and a file of its own, which
seldom changes: an edit throws away the machine code that is kept on disk.
"""
