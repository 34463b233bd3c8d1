"""Benchmarks: this library and others on the same work, measured side by side in one run.

``make bench`` runs all of them and writes the pages with their plots. Parts of it::

    python -m benchmarks list
    python -m benchmarks run average_precision sparse   # these two anew
    python -m benchmarks report                         # the pages, from the stored results

Each module with a ``TITLE`` is a benchmark. It also has a text ``ABOUT`` its method, ``run(size)``, which yields `Row`
objects, and ``targets(rows)``. A benchmark runs in a process of its own with one thread for BLAS and for numba, so
that peak memory is its own. ``results/NAME.json`` stores its rows, and ``notes/NAME.md`` shows all of them. A
benchmark may name a page with marks for its tables as ``PAGE``. ``page.py`` picks the figures of the page for users,
``docs/benchmarks.md``; its prose is in ``templates/``.
"""
