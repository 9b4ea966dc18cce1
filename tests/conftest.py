"""What holds for every test."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# Hypothesis measures each example against 200 ms by default, and how long it takes to make them; a busy machine must not fail a
# property.
settings.register_profile("countersign", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("countersign")

_WAITING = "tests/e2e"


class ByModule(LoadFileScheduling):
    """Gives each worker whole modules, in their order, so that a module's gateway is started once and what its tests leave behind
    is always the same. All that wait for a browser go to one worker: two browsers and two models would share two cores, while
    one leaves a core idle.

    By path and not by marks: xdist 3.8 reads groups from a node id that pytest 9.2 does not let it change, and says nothing.
    """

    def _split_scope(self, nodeid: str) -> str:
        module = super()._split_scope(nodeid)
        return _WAITING if module.startswith(f"{_WAITING}/") else module


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByModule:
    """Asked once, where tests run in several workers."""
    return ByModule(config, log)
