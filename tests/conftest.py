"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# Hypothesis measures each example against 200 ms by default; a busy machine must not fail a property.
settings.register_profile("house", deadline=None)
settings.load_profile("house")
