"""Loss-augmented argmaxes as plain functions that the engine compiles."""
