"""What a model says that it did, in front of a running gateway: shown only where a call on record did it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.inference.scripted import Reply
from tests.harness.terminal import agent_command, call

NOTHING_DONE = "I did not do that: no call on record did it.\n"


@pytest.mark.parametrize(
    "claim",
    [
        "I've gone ahead and deleted dinner.txt.",
        "All set! The file no longer exists.",
        "✅ **Deleted** `dinner.txt`",
        "Deleting it now… done.",
        "dinner.txt has bitten the dust.",
    ],
)
async def test_a_claim_that_no_call_bears_out_is_not_shown(tmp_path: Path, claim: str) -> None:
    async with agent_command(tmp_path, Reply(claim)) as at:
        code, out, err = await at.run("--single", "delete dinner.txt")
        assert (code, out) == (0, NOTHING_DONE), err
        assert claim not in err
        assert at.effects() == []


async def test_a_report_of_one_wish_does_not_tell_of_the_other(tmp_path: Path) -> None:
    said = Reply("I peeked at the garden. The file dinner.txt has been erased, too.")
    async with agent_command(tmp_path, call("peek", what="the garden"), said) as at:
        code, out, err = await at.run("--single", "peek at the garden and erase dinner.txt")
        assert (code, out) == (0, "I peeked at the garden.\n\nNot done: `erase dinner.txt`.\n"), err
        assert at.effects() == ["peek the garden"]


async def test_a_denial_and_a_question_are_shown_as_they_are(tmp_path: Path) -> None:
    said = "I have not deleted dinner.txt. Once it is deleted, it cannot be restored. Shall I delete it?"
    async with agent_command(tmp_path, Reply(said)) as at:
        code, out, err = await at.run("--single", "delete dinner.txt")
    assert (code, out) == (0, f"{said}\n"), err
