"""Random problems of every kind, solved by every solver, against a QP over all of their outputs.

``python -m tests.campaign 1000`` tries a thousand. What it finds is named by its number, and tried again
with ``--only NUMBER``; kinds of problems take turns, and ``--kind`` tries one alone.
"""
