"""What holds for every test."""

from __future__ import annotations

import gc
import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# Hypothesis measures each example against 200 ms by default, and how long it takes to make them; a busy machine must not fail a
# property.
settings.register_profile("countersign", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("countersign")

_WAITING = "tests/e2e"
_AT_LENGTH = ("appearance", "default_model", "examples", "sentence_model", "small_model")
"""Of the modules there, those that take half of the time: with a real model or pictures of each page."""
_IN_FIREFOX = f"{_WAITING}, in Firefox"
"""What runs in both browsers runs there in Chromium first, and elsewhere in Firefox: one of either for each worker."""


class ByModule(LoadFileScheduling):
    """Gives each worker whole modules, in their order, so that a module's gateway is started once and what its tests leave behind
    is always the same. Those that wait for a browser go to two workers: in one they would take longer than all others together,
    and in three there would be more browsers and models than cores.

    By path and not by marks: xdist 3.8 reads groups from a node id that pytest 9.2 does not let it change, and says nothing.
    """

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid)


def _group(nodeid: str) -> str:
    module, _, test = nodeid.partition("::")
    if not module.startswith(f"{_WAITING}/"):
        return module
    if re.search(r"[\[-]firefox[\]-]", test):
        return _IN_FIREFOX
    name = module.removeprefix(f"{_WAITING}/test_").removesuffix(".py")
    return f"{_WAITING}, at length" if name in _AT_LENGTH else _WAITING


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In workers, what takes longest begins first, whatever the number of its tests; then the modules with most tests."""
    if not hasattr(config, "workerinput"):
        return
    groups = [_group(item.nodeid) for item in items]
    sizes = Counter(groups)
    order = {f"{_WAITING}, at length": 0, _WAITING: 1}
    places = sorted(range(len(items)), key=lambda at: (order.get(groups[at], 2), -sizes[groups[at]], at))
    items[:] = [items[at] for at in places]


def pytest_collection_finish() -> None:
    """Twelve thousand collected tests are no garbage: a whole collection that looks at them each time takes half a second, and
    tests of open descriptors make one each."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByModule:
    """Asked once, where tests run in several workers."""
    return ByModule(config, log)
