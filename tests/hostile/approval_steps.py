"""Steps of the state machine test on the console: correct, wrong and forged decisions, and revoked grants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.authenticator import HONEST, Forgery
from tests.harness.socket import RpcError, Socket
from tests.hostile.deployment import History
from tests.hostile.reference_model import TrackedBrowser, TrackedCall, TrackedGrant


class ApprovalSteps:
    """What people decide in one history, and what attackers try instead."""

    def __init__(self, history: History) -> None:
        self._history = history

    async def decide(self, which: int, who: int | None, manner: str, scope: str) -> None:
        """Answer one of the approvals, counted from the newest; as the given browser, or as the person who was asked."""
        asked = [
            call
            for conversation in self._history.conversations
            for call in conversation.calls.values()
            if call.approval_id is not None
        ]
        if who is None:
            asked = [call for call in asked if not call.approved]
        if not asked:
            return
        call = asked[-1 - which % len(asked)]
        browser = next(each for each in self._history.deployment.browsers if each.principal == call.conversation.principal)
        await self._answer(call, browser if who is None else self._history.deployment.browsers[who], manner, scope)

    async def _answer(self, call: TrackedCall, browser: TrackedBrowser, manner: str, scope: str) -> None:
        approval_id = str(call.approval_id)
        console = browser.console
        if browser.principal != call.conversation.principal:
            guess = {"approvalId": approval_id, "challenge": "guess", "decision": "approve"}
            for method, params in (("approvals/get", {"approvalId": approval_id}), ("approvals/decide", guess)):
                with pytest.raises(RpcError) as refused:
                    await console.call(method, params)
                assert refused.value.code == -32003
            return
        opened = await console.call("approvals/get", {"approvalId": approval_id})
        assert opened["approval"]["arguments"]["what"] == opened["statement"]["arguments"]["what"] == call.arguments["what"]
        if opened.get("challenge") is None:
            await _expect_refusal(console, {"approvalId": approval_id, "challenge": "guess", "decision": "approve"})
            return
        is_step_up = call.tool != "note"
        freed = scope.endswith("left open") and not is_step_up
        reach = "once" if is_step_up else scope.split(",", maxsplit=1)[0]
        pins = ["times"] if freed else None
        forgery = Forgery(corrupt_signature=True) if manner == "forge" and is_step_up else HONEST
        decision = browser.person.decision(
            opened, "deny" if manner == "deny" else "approve", scope=reach, pins=pins, forgery=forgery
        )
        match manner:
            case "guess":
                await _expect_refusal(console, {**decision, "challenge": "guess"})
            # The challenge of a step-up is its statement's digest, the same on every console that was shown it.
            case "other browser" if not is_step_up:
                browsers = self._history.deployment.browsers
                other = next(each for each in browsers if each is not browser and each.principal == browser.principal)
                await _expect_refusal(other.console, decision)
            case "swap":
                others = [
                    each
                    for conversation in self._history.conversations
                    for each in conversation.calls.values()
                    if each.approval_id and each is not call
                ]
                for other in others[:1]:
                    await _expect_refusal(console, {**decision, "approvalId": other.approval_id})
            case "unsigned" if is_step_up:
                await _expect_refusal(console, {name: value for name, value in decision.items() if name != "assertion"})
            case "scope too wide" if is_step_up:
                await _expect_refusal(console, {**decision, "scope": "session"})
            case "forge" if is_step_up:
                await _expect_refusal(console, decision)
                if call.may_run and not call.approved:
                    self._history.denials.note_denial(call)
                call.may_run = False
            case "deny":
                if await _send_decision(console, decision, call) is not None:
                    self._history.denials.note_denial(call)
                call.may_run = False
            case _:
                await self._approve(call, browser, decision, frozenset({"what"}) if freed else frozenset())
                if manner == "replay":
                    await _expect_refusal(console, decision)

    async def _approve(
        self, call: TrackedCall, browser: TrackedBrowser, decision: Mapping[str, Any], freed: frozenset[str]
    ) -> None:
        still_permitted = call.may_run
        # Set before the decision is sent: the effect can come before the reply.
        call.approved = still_permitted
        decided = await _send_decision(browser.console, decision, call)
        if decided is None:
            return
        self._history.denials.note_approval(call)
        grant = decided.get("grant")
        held = {each["id"] for each in (await browser.console.call("grants/list"))["grants"]}
        if grant is not None:
            # The grant that the console was given is in the list of grants.
            assert grant["id"] in held
            turn_id = call.conversation.turn_id if decision["scope"] == "turn" else None
            given = TrackedGrant(grant["id"], call.conversation, call.session_id, call.tool, call.arguments, freed, turn_id)
            assert still_permitted
            self._history.grants.append(given)
        # If the requesting tab was lost, its future has failed already; the call itself continues.
        if not call.answer.done() or call.answer.exception() is None:
            result = await call.answer
            assert (result["outcome"] == "ok") == still_permitted, result

    async def allow_questions(self, browser: TrackedBrowser) -> None:
        """Let a session ask again, on a console of its person; the tab itself and other people are refused."""
        params = {"sessionId": browser.session_id}
        others = [each.console for each in self._history.deployment.browsers if each.principal != browser.principal]
        for socket, code in ((browser.tabs[0], -32601), *((console, -32003) for console in others)):
            with pytest.raises(RpcError) as refused:
                await socket.call("sessions/allow-questions", params)
            assert refused.value.code == code
        await browser.console.call("sessions/allow-questions", params)
        self._history.denials.allow(browser.session_id, self._history.conversations)

    async def revoke(self, grant: TrackedGrant, browser: TrackedBrowser, on_console: bool) -> None:
        socket = browser.console if on_console else browser.tabs[0]
        is_owner = browser.principal == grant.conversation.principal if on_console else browser.session_id == grant.session_id
        try:
            await socket.call("grants/revoke", {"grantId": grant.id})
        except RpcError as refused:
            assert refused.code == -32003  # noqa: PT017 - a grant that has ended may be unknown too
            assert not is_owner or grant.revoked
            return
        assert is_owner
        grant.revoked = True


async def _send_decision(console: Socket, decision: Mapping[str, Any], call: TrackedCall) -> Any:
    """The result of a decision. None when it is refused as too late, which is allowed only if the call may not run any more."""
    try:
        return await console.call("approvals/decide", decision)
    except RpcError as refused:
        if call.may_run or refused.code not in (-32003, -32004):
            raise
        return None


async def _expect_refusal(console: Socket, decision: Mapping[str, Any]) -> None:
    with pytest.raises(RpcError) as refused:
        await console.call("approvals/decide", decision)
    assert refused.value.code in (-32003, -32004)
