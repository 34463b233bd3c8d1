"""Released files: the built files, and the wheel installed alone into empty environments."""
