"""The agent at a terminal, put together: the loop, its gateway, the person."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gateway.agent.asking import Limits
from gateway.agent.copy import Copy
from gateway.agent.events import AgentEvent
from gateway.agent.ports import ChatMessage, GatewayLink, Stop
from gateway.agent.runner import Runner
from gateway.agent.trajectory import Tokens
from gateway.agent.world import World
from gateway.bootstrap import House, read_words
from gateway.cli.terminal.completions import AsgiApp, LocalChat
from gateway.cli.terminal.consent import Questions
from gateway.cli.terminal.enrolment import Enrolment
from gateway.cli.terminal.link import MethodLink, until_stopped
from gateway.cli.terminal.notices import Notices
from gateway.cli.terminal.person import Presence
from gateway.cli.terminal.screen import Keyboard, Screen
from gateway.cli.terminal.story import Story
from gateway.core.approval import Approval
from gateway.core.errors import ModelUnavailable
from gateway.server.access import Site
from gateway.server.methods.agent import AgentMethods

TITLE: Final = "Terminal"


class Follower(Protocol):
    """Whoever wants to know what happens: the event stream, the transcript, a trajectory."""

    def hear(self, event: AgentEvent) -> None:
        """An event of the loop."""
        ...

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: Tokens | None) -> None:
        """What a model really wrote."""
        ...

    def faulted(self, reason: str) -> None:
        """Why it was asked again."""
        ...


@dataclass(frozen=True, slots=True)
class Terminal:
    """The person's side: what they see, and what they type on. `keyboard` is None where nobody can be asked."""

    screen: Screen
    keyboard: Keyboard | None
    is_conversation: bool
    only_once: bool


class _Crowd:
    """Several followers as one, in order."""

    def __init__(self, followers: Sequence[Follower]) -> None:
        self._followers = followers

    def hear(self, event: AgentEvent) -> None:
        for follower in self._followers:
            follower.hear(event)

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: Tokens | None) -> None:
        for follower in self._followers:
            follower.wrote(prompt, text, tokens)

    def faulted(self, reason: str) -> None:
        for follower in self._followers:
            follower.faulted(reason)


@dataclass(frozen=True, slots=True)
class Agent:
    """A conversation that is ready, and everything that ends with it."""

    runner: Runner
    model: Mapping[str, Any]
    questions: Questions
    notices: Notices

    async def close(self) -> None:
        """Stop whatever is under way."""
        await self.runner.stop()
        await self.questions.close()
        await self.notices.close()


async def open_agent(
    house: House,
    app: AsgiApp,
    presence: Presence,
    terminal: Terminal,
    limits: Limits,
    offer_link: Callable[[], Awaitable[str]],
    followers: Sequence[Follower],
    take_tokens: Callable[[], Tokens | None] = lambda: None,
) -> Agent:
    """A new conversation of the person. Raises ModelUnavailable when no model is there to talk to."""
    origins, clock = house.origins, house.gateway.ports.clock
    methods = AgentMethods(house.gateway, agent_origin=origins.agent, console_origin=origins.console).table()
    bare = MethodLink(methods, presence.connection)

    async def withdraw(approval: Approval) -> None:
        await bare.call("tools/cancel", {"conversationId": approval.conversation_id, "callId": approval.call_id})

    questions = Questions(
        house.gateway.approvals,
        presence.console,
        terminal.screen,
        terminal.keyboard,
        clock,
        withdraw,
        console_origin=origins.console,
        only_once=terminal.only_once,
    )
    enrolment = Enrolment(
        house.store.records, presence.console.principal.id, terminal.screen, offer_link, waits=terminal.keyboard is not None
    )
    link = enrolment.before_step_up(bare)
    model = await _choose_model(house, link)
    opened = await link.call("conversations/open", {"title": TITLE})
    copy = Copy(read_words("copy"))
    crowd = _Crowd([Story(terminal.screen, copy, is_conversation=terminal.is_conversation), *followers])
    around = World(
        gateway=link,
        chat_with=lambda token: LocalChat(app, origins.host(Site.AGENT), token, take_tokens),
        new_call_id=lambda: house.gateway.ports.entropy.identifier("call_"),
        wait=_wait,
        emit=crowd.hear,
        witness=crowd,
        words=read_words("prompts"),
        copy=copy,
        today=lambda: dt.datetime.fromtimestamp(clock.now() / 1000).astimezone().date(),
    )
    runner = Runner(around, opened["conversation"]["id"], limits)
    notices = Notices(presence.connection, questions, runner, terminal.screen)
    notices.start()
    return Agent(runner, model, questions, notices)


async def _choose_model(house: House, link: GatewayLink) -> Mapping[str, Any]:
    models = (await link.call("session/describe", {}))["models"]
    if not models:
        state = house.models.state()
        raise ModelUnavailable(f"there is no model to talk to: {state.detail or state.phase.value}", state.phase)
    return models[0]


async def _wait(seconds: float, stop: Stop) -> None:
    await until_stopped(stop, asyncio.sleep(seconds))
