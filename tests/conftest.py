"""What holds for every test."""

from __future__ import annotations

import pytest
from hypothesis import settings

# Hypothesis measures each example against 200 ms by default; a busy machine must not fail a property.
settings.register_profile("countersign", deadline=None)
settings.load_profile("countersign")

WAITING = "waiting"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the tests that wait for a browser or a model in one worker, beside those that do not wait.

    Two of them at once would share two cores with two models; alone they leave one core idle.
    """
    if item.get_closest_marker("live") is not None or "e2e" in item.path.parts:
        item.add_marker(pytest.mark.xdist_group(WAITING))
