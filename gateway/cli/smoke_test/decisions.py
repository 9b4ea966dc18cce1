"""The four decisions, each tried by asking the stub model, putting its call to the gateway, and looking at what happened."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson

from gateway.cli.smoke_test.browser import SmokeBrowser, SmokeSocket, settled
from gateway.cli.smoke_test.differences import Difference
from gateway.cli.smoke_test.gateway_child import GatewayChild
from gateway.cli.smoke_test.software_passkey import SoftwarePasskey
from gateway.core.vocabulary import Outcome, PermissionMode, Reason

LABEL: Final = "high"
"""Of the session: the only one at which the shipped policy forbids an operator a built-in tool, `http_get`."""

FILE: Final = "notes/smoke.txt"
WORD: Final = "smoke"


@dataclass(frozen=True, slots=True)
class Wish:
    """What is said, which tool it is about, how the gateway should decide, and whether the file should be there afterwards, None
    for a tool that does not touch it.

    `by_hand` are the arguments of a call that no model was asked for: a forbidden tool is not declared to it.
    """

    said: str
    tool: str
    mode: PermissionMode
    exists: bool | None = None
    by_hand: Mapping[str, str] | None = None


WISHES: Final = (
    Wish("list notes/", "list_directory", PermissionMode.AUTO),
    Wish(f'write "{WORD}" to {FILE}', "write_file", PermissionMode.CONSENT, exists=True),
    Wish(f"delete {FILE}", "delete_file", PermissionMode.STEP_UP, exists=False),
    Wish("get https://example.com/", "http_get", PermissionMode.FORBIDDEN, by_hand={"url": "https://example.com/"}),
)


@dataclass(frozen=True, slots=True)
class Visit:
    """One person with both pages open, and a turn to ask in."""

    gateway: GatewayChild
    browser: SmokeBrowser
    shell: SmokeSocket
    console: SmokeSocket
    passkey: SoftwarePasskey
    model: str
    workspace: Path

    async def try_out(self, wish: Wish) -> str:
        """What happened, in words. Raises Difference."""
        opened = await self.shell.call("conversations/open")
        conversation = opened["conversation"]["id"]
        snapshot = (await self.shell.call("turns/begin", conversationId=conversation, modelId=self.model))["snapshot"]
        turn = {"conversationId": conversation, "turnId": snapshot["turnId"]}
        modes = {each["name"]: each["permission"] for each in snapshot["tools"]}
        expect(modes.get(wish.tool), wish.mode.value, f"`{wish.tool}` is published as")
        proposed = await self._ask_model(wish, snapshot, turn)
        expect(proposed is None, wish.by_hand is not None, f"for `{wish.said}`, that the model proposes no `{wish.tool}` is")
        arguments = proposed if wish.by_hand is None else wish.by_hand
        call = {"id": f"call-{secrets.token_hex(8)}", "name": wish.tool, "arguments": arguments}
        request = {**turn, "snapshotId": snapshot["id"], "snapshotDigest": snapshot["digest"], "call": call}
        answer = await self.shell.start("tools/invoke", request)
        how = await self._answer(wish.mode)
        result = await settled(answer)
        if wish.mode is PermissionMode.FORBIDDEN:
            expect(result["outcome"], Outcome.REFUSED_BY_POLICY.value, "the outcome is")
            expect(result.get("reason"), Reason.FORBIDDEN.value, "the reason is")
        else:
            expect(result["outcome"], Outcome.OK.value, "the outcome is")
        await self.shell.call("turns/end", **turn)
        if wish.exists is not None:
            expect((self.workspace / FILE).exists(), wish.exists, f"whether {FILE} is there is")
        return f"{wish.tool}: {how}"

    async def _ask_model(self, wish: Wish, snapshot: Mapping[str, Any], turn: Mapping[str, str]) -> Mapping[str, Any] | None:
        """The arguments with which the model calls the wish's tool, over `/v1` with a token of this turn; None if it does not."""
        token = await self.shell.call("inference/token", **turn, modelId=self.model)
        tools = [
            {"type": "function", "function": {"name": tool["name"], "parameters": tool["paramSchema"]}}
            for tool in snapshot["tools"]
            if tool["permission"] != PermissionMode.FORBIDDEN.value
        ]
        body = {"model": self.model, "messages": [{"role": "user", "content": wish.said}], "tools": tools}
        reply = await self.browser.post(f"{self.gateway.agent}/v1/chat/completions", body, bearer=token["token"])
        for call in reply["choices"][0]["message"].get("tool_calls") or ():
            if call["function"]["name"] == wish.tool:
                return orjson.loads(call["function"]["arguments"])
        return None

    async def _answer(self, mode: PermissionMode) -> str:
        """Answer the question of a call, if there should be one. A passkey's question is first answered without it."""
        match mode:
            case PermissionMode.AUTO:
                return "ran without a question"
            case PermissionMode.FORBIDDEN:
                return "not offered to the model; called by hand it was refused, and nobody was asked"
            case PermissionMode.CONSENT | PermissionMode.STEP_UP:
                pass
        asked = await self.console.approval()
        expect(asked["kind"], mode.value, "the question is of the kind")
        if mode is PermissionMode.CONSENT:
            await self._decide(asked, signed=False)
            return "asked, ran after a yes"
        try:
            await self._decide(asked, signed=False)
        except Difference:
            await self._decide(asked, signed=True)
            return "asked, refused a yes without the passkey, ran after one with it"
        raise Difference("a yes without the passkey was enough")

    async def _decide(self, asked: Mapping[str, Any], *, signed: bool) -> None:
        opened = await self.console.call("approvals/get", approvalId=asked["id"])
        challenge = opened["challenge"]
        assertion = {"assertion": self.passkey.sign(challenge)} if signed else {}
        await self.console.call(
            "approvals/decide", approvalId=asked["id"], challenge=challenge, decision="approve", scope="once", **assertion
        )


@contextlib.asynccontextmanager
async def visit(gateway: GatewayChild, browser: SmokeBrowser, workspace: Path) -> AsyncGenerator[Visit]:
    """Enrol the first person with a passkey, sign in to the shell, open both sockets. Raises Difference."""
    passkey = SoftwarePasskey(gateway.console, urlsplit(gateway.console).hostname or "")
    options = await browser.post(f"{gateway.console}/enrol/options", {"token": gateway.token})
    await browser.post(
        f"{gateway.console}/enrol/verify", {"token": gateway.token, "credential": passkey.register(options), "name": "Smoke test"}
    )
    _, login, _ = await browser.request("GET", f"{gateway.agent}/login")
    state = parse_qs(urlsplit(login.get("Location", "")).query).get("state", [""])[0]
    lent = await browser.post(f"{gateway.console}/authorize", {"state": state, "label": LABEL})
    await browser.request("GET", lent["location"])
    async with browser.socket(gateway.agent) as shell, browser.socket(gateway.console) as console:
        models = (await shell.call("session/describe"))["models"]
        expect(len(models), 1, "models on offer:")
        yield Visit(gateway, browser, shell, console, passkey, models[0]["id"], workspace)


def expect(found: object, wanted: object, what: str) -> None:
    """Raises Difference unless both are the same."""
    if found != wanted:
        raise Difference(f"{what} `{found}`, and should be `{wanted}`")
