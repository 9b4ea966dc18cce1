"""Rules over what a session did so far, at the running gateway: for calls at once, and judged again from the record."""

from __future__ import annotations

import json
from pathlib import Path

from tests.scenarios.staging import stage

RULES = """
@id("order.peek-first")
@why("Nothing is babbled after something was looked at")
forbid (principal, action in Countersign::Action::"anyMode", resource)
when { resource.name == "babble" && context.toolsUsed.contains("peek") };

@id("count.session")
@why("A session may do five things")
forbid (principal, action in Countersign::Action::"anyMode", resource)
when { !context.publishing && context.callsInSession > 5 };

@id("time.always")
@why("There is no such minute of the day")
forbid (principal, action in Countersign::Action::"anyMode", resource)
when { context.minuteOfDay > 1439 || context.weekday > 7 };
"""


async def test_an_order_of_calls_and_a_count_hold_for_calls_at_once_and_are_reproduced_from_the_record(tmp_path: Path) -> None:
    async with stage(tmp_path, COUNTERSIGN_TIME_ZONE="Pacific/Kiritimati") as scene:
        (tmp_path / "policy" / "own.cedar").write_text(RULES)
        assert (await scene.gateway.run("policy", "reload"))[0] == 0
        turn = await scene.begin()
        assert (await turn.invoke("babble", {"size": 3}, "babble-1"))["outcome"] == "ok"
        assert (await turn.invoke("peek", {"what": "a"}, "peek-1"))["outcome"] == "ok"
        refused = await turn.invoke("babble", {"size": 3}, "babble-2")
        assert (refused["outcome"], refused["reason"]) == ("refusedByPolicy", "forbidden")
        # Five in the session so far and no more, however many are asked for at once.
        calls = [await turn.start("peek", {"what": "a"}, f"more-{number}") for number in range(6)]
        outcomes = [(await call)["outcome"] for call in calls]
        # A call that is judged after others were counted counts them too, so fewer may run, and never more.
        assert outcomes.count("ok") <= 2
        assert len(scene.effects(turn.conversation_id)) == 2 + outcomes.count("ok")
        code, output = await scene.gateway.run("policy", "replay", "--json")
        told = json.loads(output)
        assert (code, told["unlike"]) == (0, [])
        assert told["judged"] == told["reproduced"] > 0
