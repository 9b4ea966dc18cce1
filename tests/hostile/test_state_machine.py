"""Any order of messages, from three browsers of two people with two tabs each, against one running gateway.

Promises 1 to 3 of design.md: whatever is sent, no call that needs a person's yes runs without one given on the console, none
outside the open turn's snapshot, none twice; and every well-formed request leaves exactly one closing entry in the log.
The effects are counted in a file outside the gateway. Requirement ids: 002-03, 002-09, 002-16, 002-17, 002-28, 002-30, 002-33.

HOSTILE_SEED and HOSTILE_EXAMPLES choose other and more histories; a failure prints the one it used.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from websockets.exceptions import InvalidStatus

from tests.authenticator import HONEST, Forgery
from tests.harness.http import Browser as Cookies
from tests.harness.person import Person
from tests.harness.socket import RpcError, Socket
from tests.hostile.ledger_of_yeses import NEEDS_A_YES, Browser, Call, Standing, Talk, find_wrong
from tests.scenarios.conftest import Scene, make_gateway

PATIENCE = 20.0
SEED = int(os.environ.get("HOSTILE_SEED", "2"))
EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", "25"))
STEPS = 30

WHICH, WHO, TAB = st.integers(0, 3), st.sampled_from([0, 0, 1, 2]), st.integers(0, 1)
WHAT = st.sampled_from(["milk", "bread"])
SCOPES = st.sampled_from(["once", "turn", "session", "session, with what it is about left open"])

_Value = TypeVar("_Value")


class World:
    """The gateway and the people, the same over all histories."""

    def __init__(self, home: Path) -> None:
        self.policy = home / "policy"
        shutil.copytree(Path(__file__).parents[2] / "policy", self.policy)
        profiles = self.policy / "profiles.toml"
        # Room for as many histories as one likes; the quotas have scenarios of their own.
        profiles.write_text(profiles.read_text().replace("calls_per_session = 2_000", "calls_per_session = 1_000_000"))
        profiles.write_text(profiles.read_text().replace("per_day = 10_000", "per_day = 1_000_000"))
        profiles.write_text(profiles.read_text().replace("per_session = 256", "per_session = 1_000_000"))
        # A lost connection's turn stays open for as long as a history may last, so that only messages end it.
        self.gateway = make_gateway(home, COUNTERSIGN_POLICY=str(self.policy), COUNTERSIGN_GRACE_SECONDS="600")
        self.browsers: list[Browser] = []
        self.policy_version = ""
        self.names = itertools.count()

    async def start(self) -> None:
        """Ada at her desk, Ada on her phone, and Eve; all operators."""
        await self.gateway.start()
        ada = await Person.at(self.gateway).arrive()
        phone = Person(self.gateway, Cookies(self.gateway.port), ada.authenticator)
        assert (await phone.sign_in()).status == 204
        await phone.open_shell()
        eve = await Scene(self.gateway, ada, *(await ada.agent(), await ada.console())).another("Eve", "operator")
        self.browsers = [Browser("desk", ada, "ada"), Browser("phone", phone, "ada"), Browser("eve", eve, "eve")]
        for browser in self.browsers:
            await self.open_up(browser)

    async def stop(self) -> None:
        """Everybody leaves; the log is sound."""
        for browser in self.browsers:
            await browser.person.leave()
        assert await self.gateway.stop() == 0, self.gateway.output
        assert "Traceback" not in self.gateway.output, self.gateway.output
        code, output = await self.gateway.run("audit", "verify")
        assert code == 0, output

    async def open_up(self, browser: Browser) -> None:
        """Two tabs and a console."""
        browser.tabs = [await browser.person.agent(), await browser.person.agent()]
        browser.console = await browser.person.console()
        browser.session_id = (await browser.tabs[0].call("session/describe"))["session"]["id"]

    def effects(self) -> list[str]:
        """Every line that a tool left."""
        path = self.gateway.home / "effects"
        return path.read_text().splitlines() if path.exists() else []

    async def reload_policy(self) -> None:
        """Publish another policy that decides the same: every open snapshot is void."""
        profiles = self.policy / "profiles.toml"
        profiles.write_text(profiles.read_text().split("\n# edition")[0] + f"\n# edition {next(self.names)}\n")
        console = self.browsers[0].console
        console.notifications.clear()
        self.gateway.send(signal.SIGHUP)
        self.policy_version = (await console.told("policy/changed"))["policyVersion"]


class HostileClients(RuleBasedStateMachine):
    """One history."""

    world: ClassVar[World]
    runner: ClassVar[asyncio.Runner]

    def __init__(self) -> None:
        super().__init__()
        self.talks: list[Talk] = []
        self.grants: list[Standing] = []

    def do(self, steps: Coroutine[Any, Any, _Value]) -> _Value:
        """Run one step to its end."""
        return self.runner.run(_bounded(steps))

    # ── honest use ──

    @initialize()
    def someone_has_a_turn(self) -> None:
        """Nothing interesting happens before there is one."""
        self.do(self._open(self.world.browsers[0], 0))
        self.do(self._begin(self.talks[0], self.world.browsers[0], 0))

    @rule(which=WHICH, what=WHAT)
    def read(self, which: int, what: str) -> None:
        self.do(self._use(self._talk(which), "peek", what))

    @rule(which=WHICH, tool=st.sampled_from(["note", "erase", "administer"]), what=WHAT)
    def propose(self, which: int, tool: str, what: str) -> None:
        self.do(self._use(self._talk(which), tool, what))

    @rule(which=WHICH, what=WHAT)
    def note_again(self, which: int, what: str) -> None:
        self.do(self._use(self._talk(which), "note", what))

    @rule(call=st.integers(0, 2), scope=SCOPES)
    def agree(self, call: int, scope: str) -> None:
        self.do(self._decide(call, None, "yes", scope))

    @rule(which=WHICH)
    def refresh(self, which: int) -> None:
        talk = self._talk(which)
        if talk.holder is not None and talk.holder.closed is None:
            browser = next(each for each in self.world.browsers if talk.holder in each.tabs)
            self.do(self._refresh(talk, browser, browser.tabs.index(talk.holder)))

    @rule()
    def publish_another_policy(self) -> None:
        self.do(self.world.reload_policy())
        for talk in self.talks:
            talk.void_waiting()

    # ── hostile use ──

    @rule(
        which=WHICH,
        who=WHO,
        tab=TAB,
        tool=st.sampled_from(["peek", "note", "erase", "administer", "no_such_tool"]),
        what=WHAT,
        reuse=st.sampled_from([None, None, 0, 1, 2, 3]),
        forge=st.sampled_from([None, "digest", "id", "turn", "old", "foreign"]),
    )
    def attack(self, which: int, who: int, tab: int, tool: str, what: str, reuse: int | None, forge: str | None) -> None:
        self.do(self._invoke(self._talk(which), self.world.browsers[who], tab, tool, what, reuse, forge))

    @rule(
        call=st.integers(0, 9),
        who=WHO,
        manner=st.sampled_from(["no", "guess", "replay", "elsewhere", "swap", "forge", "unsigned", "far too much"]),
        scope=SCOPES,
    )
    def answer_badly(self, call: int, who: int, manner: str, scope: str) -> None:
        self.do(self._decide(call, who, manner, scope))

    @rule(which=WHICH, call=st.integers(0, 9), who=WHO)
    def cancel_call(self, which: int, call: int, who: int) -> None:
        talk = self._talk(which)
        if talk.calls:
            self.do(self._cancel(list(talk.calls.values())[-1 - call % len(talk.calls)], self.world.browsers[who]))

    @rule(which=st.integers(0, 9), who=WHO, on_console=st.booleans())
    def revoke(self, which: int, who: int, on_console: bool) -> None:
        if self.grants:
            self.do(self._revoke(self.grants[which % len(self.grants)], self.world.browsers[who], on_console))

    # ── what goes on around it ──

    @rule(which=WHICH, who=WHO, tab=TAB, what=st.sampled_from(["begin", "refresh", "end", "cancel", "look in", "take over"]))
    def move_the_turn(self, which: int, who: int, tab: int, what: str) -> None:
        talk, browser = self._talk(which), self.world.browsers[who]
        match what:
            case "begin":
                self.do(self._begin(talk, browser, tab))
            case "refresh":
                self.do(self._refresh(talk, browser, tab))
            case "end" | "cancel":
                self.do(self._close_turn(talk, browser, f"turns/{what}"))
            case _:
                self.do(self._look_in(talk, browser, tab, what == "take over"))

    @rule(who=WHO, tab=TAB, what=st.sampled_from(["open", "lose", "lose", "sign out"]))
    def disturb(self, who: int, tab: int, what: str) -> None:
        browser = self.world.browsers[who]
        match what:
            case "open" if len(self.talks) < 4:
                self.do(self._open(browser, tab))
            case "lose":
                self.do(self._lose(browser, tab))
            case "sign out":
                self.do(self._sign_out_and_in(browser))
            case _:
                pass

    # ── what must hold ──

    @invariant()
    def nothing_ran_that_nobody_allowed(self) -> None:
        assert (wrong := find_wrong(self.talks, self.world.effects())) is None, wrong

    def teardown(self) -> None:
        """Close what is open; every request has then left exactly one closing entry, and no question waits."""
        self.do(self._settle())
        self.nothing_ran_that_nobody_allowed()

    # ── steps ──

    def _talk(self, which: int) -> Talk:
        return self.talks[which % len(self.talks)]

    async def _use(self, talk: Talk, tool: str, what: str) -> None:
        """Call as the shell does: under the current snapshot, on the tab that holds it, after what it takes to have one."""
        current, holder = talk.current, talk.holder
        if (
            current is None
            or holder is None
            or holder.closed is not None
            or current["policyVersion"] != self.world.policy_version
        ):
            browser = next(each for each in self.world.browsers if each.principal == talk.principal)
            await self._begin(talk, browser, 0)
        browser = next(each for each in self.world.browsers if talk.holder in each.tabs)
        await self._invoke(talk, browser, 0 if talk.holder is browser.tabs[0] else 1, tool, what, None, None)

    async def _decide(self, which: int, who: int | None, manner: str, scope: str) -> None:
        """Answer one of the questions that were asked, the newest first, as anybody or as the person it was put to."""
        asked = [call for talk in self.talks for call in talk.calls.values() if call.approval_id is not None]
        if who is None:
            asked = [call for call in asked if not call.approved]
        if not asked:
            return
        call = asked[-1 - which % len(asked)]
        browser = next(each for each in self.world.browsers if each.principal == call.talk.principal)
        await self._answer(call, browser if who is None else self.world.browsers[who], manner, scope)

    async def _open(self, browser: Browser, tab: int) -> None:
        opened = await browser.tabs[tab].call("conversations/open")
        self.talks.append(Talk(opened["conversation"]["id"], browser.principal))

    async def _ask(
        self, talk: Talk, browser: Browser, tab: int, method: str, params: Mapping[str, Any], *, barred: bool = False
    ) -> Any:
        """The result for whoever may have one; None, once it was refused, for whoever may not."""
        ask = browser.tabs[tab].call(method, {"conversationId": talk.id, **params})
        if browser.principal == talk.principal and not barred:
            return await ask
        with pytest.raises(RpcError) as refused:
            await ask
        assert refused.value.code == -32003
        return None

    async def _begin(self, talk: Talk, browser: Browser, tab: int) -> None:
        begun = await self._ask(talk, browser, tab, "turns/begin", {})
        if begun is not None:
            talk.close_turn()
            talk.receive(begun["snapshot"], browser.tabs[tab])
            self.world.policy_version = begun["snapshot"]["policyVersion"]

    async def _refresh(self, talk: Talk, browser: Browser, tab: int) -> None:
        barred = talk.current is None or talk.current["sessionId"] != browser.session_id
        refreshed = await self._ask(talk, browser, tab, "turns/refresh", _turn(talk), barred=barred)
        if refreshed is not None:
            talk.void_waiting()
            talk.receive(refreshed["snapshot"], browser.tabs[tab])

    async def _close_turn(self, talk: Talk, browser: Browser, method: str) -> None:
        if await self._ask(talk, browser, 0, method, _turn(talk)) is not None:
            talk.close_turn()

    async def _look_in(self, talk: Talk, browser: Browser, tab: int, take_over: bool) -> None:
        opened = await self._ask(talk, browser, tab, "conversations/open", {"takeOver": take_over})
        if opened is None:
            return
        turn = opened.get("openTurn")
        assert (turn is not None) == (talk.turn_id is not None)
        snapshot = None if turn is None else turn.get("snapshot")
        if snapshot is None or talk.current is None or snapshot["id"] == talk.current["id"]:
            return
        # A re-bind: the same turn, of the same session only, and never out of the hands of a tab that lives.
        assert snapshot["turnId"] == talk.turn_id
        assert talk.current["sessionId"] == browser.session_id
        assert take_over or talk.holder is None or talk.holder.closed is not None
        talk.receive(snapshot, browser.tabs[tab])

    async def _invoke(
        self, talk: Talk, browser: Browser, tab: int, tool: str, what: str, reuse: int | None, forge: str | None
    ) -> None:
        socket = browser.tabs[tab]
        used = list(talk.calls)
        call_id = f"c{next(self.world.names)}" if reuse is None or not used else used[reuse % len(used)]
        bound = self._bind(talk, forge)
        request = {"conversationId": talk.id, **bound, "call": {"id": call_id, "name": tool, "arguments": {"what": what}}}
        if browser.principal != talk.principal:
            with pytest.raises(RpcError) as refused:
                await socket.call("tools/invoke", request)
            assert refused.value.code == -32003
            return
        answer = await socket.send("tools/invoke", request)
        first = talk.calls.get(call_id)
        if first is not None:
            await self._expect_repetition(first, answer, tool, what)
            return
        current = talk.current
        lawful = (
            current is not None
            and bound == _binding(current)
            and talk.holder is socket
            and current["policyVersion"] == self.world.policy_version
            and tool != "no_such_tool"
        )
        call = Call(call_id, talk, tool, {"what": what}, browser.session_id, answer, lawful)
        call.covered = any(grant.covers(talk, browser.session_id, tool, call.arguments) for grant in self.grants)
        talk.calls[call_id] = call
        if lawful and tool in NEEDS_A_YES:
            call.approval_id = await _asked_or_answered(socket, call)
            call.covered = call.covered and call.approval_id is None
            return
        result = await answer
        if lawful:
            assert (result["outcome"], result["replayed"]) == ("ok", False), result
        else:
            assert result["outcome"] in ("refusedByPolicy", "unknownTool"), result

    def _bind(self, talk: Talk, forge: str | None) -> dict[str, Any]:
        current = talk.current or (talk.snapshots[-1] if talk.snapshots else None)
        foreign = next((each for other in self.talks if other is not talk for each in other.snapshots), None)
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
                return {**_binding(talk.snapshots[0]), "turnId": bound["turnId"]} if talk.snapshots else bound
            case "foreign":
                return {**_binding(foreign), "turnId": bound["turnId"]} if foreign is not None else bound
            case _:
                return bound

    async def _expect_repetition(self, first: Call, answer: asyncio.Future[Any], tool: str, what: str) -> None:
        if (tool, what) != (first.tool, first.arguments["what"]):
            result = await answer
            assert result["reason"] == "replayConflict", result
            first.conflicts += 1
        elif first.answer.done() and first.answer.exception() is None:
            assert await answer == {**first.answer.result(), "replayed": True}

    async def _cancel(self, call: Call, browser: Browser) -> None:
        if await self._ask(call.talk, browser, 0, "tools/cancel", {"callId": call.id}) is not None:
            call.may_run = call.may_run and (call.approved or call.covered)

    async def _answer(self, call: Call, browser: Browser, manner: str, scope: str) -> None:
        approval_id = str(call.approval_id)
        console = browser.console
        if browser.principal != call.talk.principal:
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
        steps_up = call.tool != "note"
        freed = scope.endswith("left open") and not steps_up
        reach = "once" if steps_up else scope.split(",", maxsplit=1)[0]
        pins = ["times"] if freed else None
        forgery = Forgery(corrupt_signature=True) if manner == "forge" and steps_up else HONEST
        decision = browser.person.decision(
            opened, "deny" if manner == "no" else "approve", scope=reach, pins=pins, forgery=forgery
        )
        match manner:
            case "guess":
                await _expect_refusal(console, {**decision, "challenge": "guess"})
            # The challenge of a step-up is its statement's digest, the same on every console that was shown it.
            case "elsewhere" if not steps_up:
                other = next(each for each in self.world.browsers if each is not browser and each.principal == browser.principal)
                await _expect_refusal(other.console, decision)
            case "swap":
                others = [each for talk in self.talks for each in talk.calls.values() if each.approval_id and each is not call]
                for other in others[:1]:
                    await _expect_refusal(console, {**decision, "approvalId": other.approval_id})
            case "unsigned" if steps_up:
                await _expect_refusal(console, {name: value for name, value in decision.items() if name != "assertion"})
            case "far too much" if steps_up:
                await _expect_refusal(console, {**decision, "scope": "session"})
            case "forge" if steps_up:
                await _expect_refusal(console, decision)
                call.may_run = False
            case "no":
                await _tell(console, decision, call)
                call.may_run = False
            case _:
                await self._say_yes(call, browser, decision, frozenset({"what"}) if freed else frozenset())
                if manner == "replay":
                    await _expect_refusal(console, decision)

    async def _say_yes(self, call: Call, browser: Browser, decision: Mapping[str, Any], freed: frozenset[str]) -> None:
        still_lawful = call.may_run
        # Before the answer is sent: the effect may be there before the reply is.
        call.approved = still_lawful
        decided = await _tell(browser.console, decision, call)
        if decided is None:
            return
        grant = decided.get("grant")
        held = {each["id"] for each in (await browser.console.call("grants/list"))["grants"]}
        if grant is not None:
            # What the console is told stands is what stands.
            assert grant["id"] in held
            turn_id = call.talk.turn_id if decision["scope"] == "turn" else None
            given = Standing(grant["id"], call.talk, call.session_id, call.tool, call.arguments, freed, turn_id)
            assert still_lawful
            self.grants.append(given)
        # The future has failed already where the tab that asked is gone; the call itself goes on.
        if not call.answer.done() or call.answer.exception() is None:
            result = await call.answer
            assert (result["outcome"] == "ok") == still_lawful, result

    async def _revoke(self, grant: Standing, browser: Browser, on_console: bool) -> None:
        socket = browser.console if on_console else browser.tabs[0]
        theirs = browser.principal == grant.talk.principal if on_console else browser.session_id == grant.session_id
        try:
            await socket.call("grants/revoke", {"grantId": grant.id})
        except RpcError as refused:
            assert refused.code == -32003  # noqa: PT017 - a grant that has ended may be unknown too
            assert not theirs or grant.revoked
            return
        assert theirs
        grant.revoked = True

    async def _lose(self, browser: Browser, tab: int) -> None:
        browser.tabs[tab].drop()
        await browser.tabs[tab].wait_closed()
        browser.tabs[tab] = await browser.person.agent()

    async def _sign_out_and_in(self, browser: Browser) -> None:
        stolen = Person(self.world.gateway, Cookies(browser.person.browser.port), browser.person.authenticator)
        stolen.browser.cookies = {host: dict(jar) for host, jar in browser.person.browser.cookies.items()}
        for talk in self.talks:
            if talk.current is not None and talk.current["sessionId"] == browser.session_id:
                talk.close_turn()
        assert (await browser.person.sign_out()).status == 204
        for socket in (*browser.tabs, browser.console):
            code, _ = await socket.wait_closed(patience=5.0)
            assert code == 4403
        for site in (self.world.gateway.agent_origin, self.world.gateway.console_origin):
            with pytest.raises(InvalidStatus):
                await Socket.open(stolen.browser, site)
        browser.person.sockets.clear()
        assert (await browser.person.sign_in()).status == 204
        await browser.person.open_shell()
        await self.world.open_up(browser)

    async def _settle(self) -> None:
        for talk in self.talks:
            browser = next(each for each in self.world.browsers if each.principal == talk.principal)
            if talk.turn_id is not None:
                await browser.tabs[0].call("turns/cancel", {"conversationId": talk.id, "turnId": talk.turn_id})
            talk.close_turn()
            async with asyncio.timeout(PATIENCE):
                while set(await _closings(browser.console, talk, "call:closed")) != set(talk.calls):
                    await asyncio.sleep(0.02)
            # Exactly one each, and one entry of its own for every request that tried to take a used id.
            assert sorted(await _closings(browser.console, talk, "call:closed")) == sorted(talk.calls)
            conflicts = [call.id for call in talk.calls.values() for _ in range(call.conflicts)]
            assert sorted(await _closings(browser.console, talk, "call:refused")) == sorted(conflicts)
            waiting = (await browser.console.call("approvals/list", {"status": "pending"}))["approvals"]
            assert [each for each in waiting if each["conversationId"] == talk.id] == []
        for browser in self.world.browsers:
            for socket in (*browser.tabs, browser.console):
                socket.notifications.clear()


async def _bounded(steps: Coroutine[Any, Any, _Value]) -> _Value:
    async with asyncio.timeout(3 * PATIENCE):
        return await steps


def _binding(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    return {"turnId": snapshot["turnId"], "snapshotId": snapshot["id"], "snapshotDigest": snapshot["digest"]}


def _turn(talk: Talk) -> dict[str, Any]:
    return {"turnId": talk.turn_id or "trn_none"}


async def _tell(console: Socket, decision: Mapping[str, Any], call: Call) -> Any:
    """What became of an answer; None where it came too late, which only a call that may not run any more excuses."""
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


async def _asked_or_answered(socket: Socket, call: Call) -> str | None:
    """The id of the question that was put to a person; None when a grant covered it, or too many questions wait."""

    async def asked() -> str:
        while True:
            approval = (await socket.told("approvals/requested"))["approval"]
            if approval["callId"] == call.id:
                return str(approval["id"])

    question = asyncio.ensure_future(asked())
    await asyncio.wait({question, call.answer}, return_when=asyncio.FIRST_COMPLETED)
    if question.done():
        return question.result()
    question.cancel()
    result = call.answer.result()
    if result["outcome"] == "ok":
        assert call.covered, result
    else:
        assert result["reason"] == "quotaExceeded", result
    return None


async def _closings(console: Socket, talk: Talk, event: str) -> list[str]:
    """The call ids of a conversation's entries of one kind."""
    found: list[str] = []
    page: dict[str, Any] = {"filter": {"conversationId": talk.id, "event": event}, "limit": 100}
    while True:
        listed = await console.call("audit/list", page)
        found += [entry["body"]["callId"] for entry in listed["entries"]]
        if listed.get("nextCursor") is None:
            return found
        page["cursor"] = listed["nextCursor"]


def test_no_order_of_messages_runs_what_nobody_allowed(tmp_path: Path) -> None:
    world = World(tmp_path)
    with asyncio.Runner() as runner:
        runner.run(world.start())
        HostileClients.world, HostileClients.runner = world, runner
        try:
            run_state_machine_as_test(
                # pyright does not see what hypothesis makes of a class.
                seed(SEED)(HostileClients),  # pyright: ignore[reportArgumentType, reportUnknownArgumentType]
                settings=settings(
                    max_examples=EXAMPLES,
                    stateful_step_count=STEPS,
                    deadline=None,
                    database=None,
                    phases=(Phase.generate, Phase.shrink),
                    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
                ),
            )
        except BaseException as error:
            error.add_note(f"again with HOSTILE_SEED={SEED} HOSTILE_EXAMPLES={EXAMPLES}")
            raise
        finally:
            runner.run(world.stop())
