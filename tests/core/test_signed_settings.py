"""The passkeys' signatures of changed settings, checked again from the records."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.canonical import canonical_bytes, parse
from gateway.core.ledger import PrincipalEnrolled, SettingChanged, SettingSignature
from gateway.core.model import Principal
from gateway.core.signed_answers import RecordedAnswer, RecordedPasskey, SignedAnswers
from gateway.core.vocabulary import Profile
from tests.fakes.history import PASSKEY

WISH: Mapping[str, Any] = {"setting": "approval_seconds", "value": 60}
SIGNED = SettingSignature("cse_1", PASSKEY.id, canonical_bytes(WISH), {"id": "x"})
CHANGED = SettingChanged(7, PASSKEY.principal_id, "approval_seconds", 60, {"approval_seconds": 60}, SIGNED)


def find_fault(changed: SettingChanged, says: str | None = None) -> tuple[str | None, int]:
    """What is wrong with a change after its person was enrolled, and how many signatures held; the passkey's check `says` so."""

    def check(answer: RecordedAnswer, passkey: RecordedPasskey) -> str | None:
        assert passkey.person_id == PASSKEY.principal_id
        assert answer.verified_person
        signature = changed.signature
        assert signature is not None
        assert answer.challenge == hashlib.sha256(signature.statement).digest()
        return says

    answers = SignedAnswers(check)
    enrolled = PrincipalEnrolled(1, "a" * 64, Principal(PASSKEY.principal_id, "Ada", Profile.OPERATOR), PASSKEY).leaf()
    assert answers.check(enrolled.body, None) is None
    leaf = changed.leaf()
    payload = None if leaf.payload is None else parse(leaf.payload)
    return answers.check(leaf.body, payload), answers.signatures


def test_a_change_that_its_person_signed_holds() -> None:
    assert find_fault(CHANGED) == (None, 1)


def test_a_change_of_the_command_line_has_no_signature() -> None:
    assert find_fault(replace(CHANGED, principal_id=None, signature=None)) == (None, 0)


@pytest.mark.parametrize(
    ("changed", "says", "words"),
    [
        (replace(CHANGED, value=61), None, "what was signed for `approval_seconds` is another change"),
        (replace(CHANGED, setting="drain_seconds"), None, "what was signed for `drain_seconds` is another change"),
        (replace(CHANGED, principal_id="usr_2"), None, "nobody's or somebody else's"),
        (replace(CHANGED, signature=replace(SIGNED, credential_id=b"other")), None, "nobody's or somebody else's"),
        (CHANGED, "the signature is none", "does not hold: the signature is none"),
    ],
)
def test_another_change_than_was_signed_or_somebody_elses_signature_is_found(
    changed: SettingChanged, says: str | None, words: str
) -> None:
    fault, signatures = find_fault(changed, says)
    assert fault is not None
    assert (words in fault, signatures) == (True, 0), fault
