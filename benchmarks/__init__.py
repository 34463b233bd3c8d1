"""Benchmarks: this library and others on the same work, measured side by side in one run.

``make bench`` runs all of them and writes ``docs/benchmarks.md`` with its plots. Parts of it::

    python -m benchmarks list
    python -m benchmarks run average_precision sparse   # these two anew
    python -m benchmarks report                         # the page, from what was measured

One file a question. Each is a module with a ``TITLE``, a text ``ABOUT`` it,
``run(size)``, which yields `Row` objects, and ``targets(rows)``, which says what they should
show and do. A benchmark runs in a process of its own with one thread for BLAS and for numba,
so that peak memory is its own. What it measured is kept in ``benchmarks/results/NAME.json``.
"""
