"""Random signals at random moments in every command that writes, and what is left when it is run again.

``python -m tests.kills 300`` tries three hundred; with ``--folder`` it goes on where it ended. What it finds is named
by its number, and tried again with ``--only NUMBER``.
"""
