"""In which capitals a path is called that a model wrote in others."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.messages import UserMessage
from gateway.agent.spelling import spelled_as_known
from tests.agent.test_found import closed
from tests.agent.vectors import name_of, read_vectors

VECTOR = read_vectors("spelling")


@pytest.mark.parametrize("case", VECTOR["cases"], ids=name_of)
def test_a_path_is_called_in_the_capitals_that_the_conversation_knows(case: dict[str, Any]) -> None:
    messages = [*(UserMessage("t", said) for said in case["says"]), *closed(case)]
    assert spelled_as_known(case["given"], messages, VECTOR["tools"]) == case["called"]
