"""Consistency checks of a loss's methods, for `check_loss` and, in short, before a first fit."""
