"""Acts about sources of tools, signing in to them, their secrets, and what they ask people."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.harness.socket import RpcError
from tests.scenarios.staging import finish
from tests.scenarios.unrecorded.acts import Attempt, NotDone, Office, act, nothing, run
from tests.scenarios.unrecorded.call_acts import call_id

SERVER = Path(__file__).parents[2] / "harness" / "changing_mcp_server.py"
OFFERS = "look|readOnlyHint|Look at a text.\nkeep|destructiveHint|Keep a text.\n"
FORM = {"type": "object", "properties": {"branch": {"type": "string", "title": "Branch"}}, "required": ["branch"]}
ASKS: dict[str, Any] = {"message": "Which branch shall be pushed?", "requestedSchema": FORM}
WAIT = 60.0


def described(office: Office, name: str) -> dict[str, Any]:
    """A new source, whose offers lie in a folder of its own."""
    folder = office.gateway.home / name
    folder.mkdir(exist_ok=True)
    (folder / "offers").write_text(OFFERS)
    settings = {"command": [sys.executable], "args": [str(SERVER), str(folder / "offers")], "writable": [str(folder)]}
    return {"name": name, "kind": "mcp", "settings": settings}


async def add(office: Office) -> str:
    """A source that is connected."""
    name = call_id()
    await office.console.call("sources/add", described(office, name))
    await test(office, name)
    await decide(office, name, "keep")
    return name


async def decide(office: Office, name: str, tool: str, category: str = "read") -> object:
    found = (await office.console.call("sources/list-tools", {"name": name, "search": tool}))["tools"][0]
    decisions = [{"tool": tool, "pin": found["pin"], "category": category}]
    return await office.console.call("sources/decide", {"name": name, "decisions": decisions})


async def test(office: Office, name: str) -> Any:
    """What it offers now. Raises NotDone where that could not be found out."""
    found = await office.console.call("sources/test", {"name": name}, patience=WAIT)
    if found["state"] != "ready":
        raise NotDone("ledger_unavailable" if "recorded" in found["why"] else found["state"], str(found["why"]))
    return found


def sources(office: Office) -> Any:
    async def look() -> object:
        listed = (await office.console.call("sources/list"))["sources"]
        return [(each["name"], each["enabled"], each["counts"], each.get("signIn")) for each in listed]

    return look


def runs(office: Office, name: str) -> Any:
    """What is on record of a source, and whether its tools can be called."""
    listed = sources(office)

    async def look() -> object:
        turn = await office.begin()
        offered = {each["name"] for each in turn.snapshot["tools"]}
        there = name in [each["name"] for each in (await office.console.call("sources/list"))["sources"]]
        listed_tools: Any = await office.console.call("sources/list-tools", {"name": name}) if there else {"tools": []}
        return await listed(), [str(each["name"]) for each in listed_tools["tools"] if each["name"] in offered]

    return look


@act("source:added", "console sources/add")
async def _(office: Office) -> Attempt:
    params = described(office, call_id())

    async def look() -> object:
        return [each["name"] for each in (await office.console.call("sources/list"))["sources"]]

    return Attempt(lambda: office.console.call("sources/add", params), look)


@act("source:added", "console sources/import")
@act("secret:stored", "console sources/import")
async def _(office: Office) -> Attempt:
    name = call_id()
    command = described(office, name)["settings"]
    server = {"command": command["command"][0], "args": command["args"], "env": {"API_TOKEN": f"tok-{name}-9f8e7d6c5b4a"}}
    text = json.dumps({"mcpServers": {name: server}})
    read = await office.console.call("sources/read-configuration", {"text": text, "network": False})
    params = {"text": text, "network": False, "servers": [name], "digest": read["digest"]}

    async def look() -> object:
        listed = (await office.console.call("sources/list"))["sources"]
        return [each["name"] for each in listed], await office.console.call("secrets/list")

    return Attempt(lambda: office.console.call("sources/import", params), look)


@act("source:added", "countersign sources add --replace")
@act("source:removed", "countersign sources add --replace")
async def _(office: Office) -> Attempt:
    name = await add(office)
    command = described(office, name)["settings"]
    more = ("--writable", command["writable"][0], "--", *command["command"], *command["args"])

    async def look() -> object:
        listed = (await office.console.call("sources/list"))["sources"]
        return [(each["name"], each.get("addedAt")) for each in listed]

    return Attempt(lambda: run(office, "sources", "add", name, "--replace", *more), look)


@act("source:changed", "console sources/change")
async def _(office: Office) -> Attempt:
    name = await add(office)

    async def look() -> object:
        listed = (await office.console.call("sources/list"))["sources"]
        return [each["settings"] for each in listed if each["name"] == name]

    (there,) = [each for each in (await office.console.call("sources/list"))["sources"] if each["name"] == name]
    change = {"name": name, "settingsDigest": there["settingsDigest"], "settings": {"network": True}}
    return Attempt(lambda: office.console.call("sources/change", change), look)


@act("source:switched", "console sources/switch")
async def _(office: Office) -> Attempt:
    name = await add(office)
    return Attempt(lambda: office.console.call("sources/switch", {"name": name, "enabled": False}), runs(office, name))


@act("source:removed", "console sources/remove")
async def _(office: Office) -> Attempt:
    name = await add(office)
    return Attempt(lambda: office.console.call("sources/remove", {"name": name}), runs(office, name))


@act("source:removed", "countersign sources remove")
async def _(office: Office) -> Attempt:
    name = await add(office)
    return Attempt(lambda: run(office, "sources", "remove", name), runs(office, name))


@act("source-tools:seen", "console sources/test")
async def _(office: Office) -> Attempt:
    name = await add(office)
    (office.gateway.home / name / "offers").write_text(OFFERS + "more|readOnlyHint|Look at more.\n")

    async def look() -> object:
        return len((await office.console.call("sources/list-tools", {"name": name}))["tools"])

    return Attempt(lambda: test(office, name), look)


@act("source-tool:decided", "console sources/decide")
async def _(office: Office) -> Attempt:
    name = await add(office)
    return Attempt(lambda: decide(office, name, "look"), sources(office))


@act("source-tool:decided", "countersign sources pin")
async def _(office: Office) -> Attempt:
    name = await add(office)
    return Attempt(lambda: run(office, "sources", "pin", name, "look", "read"), sources(office))


async def secrets(office: Office) -> object:
    return await office.console.call("secrets/list")


@act("secret:stored", "console secrets/store")
async def _(office: Office) -> Attempt:
    params = {"name": f"KEY_{call_id().replace('-', '_')}", "value": "v"}
    return Attempt(lambda: office.console.call("secrets/store", params), lambda: secrets(office))


@act("secret:removed", "console secrets/remove")
async def _(office: Office) -> Attempt:
    name = f"KEY_{call_id().replace('-', '_')}"
    await office.console.call("secrets/store", {"name": name, "value": "v"})
    return Attempt(lambda: office.console.call("secrets/remove", {"name": name}), lambda: secrets(office))


# ── signing in ──


async def remote(office: Office) -> str:
    """A source that wants a sign-in."""
    name = call_id()
    await office.console.call("sources/add", {"name": name, "kind": "mcp", "settings": {"url": office.site.url}})
    await office.console.call("sources/test", {"name": name}, patience=WAIT)
    return name


async def come_back(office: Office, name: str) -> dict[str, Any]:
    begun = await office.console.call("sources/sign-in", {"name": name})
    back = await office.site.agree(begun["location"])
    return {"name": name, "state": back["state"], "code": back["code"], "issuer": back["iss"]}


async def sign_in(office: Office) -> str:
    """A source to which somebody is signed in."""
    name = await remote(office)
    await office.console.call("sources/finish-sign-in", await come_back(office, name))
    await office.console.call("sources/test", {"name": name}, patience=WAIT)
    return name


@act("source-sign-in:started", "console sources/sign-in")
async def _(office: Office) -> Attempt:
    name = await remote(office)
    return Attempt(lambda: office.console.call("sources/sign-in", {"name": name}), nothing, stays=True)


@act("source:signed-in", "console sources/finish-sign-in")
async def _(office: Office) -> Attempt:
    name = await remote(office)

    async def go() -> object:
        return await office.console.call("sources/finish-sign-in", await come_back(office, name))

    return Attempt(go, lambda: signed_in(office, name))


async def signed_in(office: Office, name: str) -> object:
    listed = (await office.console.call("sources/list"))["sources"]
    return [each["signIn"] for each in listed if each["name"] == name]


@act("source-sign-in:failed", "console sources/finish-sign-in")
async def _(office: Office) -> Attempt:
    name = await remote(office)

    async def go() -> object:
        back = await come_back(office, name)
        back.pop("code")
        try:
            return await office.console.call("sources/finish-sign-in", {**back, "error": "access_denied"})
        except RpcError as refused:
            if refused.error["data"]["code"] != "signInFailed":
                raise
            return None

    return Attempt(go, lambda: signed_in(office, name), stays=True)


@act("source:signed-out", "console sources/sign-out")
async def _(office: Office) -> Attempt:
    name = await sign_in(office)

    async def look() -> object:
        found = await office.console.call("sources/test", {"name": name}, patience=WAIT)
        return found["state"], found["signIn"]

    return Attempt(lambda: office.console.call("sources/sign-out", {"name": name}), look)


@act("source:signed-out", "console sources/remove")
@act("source:removed", "console sources/remove, of one that is signed in to")
async def _(office: Office) -> Attempt:
    name = await sign_in(office)

    async def look() -> object:
        listed = (await office.console.call("sources/list"))["sources"]
        if name not in [each["name"] for each in listed]:
            return None
        found = await office.console.call("sources/test", {"name": name}, patience=WAIT)
        return found["state"], found["signIn"]

    return Attempt(lambda: office.console.call("sources/remove", {"name": name}), look)


# ── what a server asks a person ──


@act("elicitation:resolved", "console elicitations/answer")
async def _(office: Office) -> Attempt:
    await test(office, "git")
    turn = await office.begin()
    waiting = await turn.start("git__asks_form", ASKS, call_id())
    question = dict((await office.console.notification("elicitations/requested"))["elicitation"])
    params = {"elicitationId": question["id"], "action": "accept", "values": {"branch": "main"}}

    async def look() -> object:
        return [each["id"] for each in (await office.console.call("elicitations/list"))["elicitations"]]

    async def go() -> object:
        await office.console.call("elicitations/answer", params)
        result = await finish(waiting)
        assert "main" in result["content"], result
        return result

    return Attempt(go, look)


@act("elicitation:asked", "shell tools/invoke")
async def _(office: Office) -> Attempt:
    await test(office, "git")
    turn = await office.begin()

    async def look() -> object:
        return [each["id"] for each in (await office.console.call("elicitations/list"))["elicitations"]]

    async def go() -> object:
        call = await turn.start("git__asks_form", ASKS, call_id())
        asked = asyncio.ensure_future(office.console.notification("elicitations/requested"))
        await asyncio.wait({call, asked}, return_when=asyncio.FIRST_COMPLETED)
        if call.done():
            asked.cancel()
            raise NotDone("ledger_unavailable" if "on record" in call.result()["content"] else "other", call.result()["content"])
        return await asked

    return Attempt(go, look)
