"""Benchmarks: this library and others on the same work, measured side by side in one run.

``make bench`` runs all of them and writes the pages with their plots. Parts of it::

    python -m benchmarks list
    python -m benchmarks run average_precision sparse   # run two benchmarks again
    python -m benchmarks report                         # write the pages from the stored results

Each module with a ``TITLE`` is a benchmark; its folder is its subject. It also has a text ``ABOUT`` its method,
``run(size)``, which yields `Row` objects, and ``targets(rows)``. A benchmark runs in a separate process with one thread
for BLAS and for numba, so that other benchmarks do not affect its peak memory. ``results/NAME.json`` stores its rows,
and ``report`` shows all of them in ``notes/NAME.md``, which Git ignores. A benchmark may name a page with marks for its
tables as ``PAGE``. ``harness/page.py`` chooses the figures of the page for users, ``docs/benchmarks.md``; its prose is
in ``harness/templates/``.
"""
