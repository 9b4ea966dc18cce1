"""A workspace over both ways of opening, with something outside of it to steal."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.adapters.tools.builtin.beneath import Opener, choose_opener, open_by_kernel, open_by_steps
from gateway.adapters.tools.builtin.files import Workspace

KERNEL = pytest.param(
    open_by_kernel, id="kernel", marks=pytest.mark.skipif(choose_opener() is not open_by_kernel, reason="no openat2 here")
)
STEPS = pytest.param(open_by_steps, id="steps")
NEVER = threading.Event()


@pytest.fixture(params=[KERNEL, STEPS])
def opener(request: pytest.FixtureRequest) -> Opener:
    return request.param


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with something outside of it to steal."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    inside = tmp_path / "inside"
    (inside / "notes").mkdir(parents=True)
    (inside / "notes" / "old.txt").write_text("old")
    return inside


@pytest.fixture
def workspace(root: Path, opener: Opener, no_descriptor_is_left_open: None) -> Iterator[Workspace]:
    opened = Workspace(root, opener)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def no_descriptor_is_left_open() -> Iterator[None]:
    # What an earlier test left is closed now or stays; a descriptor that is closed meanwhile is no leak.
    gc.collect()
    before = set(os.listdir("/dev/fd"))
    yield
    assert set(os.listdir("/dev/fd")) <= before
