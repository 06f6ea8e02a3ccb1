"""What holds for all tests: no test depends on how fast the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
