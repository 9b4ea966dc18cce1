"""Quotas at the running gateway: calls at once, a second tab of the same person, and a restart change nothing about them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.harness.person import Turn
from tests.scenarios.staging import edit, finish, stage

OPERATOR = "remote_models = true\n"
DAILY = 'remote_models = true\nquotas = ["4 calls per day", "1000000 released_bytes per session"]\n'


@pytest.mark.requirement("002-67", "a person's daily quota holds over tabs and restarts")
async def test_a_daily_quota_is_shared_by_calls_at_once_by_tabs_and_by_a_gateway_that_is_started_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene:
        edit(scene.gateway, "profiles.toml", OPERATOR, DAILY)
        assert (await scene.gateway.run("policy", "reload"))[0] == 0
        turn = await scene.begin()
        other = await Turn.begin(await scene.ada.agent())
        started = [await each.start("peek", {"what": "a"}, f"c{number}") for number in range(4) for each in (turn, other)]
        results = [await finish(call) for call in started]
        ran = [result for result in results if result["outcome"] == "ok"]
        refused = [result for result in results if result["outcome"] != "ok"]
        assert len(scene.effects(turn.conversation_id)) + len(scene.effects(other.conversation_id)) == len(ran) == 4
        for result in refused:
            assert (result["outcome"], result["reason"]) == ("refusedByPolicy", "quotaExceeded")
            assert re.search(r"this day has used up its 4 tool calls; there is more at midnight UTC, in \d+ h", result["content"])
        # The process ends without having had time for anything.
        await scene.gateway.kill()
        await scene.gateway.start()
        # The same session, and then another one of the same person.
        again = await Turn.begin(await scene.ada.agent())
        assert (await again.invoke("peek", {"what": "b"}, "later"))["reason"] == "quotaExceeded"
        assert (await scene.ada.open_shell()).status in (302, 303)
        again = await Turn.begin(await scene.ada.agent())
        assert (await again.invoke("peek", {"what": "b"}, "later"))["reason"] == "quotaExceeded"
        assert scene.effects(again.conversation_id) == []
