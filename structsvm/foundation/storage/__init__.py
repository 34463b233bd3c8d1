"""Read compressed files, write files atomically, lock them, and resume long work."""
