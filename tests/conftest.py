"""Property tests have no time limit per example: the suite asserts nothing about time, and machines are shared."""

from hypothesis import settings

settings.register_profile("ragfile", deadline=None)
settings.load_profile("ragfile")
