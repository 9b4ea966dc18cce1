"""The wishes of a message that a model can be asked for one by one, because none stands on what another comes to.

Shown the whole message and what is done of it, a small model leaves one out, does one twice, or reads the file that is to go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import ACTS, READING, is_thing
from gateway.agent.asked import is_for_another
from gateway.agent.carrying import carrying_in
from gateway.agent.copied import folders_said
from gateway.agent.finding import finding_in
from gateway.agent.messages import Tool
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wishes import wishes_in
from gateway.agent.words import QUOTED, words_of

_ASKING: Final = frozenset((*VOCABULARY.question_words, *VOCABULARY.question_openers, *VOCABULARY.asking_words))
_LOOKING: Final = frozenset((*ACTS[READING]["verbs"], *VOCABULARY.yes_no_words)) - {"list"}


def separate_wishes(message: str, tools: Sequence[Tool]) -> list[str]:
    """The wishes of a message, two or more, where each says itself what it is about; else none."""
    if carrying_in(message, tools) is not None or finding_in(message) is not None:
        return []
    wishes = wishes_in(message, tools)
    return [] if any(_stands_on_another(wish, tools) for wish in wishes) else wishes


def _stands_on_another(wish: str, tools: Sequence[Tool]) -> bool:
    """Whether a wish asks for something, or looks at something, that it does not name: it may be what another one finds."""
    words = words_of(QUOTED.sub(" ", wish))
    asks = any(word.bare in _ASKING for word in words) or any(word.bare in _LOOKING for word in words[:1])
    is_named = any(is_thing(wish[word.start : word.end]) for word in words_of(wish)) or bool(folders_said(wish))
    return asks and not is_named and not is_for_another(wish, tools)
