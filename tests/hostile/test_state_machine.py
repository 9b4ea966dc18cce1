"""Random histories of messages, from three browsers of two people with two tabs each, against one running gateway.

Whatever is sent: no call that needs an approval runs without one from the console, none runs outside the open turn's snapshot,
none runs twice, and every well-formed request has exactly one closing entry in the log. The tools record their effects in a
file outside the gateway; the test compares that file with `reference_model`.

HOSTILE_SEED and HOSTILE_EXAMPLES choose other and more histories; a failure prints the values that it used.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.hostile.approval_steps import ApprovalSteps
from tests.hostile.client_steps import ClientSteps
from tests.hostile.deployment import PATIENCE, Deployment, History
from tests.hostile.reference_model import find_violation

SEED = int(os.environ.get("HOSTILE_SEED", "2"))
EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", "25"))
STEPS = 30

WHICH, WHO, TAB = st.integers(0, 3), st.sampled_from([0, 0, 1, 2]), st.integers(0, 1)
WHAT = st.sampled_from(["milk", "bread"])
SCOPES = st.sampled_from(["once", "turn", "session", "session, with an argument left open"])

_Value = TypeVar("_Value")


class HostileClients(RuleBasedStateMachine):
    """One history of messages."""

    deployment: ClassVar[Deployment]
    runner: ClassVar[asyncio.Runner]

    def __init__(self) -> None:
        super().__init__()
        self.history = History(self.deployment)
        self.steps = ClientSteps(self.history)
        self.approvals = ApprovalSteps(self.history)

    def do(self, steps: Coroutine[Any, Any, _Value]) -> _Value:
        """Run one step to its end."""
        return self.runner.run(_bounded(steps))

    # ── expected use ──

    @initialize()
    def begin_a_first_turn(self) -> None:
        """Most rules need an open turn, so every history starts with one."""
        self.do(self.steps.open(self.deployment.browsers[0], 0))
        self.do(self.steps.begin(self.history.conversations[0], self.deployment.browsers[0], 0))

    @rule(which=WHICH, what=WHAT)
    def read(self, which: int, what: str) -> None:
        self.do(self.steps.use(self.steps.conversation(which), "peek", what))

    @rule(which=WHICH, tool=st.sampled_from(["note", "erase", "administer"]), what=WHAT)
    def propose(self, which: int, tool: str, what: str) -> None:
        self.do(self.steps.use(self.steps.conversation(which), tool, what))

    @rule(which=WHICH, what=WHAT)
    def note_again(self, which: int, what: str) -> None:
        self.do(self.steps.use(self.steps.conversation(which), "note", what))

    @rule(call=st.integers(0, 2), scope=SCOPES)
    def approve(self, call: int, scope: str) -> None:
        self.do(self.approvals.decide(call, None, "approve", scope))

    @rule(which=WHICH)
    def refresh(self, which: int) -> None:
        conversation = self.steps.conversation(which)
        if conversation.holder is not None and conversation.holder.closed is None:
            browser = next(each for each in self.deployment.browsers if conversation.holder in each.tabs)
            self.do(self.steps.refresh(conversation, browser, browser.tabs.index(conversation.holder)))

    @rule()
    def publish_another_policy(self) -> None:
        self.do(self.deployment.reload_policy())
        for conversation in self.history.conversations:
            conversation.invalidate_waiting()

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
        self.do(self.steps.invoke(self.steps.conversation(which), self.deployment.browsers[who], tab, tool, what, reuse, forge))

    @rule(
        call=st.integers(0, 9),
        who=WHO,
        manner=st.sampled_from(["deny", "guess", "replay", "other browser", "swap", "forge", "unsigned", "scope too wide"]),
        scope=SCOPES,
    )
    def answer_incorrectly(self, call: int, who: int, manner: str, scope: str) -> None:
        self.do(self.approvals.decide(call, who, manner, scope))

    @rule(which=WHICH, what=WHAT, times=st.integers(1, 4))
    def ask_in_turn_after_turn(self, which: int, what: str, times: int) -> None:
        """Begin another turn after each no, and ask again."""
        conversation = self.steps.conversation(which)
        browser = next(each for each in self.deployment.browsers if each.principal == conversation.principal)
        for _ in range(times):
            self.do(self.steps.begin(conversation, browser, 0))
            self.do(self.steps.use(conversation, "note", what))
            self.do(self.approvals.decide(0, None, "deny", "once"))

    @rule(which=WHICH, call=st.integers(0, 9), who=WHO)
    def cancel_call(self, which: int, call: int, who: int) -> None:
        conversation = self.steps.conversation(which)
        if conversation.calls:
            self.do(
                self.steps.cancel(
                    list(conversation.calls.values())[-1 - call % len(conversation.calls)], self.deployment.browsers[who]
                )
            )

    @rule(which=st.integers(0, 9), who=WHO, on_console=st.booleans())
    def revoke(self, which: int, who: int, on_console: bool) -> None:
        if self.history.grants:
            self.do(
                self.approvals.revoke(
                    self.history.grants[which % len(self.history.grants)], self.deployment.browsers[who], on_console
                )
            )

    @rule(who=WHO)
    def allow_questions(self, who: int) -> None:
        self.do(self.approvals.allow_questions(self.deployment.browsers[who]))

    # ── turns and connections ──

    @rule(which=WHICH, who=WHO, tab=TAB, what=st.sampled_from(["begin", "refresh", "end", "cancel", "open again", "take over"]))
    def change_the_turn(self, which: int, who: int, tab: int, what: str) -> None:
        conversation, browser = self.steps.conversation(which), self.deployment.browsers[who]
        match what:
            case "begin":
                self.do(self.steps.begin(conversation, browser, tab))
            case "refresh":
                self.do(self.steps.refresh(conversation, browser, tab))
            case "end" | "cancel":
                self.do(self.steps.close_turn(conversation, browser, f"turns/{what}"))
            case _:
                self.do(self.steps.reopen(conversation, browser, tab, what == "take over"))

    @rule(who=WHO, tab=TAB, what=st.sampled_from(["open", "lose", "lose", "sign out"]))
    def change_the_connection(self, who: int, tab: int, what: str) -> None:
        browser = self.deployment.browsers[who]
        match what:
            case "open" if len(self.history.conversations) < 4:
                self.do(self.steps.open(browser, tab))
            case "lose":
                self.do(self.steps.lose_connection(browser, tab))
            case "sign out":
                self.do(self.steps.sign_out_and_in(browser))
            case _:
                pass

    # ── invariants ──

    @invariant()
    def every_effect_was_allowed(self) -> None:
        assert (wrong := find_violation(self.history.conversations, self.deployment.effects())) is None, wrong

    def teardown(self) -> None:
        """End every turn; then each call has exactly one closing entry in the log, and no approval waits."""
        self.do(self.steps.end_all_turns())
        self.every_effect_was_allowed()


async def _bounded(steps: Coroutine[Any, Any, _Value]) -> _Value:
    async with asyncio.timeout(3 * PATIENCE):
        return await steps


@pytest.mark.requirement(
    "002-03", "in random histories of hostile clients nothing runs that was not approved, and nothing runs twice"
)
@pytest.mark.requirement("002-17", "forged, replayed and foreign requests of the intended page have no effect")
def test_no_order_of_messages_runs_a_call_that_was_not_allowed(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path)
    with asyncio.Runner() as runner:
        runner.run(deployment.start())
        HostileClients.deployment, HostileClients.runner = deployment, runner
        try:
            run_state_machine_as_test(
                # pyright does not know the type that hypothesis makes of a class.
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
            error.add_note(f"repeat with HOSTILE_SEED={SEED} HOSTILE_EXAMPLES={EXAMPLES}")
            raise
        finally:
            runner.run(deployment.stop())
