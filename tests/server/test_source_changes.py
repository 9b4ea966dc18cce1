"""What pages learn of sources: operators' consoles that something changed, and the shell why a tool cannot be called."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.vocabulary import Category, PermissionMode, Reason
from tests.fakes.drivers import ScriptedDriver, offered
from tests.fakes.toolbox import make_spec
from tests.server.checked_socket import CheckedSocket, open_checked
from tests.server.sockets import Stage, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        served.drivers["notes"] = ScriptedDriver([offered("read"), offered("send", "Send a note.")])
        yield served


async def add(console: CheckedSocket) -> None:
    await console.call("sources/add", {"name": "notes", "kind": "mcp", "settings": {"command": "serve"}})
    await console.call("sources/test", {"name": "notes"})


async def take_into_use(console: CheckedSocket, tool: str) -> None:
    listed = (await console.call("sources/list-tools", {"name": "notes"}))["tools"]
    pin = next(each["pin"] for each in listed if each["tool"] == tool)
    await console.call("sources/decide", {"name": "notes", "decisions": [{"tool": tool, "pin": pin, "category": "read"}]})


def go_away(stage: Stage, why: str) -> None:
    driver = stage.drivers["notes"]
    assert driver.listener is not None
    driver.away = why
    driver.listener.went_away(why)


async def test_an_operator_is_told_of_what_another_page_did_and_of_what_a_source_did_by_itself(stage: Stage) -> None:
    console, other = await open_checked(stage, "console"), await open_checked(stage, "console")
    await add(console)
    await other.notification("sources/changed")
    await take_into_use(console, "read")
    await other.notification("sources/changed")
    go_away(stage, "the server has ended")
    await other.notification("sources/changed")
    (source,) = (await other.call("sources/list"))["sources"]
    assert source["why"] == "the server has ended"
    await console.call("sources/remove", {"name": "notes"})
    await other.notification("sources/changed")


async def test_a_guest_is_not_told_that_sources_change(stage: Stage) -> None:
    console, guest = await open_checked(stage, "console"), await stage.connect("console", "ses_eve_console")
    await add(console)
    await console.notification("sources/changed")
    # What was put into its outbox before is sent before this answer.
    await guest.call("session/describe")
    assert [each["method"] for each in guest.notifications] == []


async def obstacles(stage: Stage, session: str | None = None) -> list[dict[str, Any]]:
    agent = await open_checked(stage, "agent", session)
    conversation = (await agent.call("conversations/open"))["conversation"]
    return (await agent.call("tools/describe", {"conversationId": conversation["id"]})).get("obstacles", [])


async def test_a_list_of_tools_says_why_each_of_them_cannot_be_called(stage: Stage) -> None:
    away, gone = "`notes` is away: the server has ended", "its definition changed after it was approved"
    stage.toolbox.tools = [
        replace(make_spec("look", Category.READ), unavailable=away),
        replace(make_spec("wait", Category.READ), unavailable=away),
        replace(make_spec("fail", Category.READ), unavailable=gone, unavailable_because=Reason.FORBIDDEN),
        make_spec("read_outside", Category.READ),
    ]
    assert await obstacles(stage) == [
        {"reason": "sourceUnavailable", "why": away, "tools": ["look", "wait"]},
        {"reason": "forbidden", "why": gone, "tools": ["fail"]},
    ]


async def test_a_tool_that_the_policy_forbids_is_listed_with_the_words_of_the_rule(stage: Stage) -> None:
    stage.policy.modes["look"] = PermissionMode.FORBIDDEN
    assert {"reason": "forbidden", "why": "the test says so", "tools": ["look", "administer"]} in await obstacles(stage)


async def test_who_is_shown_no_forbidden_tool_is_not_told_of_its_source_either(stage: Stage) -> None:
    stage.toolbox.tools = [replace(make_spec("look", Category.READ), unavailable="`notes` is away: no licence")]
    stage.policy.allowance = replace(stage.policy.allowance, shows_forbidden=False)
    assert await obstacles(stage, "ses_eve_agent") == []
