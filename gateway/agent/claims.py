"""What a model's words claim was done, held against the calls that ran.

A sentence proves nothing: what was done is what the calls' records say. A sentence that claims an act of which no call is on
record is not shown. What a text merely tells, as a letter does that somebody sent, is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import ACTS, READING, AskedAct, asked_acts, bare_thing, does, is_about, is_thing, missing_things
from gateway.agent.assertions import is_asserted, is_general, is_own
from gateway.agent.browser import trim
from gateway.agent.claim_clauses import ClaimClause, claim_clauses_of
from gateway.agent.claim_words import CLAIMS, FORMS, Form, any_phrase, ends_all, speaks_of_all
from gateway.agent.german_claims import claims_in_german
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.names import parts_of
from gateway.agent.ranking import stem, terms_in
from gateway.agent.recorded import can_do, changes, is_done, words_about
from gateway.agent.reported import REPORTED_STATES, reports_act, reports_state
from gateway.agent.sentences import only_openers, sentences_of
from gateway.agent.turn_progress import progress_of
from gateway.agent.unlisted import UnlistedBasis, claims_unlisted
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wished import OTHER, MessageActs, acts_of, undoubled
from gateway.agent.words import QUOTED, has_more_words, words_of

_UNCLAIMED: Final = frozenset((*VOCABULARY.negations, *VOCABULARY.modals))
_COMMON: Final = frozenset(
    (*VOCABULARY.common_terms, *VOCABULARY.fillers, *VOCABULARY.cues, *(verb for act in ACTS.values() for verb in act["verbs"]))
)
"""Words that two sentences share by chance."""

_CUES: Final = frozenset(VOCABULARY.cues)
_BEYOND: Final = 2
"""Words of the message that no call was about. One may be a word for what the call was about."""

_BEFORE_NOW: Final = "already"
_BLOCK: Final = re.compile(r"^(`{3,})\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)
_EMPTY_BLOCK: Final = re.compile(r"^`{3,}[^`\n]*\n(?:[^\S\n]*\n)*`{3,}$", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^[0-9]+: ")

_STATES: Final = {act: any_phrase(words["states"]) for act, words in CLAIMS.acts.items()}
_NOUNS: Final = {act: any_phrase(words["nouns"]) for act, words in CLAIMS.acts.items()}
_COMPLETIONS: Final = any_phrase(CLAIMS.completions)
_EVENTS: Final = any_phrase([*CLAIMS.events, *CLAIMS.completions])
_NOW: Final = any_phrase(CLAIMS.now_states)
_PLACES: Final = any_phrase(CLAIMS.places)
_TEXTS: Final = frozenset(CLAIMS.text_nouns)
_COMPOSING: Final = frozenset(CLAIMS.composing)
_PLAIN: Final = frozenset((*CLAIMS.plain, *CLAIMS.be, *CLAIMS.have, *CLAIMS.adverbs))
_OWN: Final = frozenset(CLAIMS.own)
_HAVE: Final = frozenset((*CLAIMS.have, "'d"))
_PASSIVE: Final = frozenset(CLAIMS.passives)
_ADVERBS: Final = frozenset(CLAIMS.adverbs)
_ANY: Final = frozenset({OTHER})
_STATE: Final = frozenset({"state"})
"""What is reported of a thing that no wish is about."""

_DISTINCT: Final = frozenset({"delete", "send", "buy"})
"""Acts that nobody means by a word for another."""

_NEAR: Final = 6
"""Words within which what belongs to a verb follows it: "turned the lamp on"."""

_SHORT: Final = 40
"""Words of an answer that is no draft of a text."""

_EXCUSES: Final = frozenset(
    (*CLAIMS.excuses, *CLAIMS.negations, *CLAIMS.modals, *CLAIMS.chained, *CLAIMS.conditions, *CLAIMS.times)
)
"""Words of a sentence that denies, asks, plans or explains."""

_SHORTEST_PAST: Final = 4
_FINISHED: Final = re.compile(r"\W*(?:all )?done\b", re.IGNORECASE | re.ASCII)
"""How a report of a finished act begins."""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """What a turn's words are held against: what the person said, the calls of the turn that have closed, in order, those of the
    turns before it, and the tools on offer. `wish` is that of several wishes which the words are about; empty: all."""

    message: str
    closed: Sequence[ToolMessage]
    earlier: Sequence[ToolMessage]
    tools: Sequence[Tool]
    wish: str = ""


def record_of(
    messages: Sequence[Message], turn_id: str, tools: Sequence[Tool], actions: Sequence[str] | None = None
) -> TurnRecord:
    """What the words of a turn are held against, as it stands."""
    state = progress_of(messages, turn_id)
    earlier = [each for each in messages if isinstance(each, ToolMessage) and each.turn_id != turn_id]
    wish = next(iter((actions or [])[state.finished :]), "")
    return TurnRecord(state.message, state.closed, earlier, tools, wish)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A word of a clause that says that one of these acts was done."""

    acts: frozenset[str]
    number: int
    at: int
    form: Form


def without_false_claims(text: str, record: TurnRecord) -> str:
    """The text without the sentences that claim what no call on record did. The same text where there is none."""
    judge, is_short = ClaimJudge(record), is_short_answer(text)
    kept: list[str] = []
    end = 0
    for block in _BLOCK.finditer(text):
        if judge.is_quoted(block[2]):
            kept += [*judge.kept(text[end : block.start()], is_short=is_short), block[0]]
            end = block.end()
    kept += judge.kept(text[end:], is_short=is_short)
    if "".join(kept) == text:
        return text
    return trim(_EMPTY_BLOCK.sub("", "".join(each for each in kept if not only_openers(each))))


def is_short_answer(text: str) -> bool:
    """Whether a text is too short to be a draft of something."""
    return not has_more_words(text, _SHORT)


class ClaimJudge:
    """Holds sentences against one record. `is_undone`: a change was asked for, and no call has made one."""

    def __init__(self, record: TurnRecord) -> None:
        self._record = record
        self._acts: MessageActs = acts_of(record.message)
        self._asked: Sequence[AskedAct] = asked_acts(record.message)
        self._done = [each for each in record.closed if is_done(each)]
        self._before = [*(each for each in record.earlier if is_done(each)), *self._done]
        changed = [each for each in self._done if changes(each, record.tools)]
        self._has_changed = bool(changed)
        self._basis = UnlistedBasis(record.message, self._before, changed, record.tools)
        self._called = {undoubled(stem(part)) for each in self._done for part in parts_of(each.call["name"])}
        self.is_undone = self._acts.is_change and not self._has_changed
        self._missing = {
            thing
            for asked in self._asked
            if asked.act != READING
            for thing in missing_things(asked, [each.call for each in self._done if does(asked.act, each.call, record.tools)])
        }

    def kept(self, text: str, *, is_short: bool) -> list[str]:
        """The sentences of a text that claim nothing or are borne out."""
        return [each for each in sentences_of(text) if not self.is_false(each, is_short=is_short)]

    def is_quoted(self, block: str) -> bool:
        """Whether each line of a block stands in a result, as the loop itself shows it: they are no claims of the agent's."""
        contents = "\n".join(each.result["content"] for each in self._record.closed)
        return all(_NUMBERED.sub("", line) in contents or line in contents for line in block.split("\n"))

    def is_false(self, sentence: str, *, is_short: bool) -> bool:
        """Whether a sentence claims what no call did. `is_short`: it stands in an answer that is no draft of a text."""
        if trim(sentence).endswith("?"):
            return False
        if self._goes_beyond(sentence) or self._finishes_unseen(sentence):
            return True
        clauses = claim_clauses_of(QUOTED.sub(self._without_told, sentence))
        claims = self._claims_in(clauses)
        if any(self._is_unrecorded(claim, clauses, sentence, is_short=is_short) for claim in claims):
            return True
        can_report = self._can_report(is_short=is_short)
        if claims_unlisted(sentence, clauses, self._basis, can_report=can_report):
            return True
        if can_report and claims_in_german(sentence, self._basis):
            return True
        return not claims and is_short and self._is_baseless(sentence, clauses)

    def _can_report(self, *, is_short: bool) -> bool:
        """Whether an answer reports. After a call, its words are told of the result and are no draft."""
        return is_short and (bool(self._done) or not self._acts.is_text)

    def _is_baseless(self, sentence: str, clauses: Sequence[ClaimClause]) -> bool:
        """Whether a sentence says anything of what was to be changed, where no call ran: in whatever words, the model can know
        nothing of it. A draft of a text is longer."""
        if not self.is_undone or self._done or self._acts.objects.isdisjoint(terms_in(sentence)):
            return False
        return all(_EXCUSES.isdisjoint(each.words) and each.words[0] != "to" and not is_general(each) for each in clauses)

    def _without_told(self, quoted: re.Match[str]) -> str:
        """Nothing for a quotation out of a result or the message, else the quotation."""
        inner = quoted[0][1:-1]
        is_name = " " not in inner
        told = inner in self._record.message or any(inner in each.result["content"] for each in self._before)
        return " " if told and not is_name else quoted[0]

    def _claims_in(self, clauses: Sequence[ClaimClause]) -> list[_Claim]:
        found: list[_Claim] = []
        has_event = any(_EVENTS.search(" ".join(each.words)) for each in clauses)
        for number, clause in enumerate(clauses):
            for at, word in enumerate(clause.words):
                rest = set(clause.words[at + 1 : at + _NEAR])
                forms = [each for each in FORMS.get(word, ()) if not each.particles or not rest.isdisjoint(each.particles)]
                if forms:
                    found.append(_Claim(frozenset(each.act for each in forms), number, at, forms[0].form))
                elif self.is_undone and self._is_open(clause.words, at):
                    found.append(_Claim(_ANY, number, at, Form.PAST))
            found += self._states_in(clauses, number, has_event=has_event)
        return [each for each in found if is_asserted(clauses, each.number, each.at, each.form)]

    def _states_in(self, clauses: Sequence[ClaimClause], number: int, *, has_event: bool) -> list[_Claim]:
        """What the acts of the message bring about, and words for the end of any work."""
        text = " ".join(clauses[number].words)
        found: dict[int, set[str]] = {}
        for act in self._acts.wished | self._acts.asked_about:
            for phrases in (_STATES, _NOUNS) if has_event else (_STATES,):
                for match in phrases[act].finditer(text) if act in phrases else ():
                    found.setdefault(match.start(), set()).add(act)
        words = clauses[number].words
        if self.is_undone or (self._missing and ends_all(words)):
            found |= {match.start(): {OTHER} for match in _COMPLETIONS.finditer(text)}
        if self.is_undone and _OWN.isdisjoint(words):
            found |= {match.start(): {OTHER} for match in _NOW.finditer(text)}
        if not self.is_undone and not self._has_changed:
            found = {match.start(): set(_STATE) for match in REPORTED_STATES.finditer(text)} | found
        return [_Claim(frozenset(acts), number, text[:start].count(" "), Form.STATE) for start, acts in found.items()]

    def _is_open(self, words: Sequence[str], at: int) -> bool:
        """Whether it is the past of a verb that no list has: "I have zapped", "has been zapped", and the message's own verb."""
        word = words[at]
        is_past = word.endswith(("ed", "en")) and word not in _PLAIN and len(word) >= _SHORTEST_PAST
        if not is_past or undoubled(stem(word)) in self._called:
            return False
        if word.endswith("ed") and undoubled(stem(word)) in self._acts.stems:
            return True
        before = at
        while before > 0 and words[before - 1] in _ADVERBS:
            before -= 1
        last = words[before - 1] if before else ""
        return last in _HAVE or last in _PASSIVE or (last in _OWN and word.endswith("ed"))

    def _is_unrecorded(self, claim: _Claim, clauses: Sequence[ClaimClause], sentence: str, *, is_short: bool) -> bool:
        clause = clauses[claim.number]
        if OTHER in claim.acts:
            return True
        can_report = self._can_report(is_short=is_short)
        if claim.acts == _STATE:
            is_report = can_report and reports_state(clause, claim.at, self._record.message)
            return is_report and not self._before_says(sentence)
        named = {thing for each in clauses for thing in each.things}
        is_told = self._is_told(claim, sentence)
        if not claim.acts.isdisjoint(self._acts.wished):
            if is_told and named.isdisjoint(self._missing) and not is_own(clause.words, claim.at):
                return False
            messages = self._before if _BEFORE_NOW in clause.words else self._done
        else:
            messages = self._before
            is_asked = (self.is_undone and READING not in claim.acts) or not claim.acts.isdisjoint(self._acts.asked_about)
            is_claim = self._claims_unasked(claim, clause) or (can_report and self._reports(claim, clause))
            if is_told or not (is_asked or is_claim):
                return False
        return not any(self._is_recorded(act, clause, messages, named) for act in claim.acts)

    def _claims_unasked(self, claim: _Claim, clause: ClaimClause) -> bool:
        """Whether a word for an act that the message does not ask for claims it: of the agent itself, or of a thing that nothing
        on record is about."""
        words, word = clause.words, clause.words[claim.at]
        if READING in claim.acts:
            is_past = claim.form in (Form.PAST, Form.SAME)
            return is_past and bool(clause.things) and not _OWN.isdisjoint(words) and is_own(words, claim.at)
        if is_own(words, claim.at):
            has_subject = not _OWN.isdisjoint(words) or "me" in words
            if clause.things or not has_subject or self._acts.is_text or not _TEXTS.isdisjoint(words):
                return bool(clause.things)
            return word not in _COMPOSING or _PLACES.search(" ".join(words)) is not None
        return claim.form is Form.PAST and bool(clause.things) and not any(map(self._is_known, clause.things))

    def _reports(self, claim: _Claim, clause: ClaimClause) -> bool:
        """Whether a sentence reports such an act without saying who did it. After a change it may be another word
        for that."""
        is_other = self._has_changed and _DISTINCT.isdisjoint(claim.acts)
        if is_other or READING in claim.acts:
            return False
        is_found = any(thing in each.result["content"] for each in self._before for thing in clause.things)
        return reports_act(clause, claim.at, claim.form, is_found=is_found)

    def _before_says(self, sentence: str) -> bool:
        """Whether a line of a result shares more with a sentence than chance."""
        terms = set(terms_in(sentence))
        lines = (line for each in self._before for line in each.result["content"].split("\n"))
        return any(len(terms.intersection(terms_in(line))) > 1 for line in lines)

    def _is_known(self, thing: str) -> bool:
        """Whether the message, a call or a result names it."""
        return thing in self._record.message or any(
            is_about(each.call, thing) or thing in each.result["content"] for each in self._before
        )

    def _is_told(self, claim: _Claim, sentence: str) -> bool:
        """Whether a result says so: in these words, or in a line about the same. That something is to be done, as an order in a
        file says, does not tell that it was."""
        if any(trim(sentence) in each.result["content"] for each in self._before):
            return True
        terms = set(terms_in(sentence))
        return any(
            not claim.acts.isdisjoint(
                each.act for word in words_of(line) for each in FORMS.get(word.bare, ()) if each.form is not Form.BASE
            )
            and len(terms.intersection(terms_in(line))) > 1
            for message in self._before
            for line in message.result["content"].split("\n")
        )

    def _is_recorded(self, act: str, clause: ClaimClause, messages: Sequence[ToolMessage], named: set[str]) -> bool:
        tools = self._record.tools
        if act == READING:
            return any(is_about(each.call, thing) for each in messages for thing in clause.things)
        calls = [each.call for each in messages if can_do(act, each, tools)]
        missing = {thing for asked in self._asked if asked.act == act for thing in missing_things(asked, calls)}
        if not calls or not missing.isdisjoint(named) or (missing and speaks_of_all(clause.words)):
            return False
        return not clause.things or any(map(self._is_known, clause.things))

    def _is_named(self, word: str) -> bool:
        return is_thing(word) and any(is_about(each.call, word) for each in self._done)

    def _finishes_unseen(self, sentence: str) -> bool:
        """Whether a sentence says "done" of a thing that the message names and no call or result of the conversation does."""
        if only_openers(sentence) or not _FINISHED.match(sentence):
            return False
        names = [bare_thing(sentence[word.start : word.end]) for word in words_of(sentence)]
        things = [name for name in names if is_thing(name) and name in self._record.message]
        return any(
            not any(is_about(each.call, thing) or thing in each.result["content"] for each in self._before) for thing in things
        )

    def _goes_beyond(self, sentence: str) -> bool:
        """Whether a sentence takes over of several wishes what no call was about: "timer and lamp are set", where only the timer
        was. Asked to tell of one call, a small model tells of the whole message."""
        message, words = self._record.message, [word.bare for word in words_of(sentence)]
        is_list = "," in message or ";" in message or not _CUES.isdisjoint(_bare(message))
        is_told = any(trim(sentence) in each.result["content"] for each in self._record.closed)
        if not (is_list and self._has_changed) or is_told:
            return False
        if any(word in _UNCLAIMED or word.endswith(("n't", "n’t")) for word in words):
            return False
        covered = {stem(word) for each in self._done for word in words_about(each)}
        taken = {word for word in words if word in _bare(message) and word not in _COMMON and not self._is_named(word)}
        return len({word for word in taken if stem(word) not in covered}) >= _BEYOND


def _bare(text: str) -> set[str]:
    return {word.bare for word in words_of(text)}
