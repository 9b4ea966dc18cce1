"""What a model says of a file that nobody read: it can know nothing of it, whatever it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import READING, asked_acts, bare_thing, is_about, is_thing
from gateway.agent.browser import trim
from gateway.agent.claim_clauses import ClaimClause, claim_clauses_of
from gateway.agent.claim_words import CLAIMS, any_phrase
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.outcomes import outcome_in
from gateway.agent.reading import is_file, reader_among
from gateway.agent.sentences import only_openers, sentences_of
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_ASKING: Final = frozenset(VOCABULARY.asking_words)
_QUESTIONS: Final = frozenset(VOCABULARY.question_words)
_EXPLAINING: Final = frozenset(VOCABULARY.explaining_verbs)
_GENERAL: Final = any_phrase(CLAIMS.general_questions)
_ABOUT: Final = frozenset(CLAIMS.about)
_EXCUSES: Final = frozenset((*CLAIMS.excuses, *CLAIMS.negations, *CLAIMS.modals, *CLAIMS.chained))
_NEGATIONS: Final = frozenset(CLAIMS.negations)
_ACCESS: Final = frozenset(CLAIMS.access)
_OPENERS: Final = frozenset(CLAIMS.openers)
_INDEFINITE: Final = re.compile(r"\b(?:an?|any)\Z", re.IGNORECASE)


def unread_file(message: str, closed: Sequence[ToolMessage], tools: Sequence[Tool]) -> str | None:
    """The file whose content a message asks for and none of these calls was about; None where there is none, or no tool reads."""
    words = words_of(message)
    bare = {word.bare for word in words}
    names = [(word, bare_thing(message[word.start : word.end])) for word in words if is_thing(message[word.start : word.end])]
    files = [name for word, name in names if is_file(name) and not _INDEFINITE.search(message[: word.start].rstrip(" "))]
    is_reading = any(each.act == READING and each.things for each in asked_acts(message))
    asks = is_reading or not (_ASKING | _EXPLAINING).isdisjoint(bare) or any(word.bare in _QUESTIONS for word in words[:1])
    is_general = _GENERAL.search(" ".join(word.bare for word in words)) is not None or "\n" in message
    if not files or not asks or is_general or reader_among(tools) is None:
        return None
    if outcome_in(message) is not None or any(each.act != READING for each in asked_acts(message)):
        return None
    done = [each for each in closed if each.result["outcome"] == "ok"]
    is_known = any(is_about(each.call, file) or file in each.result["content"] for file in files for each in done)
    return None if is_known else files[0]


def without_content(text: str, closed: Sequence[ToolMessage]) -> str:
    """A text without the sentences that could tell what a file says: what is left denies, asks, offers, or names a call."""
    kept = [each for each in sentences_of(text) if _tells_nothing(each, closed)]
    return text if "".join(kept) == text else trim("".join(kept))


def _tells_nothing(sentence: str, closed: Sequence[ToolMessage]) -> bool:
    if trim(sentence).endswith("?") or any(each.call["name"] in sentence for each in closed):
        return True
    return not only_openers(sentence) and all(map(_is_own, claim_clauses_of(sentence)))


def _is_own(clause: ClaimClause) -> bool:
    """Whether a clause is about the agent, the person, or a file that cannot be had."""
    said = [word for word in clause.words if word not in _OPENERS]
    if not said or said[0] == "to":
        return True
    if said[0] in _ABOUT:
        return not _EXCUSES.isdisjoint(said)
    return not _NEGATIONS.isdisjoint(said) and not _ACCESS.isdisjoint(said)
