"""The console's methods about sources over a real socket: for operators, and only over what they saw."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.core.canonical import Json, digest
from gateway.runtime import source_views
from tests.fakes.drivers import ScriptedDriver, offered
from tests.harness.socket import RpcError
from tests.server.checked_socket import CheckedSocket, open_checked, refusal
from tests.server.sockets import Stage, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        served.drivers["notes"] = ScriptedDriver([offered("read"), offered("send", "Send a note.")])
        yield served


async def add(console: CheckedSocket) -> dict[str, Any]:
    await console.call("sources/add", {"name": "notes", "kind": "mcp", "settings": {"command": "serve"}})
    return await console.call("sources/test", {"name": "notes"})


async def tools(console: CheckedSocket, **page: Any) -> list[dict[str, Any]]:
    return (await console.call("sources/list-tools", {"name": "notes", **page}))["tools"]


async def test_a_source_from_adding_to_removing(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    assert (await console.call("sources/list"))["sources"] == []
    source = await add(console)
    assert (source["state"], source["counts"]["proposed"], source["version"]) == ("ready", 2, "1.0")
    first, second = await tools(console)
    assert (first["tool"], first["name"], first["standing"], first["proposed"]) == ("read", "notes__read", "proposed", "read")
    decided = await console.call(
        "sources/decide",
        {
            "name": "notes",
            "decisions": [
                {"tool": "read", "pin": first["pin"], "category": "read"},
                {"tool": "send", "pin": second["pin"]},
            ],
        },
    )
    assert decided["counts"] == {"proposed": 0, "inUse": 1, "keptOut": 1, "quarantined": 0}
    assert [tool["tool"] for tool in await tools(console, standing="inUse")] == ["read"]
    off = await console.call("sources/switch", {"name": "notes", "enabled": False})
    assert (off["enabled"], off["state"]) == (False, "off")
    await console.call("sources/remove", {"name": "notes"})
    assert (await console.call("sources/list"))["sources"] == []


async def test_a_tool_in_quarantine_is_shown_with_what_it_was(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    await add(console)
    first = (await tools(console))[0]
    decision = {"tool": "read", "pin": first["pin"], "category": "read"}
    await console.call("sources/decide", {"name": "notes", "decisions": [decision]})
    stage.drivers["notes"].tools[0] = offered("read", "Read a note and send it.")
    await console.call("sources/test", {"name": "notes"})
    (changed,) = await tools(console, standing="quarantined")
    assert changed["definition"]["description"] == "Read a note and send it."
    assert changed["decided"]["description"] == "Read a note."
    stale = {"name": "notes", "decisions": [decision]}
    assert await refusal(console, "sources/decide", stale) == (-32004, "changed")


async def change(console: CheckedSocket, settings: dict[str, Any], without: tuple[str, ...] = ()) -> dict[str, Any]:
    (seen,) = (await console.call("sources/list"))["sources"]
    wanted = {"name": "notes", "settingsDigest": seen["settingsDigest"], "settings": settings, "without": list(without)}
    return await console.call("sources/change", wanted)


async def test_a_change_names_what_is_other_and_leaves_the_rest_and_every_decision(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    long = "x" * 3_000
    settings = {"command": "serve", "document": long, "headers": {"a": "b"}}
    await console.call("sources/add", {"name": "notes", "kind": "mcp", "settings": settings})
    await console.call("sources/test", {"name": "notes"})
    first = (await tools(console))[0]
    decision = {"tool": "read", "pin": first["pin"], "category": "read"}
    await console.call("sources/decide", {"name": "notes", "decisions": [decision]})
    changed = await change(console, {"command": "serve", "network": True}, ("headers",))
    shown = long[:2_000] + "…"
    assert changed["settings"] == {"command": "serve", "network": True, "document": shown}
    assert changed["addedAt"]
    again = await console.call("sources/test", {"name": "notes"})
    assert (again["state"], again["counts"]["inUse"]) == ("ready", 1)
    await change(console, {"document": "short"})


async def test_a_setting_that_is_not_shown_whole_is_named_and_not_taken_from_who_saw_a_part_of_it(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    folders = [f"/data/{number}" for number in range(250)]
    settings = {"command": "serve", "env": {"CERT": "x" * 3_000}, "folders": folders, "document": "x" * 3_000}
    await console.call("sources/add", {"name": "notes", "kind": "mcp", "settings": settings})
    (shown,) = (await console.call("sources/list"))["sources"]
    assert shown["shortened"] == ["env", "folders", "document"]
    attempts: tuple[dict[str, Any], ...] = (
        {"env": {"CERT": "y" + "x" * 1_999 + "…"}},
        {"folders": [*shown["settings"]["folders"], "/data/new"]},
        {"folders": [], "network": True},
    )
    for attempt in attempts:
        with pytest.raises(RpcError, match="longer than the console shows"):
            await change(console, attempt)
    (after,) = (await console.call("sources/list"))["sources"]
    assert after["settingsDigest"] == digest(settings)
    # It can be taken away, and a document be given anew.
    changed = await change(console, {"document": "short"}, ("env",))
    assert (changed["shortened"], "env" in changed["settings"]) == (["folders"], False)


async def test_a_change_of_another_place_leaves_its_tools_to_a_new_decision(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    await add(console)
    first = (await tools(console))[0]
    decision = {"tool": "read", "pin": first["pin"], "category": "read"}
    await console.call("sources/decide", {"name": "notes", "decisions": [decision]})
    stage.drivers["notes"].identity = "another server"
    await change(console, {"command": "serve-others"})
    again = await console.call("sources/test", {"name": "notes"})
    assert again["counts"] == {"proposed": 1, "inUse": 0, "keptOut": 0, "quarantined": 1}


async def test_the_digest_of_settings_is_made_once_for_all_who_look_at_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Json] = []

    def noting(settings: Json) -> str:
        made.append(settings)
        return digest(settings)

    monkeypatch.setattr(source_views, "digest", noting)
    console = await open_checked(stage, "console")
    await add(console)
    first = [(await console.call("sources/list"))["sources"][0]["settingsDigest"] for _ in range(3)]
    assert first == [digest({"command": "serve"})] * 3
    await change(console, {"network": True})
    second = [(await console.call("sources/list"))["sources"][0]["settingsDigest"] for _ in range(3)]
    assert second == [digest({"command": "serve", "network": True})] * 3
    assert len(made) == 2


async def test_a_change_of_what_somebody_else_changed_meanwhile_is_refused(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    seen = await add(console)
    await change(console, {"network": True})
    late = {"name": "notes", "settingsDigest": seen["settingsDigest"], "settings": {"network": False}}
    assert await refusal(console, "sources/change", late) == (-32004, "changed")
    assert await refusal(console, "sources/change", {**late, "name": "other"}) == (-32003, "not_found")


async def test_a_change_that_cannot_work_changes_nothing(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    await add(console)
    with pytest.raises(RpcError, match="no secret is stored under"):
        await change(console, {"token": "${secret:notes.KEY}"})
    (source,) = (await console.call("sources/list"))["sources"]
    assert source["settings"] == {"command": "serve"}


async def test_thousands_of_tools_are_paged_and_searched(stage: Stage) -> None:
    stage.drivers["notes"].tools = [offered(f"tool{number:04}", "x" * 1_500) for number in range(1_990)]
    stage.drivers["notes"].tools.append(offered("special"))
    console = await open_checked(stage, "console")
    await add(console)
    seen: list[str] = []
    after: dict[str, Any] = {}
    while True:
        page = await console.call("sources/list-tools", {"name": "notes", "limit": 200, **after})
        seen += [tool["tool"] for tool in page["tools"]]
        assert page["total"] == 1_991
        if "next" not in page:
            break
        after = {"after": page["next"]}
    assert len(seen) == len(set(seen)) == 1_991
    assert [tool["tool"] for tool in await tools(console, search="SPECIAL")] == ["special"]


async def test_the_value_of_a_secret_never_comes_back(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    await console.call("secrets/store", {"name": "notes.TOKEN", "value": "hunter2"})
    settings = {"command": "serve", "token": "${secret:notes.TOKEN}"}
    source = await console.call("sources/add", {"name": "notes", "kind": "mcp", "settings": settings})
    assert stage.drivers["notes"].filled == "hunter2"
    assert source["settings"]["token"] == "${secret:notes.TOKEN}"
    listed = await console.call("secrets/list")
    assert listed == {"secrets": [{"name": "notes.TOKEN", "sources": ["notes"]}]}
    entries = await console.call("audit/list")
    assert "hunter2" not in repr(entries)
    await console.call("secrets/remove", {"name": "notes.TOKEN"})


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("sources/list", {}),
        ("sources/list-tools", {"name": "notes"}),
        ("sources/add", {"name": "notes", "kind": "mcp", "settings": {}}),
        ("sources/read-configuration", {"text": "{}"}),
        ("sources/import", {"text": "{}", "digest": "0" * 64, "servers": ["notes"]}),
        ("sources/test", {"name": "notes"}),
        ("sources/change", {"name": "notes", "settingsDigest": "0" * 64, "settings": {}}),
        ("sources/switch", {"name": "notes", "enabled": True}),
        ("sources/remove", {"name": "notes"}),
        ("sources/decide", {"name": "notes", "decisions": [{"tool": "read", "pin": "0" * 64, "category": "read"}]}),
        ("secrets/list", {}),
        ("secrets/store", {"name": "a", "value": "b"}),
        ("secrets/remove", {"name": "a"}),
    ],
)
async def test_a_guest_learns_nothing_of_sources_and_changes_none(stage: Stage, method: str, params: dict[str, Any]) -> None:
    console = await open_checked(stage, "console", "ses_eve_console")
    assert await refusal(console, method, params) == (-32004, "operatorOnly")


async def test_the_agent_origin_has_no_such_methods(stage: Stage) -> None:
    agent = await open_checked(stage, "agent")
    assert await refusal(agent, "sources/list", {}) == (-32601, "unknown_method")


async def test_what_is_not_there_is_not_found(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    for method in ("sources/test", "sources/remove", "sources/list-tools"):
        assert await refusal(console, method, {"name": "gone"}) == (-32003, "not_found")


async def test_a_name_or_value_that_cannot_be_taken_is_refused_in_words(stage: Stage) -> None:
    console = await open_checked(stage, "console")
    wrong: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("sources/add", {"name": "My Notes", "kind": "mcp", "settings": {}}, "no name for a source"),
        ("sources/add", {"name": "notes", "kind": "mcp", "settings": {"token": "${secret:GONE}"}}, "no secret is stored"),
        ("secrets/store", {"name": "1st", "value": "b"}, "no name for a secret"),
        ("secrets/store", {"name": "a", "value": "\x1b[31m"}, "printable characters"),
    )
    for method, params, said in wrong:
        with pytest.raises(RpcError, match=said) as caught:
            await console.call(method, params)
        assert (caught.value.code, caught.value.error["data"]["code"]) == (-32602, "invalid_params")
