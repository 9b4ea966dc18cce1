"""Claims of acts for which no list has a verb: "the picture is resized", "I have zipped the folder".

What a tool on offer does is told by its own name and description, so a past form of a word out of them claims a call of that
tool. Of any other verb it is a claim where its thing is one that tools are for. After a change it may be another word for that,
unless it speaks of something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import is_about
from gateway.agent.assertions import is_asserted, is_own
from gateway.agent.browser import trim
from gateway.agent.claim_clauses import ClaimClause
from gateway.agent.claim_words import CLAIMS, FORMS, Form
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.names import parts_of
from gateway.agent.ranking import stem, terms_in
from gateway.agent.recorded import words_about
from gateway.agent.reported import is_history, reports_act
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wished import undoubled
from gateway.agent.words import words_of

_PLAIN: Final = frozenset((*CLAIMS.plain, *CLAIMS.be, *CLAIMS.have, *CLAIMS.adverbs))
_OWN: Final = frozenset(CLAIMS.own)
_NOUNS: Final = frozenset(CLAIMS.reported_nouns)
_ANY: Final = frozenset(CLAIMS.any_change)
_CUES: Final = frozenset(VOCABULARY.cues)
_SHORTEST_PAST: Final = 4


@dataclass(frozen=True, slots=True)
class UnlistedBasis:
    """What such a claim is held against: what the person said, the calls of the conversation that went well, those of the turn
    that changed something, and the tools on offer."""

    message: str
    before: Sequence[ToolMessage]
    changes: Sequence[ToolMessage]
    tools: Sequence[Tool]


def claims_unlisted(sentence: str, clauses: Sequence[ClaimClause], basis: UnlistedBasis, *, can_report: bool) -> bool:
    """Whether a sentence claims such an act without a call for it. `can_report`: an answer, and no draft of a text."""
    offered = {term for tool in basis.tools if tool["category"] != "read" for term in _terms_of(tool)}
    names = {each.call["name"] for each in basis.before}
    called = {term for tool in basis.tools if tool["name"] in names for term in _terms_of(tool)}
    for number, clause in enumerate(clauses):
        for at, word in enumerate(clause.words):
            term = term_of(word)
            if not _is_past(word) or term in called or not is_asserted(clauses, number, at, Form.PAST):
                continue
            is_said = _says(clause, at, basis, is_offered=term in offered, can_report=can_report)
            if is_said and not _is_told(term, sentence, basis) and (term in offered or not _is_of_change(clause, basis)):
                return True
    return False


def term_of(word: str) -> str:
    """A verb without the ending of its past: "copy" of "copied", "stop" of "stopped"."""
    return undoubled(stem(f"{word[:-3]}y" if word.endswith("ied") else word))


_TELLING: Final = frozenset(map(term_of, (*CLAIMS.telling, *CLAIMS.answering)))
"""What an answer does by itself: "I have counted the lines"."""


def _terms_of(tool: Tool) -> set[str]:
    described = [word.bare for word in words_of(str(tool.get("description", "")))]
    return {term_of(word) for word in (*parts_of(tool["name"]), *described)}


def _is_past(word: str) -> bool:
    return word.endswith("ed") and len(word) >= _SHORTEST_PAST and word not in _PLAIN and word not in FORMS


def _says(clause: ClaimClause, at: int, basis: UnlistedBasis, *, is_offered: bool, can_report: bool) -> bool:
    """Whether the word says that the agent did it, or that it came to pass with a thing that tools are for."""
    words, things = clause.words, clause.things
    if is_history(words):
        return False
    looks = any(is_about(each.call, thing) for each in basis.before for thing in things)
    is_telling = not is_offered and term_of(words[at]) in _TELLING
    if is_telling and (looks or not things):
        return False
    if is_own(words, at):
        has_object = bool(things) or (not _OWN.isdisjoint(words) and (is_offered or not _NOUNS.isdisjoint(words[at + 1 :])))
        return has_object and (can_report or bool(things))
    is_found = any(thing in each.result["content"] for each in basis.before for thing in things)
    return can_report and reports_act(clause, at, Form.PAST, is_found=is_found, is_offered=is_offered)


def _is_told(term: str, sentence: str, basis: UnlistedBasis) -> bool:
    """Whether a result says so: in these words, or in a line with this verb that shares more than chance."""
    if any(trim(sentence) in each.result["content"] for each in basis.before):
        return True
    terms = set(terms_in(sentence))
    lines = (line for each in basis.before for line in each.result["content"].split("\n"))
    same = (line for line in lines if any(term_of(word.bare) == term for word in words_of(line)))
    return any(len(terms.intersection(terms_in(line))) > 1 for line in same)


def _is_of_change(clause: ClaimClause, basis: UnlistedBasis) -> bool:
    """Whether it may be another word for a change of the turn: its things are those of the change, or it names none that the
    person meant by another wish."""
    if not basis.changes:
        return False
    if clause.things:
        return any(
            is_about(each.call, thing) or thing in each.result["content"] for each in basis.changes for thing in clause.things
        )
    covered = {stem(word) for each in basis.changes for word in words_about(each)}
    spoken = [word.bare for word in words_of(basis.message)]
    is_list = "," in basis.message or ";" in basis.message or not _CUES.isdisjoint(spoken)
    others = [word for word in clause.words if word in _NOUNS and word not in _ANY and stem(word) not in covered]
    return all(word in spoken and not is_list for word in others)
