"""Random signals at random moments in every command that writes, and what is left when it is run again.

``python -m tests.kills 300`` tries three hundred; with ``--folder`` it goes on where it ended. What it finds is named
by its number, and tried again with ``--only NUMBER``. ``--of workers`` kills workers of a Dask cluster in the middle of
fits, ``--of drivers`` the process that the fit is run from, and ``--of experiment`` only the commands with that word.
"""
