"""Whether a call has a reason in what the person said: the gate before a small model's choice becomes a call.

Asked for a poem, a small model calls a tool now and then. A reason is a name that the person wrote, a word that the tool is
known by, or a word that goes back to an earlier call. It is no protection, for which there is the gateway; it keeps a model from
doing things that nobody wanted. In doubt a call is let through: one too many costs a look, one too few the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, cast

from gateway.agent.acts import ACTS, bare_thing, is_thing
from gateway.agent.affairs import may_be_own, own_queries
from gateway.agent.browser import as_json, trim
from gateway.agent.copied import points_back
from gateway.agent.general import asks_how, asks_what
from gateway.agent.messages import Tool
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.passed_over import is_passed_over
from gateway.agent.ranking import stem, terms_in
from gateway.agent.render import required_of
from gateway.agent.unasked import is_unasked
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import QUOTED, words_of
from gateway.core.canonical import Json

_GROUPS: Final = tuple(frozenset(map(stem, group)) for group in VOCABULARY.same_things)
"""Words for one thing: who says one of them may mean a tool that is known by another."""

_WEAK_WORDS: Final = frozenset(
    (
        *VOCABULARY.weak_words,
        *VOCABULARY.asking_words,
        *VOCABULARY.fillers,
        *VOCABULARY.cues,
        *VOCABULARY.number_words,
    )
)
"""Words that are said of everything, and tell nothing of a tool by themselves."""

WEAK_STEMS: Final = frozenset(map(stem, _WEAK_WORDS))

_LOOKS: Final = next(group for group in _GROUPS if stem(VOCABULARY.search_verbs[0]) in group)
_VERBS: Final = _LOOKS.union(stem(verb) for act in ACTS.values() for verb in act["verbs"])
"""What is no reason in a question what something is: "what is the best way to search text"."""

_MOVING: Final = frozenset(ACTS["move"]["calls"])
_REFERENCES: Final = frozenset(VOCABULARY.file_references)
_AGAIN: Final = frozenset({"again", "same"})
_OWNERS: Final = frozenset(VOCABULARY.owners)
_PLACES: Final = frozenset(VOCABULARY.places)
_INSIDE: Final = frozenset(VOCABULARY.inside_words)
_NAMING: Final = frozenset(VOCABULARY.naming_words)
_FEW: Final = 2
"""A message of so few words is all about its verb: "list", "show it"."""

_AMOUNTS: Final = frozenset(VOCABULARY.amount_arguments)
_NUMBERS: Final = frozenset(VOCABULARY.number_words) - {"a", "an"}
_COUNTING: Final = re.compile(r"(?:teen|ty|hundred|thousand|dozen)\Z")
"""How words for higher numbers end."""

_ARTICLES: Final = frozenset({"a", "an"})
_FIGURE: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_ZEROS: Final = re.compile(r"\.0+\Z|(?<=\.[1-9])0+\Z|(?<=\.[0-9][1-9])0+\Z")
_FOLDER: Final = re.compile(r"([A-Za-z0-9_.-]+)/(?=[\s,;.?!\"'`)]|\Z)")


def is_of_another(arguments: Mapping[str, Json], tool: Tool, wish: str, actions: Sequence[str]) -> bool:
    """Whether a call would delete or move what another wish of the message names, and this one does not: of "read a.txt and
    delete the gym note" a small model deletes `a.txt`. Or delete what this one names for something else."""
    takes = tool["category"] == "destructive" or not _MOVING.isdisjoint(parts_of(tool["name"]))
    paths = [value for name, value in arguments.items() if slot_of(name) is Slot.PATH and isinstance(value, str)]
    if tool["category"] == "destructive" and any(is_passed_over(path, wish) for path in paths):
        return True
    if not takes or points_back(wish):
        return False
    return any(path not in wish and any(path in other for other in actions) for path in paths)


def is_asked_for(
    arguments: Mapping[str, Json],
    tool: Tool,
    message: str,
    *,
    wish: str = "",
    examples: Sequence[str] = (),
    has_called: bool = False,
) -> bool:
    """Whether `message` gives a reason for a call of this tool. `wish` is the one of its wishes under way, empty where it is all.
    `examples` are messages that the tool answers; `has_called` says whether the conversation had a call before that the person
    may go back to."""
    is_how = asks_how(wish or message)
    if tool["category"] != "read" and (is_how or _invents_amount(arguments, wish or message)):
        return False
    if tool["category"] != "read" and _says_own_name(arguments, wish or message):
        return False
    if (tool["category"] != "read" or not examples) and is_unasked(arguments, tool, message, has_called=has_called):
        return False
    words = [word.bare for word in words_of(message)]
    if has_called and not (_REFERENCES if _points(tool) else _AGAIN).isdisjoint(words):
        return True
    if _names_thing(arguments.values(), message) or not set(required_of(tool["paramSchema"])) <= arguments.keys():
        # A call without what it needs runs nothing, and the gateway says what is missing.
        return True
    said = {stem(word) for word in _words_in(QUOTED.sub(" ", message))}
    known = known_by(tool, examples)
    pointed = next((_text_of(value) for key, value in arguments.items() if slot_of(key) in (Slot.PATH, Slot.URL)), None)
    if pointed is not None and not is_how and _is_named(pointed, message):
        return True
    if tool["category"] == "read":
        if not _points(tool):
            # "Read the second one" is no reason to read what has been done.
            said = said - _VERBS
        if examples and _PLACES.isdisjoint(words):
            said = set[str]() if is_how else said - _VERBS if asks_what(wish or message) else said
        return _may_look(arguments, message, said, known, is_shipped=bool(examples))
    if pointed is not None:
        return _bare_path(pointed).lower() in words and not (said & known) <= WEAK_STEMS
    return not said.isdisjoint(known) or _copies(arguments.values(), said)


def _points(tool: Tool) -> bool:
    """Whether a tool is about something that is named to it, to which a person may go back."""
    declared: Mapping[str, Any] = tool["paramSchema"].get("properties", {})
    return bool(required_of(tool["paramSchema"])) or any(map(slot_of, declared))


def _invents_amount(arguments: Mapping[str, Json], wish: str) -> bool:
    """Whether a call has an amount of money where the wish says no number at all, and goes back to none."""
    amounts = [
        value for key, value in arguments.items() if type(value) in (int, float) and not _AMOUNTS.isdisjoint(parts_of(key))
    ]
    words = [word.bare for word in words_of(wish)]
    is_counted = any(_FIGURE.search(word) or _COUNTING.search(word) or word in _NUMBERS for word in words)
    return bool(amounts) and not is_counted and _REFERENCES.isdisjoint(words)


def _says_own_name(arguments: Mapping[str, Json], wish: str) -> bool:
    """Whether a call writes into a file no more than the name of that file, which nobody quoted, or a whole wish that
    names another file as well: what a small model makes of a wish that it has no tool for."""
    paths = [value for name, value in arguments.items() if slot_of(name) is Slot.PATH]
    texts = [value for name, value in arguments.items() if slot_of(name) is not Slot.PATH]
    quoted = [found[0][1:-1] for found in QUOTED.finditer(wish)]
    named = {bare_thing(wish[word.start : word.end]) for word in words_of(wish) if is_thing(wish[word.start : word.end])}
    # With one name it is what goes into that file, with the words around it.
    own = (*paths, trim(wish)) if len(named) > len(paths) > 0 else paths
    return texts != [] and all(text in own and text not in quoted for text in texts)


def known_by(tool: Tool, examples: Sequence[str]) -> set[str]:
    """The words, as stems, by which a person may mean a tool."""
    declared: Mapping[str, Any] = tool["paramSchema"].get("properties", {})
    properties = {name: cast("Mapping[str, Any]", each) for name, each in declared.items() if isinstance(each, dict)}
    names = [*parts_of(tool["name"]), *(part for key in properties for part in parts_of(key))]
    texts = [tool["description"], *(_text_of(each.get("description", "")) for each in properties.values())]
    texts += [QUOTED.sub(" ", each) for each in examples]
    choices = [as_json(each.get("enum", [])) for each in properties.values()]
    own = {stem(name) for name in names}
    wider = set[str]().union(*(group for group in _GROUPS if not group.isdisjoint(own)))
    return own | wider | {term for text in (*texts, *choices) for term in terms_in(text)}


def _words_in(text: str) -> list[str]:
    """The words of a text that are no names of things."""
    return [word.bare for word in words_of(text) if not is_thing(text[word.start : word.end])]


def _may_look(arguments: Mapping[str, Json], message: str, said: set[str], known: set[str], *, is_shipped: bool) -> bool:
    words = [word.bare for word in words_of(message)]
    common = said & known
    if common - WEAK_STEMS or len(common) > 1 or (common and len(words) <= _FEW):
        return True
    paths = [_text_of(value) for key, value in arguments.items() if slot_of(key) is Slot.PATH]
    # "A function that reverses a list" asks for no list.
    nouns = {stem(two) for one, two in pairwise(words) if one in _ARTICLES}
    if (common - nouns and _is_said(paths, words)) or (common and not _PLACES.isdisjoint(words)):
        return True
    if _copies(arguments.values(), said) and any(one in _INSIDE and two in _PLACES for one, two in pairwise(words)):
        return True
    is_own = not _OWNERS.isdisjoint(words) or bool(own_queries(message))
    if is_own and any(slot_of(key) is Slot.QUERY for key in arguments):
        return True
    if may_be_own(message) and any(slot_of(key) is Slot.QUERY for key in arguments) and _copies(arguments.values(), said):
        return True
    # A tool that somebody brought may be known by words that stand nowhere; what it is asked about is the only trace.
    return not is_shipped and _copies(arguments.values(), said)


def _names_thing(values: Iterable[Json], message: str) -> bool:
    """Whether a value is the name of a thing, or a figure, that stands in the message."""
    written = [_bare_path(bare_thing(message[word.start : word.end])) for word in words_of(message)]
    named = {each for each in written if is_thing(each)} | {figure for each in written if (figure := _figure_in(each))}
    named |= {match[1] for match in _FOLDER.finditer(message)}
    named |= {match[0][1:-1] for match in QUOTED.finditer(message)}
    return any(text in named or _bare_path(text) in named for text in map(_text_of, values))


def _figure_in(text: str) -> str | None:
    """The number that a word holds, as JSON writes it: 12.5 of "€12.50"."""
    found = _FIGURE.search(text)
    return None if found is None else _ZEROS.sub("", found[0])


def _bare_path(text: str) -> str:
    return text.removeprefix("./").removesuffix("/")


def _is_said(texts: Iterable[str], words: Sequence[str]) -> bool:
    """Whether one of them is a word of the message, such as a folder's name."""
    said = (_bare_path(text).lower() for text in texts)
    return any(text in words and text not in _WEAK_WORDS for text in said)


def _is_named(path: str, message: str) -> bool:
    """Whether a word of the message names a file, though it does not look like one: "save it to LICENSE"."""
    pairs = pairwise(words_of(message))
    return any(before.bare in _NAMING and bare_thing(message[word.start : word.end]) == path for before, word in pairs)


def _copies(values: Iterable[Json], said: set[str]) -> bool:
    """Whether an argument repeats a word of the message that tells something, or a name with a mark in it: "nas-2"."""
    return any(not ({*terms_in(as_json(value)), stem(_text_of(value).lower())} - WEAK_STEMS).isdisjoint(said) for value in values)


def _text_of(value: Json) -> str:
    return value if isinstance(value, str) else as_json(value)


def is_for_another(wish: str, tools: Sequence[Tool]) -> bool:
    """Whether a word of the wish is one by which a tool is known that needs neither a file, a page nor something to look for."""
    said = {term for term in terms_in(wish) if term not in WEAK_STEMS}
    others = [tool for tool in tools if not any(map(slot_of, required_of(tool["paramSchema"])))]
    return any(not said.isdisjoint(known_by(tool, ())) for tool in others)
