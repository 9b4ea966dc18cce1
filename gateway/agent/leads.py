"""The words around a wish that ask for nothing: what leads into it, what ends it, and what tells when it is to be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from gateway.agent.tokens import STOPS, Token, Tokens, added, moved, phrase_at, phrase_before
from gateway.agent.wish_verbs import WishVerbs
from gateway.agent.wish_words import WISH_WORDS

_ADVERBS: Final = frozenset(WISH_WORDS.adverbs)
_AROUND: Final = frozenset((*WISH_WORDS.subjects, *WISH_WORDS.adverbs))
_BEINGS: Final = frozenset(WISH_WORDS.beings)
_DONE_WORDS: Final = frozenset(WISH_WORDS.done_words)
_DONE_ENDS: Final = frozenset(WISH_WORDS.done_ends)
_FILLERS: Final = frozenset(WISH_WORDS.fillers)
_FIRST: Final = frozenset({"first", "firstly"})
_JOINERS: Final = frozenset(WISH_WORDS.joiners)
_MAY_BE: Final = frozenset(WISH_WORDS.may_be)
_MOST_DONE_WORDS: Final = 5


class Order(StrEnum):
    """When a clause is to be done, by its words."""

    AS_SAID = "as said"
    BEFORE = "before"
    """It begins with "before": it is done after the clause beside it."""

    AFTER = "after"
    """It begins with "after": it is done before the clause beside it."""

    FIRST = "first"
    """It is to be done before what stands before it."""


@dataclass(frozen=True, slots=True)
class Lead:
    """The words before a wish. `end` is where they end; `is_joined` says that one of them joins it to what is before, `is_parted`
    that one is more than "and"; `turn` is the "but" among them."""

    end: int
    is_joined: bool
    is_parted: bool
    is_first: bool
    turn: Tokens


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a clause that says before or after what something is done: its verb as a wish has it, and where the rest
    of the clause begins."""

    end: int
    order: Order
    head: Tokens


def without_asides(tokens: Tokens) -> list[Token]:
    """A message without the polite words that may stand anywhere in it."""
    kept: list[Token] = []
    at = 0
    while at < len(tokens):
        length = phrase_at(tokens, at, WISH_WORDS.asides)
        if length:
            mark = tokens[at + length - 1].mark
            kept[-1:] = [each if each.mark in STOPS else replace(each, mark=mark or each.mark) for each in kept[-1:]]
        else:
            kept.append(tokens[at])
        at += length or 1
    return kept


def without_tail(tokens: Sequence[Token]) -> list[Token]:
    """A clause without the thanks and the haste at its end. Thanks are a part of it where nothing parts them from it."""
    end = len(tokens)
    while end:
        remark = phrase_before(tokens, end, WISH_WORDS.remarks)
        tail = phrase_before(tokens, end, WISH_WORDS.tails)
        before = tokens[end - remark - 1] if remark < end else None
        if remark and (before is None or before.mark or before.is_name or before.is_quoted):
            end -= remark
        elif tail:
            end -= tail
        else:
            break
    return list(tokens[:end])


def lead_at(tokens: Tokens, at: int) -> Lead:
    """The words at a place that lead into a wish."""
    is_joined = is_parted = is_first = False
    turn: Tokens = ()
    start = at
    while at < len(tokens) and not tokens[at].is_quoted:
        token = tokens[at]
        sequel = _done_at(tokens, at) or phrase_at(tokens, at, WISH_WORDS.sequels)
        remark = phrase_at(tokens, at, WISH_WORDS.remarks)
        length = phrase_at(tokens, at, WISH_WORDS.openers, _ADVERBS)
        if sequel:
            is_joined, is_parted, length = True, True, sequel
        elif token.bare in _JOINERS or token.bare == "but":
            is_joined, length = True, 1
            turn = turn if token.bare in _JOINERS else [token]
        elif token.bare in _FILLERS and not length:
            is_first = is_first or (token.bare in _FIRST and at > start)
            length = 1
        elif remark and tokens[at + remark - 1].mark:
            length = remark
        if not length:
            break
        at += length
    return Lead(at, is_joined, is_parted, is_first and is_joined, turn)


def opening_at(tokens: Tokens, at: int, verbs: WishVerbs) -> Opening | None:
    """The beginning of such a clause at a place: "before you delete", "after deleting", "once a.txt is deleted"; or of one that
    says of a thing what may be done with it: "a.txt can be deleted"."""
    if at < len(tokens) and tokens[at].is_name:
        return _passive_at(tokens, at, verbs)
    length = phrase_at(tokens, at, WISH_WORDS.time_words)
    place = at + length
    while length and place < len(tokens) and tokens[place].bare in _AROUND:
        place += 1
    if not length or _done_at(tokens, at) or place + 1 >= len(tokens) or tokens[place].is_quoted:
        return None
    order = Order.BEFORE if tokens[at].bare == "before" else Order.AFTER
    token = tokens[place]
    if token.is_name:
        is_passive = tokens[place + 1].bare in _BEINGS and place + 2 < len(tokens)
        base = verbs.forms.get(tokens[place + 2].bare) if is_passive else None
        return None if base is None else Opening(place + 3, order, [added(base), moved(token)])
    base = verbs.gerund_of(token.bare)
    if base is None and place > at + length:
        base = token.bare if token.bare in verbs.all else verbs.forms.get(token.bare)
    return None if base is None else Opening(place + 1, order, [added(base)])


def _passive_at(tokens: Tokens, at: int, verbs: WishVerbs) -> Opening | None:
    words = [token.bare for token in tokens[at + 1 : at + 4]]
    if tokens[at].mark or words[:1] == [] or words[0] not in _MAY_BE:
        return None
    base = verbs.forms.get(words[2]) if words[1:2] == ["be"] and len(words) > 2 else None
    if words[1:2] == ["go"]:
        return Opening(at + 3, Order.AS_SAID, [added("delete"), moved(tokens[at])])
    return None if base is None else Opening(at + 4, Order.AS_SAID, [added(base), moved(tokens[at])])


def _done_at(tokens: Tokens, at: int) -> int:
    """How many words say that what was before is done: "once that's done", "when you are finished with it"."""
    length = phrase_at(tokens, at, WISH_WORDS.done_openings)
    end = at + length
    most = min(len(tokens), end + _MOST_DONE_WORDS)
    while length and end < most and not tokens[end - 1].mark:
        if tokens[end].bare in _DONE_ENDS:
            what = 0 if tokens[end].mark else phrase_at(tokens, end + 1, WISH_WORDS.done_things)
            return end + 1 + what - at
        if tokens[end].bare not in _DONE_WORDS:
            break
        end += 1
    return 0
