"""How many files a gateway may open."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.listening import DESCRIPTORS, ENOUGH_DESCRIPTORS, check_limits
from gateway.settings import Settings


@pytest.fixture
def hard() -> Iterator[int]:
    """What this process may have at most; it begins with few, as on most machines."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, before[1]))
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_case_299_a_gateway_takes_the_descriptors_that_it_may_have_by_itself(hard: int, tmp_path: Path) -> None:
    most = ENOUGH_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_DESCRIPTORS)
    assert check_limits(Settings.model_validate({"state": tmp_path})).startswith(f"{most} open files")
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, hard)


def test_where_the_machine_lets_it_have_no_more_it_goes_on_with_those(
    hard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_which: int, _limits: tuple[int, int]) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert check_limits(Settings.model_validate({"state": tmp_path})).startswith(f"{DESCRIPTORS} open files")
    monkeypatch.undo()
