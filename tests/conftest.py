"""Settings of all tests."""

from hypothesis import settings

# The first example of a test may compile; shared machines are slow at times.
settings.register_profile("structsvm", deadline=None)
settings.load_profile("structsvm")
