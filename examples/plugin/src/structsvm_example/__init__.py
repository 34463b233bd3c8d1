"""A loss, a QP backend, an export format and a click model for structsvm, each imported when its name is used."""
