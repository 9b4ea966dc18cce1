"""What a wish means by what another one of the message has just brought about, by the vectors of the browser's tests."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.just_done import reading_of_done
from gateway.agent.lane import ProposedCall
from tests.agent.test_found import closed
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("just-done")


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_what_was_just_done_is_shown(case: dict[str, Any]) -> None:
    tools = [VECTORS["tools"][name] for name in case["tools"]]
    expected = None if case["call"] is None else ProposedCall(*case["call"])
    assert reading_of_done(case["wish"], closed(case), tools) == expected
