"""What is said where a search found nothing and did not see all files: that it is no answer about those which it did not see."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.agent.copy import Copy
from gateway.agent.figures import ends_early
from gateway.agent.further import found_files, searches
from gateway.agent.messages import Tool, ToolMessage


def with_part_told(said: str, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy) -> str:
    """Words about these calls, with the sentence that the last of them looked at a part of all files, where it found none."""
    last = calls[-1]
    is_part = searches(last) and ends_early(last.result["content"]) and not found_files(last, tools)
    told = copy.say("lookedInPart")
    return f"{said}\n\n{told}" if is_part and not said.endswith(told) else said
