"""The compiled inner loops of the baselines."""
