"""A text that the person says in full and that is to be kept in a file: "write buy more tape into notes/tape.txt".

A small model copies the end of the sentence along with it, or only a part of it. What it wrote is measured against what stands
between the verb and the file; a text that it made up itself is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.agent.acts import is_thing
from gateway.agent.browser import trim
from gateway.agent.names import Slot, slot_of
from gateway.agent.render import required_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.core.canonical import Json

_FLAGS: Final = re.IGNORECASE | re.ASCII | re.DOTALL
_VERBS: Final = any_of(verb for verb in VOCABULARY.keeping_verbs if verb != "copy")
_TEXTS: Final = any_of(VOCABULARY.given_nouns)
_LEAD: Final = rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*(?:{_VERBS})(?: down)?(?: that)?:? "
_TEXT_LEAD: Final = re.compile(rf"^(?:(?:the|this) (?:following )?(?:{_TEXTS})(?: that says| saying)?|this):? ", _FLAGS)
_NAMED: Final = rf"(?: (?:{any_of(VOCABULARY.kept_leads)}))?(?: new)?(?: (?:file|note|list))?(?: (?:called|named))? "
_TO: Final = rf"[ ,]+(?:{any_of(VOCABULARY.keeping_links)}){_NAMED}"
_TAIL: Final = rf"[.!]?(?:,? (?:{any_of((*WISH_WORDS.tails, *WISH_WORDS.remarks))}))*[.!]?$"
_QUOTES: Final = "\"'`“”"


def with_given_text(arguments: Mapping[str, Json], schema: Mapping[str, Any], wish: str) -> dict[str, Json]:
    """The arguments with the text that the person gave in full for a file, where a call has a part of it or more than it."""
    given = dict(arguments)
    paths = [name for name in required_of(schema) if slot_of(name) is Slot.PATH]
    others = [name for name in required_of(schema) if name not in paths]
    if len(paths) != 1 or len(others) != 1:
        return given
    path, content = given.get(paths[0]), given.get(others[0])
    if not isinstance(path, str) or not isinstance(content, str) or not trim(content):
        return given
    place = rf"[{_QUOTES}]?{re.escape(path)}[{_QUOTES}]?"
    said = re.search(rf"{_LEAD}(.+?){_TO}{place}{_TAIL}", trim(wish), _FLAGS)
    if said is None:
        return given
    text = trim(_TEXT_LEAD.sub("", said[1]))
    own = trim(re.sub(rf"{_TO}{place}{_TAIL}", "", trim(content), flags=_FLAGS))
    own = re.sub(_LEAD, "", own, flags=_FLAGS)
    is_plain = not any(mark in text for mark in '"`“”') and not any(map(is_thing, text.split(" ")))
    is_part = is_plain and own in text
    return {**given, others[0]: text} if is_part else given
