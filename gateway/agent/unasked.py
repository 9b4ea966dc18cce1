"""What speaks against a call that changes something, or of a tool that somebody brought: talk, a text that is only to be
composed, and a name that nobody said.

A small model that is told "I love the song Yesterday" plays it, and where a host is missing it makes one up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from gateway.agent.acts import is_thing
from gateway.agent.messages import Tool
from gateway.agent.render import required_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, words_of
from gateway.core.canonical import Json

_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEADS: Final = any_of((*WISH_WORDS.fillers, *WISH_WORDS.openers, *VOCABULARY.fillers))
_COMPOSES: Final = re.compile(
    rf"^(?:(?:{_LEADS}),? )*(?:{any_of(VOCABULARY.composing_orders)})"
    rf"(?: (?:{any_of(WISH_WORDS.sharing)}))?(?: (?:{any_of(VOCABULARY.composed_counts)}))?"
    rf"(?: [a-z-]+){{0,3}}? (?:{any_of(VOCABULARY.composed_texts)})\b",
    _FLAGS,
)
_TELLERS: Final = frozenset(VOCABULARY.tellers)
_TOLD_OF: Final = frozenset(VOCABULARY.told_of)
_BEINGS: Final = frozenset(VOCABULARY.stating_words)
_WANTING: Final = frozenset(VOCABULARY.wanting_words)
_VERBS: Final = frozenset(WISH_WORDS.imperatives)
_PARTED: Final = re.compile(rf"[,.;!:\n]| (?:{any_of(VOCABULARY.sentence_joins)}) ", re.ASCII)
_ASKED: Final = re.compile(r"[0-9?]", re.ASCII)
"""What a sentence does not hold that only tells: a figure, or a question."""

_DIGIT: Final = re.compile(r"[0-9]")
_STATED: Final = 2
_NEAR: Final = 4
"""Words of a sentence within which it says what something is."""

_SAME_LETTERS: Final = 4
"""Letters with which two words begin that are one name in two languages: Lisbon, Lisboa."""

_LEAST: Final = 3
_MOST_WORDS: Final = 3
"""Words of a name. What is longer is a text, which a model may word."""


def is_unasked(arguments: Mapping[str, Json], tool: Tool, wish: str, *, has_called: bool) -> bool:
    """Whether a wish is none for this tool. `has_called` says whether there was a call before, out of which a name may be."""
    if _composes(wish) or _only_tells(wish):
        return True
    return not has_called and any(
        _is_invented(arguments.get(name), tool, name, wish) for name in required_of(tool["paramSchema"])
    )


def _composes(wish: str) -> bool:
    """Whether it asks for a text that is kept nowhere: "write a poem about light in winter"."""
    is_kept = any(is_thing(wish[word.start : word.end]) for word in words_of(wish))
    return not is_kept and _COMPOSES.search(wish) is not None


def _only_tells(wish: str) -> bool:
    """Whether it is a sentence about somebody or something, and asks for nothing: "I love the song Yesterday"."""
    words = [word.bare for word in words_of(wish)]
    is_named = any(is_thing(wish[word.start : word.end]) for word in words_of(wish)) or QUOTED.search(wish) is not None
    is_wish = not _WANTING.isdisjoint(words) or " ".join(words[:_STATED]) in WISH_WORDS.statements
    if is_named or is_wish or _ASKED.search(wish) or not words:
        return False
    others = [words_of(part) for part in _PARTED.split(wish)[1:]]
    if any(other and other[0].bare in _VERBS for other in others):
        return False
    is_praise = " ".join(words[:_STATED]) in VOCABULARY.praises
    return is_praise or words[0] in _TELLERS or (words[0] in _TOLD_OF and not _BEINGS.isdisjoint(words[:_NEAR]))


def _is_invented(value: Json | None, tool: Tool, name: str, wish: str) -> bool:
    """Whether an argument is a name of which the wish says nothing. What has a form, or a choice, or a digit, may be said in
    other words: a day, a currency."""
    declared: Mapping[str, Any] = tool["paramSchema"].get("properties", {})
    schema = cast("Mapping[str, Any]", declared.get(name, {}))
    if not isinstance(value, str) or not {"enum", "pattern", "format"}.isdisjoint(schema):
        return False
    words = [word.bare for word in words_of(value)]
    is_name = 0 < len(words) <= _MOST_WORDS and not value.isupper() and _DIGIT.search(value) is None
    said = [word.bare for word in words_of(wish)]
    return is_name and not any(_is_said(word, said) for word in words)


def _is_said(word: str, said: Sequence[str]) -> bool:
    parts = [each for each in said if len(each) >= _LEAST]
    is_part = len(word) >= _LEAST and any(word in each or each in word for each in parts)
    return word in said or is_part or any(word[:_SAME_LETTERS] == each[:_SAME_LETTERS] for each in parts)
