"""The clauses of a message: one for each wish, in the order of its words, each without the words that only lead in or out.

A cut is made only where a wish begins: at a verb that people ask with, after a mark or a word that joins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Final

from gateway.agent.acts import ACTS
from gateway.agent.leads import Lead, Opening, Order, lead_at, opening_at, without_tail
from gateway.agent.objects import head_of
from gateway.agent.ranking import stem
from gateway.agent.tokens import STOPS, Token, Tokens, phrase_at
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_verbs import WishVerbs
from gateway.agent.wish_words import WISH_WORDS

_ARTICLES: Final = frozenset({"the", "my", "all"})
_ASKING: Final = frozenset(WISH_WORDS.asking)
_BEINGS: Final = frozenset(WISH_WORDS.beings)
_COMMANDS: Final = frozenset(WISH_WORDS.commands)
_COMPOSING: Final = frozenset(WISH_WORDS.composing_verbs)
_DETERMINERS: Final = frozenset(WISH_WORDS.determiners)
_KEEPING: Final = frozenset(VOCABULARY.keeping_verbs)
_FOLDERS: Final = frozenset(VOCABULARY.folder_nouns)
_JOINERS: Final = frozenset(WISH_WORDS.joiners)
_MOVING: Final = frozenset(ACTS["move"]["verbs"])
_PREPOSITIONAL: Final = frozenset(WISH_WORDS.prepositional)
_PREPOSITIONS: Final = frozenset(WISH_WORDS.prepositions)
_REACHING: Final = frozenset(WISH_WORDS.reaching)
_REASONS: Final = frozenset(WISH_WORDS.reason_openings)
_SAYING: Final = frozenset({"that", "saying"})
_SOURCES: Final = frozenset(WISH_WORDS.sources)
_NO_VERBS: Final = frozenset(
    chain(
        *(WISH_WORDS.prepositions, WISH_WORDS.determiners, WISH_WORDS.particles, WISH_WORDS.pronouns, WISH_WORDS.subjects),
        *(WISH_WORDS.backwards, WISH_WORDS.asking, WISH_WORDS.beings, WISH_WORDS.negations, WISH_WORDS.time_words),
        *(WISH_WORDS.done_openings, VOCABULARY.common_terms, VOCABULARY.conditions, VOCABULARY.light_words),
    )
)


_TELLS: Final = frozenset(
    chain(
        WISH_WORDS.beings, WISH_WORDS.subjects, WISH_WORDS.asking, WISH_WORDS.backwards, WISH_WORDS.pronouns, WISH_WORDS.negations
    )
)
"""Words of a sentence that tells something, and asks for nothing."""

_MOST_BARE: Final = 8
_NOUN_WITHIN: Final = 4


@dataclass(frozen=True, slots=True)
class Clause:
    """One wish, or what may be one. `is_parted` says that more than "and" or a comma stands before it, `opens` that a sentence
    begins with it."""

    tokens: Tokens
    order: Order
    is_parted: bool
    opens: bool


def clauses_of(tokens: Tokens, verbs: WishVerbs) -> list[Clause]:
    """The clauses of a message, in the order of its words. A verb before a colon is that of each line below it."""
    clauses: list[Clause] = []
    verb: Tokens = ()
    for sentence in _sentences_of(tokens, verbs):
        lead = lead_at(sentence, 0)
        body = sentence[lead.end :]
        if sentence[-1].gap.startswith(":") and not any(token.is_name or token.is_quoted for token in body):
            verb = [replace(token, mark="") for token in body[: head_of(body, verbs)]]
        elif verb and body and not begins_wish(sentence, lead.end, verbs, is_parted=True):
            clauses += _Cutting([*verb, *body], verbs).clauses
        else:
            clauses += _Cutting(sentence, verbs).clauses
    return clauses


def begins_wish(tokens: Tokens, at: int, verbs: WishVerbs, *, is_parted: bool) -> bool:
    """Whether a wish begins with the word at a place: a verb with an object, a question, or what is told to be kept."""
    token, rest = next(iter(tokens[at:]), None), tokens[at + 1 :]
    if token is None or token.is_quoted or token.is_name or token.mark or not rest:
        return False
    if token.bare in _ASKING or phrase_at(tokens, at, WISH_WORDS.statements):
        return len(rest) > 1
    if token.bare not in verbs.all:
        return is_parted and _orders(token, rest[0])
    if token.bare in _COMMANDS and not (is_parted or rest[0].is_name):
        return False
    if rest[0].bare in _JOINERS:
        return begins_wish(tokens, at + 2, verbs, is_parted=is_parted)
    if rest[0].bare in _BEINGS or rest[0].bare == "of":
        return False
    return rest[0].bare not in _PREPOSITIONS or token.bare in _PREPOSITIONAL or is_parted


def is_bare_wish(tokens: Tokens, verbs: WishVerbs) -> bool:
    """Whether a clause has no verb, and is a figure or what a tool is for, with what belongs to it: "timer for 8 minutes",
    "kitchen light off"."""
    if is_counted(tokens):
        return True
    if tokens[0].bare in verbs.all:
        return False
    if stem(tokens[0].bare) in verbs.nouns:
        return True
    is_told = 1 < len(tokens) <= _MOST_BARE and _TELLS.isdisjoint(token.bare for token in tokens)
    noun = next((at for at, token in enumerate(tokens[:_NOUN_WITHIN]) if stem(token.bare) in verbs.nouns), None)
    return is_told and noun is not None and verbs.all.isdisjoint(token.bare for token in tokens[:noun])


def is_counted(tokens: Tokens) -> bool:
    """Whether a clause begins with a figure."""
    return tokens[0].bare[:1].isdecimal()


def is_reason(tokens: Tokens, verbs: WishVerbs) -> bool:
    """Whether a clause only tells why something is wished: a sentence about somebody or something, which names nothing."""
    is_told = tokens[0].bare in _REASONS and len(tokens) > 1 and not _has_name(tokens)
    return is_told and not any(token.is_quoted for token in tokens) and not is_bare_wish(tokens, verbs)


class _Cutting:
    """One sentence as it is taken apart, from its first word to its last."""

    def __init__(self, sentence: Tokens, verbs: WishVerbs) -> None:
        self.clauses: list[Clause] = []
        self._sentence = sentence
        self._verbs = verbs
        self._begin(lead_at(sentence, 0))
        self._lead = replace(self._lead, is_parted=True, turn=())
        at = self._start + (0 if self._head else 1)
        while at < len(sentence):
            lead = self._cut_at(at)
            if lead is None:
                at += 1
                continue
            self._close(at)
            self._begin(lead)
            at = self._start + (0 if self._head else 1)
        self._close(len(sentence))

    def _begin(self, lead: Lead) -> None:
        opening = opening_at(self._sentence, lead.end, self._verbs) or Opening(lead.end, Order.AS_SAID, ())
        self._lead = lead
        self._start, self._order, self._head = opening.end, opening.order, opening.head

    def _close(self, end: int) -> None:
        """End the clause here, if it has anything to say."""
        kept = without_tail([*self._head, *self._sentence[self._start : end]])
        is_first = kept[-1:] != [] and kept[-1].bare == "first"
        kept = without_tail(kept[:-1]) if is_first else kept
        is_first = is_first or self._lead.is_first
        if kept and not (kept[0].bare == "do" and kept[-1].mark == ":"):
            order = Order.FIRST if is_first and self._order is Order.AS_SAID else self._order
            turned = kept if is_first else [*self._lead.turn, *kept]
            self.clauses.append(Clause(turned, order, self._lead.is_parted, not self.clauses))

    def _cut_at(self, at: int) -> Lead | None:
        """The words that lead into the next clause, if one begins here."""
        sentence, verbs = self._sentence, self._verbs
        said = [*self._head, *sentence[self._start : at]]
        lead = lead_at(sentence, at)
        if (opening := opening_at(sentence, lead.end, verbs)) is not None:
            is_open = opening.order is not Order.AS_SAID or sentence[at - 1].mark == "," or lead.is_joined
            is_asked = any(token.bare in _ASKING for token in said)
            return replace(lead, is_parted=True) if is_open and not is_asked else None
        if sentence[at].bare == "so" and is_reason(said, verbs) and begins_wish(sentence, lead.end, verbs, is_parted=True):
            return replace(lead, is_parted=True)
        is_opened = self._order is not Order.AS_SAID
        if sentence[at - 1].mark in (",", ":") or lead.is_joined:
            return lead if _may_cut(said, sentence, lead, verbs, is_opened=is_opened) else None
        # "Before you delete a.txt show me b.txt": nothing parts the two but the name.
        is_ended = sentence[at - 1].is_name or sentence[at - 1].is_quoted or lead.end > at + 1
        follows = is_opened and is_ended and not self.clauses and begins_wish(sentence, lead.end, verbs, is_parted=False)
        return replace(lead, is_parted=True) if follows else None


def _sentences_of(tokens: Tokens, verbs: WishVerbs) -> list[Tokens]:
    """A message at its stops. A full stop behind which nothing begins is that of an abbreviation."""
    sentences: list[Tokens] = []
    start = 0
    for at, token in enumerate(tokens):
        ends = token.mark in STOPS and (token.mark != "." or _opens_sentence(tokens[at + 1 :], verbs))
        if ends or at == len(tokens) - 1:
            sentences.append(tokens[start : at + 1])
            start = at + 1
    return sentences


def _opens_sentence(tokens: Tokens, verbs: WishVerbs) -> bool:
    at = lead_at(tokens, 0).end
    is_remark = at >= len(tokens) or phrase_at(tokens, 0, WISH_WORDS.remarks) > 0
    return is_remark or begins_wish(tokens, at, verbs, is_parted=True) or opening_at(tokens, at, verbs) is not None


def _may_cut(said: Tokens, sentence: Tokens, lead: Lead, verbs: WishVerbs, *, is_opened: bool) -> bool:
    """Whether a clause may end before these words and another one begin behind them."""
    rest = sentence[lead.end :]
    if _gives_text(said) and not any(token.is_name or token.is_quoted for token in rest):
        return False
    if not begins_wish(sentence, lead.end, verbs, is_parted=lead.is_parted):
        return bool(rest) and is_bare_wish(said, verbs) and is_bare_wish(rest, verbs) and not is_counted(rest)
    if lead.is_parted or is_opened:
        return True
    if rest[0].bare in _SOURCES and rest[1].bare != "for" and not lead.is_joined and not _has_name(said):
        return False
    is_placed = any(token.bare in _PREPOSITIONS for token in rest[:-1])
    if rest[0].bare in _ASKING and not _has_name(rest) and not (said[0].bare in _ASKING and is_placed):
        return False
    return not _holds_on(said, rest, verbs)


def _gives_text(said: Tokens) -> bool:
    """Whether what stands behind a colon is the text that a file gets: "note in a.txt: call Mr Novak"."""
    ends = next((at for at, token in enumerate(said) if token.mark == ":"), None)
    return ends is not None and said[0].bare in _KEEPING and any(token.is_name for token in said[: ends + 1])


def _holds_on(said: Tokens, rest: Tokens, verbs: WishVerbs) -> bool:
    """Whether what is said so far may go on over an "and": a text without quotes, or what somebody is told to do."""
    # "Move a.txt to archive" tells nobody to archive anything.
    is_place = said[0].bare in _MOVING
    if not is_place and any(one.bare == "to" and two.bare in verbs.all for one, two in pairwise(said)):
        return True
    # A folder has a name and no text.
    if said[0].bare not in _COMPOSING or any(token.bare in _FOLDERS for token in said):
        return False
    if not _SAYING.isdisjoint(token.bare for token in said):
        return not any(token.is_name or token.is_quoted for token in rest)
    is_placed = any(one.bare in _REACHING and two.bare in _DETERMINERS for one, two in pairwise(said))
    if is_placed or any(token.is_name or token.is_quoted or token.bare[:1].isdecimal() for token in said):
        return False
    reaches = any(one.bare in _REACHING and two.is_name for one, two in pairwise(rest))
    return reaches or said[-1].mark == ":" or not (rest[0].bare in verbs.own or rest[0].bare in _ASKING)


def _orders(token: Token, following: Token) -> bool:
    """Whether an unknown word is a verb by what stands behind it: "disarm the alarm"."""
    is_word = token.text.isalpha() and token.bare not in _NO_VERBS
    return is_word and (following.is_name or following.bare in _ARTICLES)


def _has_name(tokens: Tokens) -> bool:
    return any(token.is_name for token in tokens)
