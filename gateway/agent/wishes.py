"""The wishes of a message that asks for several things, read off its words: no model is asked.

What comes out are the person's own words, in the order in which things are to be done; a verb that is said once is said with
each of its objects, and "it" is named. Whatever is in doubt gives no wishes, and then a model is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.agent.acts import ACTS, READING
from gateway.agent.bare_folders import folders_asked
from gateway.agent.budget import length_of
from gateway.agent.clauses import Clause, begins_wish, clauses_of, is_bare_wish, is_counted, is_reason
from gateway.agent.leads import Order, without_asides
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Tool
from gateway.agent.objects import spread
from gateway.agent.ones import with_nouns
from gateway.agent.ranking import stem
from gateway.agent.referents import leans, with_referents
from gateway.agent.tokens import STOPS, Tokens, added, moved, spoken, tokenise
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_verbs import WishVerbs, wish_verbs
from gateway.agent.wish_words import WISH_WORDS

_MAX_MESSAGE: Final = LIMITS.actions * LIMITS.action_characters
_CONDITIONS: Final = frozenset((*VOCABULARY.conditions, *WISH_WORDS.negations))
_ASKING: Final = frozenset(WISH_WORDS.asking)
_PRONOUNS: Final = frozenset(WISH_WORDS.pronouns)
_READING: Final = frozenset(WISH_WORDS.reading_verbs)
_SOURCES: Final = frozenset(WISH_WORDS.sources)
_TIMED: Final = frozenset((*WISH_WORDS.subjects, *WISH_WORDS.pronouns, "that", "this"))
_TELLING: Final = frozenset(WISH_WORDS.telling)
_WONDERING: Final = frozenset(WISH_WORDS.wondering)
_ACT_OF: Final = {verb: act for act, words in ACTS.items() for verb in words["verbs"]}


def wishes_in(message: str, tools: Sequence[Tool]) -> list[str]:
    """The wishes of a message, each to be taken by itself: two or more, or none where the words leave a doubt."""
    if length_of(message) > _MAX_MESSAGE:
        return []
    if folders := folders_asked(message):
        return folders
    verbs = wish_verbs(tools)
    parted = clauses_of(without_asides(tokenise(message)), verbs)
    parted = parted[1:] if parted and _is_reason_first(parted, verbs) else parted
    clauses = [replace(clause, tokens=with_nouns(clause.tokens, verbs)) for clause in parted]
    if any(_is_doubtful(clause.tokens, verbs, is_last=clause is clauses[-1]) for clause in clauses):
        return []
    named = with_referents(_whole(clauses, verbs) or [], verbs) or []
    wishes = list(dict.fromkeys(spoken(wish) for clause in _in_order(named) for wish in spread(clause.tokens, verbs)))
    is_sound = all(" " in wish and length_of(wish) <= LIMITS.action_characters for wish in wishes)
    return wishes if 1 < len(wishes) <= LIMITS.actions and is_sound else []


def _is_reason_first(clauses: Sequence[Clause], verbs: WishVerbs) -> bool:
    """Whether a message begins by telling why something is wished: "we are out of salt, so add salt to list.txt"."""
    first = clauses[0].tokens
    return len(clauses) > 1 and is_reason(first, verbs) and not begins_wish(first, 0, verbs, is_parted=False)


def _is_doubtful(tokens: Tokens, verbs: WishVerbs, *, is_last: bool) -> bool:
    """Whether a clause is no plain wish: it has a condition, a "not", or nothing that asks for anything."""
    words = [token.bare for at, token in enumerate(tokens) if _may_limit(tokens, at, is_last=is_last)]
    if not _CONDITIONS.isdisjoint(words) or any(token.mark in STOPS for token in tokens[:-1]):
        return True
    if tokens[0].bare == "when" and tokens[1:2] and tokens[1].bare in _TIMED:
        return True
    is_wish = begins_wish(tokens, 0, verbs, is_parted=True) or is_bare_wish(tokens, verbs)
    return not is_wish and not (len(tokens) == 1 and tokens[0].bare in verbs.all)


def _may_limit(tokens: Tokens, at: int, *, is_last: bool) -> bool:
    """Whether a word may be a condition or a "not". "Check if it answers" only asks where nothing follows that may hang on it."""
    token = tokens[at]
    is_asked = is_last and token.bare == "if" and at > 0 and tokens[at - 1].bare in _WONDERING
    return not (token.is_quoted or token.is_name or is_asked)


def _whole(clauses: Sequence[Clause], verbs: WishVerbs) -> list[Clause] | None:
    """The clauses that are wishes by themselves: a verb without its object goes with the next one, and what is asked of a file
    goes with the file. None where that is not clear."""
    made: list[Clause] = []
    for clause in clauses:
        last = made.pop() if made else None
        if last is None:
            made.append(clause)
        elif _is_over_list(last.tokens, clause.tokens):
            made.append(replace(last, tokens=[clause.tokens[0], *last.tokens]))
        elif len(last.tokens) == 1:
            made += _shared(last, clause)
        elif clause.tokens[0].bare in _SOURCES and last.tokens[0].bare in _ASKING:
            return None
        elif not _asks_of(last.tokens, clause.tokens, verbs):
            made += [last, clause]
        elif leans(clause.tokens):
            made.append(_joined(last, clause))
        else:
            return None
    return made


def _is_over_list(tokens: Tokens, following: Tokens) -> bool:
    """Whether a clause only says what is to be done with those before it: "9 at Costa and 5 at Boots, save them"."""
    return is_counted(tokens) and len(following) == 2 and following[1].bare in _PRONOUNS


def _shared(clause: Clause, following: Clause) -> list[Clause]:
    """Two verbs with one object: one wish where one of them only looks, else one for each verb."""
    first, second = clause.tokens[0], following.tokens[0].bare
    acts = (_ACT_OF.get(first.bare), _ACT_OF.get(second))
    is_look = first.bare in _READING and (None in acts or acts[1] == READING)
    if second in _TELLING or is_look:
        return [_joined(clause, following)]
    return [replace(clause, tokens=[moved(first), *following.tokens[1:]]), following]


def _joined(clause: Clause, following: Clause) -> Clause:
    return replace(clause, tokens=[*clause.tokens, added("and"), *following.tokens])


def _asks_of(tokens: Tokens, following: Tokens, verbs: WishVerbs) -> bool:
    """Whether a clause asks something of what the one before it finds or reads, and of nothing that another tool is for."""
    if not leans(following) and any(stem(token.bare) in verbs.subjects for token in following[1:]):
        return False
    asks = following[0].bare in _TELLING or following[0].bare in _ASKING
    return asks and tokens[0].bare in _READING and not any(token.is_name for token in following)


def _in_order(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses in the order in which they are to be done."""
    made: list[Clause] = []
    waiting: list[Clause] = []
    for number, clause in enumerate(clauses):
        if clause.order is Order.BEFORE and clause.opens:
            waiting.append(clause)
        elif made and (clause.order is Order.FIRST or (clause.order is Order.AFTER and not clause.opens)):
            made.insert(len(made) - 1, clause)
        else:
            made += [clause]
            following = clauses[number + 1 : number + 2]
            if waiting and all(each.is_parted or each.opens for each in following):
                made += waiting
                waiting = []
    return [*made, *waiting]
