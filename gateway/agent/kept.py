"""The last line of a result of which only a page was given: `…[first 8030 of 20480 bytes. Next: read_result{…} of 3]`.

It is for whoever reads on. It is no line of the result itself: nothing is looked for, counted or quoted in it. The gateway writes
it (gateway/core/pages.py); a result that only imitates it names a call that gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.core.local_tools import ATTACHMENT

READER: Final = "read_result"
"""The tool that gives further pages."""

_LONGEST: Final = LIMITS.kept_note_characters
_NOTE: Final = re.compile(
    r"…\[(?:first|page) [0-9]+ of [0-9]+(?: bytes)?\. Next: read_result(\{[^\n]*\})(?: of [0-9]+)?\]"
    r"|\[page [0-9]+ of [0-9]+, the end\]"
)


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A result without its last line, that line, and the arguments of the call that it names, as it writes them: empty for the
    last page, and for a result that is given whole."""

    text: str
    note: str
    next: str


def page_of(content: str) -> KeptPage:
    """What a result's content is a page of."""
    end = content.rfind("\n") + 1
    found = _NOTE.fullmatch(content[end:]) if len(content) - end <= _LONGEST else None
    return KeptPage(content, "", "") if found is None else KeptPage(content[:end], found[0], found[1] or "")


def useful_tools(tools: Sequence[Tool], messages: Sequence[Message], is_long: Callable[[str], bool]) -> Sequence[Tool]:
    """The tools without the one that reads on, where nothing is to be read on: each tool makes every prompt longer. `is_long`
    says of which results the model may be shown a part only."""

    def goes_on(content: str) -> bool:
        return bool(page_of(content).note) or is_long(content)

    tools = without_attaching(tools)
    is_read_on = any(isinstance(each, ToolMessage) and goes_on(each.result["content"]) for each in messages)
    return tools if is_read_on else without_reader(tools)


def without_reader(tools: Sequence[Tool]) -> list[Tool]:
    """The tools but the one that reads on. A small model cannot write down an id; for it the loop reads on."""
    return [tool for tool in tools if tool["name"] != READER]


def without_attaching(tools: Sequence[Tool]) -> list[Tool]:
    """The tools but the one by which a page takes in what its person attaches. It is none of a model's."""
    return [tool for tool in tools if tool["name"] != ATTACHMENT]
