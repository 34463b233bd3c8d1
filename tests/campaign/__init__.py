"""Random problems of every kind, solved by every solver, against a QP over all of their outputs.

``python -m tests.campaign 1000`` tries a thousand. Findings have a number: ``--only NUMBER``
tries one again; kinds of problems take turns, and ``--kind`` tries one alone.
"""
