"""A wish for the files that mention something: "which files mention Jonas?". The search answers it, and no model tells of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.figures import ends_early
from gateway.agent.messages import ToolMessage
from gateway.agent.passages import lines_of
from gateway.agent.reading import is_path
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import QUOTED, words_of

_FLAGS: Final = re.IGNORECASE | re.ASCII
_PAPERS: Final = any_of({*VOCABULARY.counted_nouns["file"], *VOCABULARY.document_nouns})
_LEADS: Final = rf"^(?:(?:{any_of((*VOCABULARY.fillers, *VOCABULARY.cues))}),? )*"
_WHICH: Final = rf"(?:which|what) (?:of (?:the|my|our) )?({_PAPERS})"
_VERBS: Final = any_of((*VOCABULARY.mentioning_verbs, *VOCABULARY.vague_mentioning))
_MENTIONING: Final = re.compile(rf"{_LEADS}{_WHICH} (?:that )?({_VERBS}) (.+?)[.?! ]*$", _FLAGS)
_MENTIONED: Final = re.compile(
    rf"{_LEADS}in {_WHICH} ({any_of(VOCABULARY.classifying_words)}) (.+?) (?:{any_of(VOCABULARY.mentioned_words)})[.?! ]*$",
    _FLAGS,
)
_VAGUE: Final = frozenset(VOCABULARY.vague_mentioning)
"""Verbs that are nouns as well, and tell of more than words: "what file names are there?", "which files contain pictures?"."""

_KINDS: Final = frozenset((*VOCABULARY.document_nouns, *(noun for nouns in VOCABULARY.counted_nouns.values() for noun in nouns)))
_UNTOLD: Final = frozenset((*VOCABULARY.articles, *VOCABULARY.unmentioned_words, *VOCABULARY.leading_prepositions))
"""What no file has as a word of its own where it is asked for: "which files mention both of them?"."""

_HIT: Final = re.compile(r"([^:]*[^: ]):[0-9]+(?:-[0-9]+)?:(.*)")
"""A line that a search found, with its file and its number, as tools of many makers write it."""

_SAYING: Final = re.compile("[^/ ]+ ")
"""How a sentence begins, and a name with spaces that has no folder: "Nothing in notes.txt"."""

_MOST_WORDS: Final = 4


def mentioned_query(wish: str) -> str:
    """What the files are to mention; empty for any other wish."""
    text = trim(wish)
    found = _MENTIONING.match(text) or _MENTIONED.match(text)
    if found is None:
        return ""
    noun, verb, said = found[1].lower(), found[2].lower(), found[3]
    quoted = QUOTED.fullmatch(said)
    if quoted is not None:
        return quoted[0][1:-1]
    words = words_of(said)
    is_plain = 0 < len(words) <= _MOST_WORDS and "," not in said
    names = any(word.bare in _UNTOLD or is_thing(bare_thing(said[word.start : word.end])) for word in words)
    is_kind = verb in _VAGUE and not _KINDS.isdisjoint(word.bare for word in words)
    # A verb agrees with its noun: "which files contain milk?", and not "what file names work?".
    is_told = verb not in _VAGUE or said[0].isupper() or (noun.endswith("s") and not verb.endswith("s"))
    return said if is_plain and is_told and not names and not is_kind else ""


def told_mentions(query: str, search: ToolMessage, copy: Copy) -> str | None:
    """Which files mention it, of all that a search found: a word of theirs begins with it. None where the search tells it in a
    form that is not known."""
    text = search.result["content"]
    is_part = ends_early(text)
    lines = lines_of(text)[:-1] if is_part else lines_of(text)
    files = _files_with(query, lines)
    if not files and not _is_none(query, lines):
        return None
    names = ", ".join(f"`{file}`" for file in files)
    said = copy.say("mentionedIn", query=query, names=names) if files else copy.say("notFound", query=query)
    return f"{said}\n\n{copy.say('lookedInPart')}" if is_part else said


def _files_with(query: str, lines: Sequence[str]) -> list[str]:
    """The files of these lines that mention it. A search that shows names alone has seen it in them, or in their names."""
    word = re.compile(rf"(?<![^\W_]){re.escape(query)}", re.IGNORECASE)
    hits = [hit for line in lines if (hit := _HIT.fullmatch(line)) is not None]
    if hits:
        return list(dict.fromkeys(hit[1] for hit in hits if word.search(hit[2])))
    names = [line for line in lines if is_path(line) and _SAYING.match(line) is None]
    return [name for name in names if word.search(name) or query.lower() not in name.lower()]


def _is_none(query: str, lines: Sequence[str]) -> bool:
    """Whether these lines are matches of other words, or one sentence that nothing was found."""
    if any(map(_HIT.fullmatch, lines)):
        return True
    said = " ".join(lines)
    is_sentence = len(lines) <= 1 and not said.startswith(("{", "[")) and query.lower() not in said.lower()
    return is_sentence and not any(map(is_thing, said.split(" ")))
