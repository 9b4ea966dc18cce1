"""Steps of the state machine test on the agent origin: turns, calls and connections, each with the answer it must get."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tests.harness.http import Browser
from tests.harness.person import Person
from tests.harness.socket import RpcError, Socket
from tests.hostile.deployment import PATIENCE, History
from tests.hostile.reference_model import NEEDS_APPROVAL, TrackedBrowser, TrackedCall, TrackedConversation


class ClientSteps:
    """What clients do in one history."""

    def __init__(self, history: History) -> None:
        self._history = history

    def conversation(self, which: int) -> TrackedConversation:
        return self._history.conversations[which % len(self._history.conversations)]

    async def use(self, conversation: TrackedConversation, tool: str, what: str) -> None:
        """Call as the shell does: with the current snapshot, on the tab that holds it. Begins a turn if needed."""
        current, holder = conversation.current, conversation.holder
        if (
            current is None
            or holder is None
            or holder.closed is not None
            or current["policyVersion"] != self._history.deployment.policy_version
        ):
            browser = next(each for each in self._history.deployment.browsers if each.principal == conversation.principal)
            await self.begin(conversation, browser, 0)
        browser = next(each for each in self._history.deployment.browsers if conversation.holder in each.tabs)
        await self.invoke(conversation, browser, 0 if conversation.holder is browser.tabs[0] else 1, tool, what, None, None)

    async def open(self, browser: TrackedBrowser, tab: int) -> None:
        opened = await browser.tabs[tab].call("conversations/open")
        self._history.conversations.append(TrackedConversation(opened["conversation"]["id"], browser.principal))

    async def _ask(
        self,
        conversation: TrackedConversation,
        browser: TrackedBrowser,
        tab: int,
        method: str,
        params: Mapping[str, Any],
        *,
        forbidden: bool = False,
    ) -> Any:
        """The result. When the browser has no right to it, check that it is refused, and give None."""
        ask = browser.tabs[tab].call(method, {"conversationId": conversation.id, **params})
        if browser.principal == conversation.principal and not forbidden:
            return await ask
        with pytest.raises(RpcError) as refused:
            await ask
        assert refused.value.code == -32003
        return None

    async def begin(self, conversation: TrackedConversation, browser: TrackedBrowser, tab: int) -> None:
        begun = await self._ask(conversation, browser, tab, "turns/begin", {})
        if begun is not None:
            conversation.close_turn()
            conversation.receive(begun["snapshot"], browser.tabs[tab])
            self._history.deployment.policy_version = begun["snapshot"]["policyVersion"]

    async def refresh(self, conversation: TrackedConversation, browser: TrackedBrowser, tab: int) -> None:
        forbidden = conversation.current is None or conversation.current["sessionId"] != browser.session_id
        refreshed = await self._ask(conversation, browser, tab, "turns/refresh", _turn(conversation), forbidden=forbidden)
        if refreshed is not None:
            conversation.invalidate_waiting()
            conversation.receive(refreshed["snapshot"], browser.tabs[tab])

    async def close_turn(self, conversation: TrackedConversation, browser: TrackedBrowser, method: str) -> None:
        if await self._ask(conversation, browser, 0, method, _turn(conversation)) is not None:
            conversation.close_turn()

    async def reopen(self, conversation: TrackedConversation, browser: TrackedBrowser, tab: int, take_over: bool) -> None:
        opened = await self._ask(conversation, browser, tab, "conversations/open", {"takeOver": take_over})
        if opened is None:
            return
        turn = opened.get("openTurn")
        assert (turn is not None) == (conversation.turn_id is not None)
        snapshot = None if turn is None else turn.get("snapshot")
        if snapshot is None or conversation.current is None or snapshot["id"] == conversation.current["id"]:
            return
        # A re-bind keeps the turn, needs the same session, and takes nothing from a connected tab without `takeOver`.
        assert snapshot["turnId"] == conversation.turn_id
        assert conversation.current["sessionId"] == browser.session_id
        assert take_over or conversation.holder is None or conversation.holder.closed is not None
        conversation.receive(snapshot, browser.tabs[tab])

    async def invoke(
        self,
        conversation: TrackedConversation,
        browser: TrackedBrowser,
        tab: int,
        tool: str,
        what: str,
        reuse: int | None,
        forge: str | None,
    ) -> None:
        socket = browser.tabs[tab]
        used = list(conversation.calls)
        call_id = f"c{next(self._history.deployment.names)}" if reuse is None or not used else used[reuse % len(used)]
        bound = self._bind(conversation, forge)
        request = {"conversationId": conversation.id, **bound, "call": {"id": call_id, "name": tool, "arguments": {"what": what}}}
        if browser.principal != conversation.principal:
            with pytest.raises(RpcError) as refused:
                await socket.call("tools/invoke", request)
            assert refused.value.code == -32003
            return
        answer = await socket.send("tools/invoke", request)
        first = conversation.calls.get(call_id)
        if first is not None:
            await self._expect_repetition(first, answer, tool, what)
            return
        current = conversation.current
        permitted = (
            current is not None
            and bound == _binding(current)
            and conversation.holder is socket
            and current["policyVersion"] == self._history.deployment.policy_version
            and tool != "no_such_tool"
        )
        call = TrackedCall(
            call_id, conversation, tool, {"what": what}, browser.session_id, conversation.turn_id, answer, permitted
        )
        call.covered = any(grant.covers(conversation, browser.session_id, tool, call.arguments) for grant in self._history.grants)
        conversation.calls[call_id] = call
        if permitted and tool in NEEDS_APPROVAL:
            call.approval_id = await _approval_or_result(socket, call, may_ask=self._history.denials.may_ask(call))
            call.covered = call.covered and call.approval_id is None
            return
        result = await answer
        if permitted:
            assert (result["outcome"], result["replayed"]) == ("ok", False), result
        else:
            assert result["outcome"] in ("refusedByPolicy", "unknownTool"), result

    def _bind(self, conversation: TrackedConversation, forge: str | None) -> dict[str, Any]:
        current = conversation.current or (conversation.snapshots[-1] if conversation.snapshots else None)
        foreign = next(
            (each for other in self._history.conversations if other is not conversation for each in other.snapshots), None
        )
        if current is None:
            current = foreign or {"turnId": "trn_none", "id": "snp_none", "digest": "0" * 64}
        bound = _binding(current)
        match forge:
            case "digest":
                return {**bound, "snapshotDigest": current["digest"][::-1]}
            case "id":
                return {**bound, "snapshotId": "snp_forged"}
            case "turn":
                return {**bound, "turnId": "trn_forged"}
            case "old":
                return {**_binding(conversation.snapshots[0]), "turnId": bound["turnId"]} if conversation.snapshots else bound
            case "foreign":
                return {**_binding(foreign), "turnId": bound["turnId"]} if foreign is not None else bound
            case _:
                return bound

    async def _expect_repetition(self, first: TrackedCall, answer: asyncio.Future[Any], tool: str, what: str) -> None:
        if (tool, what) != (first.tool, first.arguments["what"]):
            result = await answer
            assert result["reason"] == "replayConflict", result
            first.conflicts += 1
        elif first.answer.done() and first.answer.exception() is None:
            assert await answer == {**first.answer.result(), "replayed": True}

    async def cancel(self, call: TrackedCall, browser: TrackedBrowser) -> None:
        if await self._ask(call.conversation, browser, 0, "tools/cancel", {"callId": call.id}) is not None:
            call.may_run = call.may_run and (call.approved or call.covered)

    async def lose_connection(self, browser: TrackedBrowser, tab: int) -> None:
        browser.tabs[tab].drop()
        await browser.tabs[tab].wait_closed()
        browser.tabs[tab] = await browser.person.agent()

    async def sign_out_and_in(self, browser: TrackedBrowser) -> None:
        stolen = Person(self._history.deployment.gateway, Browser(browser.person.browser.port), browser.person.authenticator)
        stolen.browser.cookies = {host: dict(jar) for host, jar in browser.person.browser.cookies.items()}
        for conversation in self._history.conversations:
            if conversation.current is not None and conversation.current["sessionId"] == browser.session_id:
                conversation.close_turn()
        assert (await browser.person.sign_out()).status == 204
        for socket in (*browser.tabs, browser.console):
            code, _ = await socket.wait_closed(patience=5.0)
            assert code == 4403
        for site in (self._history.deployment.gateway.agent_origin, self._history.deployment.gateway.console_origin):
            with pytest.raises(InvalidStatus):
                await Socket.open(stolen.browser, site)
        browser.person.sockets.clear()
        assert (await browser.person.sign_in()).status == 204
        await browser.person.open_shell()
        await self._history.deployment.open_sockets(browser)

    async def end_all_turns(self) -> None:
        for conversation in self._history.conversations:
            browser = next(each for each in self._history.deployment.browsers if each.principal == conversation.principal)
            if conversation.turn_id is not None:
                await browser.tabs[0].call("turns/cancel", {"conversationId": conversation.id, "turnId": conversation.turn_id})
            conversation.close_turn()
            async with asyncio.timeout(PATIENCE):
                while set(await _closings(browser.console, conversation, "call:closed")) != set(conversation.calls):
                    await asyncio.sleep(0.02)
            # One closing entry for each call, and one refusal for each request that reused a call id for something else.
            assert sorted(await _closings(browser.console, conversation, "call:closed")) == sorted(conversation.calls)
            conflicts = [call.id for call in conversation.calls.values() for _ in range(call.conflicts)]
            assert sorted(await _closings(browser.console, conversation, "call:refused")) == sorted(conflicts)
            waiting = (await browser.console.call("approvals/list", {"status": "pending"}))["approvals"]
            assert [each for each in waiting if each["conversationId"] == conversation.id] == []
        for browser in self._history.deployment.browsers:
            # The next history goes on in the same sessions.
            await browser.console.call("sessions/allow-questions", {"sessionId": browser.session_id})
            for socket in (*browser.tabs, browser.console):
                socket.notifications.clear()


def _binding(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    return {"turnId": snapshot["turnId"], "snapshotId": snapshot["id"], "snapshotDigest": snapshot["digest"]}


def _turn(conversation: TrackedConversation) -> dict[str, Any]:
    return {"turnId": conversation.turn_id or "trn_none"}


async def _approval_or_result(socket: Socket, call: TrackedCall, *, may_ask: bool) -> str | None:
    """The approval's id; None when a grant covered the call, after a no to it, or when too many approvals wait."""
    request = asyncio.ensure_future(socket.approval_requested(call.id))
    await asyncio.wait({request, call.answer}, return_when=asyncio.FIRST_COMPLETED)
    if request.done():
        assert may_ask, "asked again after a no"
        return request.result()
    request.cancel()
    result = call.answer.result()
    if result["outcome"] == "ok":
        assert call.covered, result
    elif result["reason"] == "denied":
        assert not may_ask, result
    else:
        assert result["reason"] == "quotaExceeded", result
    return None


async def _closings(console: Socket, conversation: TrackedConversation, event: str) -> list[str]:
    """The call ids of a conversation's entries of one kind."""
    found: list[str] = []
    page: dict[str, Any] = {"filter": {"conversationId": conversation.id, "event": event}, "limit": 100}
    while True:
        listed = await console.call("audit/list", page)
        found += [entry["body"]["callId"] for entry in listed["entries"]]
        if listed.get("nextCursor") is None:
            return found
        page["cursor"] = listed["nextCursor"]
