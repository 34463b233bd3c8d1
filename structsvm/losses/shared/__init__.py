"""Code shared by several losses, one file per idea."""
