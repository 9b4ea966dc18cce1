"""A log's key is handed over to the next only with the signatures of both."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from gateway.core.checkpoint import SigningKey
from gateway.core.key_rotation import KeyFault, KeyHistory, read_key_history, rotate

NAME = "gateway.example/audit"
FIRST, SECOND, THIRD, STRANGER = (SigningKey(NAME, bytes([number]) * 32) for number in range(1, 5))


def history_of(*keys: SigningKey) -> KeyHistory | KeyFault:
    pairs = pairwise(keys)
    return read_key_history(
        ((10 * each, rotate(*pair).members()) for each, pair in enumerate(pairs, 1)), keys[-1].verification_key
    )


def test_a_log_without_a_rotation_has_the_one_key_that_it_names() -> None:
    assert history_of(FIRST) == KeyHistory((FIRST.verification_key,))


def test_the_first_checkpoint_over_a_rotation_is_the_new_keys() -> None:
    history = history_of(FIRST, SECOND, THIRD)
    assert isinstance(history, KeyHistory)
    signers = [history.at(size) for size in (0, 10, 11, 20, 21, 1_000)]
    expected = (FIRST, FIRST, SECOND, SECOND, THIRD, THIRD)
    assert signers == [key.verification_key for key in expected]
    assert history.newest == THIRD.verification_key


@pytest.mark.parametrize("member", ["from_signature", "to_signature"])
def test_a_key_that_one_of_the_two_did_not_sign_is_refused(member: str) -> None:
    forged = replace(rotate(FIRST, SECOND), **{member: getattr(rotate(STRANGER, STRANGER), member)})
    found = read_key_history([(7, forged.members())], SECOND.verification_key)
    assert isinstance(found, KeyFault)
    assert (found.index, found.member) == (7, {"from_signature": "fromSignature", "to_signature": "toSignature"}[member])


def test_signatures_of_another_handing_over_are_refused() -> None:
    forged = replace(rotate(FIRST, SECOND), to_key=STRANGER.verification_key.line())
    found = read_key_history([(7, forged.members())], STRANGER.verification_key)
    assert isinstance(found, KeyFault)
    assert found.member == "fromSignature"


def test_a_key_hands_over_only_while_it_is_the_logs() -> None:
    rotations = [(7, rotate(FIRST, SECOND).members()), (9, rotate(FIRST, THIRD).members())]
    assert read_key_history(rotations, THIRD.verification_key) == KeyFault(
        9, "fromKey", "the key that it hands over from is not the one that the log had"
    )


def test_a_key_of_another_log_and_an_earlier_one_are_no_new_keys() -> None:
    foreign = SigningKey("other.example/audit", bytes(32))
    for keys in ((FIRST, foreign), (FIRST, SECOND, FIRST)):
        found = history_of(*keys)
        assert isinstance(found, KeyFault)
        assert found.member == "toKey"


def test_a_log_that_names_another_key_than_the_last_one_is_refused() -> None:
    found = read_key_history([(7, rotate(FIRST, SECOND).members())], FIRST.verification_key)
    assert isinstance(found, KeyFault)
    assert found.member == ""
