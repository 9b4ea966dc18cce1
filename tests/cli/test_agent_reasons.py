"""A small model calls a tool and nobody asked for one: nothing runs, nothing is on record, and what can be asked for is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.inference.scripted import Reply
from tests.harness.terminal import agent_command

SMALL = {"COUNTERSIGN_MODEL_TIER": "single", "COUNTERSIGN_TOOLS_MODULES": "[]"}
LISTING = Reply(json.dumps({"tool": "list_directory", "arguments": {"path": "."}}))
TALE = Reply(json.dumps({"answer": "Once there was a hedgehog."}))
ABLE = "Nothing in that asks for one of my tools, so I used none. I can list "


@pytest.mark.parametrize(
    ("message", "then", "said"),
    [("tell me a tale", TALE, f"Once there was a hedgehog.\n\n{ABLE}"), ("asdf qwer", LISTING, ABLE)],
    ids=["it answers then", "it insists"],
)
async def test_a_call_that_nobody_asked_for_is_not_sent(tmp_path: Path, message: str, then: Reply, said: str) -> None:
    async with agent_command(tmp_path, LISTING, then) as command:
        at = replace(command, extra=SMALL)
        code, out, err = await at.run("--single", message)
        assert code == 0, err
        assert out.startswith(said)
        _, log, _ = await at.run("audit", "export", "-")
    assert len(at.backend.asked) == 2
    assert '"turn:begun"' in log
    assert '"call:' not in log
    assert "list_directory" not in err


async def test_a_question_about_ones_own_affairs_is_searched_and_answered_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "mail").mkdir(parents=True)
    (tmp_path / "workspace" / "mail" / "landlord.txt").write_text("Dear tenants,\nthe heating is inspected on 18 March.\n")
    async with agent_command(tmp_path, Reply("On 18 March.")) as command:
        at = replace(command, extra=SMALL)
        code, out, err = await at.run("--single", "when is the heating inspected?")
        assert (code, out) == (0, "On 18 March. (`mail/landlord.txt`, line 2)\n"), err
        assert len(at.backend.asked) == 1
        code, out, err = await at.run("--single", "who is bringing the salad?")
    assert (code, out) == (0, "I found nothing that mentions `salad`.\n"), err
    assert len(at.backend.asked) == 1, "nobody is asked to make something up"
