"""All that a text has of one kind: its dates, addresses, links or amounts. A small model leaves some out and makes others up."""

from __future__ import annotations

import re
from typing import Final

from gateway.agent.passages import lines_of
from gateway.agent.quantities import numbers_in
from gateway.agent.vocabulary import VOCABULARY, any_of

_FLAGS: Final = re.IGNORECASE | re.ASCII
_MONTHS: Final = any_of(name for names in VOCABULARY.months for name in names)
_DAY: Final = "[0-9]{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = "(?:,? (?:19|20)[0-9]{2})?"
_KINDS: Final = {
    "dates": re.compile(
        rf"\b[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}\b|\b[0-9]{{1,2}}\.[0-9]{{1,2}}\.(?:[0-9]{{4}}\b|[0-9]{{2}}\b)?"
        rf"|\b(?:{_DAY} (?:to|and|-|–) )?{_DAY} (?:of )?(?:{_MONTHS})\b{_YEAR}|\b(?:{_MONTHS})\.? {_DAY}\b{_YEAR}",
        _FLAGS,
    ),
    "addresses": re.compile(r"[a-z0-9_.+-]+@[a-z0-9_-]+(?:\.[a-z0-9_-]+)+", _FLAGS),
    "links": re.compile(r"https?://[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]", _FLAGS),
}
_AMOUNTS: Final = "amounts"
_ASKED: Final = {
    kind: re.compile(rf"\b(?:all|every|each)(?: of)?(?: the)? (?:{any_of(words)})\b", _FLAGS)
    for kind, words in VOCABULARY.collected_kinds.items()
}


def kind_asked(wish: str) -> str:
    """The kind of which a wish asks for all there is; empty for any other wish."""
    return next((kind for kind, form in _ASKED.items() if form.search(wish)), "")


def collected(kind: str, text: str) -> str | None:
    """Each of a kind once, in its order, a line each; None where the text has none."""
    if kind == _AMOUNTS:
        found = [number.text for line in lines_of(text) for number in numbers_in(line) if number.unit]
    else:
        found = [match[0] for match in _KINDS[kind].finditer(text)]
    return "\n".join(dict.fromkeys(found)) or None
