"""Damaged files, odd command lines and odd arguments at random: none may be answered by a raw error.

``python -m tests.fuzz --seconds 600`` tries them for ten minutes. A case is known by its seed, kind and number, and
tried again with ``--seed SEED --only KIND --case NUMBER``; findings are written to a folder.

`tests.fuzz.verdict` lists the faults. A new command is covered once it is in the group of commands, a
new public function once it is in ``__all__``.
"""
