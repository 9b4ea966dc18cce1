"""Two folders in one wish, by names that are plain words: "list notes and archive", "what's in photos and the old folder?".

Such a name may be a verb as well, so that no rule for clauses takes them apart, and a small model lists one of them. What is in
gin and tonic is asked of no folder: a question is taken apart only where it says that it is about one.
"""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.browser import trim
from gateway.agent.vocabulary import VOCABULARY, any_of

_NAME: Final = r"((?:(?:the|my|our) )?[a-z][a-z0-9_-]*(?: (?:folder|directory))?)"
_INSIDE: Final = rf"what(?:['’]s| is| are) (?:{any_of(VOCABULARY.inside_words)})"
_LISTED: Final = re.compile(
    rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*(list|(?:show(?: me| us)? )?{_INSIDE}) "
    rf"{_NAME}(?:, {_NAME})?,? and {_NAME}([?.! ]*)$",
    re.IGNORECASE | re.ASCII,
)
_FOLDER: Final = re.compile(r" (?:folder|directory)\Z", re.IGNORECASE | re.ASCII)
_LED: Final = re.compile(r"(?:the|my|our) ", re.IGNORECASE | re.ASCII)
_OWNER: Final = re.compile(r"(?:my|our) ", re.IGNORECASE | re.ASCII)
_NO_NAMES: Final = frozenset((*VOCABULARY.no_folders, *VOCABULARY.plain_listing_words))
"""Words that name no folder: "list all and everything"."""


def folders_asked(message: str) -> list[str]:
    """The wishes of a message that asks for what these folders hold, one for each; none for any other message."""
    found = _LISTED.match(trim(message))
    if found is None:
        return []
    names = [each for each in found.groups()[1:4] if each]
    is_named = all(each.lower() not in _NO_NAMES for each in names)
    if not is_named or (" " in found[1] and not any(map(_FOLDER.search, names))):
        return []
    owner = _OWNER.match(names[0])
    whole = [each if owner is None or _LED.match(each) else f"{owner[0]}{each}" for each in names]
    return [f"{found[1]} {each}{found[5]}" for each in whole]
