"""A loss and a QP backend for structsvm. The package itself imports neither: a name that is used does."""
