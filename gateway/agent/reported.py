"""Whether a clause reports, without saying who did it, that something which a tool can change was changed: "the file has been
deleted", "Moved!", "the list now has milk".

What somebody tells of the world is no such report: its subject is none of the things that tools are for, or it says when it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.assertions import chain_before
from gateway.agent.claim_clauses import THING, ClaimClause
from gateway.agent.claim_words import CLAIMS, Form, any_phrase
from gateway.agent.words import words_of

REPORTED_STATES: Final = any_phrase(CLAIMS.reported_states)
"""What a change brings about, in any turn."""

_NOUNS: Final = frozenset(CLAIMS.reported_nouns)
_LINKS: Final = frozenset((*CLAIMS.reported_links, THING))
_INTO: Final = frozenset(CLAIMS.reported_places)
_DETERMINERS: Final = frozenset(CLAIMS.determiners)
_LEADS: Final = frozenset((*CLAIMS.determiners, *CLAIMS.reported_counts))
_PRONOUNS: Final = frozenset(CLAIMS.reported_pronouns)
_DOERS: Final = frozenset(CLAIMS.reported_doers)
_HISTORIC: Final = frozenset(CLAIMS.historic)
_COMPOSING: Final = frozenset(CLAIMS.composing)
_OPENERS: Final = frozenset(CLAIMS.openers)
_ADVERBS: Final = frozenset(CLAIMS.adverbs)
_BE: Final = frozenset(CLAIMS.be)
_HAVE: Final = frozenset(CLAIMS.have)
_PAST: Final = frozenset(CLAIMS.past)
_YEAR: Final = re.compile(r"1[0-9]{3}|20[0-9]{2}")


def reports_act(clause: ClaimClause, at: int, form: Form, *, is_found: bool, is_offered: bool = False) -> bool:
    """Whether the word for an act at this place of a clause reports that it was done. `is_found`: a result names its thing, which
    may well tell what became of it. `is_offered`: the word is one of a tool on offer, whose things no list needs to know."""
    words, word = clause.words, clause.words[at]
    begins = chain_before(words, at)
    chain, subject = words[begins:at], _subject(words[:begins])
    is_perfect = "been" in chain
    if form not in (Form.PAST, Form.SAME) or (is_history(words) and not is_perfect):
        return False
    if not subject:
        is_bare = all(other in _OPENERS or other in _ADVERBS for other in words[at + 1 :])
        return form is Form.PAST and is_bare and not chain and word not in _COMPOSING
    if len(subject) <= 2 and subject[-1] in _DOERS:
        return _BE.isdisjoint(chain) and (form is Form.PAST or not _HAVE.isdisjoint(chain))
    if _BE.isdisjoint(chain):
        return False
    is_present = _PAST.isdisjoint(chain)
    is_last = all(other in _ADVERBS for other in words[at + 1 :])
    if is_present and not is_last and "now" not in words:
        return False
    if len(subject) == 1 and subject[0] in _PRONOUNS:
        return word not in _COMPOSING
    if subject[0] == THING and is_found and not (is_perfect or is_present):
        return False
    is_known = _is_subject(subject, clause) or (is_offered and subject[0] in _LEADS)
    return is_known or (is_perfect and _is_placed(words[at + 1 :]))


def reports_state(clause: ClaimClause, at: int, message: str) -> bool:
    """Whether what stands at this place of a clause reports a change of something of which the message does not speak."""
    subject = _subject(clause.words[: chain_before(clause.words, at)])
    spoken = {word.bare for word in words_of(message)}
    is_asked = any(word in _NOUNS and word in spoken for word in subject) or any(thing in message for thing in clause.things)
    return not is_asked and not is_history(clause.words) and _is_subject(subject, clause)


def _is_subject(subject: Sequence[str], clause: ClaimClause) -> bool:
    """Whether it names a thing that tools are for: "both notes", "the line about bread", `a.txt`."""
    if subject[:1] == [THING]:
        return len(subject) == 1
    if not subject or not (subject[0] in _LEADS or subject[0] in _NOUNS):
        return False
    place = next((place for place, word in enumerate(subject) if word in _NOUNS), None)
    if place is None:
        return False
    after = subject[place + 1 : place + 2]
    return all(word in _LINKS or word in clause.names for word in after)


def _is_placed(rest: Sequence[str]) -> bool:
    """Whether it ends in such a thing: "has been added to the shopping list"."""
    at = next((at for at, word in enumerate(rest) if word in _INTO), len(rest))
    after = rest[at + 1 :]
    return after[:1] != [] and after[0] in _DETERMINERS and after[-1] in _NOUNS


def _subject(words: Sequence[str]) -> list[str]:
    """The words before a verb without those that only open a sentence."""
    at = 0
    while at < len(words) and words[at] in _OPENERS and words[at + 1 : at + 2] != []:
        at += 1
    return [word for word in words[at:] if word not in _ADVERBS]


def is_history(words: Sequence[str]) -> bool:
    """Whether it says when, in words that nobody uses of what was done just now."""
    return not _HISTORIC.isdisjoint(words) or any(_YEAR.fullmatch(word) for word in words)
