"""What the baselines compile."""
