"""What several losses share, a file for each idea."""
