"""A candidate policy put to decisions on record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gateway.core.approval import RuleReason
from gateway.core.judgement import Judgement, Question, restore_judgement
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import Moment, MomentFact
from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.runtime.ports import PolicySubject, PolicyVerdict, RecordedDecision
from gateway.runtime.rehearsal import EXAMPLES, ModeChange, Unjudged, Version, find_difference, rehearse

AUTO, CONSENT, STEP_UP, FORBIDDEN = PermissionMode
ADA = Principal("prn_ada", "Ada", Profile.OPERATOR)
RULE = ("the.rule",)


class Modes:
    """Gives each tool the mode that a test writes down."""

    def __init__(self, modes: Mapping[str, PermissionMode], *, published: Mapping[str, PermissionMode] | None = None) -> None:
        self.modes, self.published = modes, published or {}
        self.reads: frozenset[MomentFact] = frozenset()

    def judge(self, subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int) -> PolicyVerdict:
        mode = self.modes[spec.name] if facts is not None else self.published.get(spec.name, self.modes[spec.name])
        return PolicyVerdict(mode, (RuleReason(RULE[0], "the test says so"),))


def question(tool: str = "note", facts: CallFacts | None = None) -> Question:
    spec = ToolSpec(tool, "", "workspace", tool, {}, Category.WRITE, "builtin")
    return Question(ADA, spec, facts or CallFacts(), taint=0, label=0)


def decided(
    mode: PermissionMode, tool: str = "note", *, asked: bool = False, ran: bool = True, rules: tuple[str, ...] = RULE, at: int = 5
) -> RecordedDecision:
    judgement = Judgement(question(tool), mode, rules)
    return RecordedDecision(at, at, ADA.id, "cnv_1", f"call-{at}", tool, "v1", judgement, asked, ran)


def versions(**modes: PermissionMode) -> Mapping[str | None, Version]:
    return {"v1": Modes(modes)}


def test_what_a_record_keeps_of_a_judgement_is_read_back_whole() -> None:
    facts = CallFacts(path="a/ä.txt", host="example.org", bytes=7, recursive=False, second_path="b")
    spec = ToolSpec("note", "", "files", "note", {}, Category.WRITE, "builtin", network=True)
    judgement = Judgement(Question(ADA, spec, facts, taint=1, label=2), CONSENT, ("a.b", "c"))
    again = restore_judgement(judgement.described(), ADA.id, "note")
    assert again.described() == judgement.described()
    assert again.question.facts == facts
    assert (again.question.taint, again.question.label, again.question.spec.network) == (1, 2, True)


def test_facts_that_a_tool_did_not_report_are_not_written() -> None:
    assert Judgement(question(), AUTO, ()).described()["facts"] == {}


DIFFERENCES = {
    (FORBIDDEN, AUTO): ModeChange.NEWLY_ALLOWED,
    (FORBIDDEN, CONSENT): ModeChange.NEWLY_ALLOWED,
    (FORBIDDEN, STEP_UP): ModeChange.NEWLY_ALLOWED,
    (CONSENT, AUTO): ModeChange.QUESTION_REMOVED,
    (STEP_UP, AUTO): ModeChange.QUESTION_REMOVED,
    (STEP_UP, CONSENT): ModeChange.PASSKEY_REMOVED,
    (AUTO, CONSENT): ModeChange.QUESTION_ADDED,
    (AUTO, STEP_UP): ModeChange.PASSKEY_ADDED,
    (CONSENT, STEP_UP): ModeChange.PASSKEY_ADDED,
    (AUTO, FORBIDDEN): ModeChange.NEWLY_REFUSED,
    (CONSENT, FORBIDDEN): ModeChange.NEWLY_REFUSED,
    (STEP_UP, FORBIDDEN): ModeChange.NEWLY_REFUSED,
}


@pytest.mark.parametrize("before", PermissionMode)
@pytest.mark.parametrize("after", PermissionMode)
def test_every_pair_of_modes_has_its_word(before: PermissionMode, after: PermissionMode) -> None:
    difference = find_difference(before, after)
    assert difference is DIFFERENCES.get((before, after))
    if difference is not None:
        assert difference.loosens == (after.strictness < before.strictness)


def test_a_call_that_its_own_version_judges_otherwise_is_named_and_not_compared() -> None:
    result = rehearse([decided(AUTO), decided(CONSENT, at=6)], versions(note=CONSENT).__getitem__, Modes({"note": AUTO}))
    assert (result.judged, result.reproduced, result.unlike_count) == (2, 1, 1)
    assert [each.call_id for each in result.unlike] == ["call-5"]
    assert result.differences == {ModeChange.QUESTION_REMOVED: 1}


def test_the_same_mode_by_other_rules_is_not_as_on_record() -> None:
    result = rehearse([decided(CONSENT, rules=("another.rule",))], versions(note=CONSENT).__getitem__, None)
    assert result.unlike_count == 1


def test_what_the_program_itself_made_stricter_is_as_on_record_but_nothing_it_could_have_loosened() -> None:
    by_the_terminal = (*RULE, "terminal.confirm-tools")
    stricter = rehearse([decided(CONSENT, rules=by_the_terminal)], versions(note=AUTO).__getitem__, None)
    assert stricter.unlike_count == 0
    for recorded, own in ((AUTO, CONSENT), (CONSENT, CONSENT)):
        looser = rehearse([decided(recorded, rules=by_the_terminal)], versions(note=own).__getitem__, None)
        assert looser.unlike_count == 1


def test_calls_that_cannot_be_judged_again_are_counted_with_the_reason() -> None:
    without = RecordedDecision(1, 1, ADA.id, "cnv_1", "c", "note", "v1", None, asked=False, ran=True)
    policies: dict[str | None, Version] = {"v1": Unjudged.NO_DOCUMENTS}
    result = rehearse([without, decided(AUTO)], policies.__getitem__, Modes({"note": FORBIDDEN}))
    assert result.unjudged == {Unjudged.NO_INPUTS: 1, Unjudged.NO_DOCUMENTS: 1}
    assert (result.judged, result.differences) == (0, {})


def test_a_candidate_is_not_told_a_time_that_nobody_recorded() -> None:
    candidate = Modes({"note": FORBIDDEN})
    candidate.reads = frozenset({MomentFact.WEEKDAY})
    told = decided(AUTO, at=2)
    assert told.judgement is not None
    of_a_friday = told.judgement._replace(question=told.judgement.question._replace(moment=Moment(weekday=5)))
    record = [decided(AUTO), replace(told, judgement=of_a_friday)]
    result = rehearse(record, versions(note=AUTO).__getitem__, candidate)
    assert (result.unjudged, result.judged) == ({Unjudged.NO_MOMENT: 1}, 1)


def test_questions_are_counted_as_people_were_asked() -> None:
    """A grant answers as it did, unless a passkey is needed now; a call by itself that is to be asked about is one more."""
    record = [
        decided(CONSENT, at=1, asked=True),
        decided(CONSENT, at=2),
        decided(CONSENT, at=3),
        decided(AUTO, "peek", at=4),
        decided(CONSENT, at=5, asked=True, ran=False),
    ]
    own = versions(note=CONSENT, peek=AUTO).__getitem__
    same = rehearse(record, own, Modes({"note": CONSENT, "peek": AUTO}))
    assert (same.questions_before, same.questions_after) == (2, 2)
    assert same.differences == {}
    passkeys = rehearse(record, own, Modes({"note": STEP_UP, "peek": CONSENT}))
    assert (passkeys.questions_before, passkeys.questions_after) == (2, 5)
    assert passkeys.differences == {ModeChange.PASSKEY_ADDED: 4, ModeChange.QUESTION_ADDED: 1}
    none = rehearse(record, own, Modes({"note": AUTO, "peek": AUTO}))
    assert (none.questions_before, none.questions_after) == (2, 0)


def test_a_tool_that_the_candidate_would_not_publish_is_refused_whatever_the_call() -> None:
    result = rehearse([decided(AUTO)], versions(note=AUTO).__getitem__, Modes({"note": AUTO}, published={"note": FORBIDDEN}))
    assert result.differences == {ModeChange.NEWLY_REFUSED: 1}
    assert result.by_tool == {(ModeChange.NEWLY_REFUSED, "note"): 1}
    assert result.by_person == {(ModeChange.NEWLY_REFUSED, ADA.id): 1}


def test_a_long_record_is_counted_whole_and_named_in_part() -> None:
    record = (decided(AUTO, at=at) for at in range(EXAMPLES + 50))
    result = rehearse(record, versions(note=AUTO).__getitem__, Modes({"note": FORBIDDEN}))
    assert result.differences == {ModeChange.NEWLY_REFUSED: EXAMPLES + 50}
    assert len(result.examples[ModeChange.NEWLY_REFUSED]) == EXAMPLES
    assert (result.first_at, result.last_at) == (0, EXAMPLES + 49)


def test_an_unfaithful_record_is_counted_whole_too() -> None:
    record = (decided(AUTO, at=at) for at in range(EXAMPLES + 50))
    result = rehearse(record, versions(note=CONSENT).__getitem__, None)
    assert (result.unlike_count, len(result.unlike)) == (EXAMPLES + 50, EXAMPLES)
