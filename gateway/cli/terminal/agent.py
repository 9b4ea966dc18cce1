"""The agent at a terminal, put together: the loop, its gateway, the person."""

from __future__ import annotations

import asyncio
import datetime as dt
import getpass
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.adapters.inference.factory import ChosenBackend, TriedBackend
from gateway.adapters.inference.output_schema import OutputSchema
from gateway.agent.copy import Copy
from gateway.agent.dependencies import LoopDependencies
from gateway.agent.messages import UserMessage, recall
from gateway.agent.ports import GatewayLink, StopSignal
from gateway.agent.retries import TurnLimits
from gateway.agent.runner import TurnRunner
from gateway.agent.trajectory import TokenIds
from gateway.application import Application
from gateway.cli.terminal.approval_prompts import ApprovalPrompts
from gateway.cli.terminal.commands import ConversationCommands
from gateway.cli.terminal.completions import AsgiApp, LocalChat
from gateway.cli.terminal.enrolment import Enrolment, can_work
from gateway.cli.terminal.forwarding import describe_forwarding
from gateway.cli.terminal.gateway_link import LocalGatewayLink, side_by_side, until_stopped
from gateway.cli.terminal.keyboard import Keyboard
from gateway.cli.terminal.listeners import LoopListener, LoopListeners
from gateway.cli.terminal.notifications import NotificationReader
from gateway.cli.terminal.results import RecentResults
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.sign_in import TerminalSessions
from gateway.cli.terminal.structured_answer import StructuredAnswer, TurnNotes
from gateway.cli.terminal.turn_display import TurnDisplay
from gateway.cli.terminal.unanswered import UnansweredCalls
from gateway.core.approval import Approval
from gateway.core.effects import escape
from gateway.core.errors import GatewayError, Misconfigured, ModelUnavailable
from gateway.runtime.ports import ModelPhase
from gateway.server.access import Site
from gateway.server.methods.agent import AgentMethods
from gateway.shipped import read_loop_file

TITLE: Final = "Terminal"
"""Of a conversation in which nothing was said yet."""

LATEST: Final = "last"
"""In place of an id, the conversation that was used last."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The person's side: what they see, and what they type on. `keyboard` is None where nobody can be asked."""

    screen: Screen
    keyboard: Keyboard | None
    is_conversation: bool
    only_once: bool
    output_schema: OutputSchema | None = None
    """What the answer has to fit, as JSON."""


@dataclass(frozen=True, slots=True)
class TerminalAgent:
    """A conversation that is ready, and everything that ends with it."""

    runner: TurnRunner
    questions: ApprovalPrompts
    notices: NotificationReader
    unanswered: UnansweredCalls
    commands: ConversationCommands
    said: Sequence[str]
    """What the person said in this conversation before."""
    structured: StructuredAnswer | None
    """Puts the answer into JSON, where that was asked for."""

    async def stop(self) -> None:
        """Stop the turn that is under way."""
        if self.structured is not None:
            self.structured.stop()
        await self.runner.stop()

    async def close(self) -> None:
        """Stop whatever is under way."""
        await self.stop()
        await self.questions.close()
        await self.notices.close()


async def open_agent(
    application: Application,
    app: AsgiApp,
    presence: TerminalSessions,
    terminal: Terminal,
    limits: TurnLimits,
    offer_link: Callable[[], Awaitable[str]],
    listeners: Sequence[LoopListener],
    take_tokens: Callable[[], TokenIds | None] = lambda: None,
    resumed: str | None = None,
) -> TerminalAgent:
    """A new conversation of the person, or the one with the id `resumed`.

    Raises ModelUnavailable when no model is there to talk to, Misconfigured when that conversation is not.
    """
    origins, clock = application.origins, application.gateway.ports.clock
    methods = AgentMethods(application.gateway, agent_origin=origins.agent, console_origin=origins.console).table()
    bare = LocalGatewayLink(methods, presence.connection)

    async def withdraw(approval: Approval) -> None:
        await bare.call("tools/cancel", {"conversationId": approval.conversation_id, "callId": approval.call_id})

    questions = ApprovalPrompts(
        application.gateway.approvals,
        application.gateway.ports.toolbox,
        presence.console,
        terminal.screen,
        terminal.keyboard,
        clock,
        withdraw,
        console_origin=origins.console,
        only_once=terminal.only_once,
    )
    enrolment = Enrolment(
        application.store.records,
        presence.console.principal.id,
        terminal.screen,
        offer_link,
        waits=terminal.keyboard is not None,
        over_ssh=describe_forwarding(os.environ.get("SSH_CONNECTION", ""), origins.console, getpass.getuser),
        can_work=lambda call: can_work(application.gateway.ports.toolbox, call),
    )
    link = enrolment.before_step_up(bare)
    model = await _choose_model(application, link)
    opened = await link.call("conversations/open", {"title": TITLE}) if resumed is None else await _reopen(link, resumed)
    conversation_id = opened["conversation"]["id"]
    calls = () if resumed is None else (await link.call("tools/list-calls", {"conversationId": conversation_id}))["calls"]
    copy = Copy(read_loop_file("copy"))
    messages = recall(opened["messages"], calls, copy.say("importedTurn"))
    unanswered, results = UnansweredCalls(), RecentResults()
    display = TurnDisplay(
        terminal.screen,
        copy,
        results,
        is_conversation=terminal.is_conversation,
        is_undecided=lambda call_id: questions.is_undecided(call_id) or enrolment.holds(call_id),
    )
    notes = TurnNotes()
    crowd = LoopListeners([display, unanswered, notes, *listeners])

    def chat_with(token: Mapping[str, Any]) -> LocalChat:
        return LocalChat(app, origins.host(Site.AGENT), token, take_tokens)

    dependencies = LoopDependencies(
        gateway=link,
        chat_with=chat_with,
        new_call_id=lambda: application.gateway.ports.entropy.identifier("call_"),
        wait=_wait,
        side_by_side=side_by_side,
        emit=crowd.hear,
        observer=crowd,
        words=read_loop_file("prompts"),
        copy=copy,
        today=lambda: dt.datetime.fromtimestamp(clock.now() / 1000).astimezone().date(),
        take_steered=(lambda: ()) if terminal.keyboard is None else terminal.keyboard.take_additions,
    )
    runner = TurnRunner(dependencies, conversation_id, limits, messages)
    notices = NotificationReader(presence.connection, questions, runner, terminal.screen, display.progressed)
    notices.start()
    commands = ConversationCommands(
        link,
        conversation_id,
        runner,
        model,
        terminal.screen,
        results,
        is_named=resumed is not None,
        models=application.models if isinstance(application.models, ChosenBackend) else None,
    )
    said = [message.content for message in messages if isinstance(message, UserMessage)]
    if resumed is not None:
        times = "once" if len(said) == 1 else f"{len(said)} times"
        terminal.screen.say(f"Going on with `{opened['conversation']['title']}`, in which you spoke {times}.")
    schema = terminal.output_schema
    structured = (
        None
        if schema is None
        else StructuredAnswer(schema, notes, link, chat_with, conversation_id, model, crowd, copy, limits.step_tokens, _wait)
    )
    return TerminalAgent(runner, questions, notices, unanswered, commands, said, structured)


async def _reopen(link: GatewayLink, resumed: str) -> Mapping[str, Any]:
    known: Sequence[Mapping[str, str]] = (await link.call("conversations/list", {}))["conversations"]
    wanted = resumed if resumed != LATEST else known[0]["id"] if known else ""
    if not wanted:
        raise Misconfigured("there is no conversation yet to go on with")
    try:
        return await link.call("conversations/open", {"conversationId": wanted, "takeOver": True})
    except GatewayError:
        latest = ", ".join(f"`{each['id']}` ({escape(each['title'])})" for each in known[:5]) or "there are none"
        raise Misconfigured(f"you have no conversation `{escape(wanted)}`; the latest: {latest}") from None


async def _choose_model(application: Application, link: GatewayLink) -> Mapping[str, Any]:
    if isinstance(application.models, TriedBackend):
        await application.models.tried()
    models = (await link.call("session/describe", {}))["models"]
    state = application.models.state()
    # A model that was named is offered while its server is away. Whoever begins to talk to it learns that at once.
    if not models or state.phase in (ModelPhase.ABSENT, ModelPhase.CRASHED):
        raise ModelUnavailable(f"there is no model to talk to: {state.detail or state.phase.value}", state.phase)
    return models[0]


async def _wait(seconds: float, stop: StopSignal) -> None:
    await until_stopped(stop, asyncio.sleep(seconds))
