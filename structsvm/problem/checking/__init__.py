"""Checks of a loss against what its own methods return: by `check_loss`, and in short before a first fit."""
