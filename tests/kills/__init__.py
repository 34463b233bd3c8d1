"""Random signals at random moments in every command that writes, followed by a second run.

``python -m tests.kills 300`` tries three hundred. Findings have a number:
``--only NUMBER`` tries one again. ``--of workers`` kills workers of a Dask cluster in the middle of
fits, ``--of drivers`` the process that the fit is run from, and ``--of experiment`` only the commands with that word.
"""
