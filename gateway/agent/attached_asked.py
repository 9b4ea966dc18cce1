"""A question about what the person attached with it, such as one about the rent in January beside a table.

What was attached is in no file of the workspace, so nothing is looked for there. It is answered as if it had just been read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.agent.further import pointed_reading
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.read_before import read_again
from gateway.agent.reading import reader_among
from gateway.core.local_tools import ATTACHMENT

_NAME: Final = "name"


def attached_for(wish: str, messages: Sequence[Message], turn_id: str, tools: Sequence[Tool]) -> ToolMessage | None:
    """What was attached right before this turn and a question is about, as if a tool had read it; None for any other wish."""
    reader = reader_among(tools)
    if reader is None:
        return None
    for each in reversed([message for message in messages if isinstance(message, ToolMessage)]):
        if each.turn_id == turn_id or each.call["name"] != ATTACHMENT:
            return None
        # Its first line says what it is; an image has no other.
        _, _, text = each.result["content"].partition("\n")
        call = {**each.call, "name": reader[0], "arguments": {reader[1]: each.call["arguments"][_NAME]}}
        read = replace(each, call=call, result={**each.result, "content": text})
        if text and (pointed_reading(wish, [read], tools) or read_again(wish, [read], turn_id, tools)) is not None:
            return read
    return None
