"""Reading on in a long result when the person asks for more of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.agent.kept import READER, page_of
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.parse import ParseFailure, read_object
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_MORE: Final = frozenset(VOCABULARY.reading_on)
_FILLERS: Final = frozenset(VOCABULARY.fillers).difference(*(phrase.split(" ") for phrase in _MORE))


def next_page(wish: str, messages: Sequence[Message], tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that gives the next page of the last result, where the wish asks for just that, such as "next page please"."""
    if not asks_for_more(wish) or not any(tool["name"] == READER for tool in tools):
        return None
    last = next((each for each in reversed(messages) if isinstance(each, ToolMessage)), None)
    arguments = page_of(last.result["content"]).next if last is not None else ""
    read = read_object(arguments) if arguments else None
    return None if read is None or isinstance(read, ParseFailure) else ProposedCall(READER, read)


def asks_for_more(wish: str) -> bool:
    """Whether a wish is for the rest of what was shown, and for nothing else."""
    words = [word.bare for word in words_of(wish)]
    return " ".join(word for word in words if word not in _FILLERS) in _MORE
