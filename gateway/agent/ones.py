"""What "one" stands for beside the thing that a clause names before it: "set a timer for 5 minutes and another one for 20"."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gateway.agent.objects import head_of
from gateway.agent.tokens import Token, Tokens, added, moved
from gateway.agent.wish_verbs import WishVerbs
from gateway.agent.wish_words import WISH_WORDS

_BOUNDS: Final = frozenset((*WISH_WORDS.prepositions, *WISH_WORDS.particles))
_DETERMINERS: Final = frozenset(WISH_WORDS.determiners)
_JOINERS: Final = frozenset(WISH_WORDS.joiners)
_LEADS: Final = frozenset({"another", "the"})


def with_nouns(tokens: Tokens, verbs: WishVerbs) -> Tokens:
    """A clause with its noun in the place of "one"; as it is without a plain noun behind its verb, or a "one" after that."""
    head = head_of(tokens, verbs)
    noun = _noun_at(tokens, head)
    if noun is None:
        return tokens
    made: list[Token] = list(tokens[: head + 2])
    for at in range(head + 2, len(tokens)):
        token, before = tokens[at], tokens[at - 1]
        is_bound = at + 1 < len(tokens) and tokens[at + 1].bare in _BOUNDS and token.mark == ""
        if token.bare == "one" and is_bound and before.bare in _LEADS:
            made.append(moved(noun))
        elif token.bare == "one" and is_bound and before.bare in _JOINERS:
            made += [added("a"), moved(noun)]
        elif token.bare == "another" and is_bound:
            made += [replace(token, gap=" "), moved(noun)]
        else:
            made.append(token)
    return made


def _noun_at(tokens: Tokens, head: int) -> Token | None:
    """The one word for the thing that a clause is about, which has its article before it and more words behind it."""
    if head == 0 or len(tokens) <= head + 2 or tokens[head].bare not in _DETERMINERS or tokens[head + 2].bare not in _BOUNDS:
        return None
    noun = tokens[head + 1]
    return None if noun.is_name or noun.is_quoted or noun.mark or noun.bare in _BOUNDS else noun
