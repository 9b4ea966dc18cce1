"""Drivers that are closed with their test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.adapters.tools.mcp.servers import Driven, make_driven

Drive = Callable[..., Driven]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder of the test's own, by a path without links."""
    return tmp_path.resolve()


@pytest.fixture
async def drive(here: Path) -> AsyncIterator[Drive]:
    """A driver for these settings, with a folder of its own."""
    made: list[Driven] = []

    def make(*arguments: object, **options: object) -> Driven:
        driven = make_driven(arguments[0], here / f"source-{len(made)}", **options)  # pyright: ignore[reportArgumentType]
        made.append(driven)
        return driven

    yield make
    for driven in made:
        await driven.driver.close()
