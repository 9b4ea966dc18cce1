"""A person with a passkey and a browser: enrols, signs in, opens the shell, answers approvals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gateway.core.canonical import digest
from tests.authenticator import HONEST, Authenticator, Forgery, encode
from tests.harness.http import Browser, Reply
from tests.harness.process import GatewayProcess
from tests.harness.socket import Socket


@dataclass
class Person:
    """The actions of one person in one browser."""

    gateway: GatewayProcess
    browser: Browser
    authenticator: Authenticator
    sockets: list[Socket] = field(default_factory=list[Socket])

    @classmethod
    def at(cls, gateway: GatewayProcess) -> Person:
        """A person who is not enrolled yet."""
        return cls(gateway, Browser(gateway.port), Authenticator(origin=gateway.console_origin))

    # ── signing in ──

    async def enrol(self, token: str | None = None, name: str = "Ada") -> Reply:
        """Register a first passkey with the token of an enrolment link."""
        token = token or await self.gateway.enrolment_token()
        console = self.gateway.console_origin
        options = await self.browser.post(f"{console}/enrol/options", {"token": token})
        assert options.status == 200, options.body
        credential = self.authenticator.create(options.json)
        return await self.browser.post(f"{console}/enrol/verify", {"token": token, "credential": credential, "name": name})

    async def sign_in(self, forgery: Forgery = HONEST) -> Reply:
        """Sign in with the passkey."""
        console = self.gateway.console_origin
        options = await self.browser.post(f"{console}/signin/options")
        assert options.status == 200, options.body
        credential = self.authenticator.get(options.json, forgery)
        return await self.browser.post(f"{console}/signin/verify", {"credential": credential})

    async def sign_out(self) -> Reply:
        """Sign out on the console."""
        return await self.browser.post(f"{self.gateway.console_origin}/signout")

    async def open_shell(self, **wanted: str) -> Reply:
        """Follow /login, /authorize and /callback until the browser has an agent session. `wanted`: its label, if not public."""
        login = await self.browser.get(f"{self.gateway.agent_origin}/login")
        state = parse_qs(urlsplit(login.headers["Location"]).query)["state"][0]
        lent = await self.browser.post(f"{self.gateway.console_origin}/authorize", {"state": state, **wanted})
        assert lent.status == 200, lent.body
        return await self.browser.get(lent.json["location"])

    async def arrive(self, token: str | None = None) -> Person:
        """Enrol and open the shell."""
        assert (await self.enrol(token)).status == 204
        assert (await self.open_shell()).status in (302, 303)
        return self

    # ── sockets ──

    async def agent(self, **options: Any) -> Socket:
        """Open a socket of the shell."""
        return self._keep(await Socket.open(self.browser, self.gateway.agent_origin, **options))

    async def console(self, **options: Any) -> Socket:
        """Open a socket of the console."""
        return self._keep(await Socket.open(self.browser, self.gateway.console_origin, **options))

    async def leave(self) -> None:
        """Close every socket."""
        await asyncio.gather(*(socket.close() for socket in self.sockets), return_exceptions=True)

    # ── approvals ──

    async def answer(
        self,
        console: Socket,
        approval_id: str,
        decision: str = "approve",
        *,
        scope: str = "once",
        pins: Any = None,
        within: Any = None,
        forgery: Forgery = HONEST,
    ) -> Any:
        """Open an approval and decide it, with the passkey over the statement where that is required."""
        opened = await console.call("approvals/get", {"approvalId": approval_id})
        answer = self.decision(opened, decision, scope=scope, pins=pins, within=within, forgery=forgery)
        return await console.call("approvals/decide", answer)

    def decision(
        self,
        opened: Mapping[str, Any],
        decision: str = "approve",
        *,
        scope: str = "once",
        pins: Any = None,
        within: Any = None,
        forgery: Forgery = HONEST,
    ) -> dict[str, Any]:
        """The params of `approvals/decide` for a result of `approvals/get`."""
        approval = opened["approval"]
        params: dict[str, Any] = {
            "approvalId": approval["id"],
            "challenge": opened["challenge"],
            "decision": decision,
            "scope": scope,
        }
        if pins is not None:
            params["pins"] = pins
        if within is not None:
            params["within"] = within
        if decision == "approve" and (approval["kind"] == "stepUp" or approval["needs"]["presence"]):
            rp_id = urlsplit(self.gateway.console_origin).hostname
            options: dict[str, Any] = {"challenge": opened["challenge"], "rpId": rp_id}
            params["assertion"] = self.authenticator.get(options, forgery)
        return params

    async def answer_plan(self, console: Socket, approval_id: str) -> Any:
        """Approve all that waits of a plan, with one answer of the passkey where that is required."""
        opened = await console.call("approvals/get-plan", {"approvalId": approval_id})
        return await console.call("approvals/decide-plan", self.plan_decision(opened))

    def plan_decision(
        self, opened: Mapping[str, Any], order: Sequence[int] | None = None, forgery: Forgery = HONEST
    ) -> dict[str, Any]:
        """The params of `approvals/decide-plan` for a result of `approvals/get-plan`, of these parts where they are given. The
        passkey signs the list as the browser computes it."""
        covered = [part["question"] for part in opened["parts"] if part["covered"]]
        questions = covered if order is None else [covered[each] for each in order]
        parts = [{"approvalId": each["approval"]["id"], "challenge": each["challenge"]} for each in questions]
        if not any(each["approval"]["kind"] == "stepUp" or each["approval"]["needs"]["presence"] for each in questions):
            return {"parts": parts}
        digests = [digest(each["statement"]) for each in questions]
        signed = {"type": "countersign.plan", "v": 1, "statements": digests}
        options = {
            "challenge": encode(bytes.fromhex(digest(signed))),
            "rpId": urlsplit(self.gateway.console_origin).hostname,
        }
        return {"parts": parts, "assertion": self.authenticator.get(options, forgery)}

    def _keep(self, socket: Socket) -> Socket:
        self.sockets.append(socket)
        return socket


@dataclass
class Turn:
    """An open turn of one conversation on one socket."""

    socket: Socket
    conversation_id: str
    snapshot: Mapping[str, Any]
    calls: int = 0

    @classmethod
    async def begin(cls, socket: Socket, conversation_id: str | None = None) -> Turn:
        """Open a conversation if none is given, and a turn."""
        if conversation_id is None:
            opened = await socket.call("conversations/open")
            conversation_id = opened["conversation"]["id"]
        begun = await socket.call("turns/begin", {"conversationId": conversation_id})
        return cls(socket, str(conversation_id), begun["snapshot"])

    def request(self, tool: str, arguments: Mapping[str, Any], call_id: str | None = None) -> dict[str, Any]:
        """A `ToolRequest` under this turn's snapshot."""
        self.calls += 1
        return {
            "conversationId": self.conversation_id,
            "turnId": self.snapshot["turnId"],
            "snapshotId": self.snapshot["id"],
            "snapshotDigest": self.snapshot["digest"],
            "call": {"id": call_id or f"call-{self.snapshot['turnIndex']}-{self.calls}", "name": tool, "arguments": arguments},
        }

    async def start(
        self, tool: str, arguments: Mapping[str, Any], call_id: str | None = None, *, after: str | None = None
    ) -> asyncio.Future[Any]:
        """Invoke; the future of the result."""
        request = self.request(tool, arguments, call_id)
        return await self.socket.send("tools/invoke", request if after is None else {**request, "after": after})

    async def invoke(self, tool: str, arguments: Mapping[str, Any], call_id: str | None = None) -> Any:
        """Invoke and wait for the result."""
        return await self.socket.call("tools/invoke", self.request(tool, arguments, call_id))
