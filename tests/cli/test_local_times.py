"""Times at the prompt: those of this machine's clock."""

from __future__ import annotations

import io
import time
from collections.abc import Generator, Mapping
from typing import Any

import pytest

from gateway.agent.ports import StopSignal
from gateway.agent.runner import TurnRunner
from gateway.cli.terminal.commands import ConversationCommands
from gateway.cli.terminal.results import RecentResults
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.slash import PlainCommand

ANSWERS: Mapping[str, Any] = {
    "conversations/list": {
        "conversations": [{"id": "cnv_1", "title": "Groceries", "updatedAt": "2026-07-01T22:57:09.123Z"}],
    },
    "grants/list": {
        "grants": [{"tool": "x", "pins": {}, "uses": 1, "maxUses": 3, "expiresAt": "2026-12-01T22:57:09.123Z"}],
    },
}


class Listing:
    """The GatewayLink port of a gateway with one conversation and one grant."""

    async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
        """Give what is asked for."""
        return ANSWERS[method]


@pytest.fixture
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_in_berlin")
async def test_a_conversation_and_a_grant_are_listed_with_the_time_that_it_is_here() -> None:
    paper = io.StringIO()
    runner = TurnRunner.__new__(TurnRunner)
    model = {"id": "m"}
    commands = ConversationCommands(Listing(), "cnv", runner, model, Screen(paper, paper), RecentResults(), is_named=True)
    for word in ("conversations", "grants"):
        await commands.run(PlainCommand(word), f"/{word}")
    assert "cnv_1  2026-07-02 00:57  Groceries\n" in paper.getvalue()
    assert "x(): 1 of 3 uses, until 2026-12-01 23:57\n" in paper.getvalue()
