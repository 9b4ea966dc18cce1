"""The tools that a wish asks for by its words, where a small model answered it with a sentence instead.

Asked "how much money went out this month?" or "cross out t1", a small model talks of it, with a tool for just that before it.
Such a wish is chosen for once more, among these tools and without an answer. What is chosen is a call like any other: it needs
its reason, and the gateway decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.asked import WEAK_STEMS
from gateway.agent.claim_words import CLAIMS
from gateway.agent.messages import Tool
from gateway.agent.names import parts_of
from gateway.agent.ranking import stem, terms_in
from gateway.agent.render import required_of
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, words_of

_ALIKE: Final = tuple(frozenset(map(stem, group)) for group in VOCABULARY.same_things)
"""Words for one thing: who begins with "note" may mean a tool that saves."""

_GENERAL: Final = frozenset(CLAIMS.explained)
_MEASURED: Final = frozenset((*VOCABULARY.measures, *VOCABULARY.past_helpers))
"""Words after which "how" asks for a figure, or for what was done, and not how something is done."""

_LEADING: Final = frozenset((*WISH_WORDS.fillers, *WISH_WORDS.joiners))
_STATING: Final = frozenset((*WISH_WORDS.beings, *WISH_WORDS.asking))
_STATEMENTS: Final = frozenset(WISH_WORDS.statements)
_STATED: Final = 2
"""Words of a statement that asks to be kept: "I paid"."""

_NUMBERS: Final = frozenset(VOCABULARY.number_words) - {"a", "an"}
_FIGURE: Final = re.compile(r"[0-9][0-9.,]*[a-z%]{0,3}")
"""A number as a word: 12.50, 20min. The one in `t1` is a part of a name."""

_PLAIN_PATTERN: Final = re.compile(
    r"\^(?:(?:[A-Za-z0-9_-]|\[(?:A-Z|a-z|0-9|[A-Za-z0-9_])+\])(?:[+*]|\{[0-9]{1,2}\})?)+\$",
)
"""A pattern of letters, digits and classes of them, which both languages read alike and no text makes slow."""

_MOST_LETTERS: Final = 64


@dataclass(frozen=True, slots=True)
class _Wish:
    """A wish as words: in lower case and without what is quoted, all in lower case, and as they are written."""

    asked: Sequence[str]
    bare: Sequence[str]
    written: Sequence[str]


def tools_called_for(wish: str, tools: Sequence[Tool], *, is_order: bool) -> list[Tool]:
    """Those that need an argument, can take all of them from the wish, and of which it says a word: of their name, their
    description or their choices, a verb like theirs, or a name of the form that they ask for. Of an order, as each of several
    wishes is one, where it says no such word, those that take its number. None for a question about the world."""
    words = words_of(wish)
    asked = [word.bare for word in words_of(QUOTED.sub(" ", wish)) if word.bare not in _LEADING]
    if not asked or _is_general(asked):
        return []
    said = _Wish(asked, [word.bare for word in words], [bare_thing(wish[word.start : word.end]) for word in words])
    able = [tool for tool in tools if (given := _given_to(tool, said)) and False not in given]
    named = [tool for tool in able if _is_named(tool, said)]
    is_bare = _FIGURE.fullmatch(asked[0]) is not None and _STATING.isdisjoint(asked)
    is_told = is_order or is_bare or " ".join(asked[:_STATED]) in _STATEMENTS
    return named or [tool for tool in able if is_told and True in _given_to(tool, said)]


def _is_general(asked: Sequence[str]) -> bool:
    """Whether a question is about the world, or about how something is done."""
    is_measured = asked[0] == "how" and not _MEASURED.isdisjoint(asked[1:2])
    return asked[0] in _GENERAL and not is_measured


def _given_to(tool: Tool, said: _Wish) -> list[bool | None]:
    """For each argument that a tool needs, whether the words hold a value for it."""
    return [_is_given(schema, said) for schema in _needed_by(tool)]


def _needed_by(tool: Tool) -> list[Mapping[str, Any]]:
    properties = tool["paramSchema"].get("properties")
    declared = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else dict[str, Any]()
    schemas: list[Any] = [declared.get(name) for name in required_of(tool["paramSchema"])]
    return [cast("Mapping[str, Any]", each) if isinstance(each, Mapping) else {} for each in schemas]


def _is_given(schema: Mapping[str, Any], said: _Wish) -> bool | None:
    """Whether the words hold a value for an argument that only some words can be; None for one that any word can be."""
    choices = _choices_in(schema)
    if choices:
        return not {stem(word) for word in said.bare}.isdisjoint(stem(each.lower()) for each in choices)
    if schema.get("type") in ("number", "integer"):
        return any(_FIGURE.fullmatch(word) or word in _NUMBERS for word in said.bare)
    form = _form_in(schema)
    return None if form is None else any(form.search(word) for word in said.written if len(word) <= _MOST_LETTERS)


def _is_named(tool: Tool, said: _Wish) -> bool:
    """Whether a wish says a word of a tool, or a name of a form that only it asks for."""
    telling = {stem(word) for word in said.asked if not is_thing(word)} - WEAK_STEMS
    has_form = any(_form_in(schema) is not None and _is_given(schema, said) for schema in _needed_by(tool))
    return has_form or not telling.isdisjoint(_own_words(tool)) or _is_alike(stem(said.asked[0]), tool)


def _choices_in(schema: Mapping[str, Any]) -> list[str]:
    listed = schema.get("enum")
    return [each for each in cast("list[Any]", listed) if isinstance(each, str)] if isinstance(listed, list) else []


def _form_in(schema: Mapping[str, Any]) -> re.Pattern[str] | None:
    pattern = schema.get("pattern")
    return re.compile(pattern) if isinstance(pattern, str) and _PLAIN_PATTERN.fullmatch(pattern) else None


def _is_alike(verb: str, tool: Tool) -> bool:
    own = stem(next(iter(parts_of(_own_name(tool))), ""))
    return any(verb in group and own in group for group in _ALIKE)


def _own_words(tool: Tool) -> set[str]:
    """The words, as stems, that a tool says of itself."""
    choices = [choice for schema in _needed_by(tool) for choice in _choices_in(schema)]
    texts = [term for text in (tool["description"], *choices) for term in terms_in(text)]
    return {*map(stem, parts_of(_own_name(tool))), *texts} - WEAK_STEMS


def _own_name(tool: Tool) -> str:
    name: str = tool["name"]
    return name.rpartition("__")[2]
