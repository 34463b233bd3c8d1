"""Consistency checks of a loss's methods, for `check_loss` and, in a short form, before a first fit."""
