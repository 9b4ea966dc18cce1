"""A wish for the files that mention something: "which files mention Jonas?". The search answers it, and no model tells of it."""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.acts import bare_thing, is_thing
from gateway.agent.browser import trim
from gateway.agent.copy import Copy
from gateway.agent.messages import ToolMessage
from gateway.agent.passages import lines_of
from gateway.agent.tables import match_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import QUOTED, words_of

_FLAGS: Final = re.IGNORECASE | re.ASCII
_PAPERS: Final = any_of({*VOCABULARY.counted_nouns["file"], *VOCABULARY.document_nouns})
_ASKED: Final = re.compile(
    rf"^(?:(?:{any_of((*VOCABULARY.fillers, *VOCABULARY.cues))}),? )*(?:in )?(?:which|what) (?:of (?:the|my|our) )?(?:{_PAPERS}) "
    rf"(?:(?:that )?(?:{any_of(VOCABULARY.mentioning_verbs)}) (.+?)|"
    rf"(?:{any_of(VOCABULARY.classifying_words)}) (.+?) (?:{any_of(VOCABULARY.mentioned_words)}))[.?! ]*$",
    _FLAGS,
)
_MOST_WORDS: Final = 4


def mentioned_query(wish: str) -> str:
    """What the files are to mention; empty for any other wish."""
    found = _ASKED.match(trim(wish))
    if found is None:
        return ""
    said = found[1] or found[2]
    quoted = QUOTED.fullmatch(said)
    if quoted is not None:
        return quoted[0][1:-1]
    words = words_of(said)
    is_plain = 0 < len(words) <= _MOST_WORDS and words[0].bare not in VOCABULARY.articles
    names = any(is_thing(bare_thing(said[word.start : word.end])) for word in words)
    return said if is_plain and not names and "," not in said else ""


def told_mentions(query: str, search: ToolMessage, copy: Copy) -> str:
    """Which files mention it, of all that a search found: a word of theirs begins with it."""
    word = re.compile(rf"(?<![^\W_]){re.escape(query)}", re.IGNORECASE)
    matches = [match for line in lines_of(search.result["content"]) if (match := match_of(line)) is not None]
    files = list(dict.fromkeys(match[0] for match in matches if word.search(match[1])))
    if not files:
        return copy.say("notFound", query=query)
    return copy.say("mentionedIn", query=query, names=", ".join(f"`{file}`" for file in files))
