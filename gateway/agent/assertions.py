"""Whether a clause says that something is so: denied, wished for, possible, conditional, general and somebody else's is not.

A word is judged by the helpers right before it and by what stands in its own clause. In doubt it is said: a sentence that is left
out costs less than one that is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, assert_never

from gateway.agent.claim_clauses import THING, ClaimClause
from gateway.agent.claim_words import CLAIMS, FORMS, Form

_BE: Final = frozenset(CLAIMS.be)
_HAVE: Final = frozenset((*CLAIMS.have, "'d"))
_ADVERBS: Final = frozenset(CLAIMS.adverbs)
_CHAINED: Final = frozenset(CLAIMS.chained)
_MODALS: Final = frozenset((*CLAIMS.modals, *CLAIMS.chained, "to"))
_NEGATIONS: Final = frozenset(CLAIMS.negations)
_HELPERS: Final = _BE | _HAVE | _ADVERBS | _CHAINED | frozenset(CLAIMS.linking)
_FINITE: Final = frozenset(CLAIMS.finite)
_PAST: Final = frozenset(CLAIMS.past)
_OWN: Final = frozenset(CLAIMS.own)
_SUBJECTS: Final = frozenset((*CLAIMS.own, *CLAIMS.machines, THING))
_OTHERS: Final = frozenset(CLAIMS.others)
_DETERMINERS: Final = frozenset(CLAIMS.determiners)
_OBJECTS: Final = frozenset((*CLAIMS.determiners, "it", "them", THING))
_INDEFINITE: Final = frozenset(CLAIMS.indefinites)
_ONE: Final = frozenset({"a", "an", "some"})
_AFTERWARDS: Final = frozenset(CLAIMS.afterwards)
_DENIALS: Final = frozenset(CLAIMS.denials)
_WHOLE: Final = frozenset(CLAIMS.whole)
_OPENERS: Final = frozenset((*CLAIMS.openers, *CLAIMS.adverbs))
_IMPLICATIVES: Final = frozenset(CLAIMS.implicatives)
_REPORTING: Final = frozenset(CLAIMS.reporting)
_REPORTED_WITH: Final = frozenset({"can", "will", "to", "able"})
_UNREAL: Final = frozenset(CLAIMS.unreal)
_ASPECTS: Final = frozenset(CLAIMS.aspects)
_RAISING: Final = frozenset(CLAIMS.raising)
_CONDITIONS: Final = frozenset(CLAIMS.conditions)
_TIMES: Final = frozenset(CLAIMS.times)


def is_asserted(clauses: Sequence[ClaimClause], number: int, at: int, form: Form) -> bool:
    """Whether the word at this place of a clause says that its act was done, or is being done."""
    clause = clauses[number]
    start = _after_report(clause.words, at)
    if start is None:
        return False
    words, at = clause.words[start:], at - start
    begins = chain_before(words, at)
    # A state may begin with its own verb: "is dark".
    chain = words[begins : at + 1] if form is Form.STATE and words[at] in _BE | _HAVE else words[begins:at]
    if _is_denied(words, at, begins) or _is_possible(words, chain) or _is_conditional(clauses, number, words, at, chain):
        return False
    match form:
        case Form.BASE:
            return _is_own(words, begins, chain) or "did" in chain or _follows_success(words, begins, chain)
        case Form.GOING_ON:
            return _goes_on(words, at, begins, chain)
        case Form.STATE:
            return not _is_general_state(words, begins) and not _is_wished(words, begins, chain)
        case Form.PAST | Form.SAME:
            return _is_past(clauses, number, words, at, begins, form)
        case _:
            assert_never(form)


def is_own(words: Sequence[str], at: int) -> bool:
    """Whether the agent says it of itself: "I deleted", "Deleted dinner.txt", "was deleted by me"."""
    begins = chain_before(words, at)
    opens = all(word in _OPENERS for word in words[:begins])
    by_own = any(one == "by" and other in ("me", "us") for one, other in pairwise(words[at:]))
    return by_own or (opens and _BE.isdisjoint(words[begins:at])) or (begins > 0 and words[begins - 1] in _OWN)


def is_general(clause: ClaimClause) -> bool:
    """Whether a clause speaks of any such thing, or of the doing itself: "deleting a file"."""
    said = [word for word in clause.words if word not in _OPENERS]
    return bool(said) and (said[0] in _INDEFINITE or any(each.form is Form.GOING_ON for each in FORMS.get(said[0], ())))


def _is_past(clauses: Sequence[ClaimClause], number: int, words: Sequence[str], at: int, begins: int, form: Form) -> bool:
    chain = words[begins:at]
    opens = all(word in _OPENERS for word in words[:begins])
    if form is Form.SAME and opens and not _has_own_verb(chain):
        return False
    if _is_wished(words, begins, chain) or _is_others(clauses[number], words, at, begins) or _continues(clauses, number):
        return False
    return not (_is_attribute(words, at, begins, opens=opens) or _is_general(words, at, begins, chain))


def _after_report(words: Sequence[str], at: int) -> int | None:
    """Where what is reported begins: in "I can confirm that it is gone" behind "confirm". None where nothing is reported yet, as
    in "it would say that"."""
    for place in range(at - 1, -1, -1):
        if words[place] in _REPORTING:
            before = set(words[:place])
            if not before.isdisjoint(_UNREAL):
                return None
            hinders = before & (_MODALS - _REPORTED_WITH) or before & _NEGATIONS or before & (_CONDITIONS | _TIMES)
            return 0 if hinders else place + 1
    return 0


def chain_before(words: Sequence[str], at: int) -> int:
    """Where the helpers and adverbs right before a word begin."""
    begins = at
    while begins > 0 and words[begins - 1] in _HELPERS:
        begins -= 1
    return begins


def _has_own_verb(chain: Sequence[str]) -> bool:
    return any(word in _BE or word in _HAVE for word in chain)


def _is_own(words: Sequence[str], begins: int, chain: Sequence[str]) -> bool:
    return begins > 0 and words[begins - 1] in _OWN and all(word in _ADVERBS for word in chain)


def _is_denied(words: Sequence[str], at: int, begins: int) -> bool:
    if at + 1 < len(words) and words[at + 1] in _DENIALS:
        return True
    if not _NEGATIONS.isdisjoint(words[begins:at]):
        return True
    return any(words[place] in _NEGATIONS and not _crosses(words, place, begins, at) for place in range(begins))


def _crosses(words: Sequence[str], place: int, begins: int, at: int) -> bool:
    """Whether a subject with a verb of its own stands between a denial and the word: "I did not wait and it was deleted"."""
    for subject in range(place + 1, begins):
        if words[subject] not in _SUBJECTS or not _RAISING.isdisjoint(words[place:subject]):
            continue
        if words[place] in _DENIALS and _FINITE.isdisjoint(words[place:subject]):
            continue
        verb = subject + 1
        while verb < at and words[verb] in _ADVERBS:
            verb += 1
        if words[verb] in _FINITE or (verb == at and words[subject] in _OWN):
            return True
    return False


def _is_expected(words: Sequence[str]) -> bool:
    """Whether it is taken to have come about: "it should be gone now"."""
    return "should" in words and "now" in words


def _is_possible(words: Sequence[str], chain: Sequence[str]) -> bool:
    """Whether helpers make it a possibility, a plan or a wish. "It should be gone now" is none."""
    if "should" in chain and _is_expected(words):
        return False
    has_to = "to" in chain
    return not _CHAINED.isdisjoint(chain) or (has_to and _has_own_verb(chain[chain.index("to") :]))


def _is_conditional(clauses: Sequence[ClaimClause], number: int, words: Sequence[str], at: int, chain: Sequence[str]) -> bool:
    before = words[:at]
    is_past = not _PAST.isdisjoint(chain)
    if not _CONDITIONS.isdisjoint(before):
        return True
    is_simple = is_past or (bool(before) and not _OWN.isdisjoint(before) and not _has_own_verb(chain))
    if not _TIMES.isdisjoint(before):
        return not is_simple or (_HAVE.isdisjoint(chain) is False and "had" not in chain)
    if is_past or not _has_own_verb(chain):
        return False
    elsewhere = [*clauses[:number], *clauses[number + 1 :]]
    return not (_CONDITIONS | _TIMES).isdisjoint(words[at + 1 :]) or any(map(_sets_condition, elsewhere))


def _sets_condition(clause: ClaimClause) -> bool:
    """Whether a clause says when or whether another one holds, and not what has come to pass."""
    said = [word for word in clause.words if word not in _OPENERS or word in _TIMES]
    return bool(said) and said[0] in _CONDITIONS | _TIMES and _PAST.isdisjoint(clause.words)


def _is_wished(words: Sequence[str], begins: int, chain: Sequence[str]) -> bool:
    """Whether it is only wished for, without a verb of its own: "do you want it deleted"."""
    is_open = not _has_own_verb(chain) and not _is_own(words, begins, chain) and not _MODALS.isdisjoint(words[:begins])
    return is_open and not _is_expected(words)


def _is_others(clause: ClaimClause, words: Sequence[str], at: int, begins: int) -> bool:
    """Whether somebody else did it: "Ana deleted the list", "it was deleted by her"."""
    after = words[at + 1 :]
    doers = {other for one, other in pairwise(after) if one == "by"}
    if not doers.isdisjoint({*clause.names, *_OTHERS, "him", "her"}):
        return True
    if begins == 0 or not _BE.isdisjoint(words[begins:at]):
        return False
    subject = words[begins - 1]
    if subject in _OTHERS or subject in clause.names:
        return True
    is_plain = subject not in _SUBJECTS and subject not in _OPENERS and subject not in _NEGATIONS
    return is_plain and bool(after) and after[0] in _OBJECTS


def _continues(clauses: Sequence[ClaimClause], number: int) -> bool:
    """Whether a clause has nothing but words for acts and goes on with a denial: "nothing was moved, copied or deleted"."""
    while number > 0 and all(word in FORMS or word in _ADVERBS for word in clauses[number].words):
        number -= 1
        words = clauses[number].words
        acts = [place for place, word in enumerate(words) if _is_past_form(word)]
        if acts and not (_NEGATIONS | _CHAINED).isdisjoint(words[: acts[0]]):
            return True
    return False


def _is_past_form(word: str) -> bool:
    return any(each.form is Form.PAST for each in FORMS.get(word, ()))


def _is_attribute(words: Sequence[str], at: int, begins: int, *, opens: bool) -> bool:
    """Whether it only tells which thing is meant: "the deleted items"."""
    if at + 1 >= len(words) or words[at + 1] in _AFTERWARDS or words[at + 1] == THING or words[at + 1][:1].isdigit():
        return False
    place = at
    while place > 0 and words[place - 1] in _ADVERBS:
        place -= 1
    if place > 0 and words[place - 1] in _DETERMINERS:
        return True
    return opens and not _has_own_verb(words[begins:at]) and not _FINITE.isdisjoint(words[at + 2 :])


def _is_general(words: Sequence[str], at: int, begins: int, chain: Sequence[str]) -> bool:
    """Whether it is said of any such thing: "a file that is deleted", "files are deleted"."""
    subject = [word for word in words[:begins] if word not in _OPENERS or word in _WHOLE]
    if not subject or subject[0] not in _INDEFINITE or THING in subject:
        return False
    if subject[-1] == "that":
        return not _FINITE.isdisjoint(words[at + 1 :])
    return _PAST.isdisjoint(chain) and (_has_own_verb(chain) or len(subject) > 1)


def _is_general_state(words: Sequence[str], begins: int) -> bool:
    """The same of a state. "A timer is running" is about one timer, though."""
    subject = [word for word in words[:begins] if word not in _OPENERS or word in _WHOLE]
    if not subject or subject[0] not in _INDEFINITE or THING in subject:
        return False
    return subject[0] not in _ONE or any(word == "that" or _is_past_form(word) for word in subject)


def _goes_on(words: Sequence[str], at: int, begins: int, chain: Sequence[str]) -> bool:
    if not _BE.isdisjoint(chain):
        return not _is_general(words, at, begins, chain)
    before = [word for word in words[:at] if word not in _OPENERS or word in _ASPECTS]
    if before and before[-1] in _ASPECTS:
        return True
    if before[-2:] == ["succeeded", "in"]:
        return True
    after = words[at + 1 :]
    return not before and not (after and after[0] in _INDEFINITE) and _FINITE.isdisjoint(after)


def _follows_success(words: Sequence[str], begins: int, chain: Sequence[str]) -> bool:
    """Whether it came off, though an infinitive: "I managed to delete"."""
    if "to" not in chain:
        return False
    before = words[: begins + chain.index("to")]
    return bool(before) and before[-1] in _IMPLICATIVES and _CHAINED.isdisjoint(before)
