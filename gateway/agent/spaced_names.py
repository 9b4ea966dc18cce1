"""Names with spaces that a person wrote without quotes, "open meeting notes.txt", put into quotes.

All that reads a wish takes for a word what stands between spaces, and a name in quotes for one. So a name is found once, before
any of that. Where it begins the words tell: after the last one before it that no name has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.agent.budget import length_of
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, UserMessage
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, is_spaced_name

_MOST: Final = LIMITS.actions * LIMITS.action_characters
"""Characters of a message that is read for names. A longer one holds a text to work on."""

_MOST_WORDS: Final = 4
"""Words of a name beside its last one."""

_WORD: Final = re.compile(r"[^ \t\r\n]+")
_MARK: Final = re.compile(r"(?<![^ \t\r\n(])@(?=[A-Za-z0-9_.~-]*[A-Za-z0-9_-](?:/|\.[A-Za-z]))")
_STOP: Final = re.compile(r"[,;:.!?)]+\Z")
_LAST: Final = re.compile(
    rf"[A-Za-z0-9_](?:[^\"`“”:@]*[A-Za-z0-9_)-])?\.(?!(?:{any_of(VOCABULARY.site_endings)})\Z)[A-Za-z][A-Za-z0-9]{{0,9}}|"
    r"[A-Za-z0-9_][^\"`“”:@.]*/",
    re.IGNORECASE | re.ASCII,
)
"""How the last word of a name looks: with the ending of a file, or with the slash of a folder."""

_PART: Final = re.compile(r"[A-Za-z0-9\u00c0-\u024f&_][A-Za-z0-9\u00c0-\u024f&_/'’-]*")
_TOLD: Final = re.compile(r"[A-Z0-9\u00c0-\u00de]")
"""How a word begins that is written as a name, or a number."""

_PAST: Final = re.compile(r"[a-z]{2,}[a-z]ed", re.ASCII)
"""How most verbs end that tell what was done: "I renamed a.txt"."""

_ACTS: Final = tuple(verb for words in VOCABULARY.acts.values() for verb in words["verbs"])
_VERBS: Final = frozenset(
    (
        *WISH_WORDS.imperatives,
        *WISH_WORDS.commands,
        *WISH_WORDS.synonyms,
        *VOCABULARY.taking_words,
        *VOCABULARY.having_verbs,
        *_ACTS,
    )
)
_UNNAMING: Final = frozenset(
    word
    for phrase in (
        *(*VOCABULARY.fillers, *VOCABULARY.cues, *VOCABULARY.no_folders, *VOCABULARY.common_terms, *VOCABULARY.naming_words),
        *(*VOCABULARY.link_words, *VOCABULARY.phrase_ends, *VOCABULARY.untold_adjectives, *VOCABULARY.asking_words),
        *(*VOCABULARY.document_nouns, *VOCABULARY.folder_nouns, *VOCABULARY.inside_words, *VOCABULARY.placing_words),
        *(*VOCABULARY.content_verbs, *VOCABULARY.about_words, *VOCABULARY.picture_kinds, *VOCABULARY.articles),
        *(*VOCABULARY.list_nouns, *VOCABULARY.opening_verbs, *VOCABULARY.explaining_verbs, *VOCABULARY.file_endings),
        *(*VOCABULARY.excepting_words, *VOCABULARY.holding_verbs, *VOCABULARY.keeping_helpers, *VOCABULARY.never_named),
        *(*WISH_WORDS.fillers, *WISH_WORDS.prepositions, *WISH_WORDS.determiners, *WISH_WORDS.negations, *WISH_WORDS.sharing),
        *(*WISH_WORDS.particles, *WISH_WORDS.adverbs, *WISH_WORDS.irregular_forms),
        *(*VOCABULARY.meant_verbs, *VOCABULARY.correcting_words, *VOCABULARY.repeated_acts),
    )
    for word in phrase.split(" ")
)
"""Words after which a name begins: none is taken to hold one of them."""

_FOLDERS: Final = frozenset(VOCABULARY.folder_nouns)
_NAMINGS: Final = frozenset(VOCABULARY.named_by)
_INSIDE: Final = frozenset(VOCABULARY.inside_words)
_HELD: Final = frozenset(VOCABULARY.held_leads)
_WORLD: Final = frozenset(VOCABULARY.world_names)


def with_names_quoted(messages: Sequence[Message]) -> list[Message]:
    """The same messages, with the names quoted in what the person said."""
    return [replace(each, content=quote_names(each.content)) if isinstance(each, UserMessage) else each for each in messages]


def _without_marks(message: str) -> str:
    """A message in which a file is named without the mark that some put before one: "@notes/a.txt"."""
    quoted = [found.span() for found in QUOTED.finditer(message)]
    marks = [found.start() for found in _MARK.finditer(message)]
    for mark in reversed(marks):
        if not any(since < mark < to for since, to in quoted):
            message = message[:mark] + message[mark + 1 :]
    return message


def quote_names(message: str) -> str:
    """A message with its names of files and folders that have spaces in quotes."""
    if length_of(message) > _MOST:
        return message
    message = _without_marks(message)
    quoted = [found.span() for found in QUOTED.finditer(message)]
    places = [found.span() for found in _WORD.finditer(message)]
    words = ["" if any(start < to and since < end for since, to in quoted) else message[start:end] for start, end in places]
    names = [name for at in range(len(words)) if (name := _ended_at(words, at) or _folder_after(words, at)) is not None]
    for first, last, mark in reversed(names):
        start, end = places[first][0], places[last][0] + len(_bare(words[last]))
        name = f"{message[start:end]}{mark}"
        message = f'{message[:start]}"{name}"{message[end:]}' if is_spaced_name(name) else message
    return message


def longer_name(message: str, path: str) -> str | None:
    """The name that a path may be only the end of, where the word before its first folder can be one of that folder's name:
    "release notes/draft.txt" of "notes/draft.txt". None where nothing is in doubt; what is in quotes never is."""
    words = _WORD.findall(QUOTED.sub(lambda quoted: "_" * length_of(quoted[0]), message))
    for at, word in enumerate(words):
        first = at
        while first > 0 and at - first < _MOST_WORDS and _is_part(words, first - 1) and not _STOP.search(words[first - 1]):
            first -= 1
        # "A script src/a.py" says what it is.
        is_described = first > 0 and words[first - 1].lower() in ("a", "an")
        if "/" in path and _bare(word) == path and first < at and not is_described:
            return " ".join((*words[first:at], path))
    return None


def _ended_at(words: Sequence[str], at: int) -> tuple[int, int, str] | None:
    """The first and the last word of a name that ends here by how it looks, and nothing to be added to it."""
    first = at
    while first > 0 and at - first < _MOST_WORDS and _is_part(words, first - 1) and _joins(words[first - 1], words[first]):
        first -= 1
    return (first, at, "") if first < at and _LAST.fullmatch(_bare(words[at])) else None


def _joins(before: str, word: str) -> bool:
    """Whether two words can be of one name. A path begins with its first folder, of whose name only a figure tells that the word
    before it is a part: "Invoices 2026/may.txt"."""
    is_path = "/" in word and "/" not in before
    return not _STOP.search(before) and not (is_path and not (word[0].isdigit() and _TOLD.match(before)))


def _folder_after(words: Sequence[str], at: int) -> tuple[int, int, str] | None:
    """The same of a folder's name that begins after this word, and the slash that says what it is: "the folder tax papers", "what
    is in Invoices 2026?"."""
    word, before = words[at].lower(), words[at - 1].lower() if at else ""
    is_called = word in _FOLDERS or (word in _NAMINGS and before in _FOLDERS)
    is_inside = word in _INSIDE and before in _HELD
    if not is_called and not is_inside:
        return None
    last = at
    while last + 1 < len(words) and _is_part(words, last + 1) and not _STOP.search(words[last]):
        last += 1
    named = words[at + 1 : last + 1]
    is_told = any(map(_TOLD.match, named[1:])) and _WORLD.isdisjoint(_bare(each).lower() for each in named)
    return (at + 1, last, "/") if (is_called or is_told) and 1 < len(named) <= _MOST_WORDS else None


def _is_part(words: Sequence[str], at: int) -> bool:
    """Whether a word can be one of a name: neither a link nor an order, nor the end of another name."""
    bare = _bare(words[at])
    word, before = bare.lower(), words[at - 1].lower() if at else ""
    is_order = word in _VERBS and before not in _VERBS
    is_first = at == 0 and "/" not in bare
    is_name = _PART.fullmatch(bare) is not None and word not in _UNNAMING and _PAST.fullmatch(word) is None
    return is_name and not is_order and not is_first


def _bare(word: str) -> str:
    return _STOP.sub("", word)
