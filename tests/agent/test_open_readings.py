"""What is still open as what is not done, by the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.figures import ResultSource
from gateway.agent.open_readings import with_open_read
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("open-readings")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_what_is_still_open_is_asked_for_as_what_is_not_done(case: dict[str, Any]) -> None:
    source = ResultSource(case["file"], VECTORS["files"][case["file"]], whole=True, has_lines=True)
    assert with_open_read(case["say"], source) == case["read"]
