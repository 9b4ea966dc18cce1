"""A planner for small models on the device: everything that makes them reliable stays inside it.

Whoever runs an agent sees a planner: one context in, one action out, or one error. Rendering, tolerant reading, repairs and
trimming are this planner's own affair; other planners, and models behind them, know nothing of it. It brings no model along:
a function that generates text is all that it needs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count
from typing import Protocol, TypeAlias

from gateway.agent.actions import DEFAULT_ACTIONS, Action, ActionDefaults, ActionKind, planner_schema, read_action
from gateway.agent.budget import estimate_tokens
from gateway.agent.limits import LIMITS
from gateway.agent.parse import ParseFailure, read_reply
from gateway.agent.planner_prompt import AgentContext, PlannerPrompt, PromptTooLong, planner_prompt
from gateway.agent.repair import (
    MAX_REPAIRS,
    Accepted,
    ChatMessage,
    Repairing,
    ReplyPiece,
    StopCheck,
    TextGenerator,
    pursue,
)
from gateway.core.errors import OnDevicePlannerError
from gateway.core.times import rfc3339


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    """A piece of the model's thinking."""

    delta: str


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of what the model writes, as it writes it: JSON, if all is well. Never an answer to show."""

    delta: str


@dataclass(frozen=True, slots=True)
class TrimmedChunk:
    """The prompt was too long: so many entries are left out of it, and so many characters of the last observation."""

    dropped: int
    left_out: int


@dataclass(frozen=True, slots=True)
class RepairChunk:
    """What was written until now is void; the model was told the reason and writes anew."""

    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class ActionChunk:
    """The decision; always last."""

    action: Action


PlannerChunk: TypeAlias = ReasoningChunk | TextChunk | TrimmedChunk | RepairChunk | ActionChunk


class Planner(Protocol):
    """The seam that every planner fits, for small models and large ones."""

    async def plan(self, context: AgentContext) -> Action:
        """The next action, or the planner's one error."""
        ...

    def plan_stream(self, context: AgentContext) -> AsyncIterator[PlannerChunk]:
        """The same, told while it comes about."""
        ...


class OnDevicePlanner:
    """Plans with whatever `generate` asks.

    `actions` is the vocabulary, `max_repair_attempts` how often a bad reply is answered with a correction,
    `max_prompt_tokens` what a prompt may take by `count_tokens`. An action that comes without an id gets one from
    `id_generator` (a running number by default), one without a time gets it from `clock`, in epoch milliseconds, if there is
    one.
    """

    def __init__(
        self,
        generate: TextGenerator,
        *,
        actions: Iterable[ActionKind | str] = DEFAULT_ACTIONS,
        max_repair_attempts: int = MAX_REPAIRS,
        max_prompt_tokens: int = LIMITS.planner_prompt_tokens,
        count_tokens: Callable[[str], int] = estimate_tokens,
        clock: Callable[[], int] | None = None,
        id_generator: Callable[[], str] | None = None,
    ) -> None:
        """Raises ValueError for a vocabulary that is empty or has an unknown word, and for numbers below nothing."""
        self._actions = tuple(dict.fromkeys(ActionKind(action) for action in actions))
        if not self._actions or max_repair_attempts < 0 or max_prompt_tokens < 1:
            raise ValueError("a planner needs an action, repairs of 0 or more, and room for a prompt")
        self._generate = generate
        self._max_repairs = max_repair_attempts
        self._limits = _Limits(max_prompt_tokens, count_tokens)
        numbers = count(1)
        self._stamps = ActionDefaults(
            id_generator or (lambda: f"action-{next(numbers)}"),
            lambda: None if clock is None else rfc3339(clock()),
        )

    async def plan(
        self,
        context: AgentContext,
        *,
        signal: StopCheck | None = None,
        on_chunk: Callable[[PlannerChunk], None] | None = None,
    ) -> Action:
        """The next action. Raises OnDevicePlannerError, what `signal` raises, and whatever the generator does."""
        last: PlannerChunk | None = None
        async with aclosing(self.plan_stream(context, signal=signal)) as chunks:
            async for last in chunks:
                if on_chunk is not None:
                    on_chunk(last)
        assert isinstance(last, ActionChunk)
        return last.action

    async def plan_stream(self, context: AgentContext, *, signal: StopCheck | None = None) -> AsyncGenerator[PlannerChunk]:
        """The next action, told while it comes about; `ActionChunk` is last. Raises as `plan` does.

        Close it (`contextlib.aclosing`) when it is not read to its end, and the generator is closed with it.
        """
        plan = _Plan(self._limits, context, [kind for kind in self._actions if kind is not ActionKind.TOOL_CALL or context.tools])
        if not plan.kinds:
            raise OnDevicePlannerError(0, "there is no tool to call, and nothing else is allowed")
        progress = pursue(
            self._generate,
            plan.compose,
            lambda text: plan.read(text, self._stamps),
            schema=planner_schema(plan.kinds, context.tools),
            max_repairs=self._max_repairs,
            signal=signal,
        )
        async with aclosing(progress):
            async for told in progress:
                for trimmed in plan.news():
                    yield trimmed
                match told:
                    case ReplyPiece(_, thought, said):
                        if thought:
                            yield ReasoningChunk(thought)
                        if said:
                            yield TextChunk(said)
                    case Repairing(attempt, reason):
                        yield RepairChunk(attempt, reason)
                    case Accepted(_, action):
                        yield ActionChunk(action)
                    case _:
                        raise OnDevicePlannerError(told.attempts, told.reason)


@dataclass(frozen=True, slots=True)
class _Limits:
    tokens: int
    count: Callable[[str], int]


class _Plan:
    """One plan in the making: its prompts, and what had to be left out of them."""

    def __init__(self, limits: _Limits, context: AgentContext, kinds: Sequence[ActionKind]) -> None:
        self.kinds = kinds
        self._limits = limits
        self._context = context
        self._told = self._trimmed = TrimmedChunk(0, 0)

    def compose(self, closing: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        """The prompt; when not all repair turns fit, with the latest two."""
        made = self._render(closing)
        if isinstance(made, PromptTooLong):
            made = self._render(closing[-2:])
        if isinstance(made, PromptTooLong):
            reason = f"the task, its tools and the last observation need {made.needed} tokens, and {made.allowed} are allowed"
            raise OnDevicePlannerError(len(closing) // 2, reason)
        self._trimmed = TrimmedChunk(made.dropped, made.left_out)
        return made.messages

    def read(self, text: str, stamps: ActionDefaults) -> Action | ParseFailure:
        """What the model decided."""
        value = read_reply(text)
        return value if isinstance(value, ParseFailure) else read_action(value, self.kinds, self._tools, stamps)

    def news(self) -> Iterator[TrimmedChunk]:
        """What was left out of the latest prompt, if that is not known yet."""
        if self._trimmed != self._told:
            self._told = self._trimmed
            yield self._told

    @property
    def _tools(self) -> list[str]:
        return [tool.name for tool in self._context.tools]

    def _render(self, closing: Sequence[ChatMessage]) -> PlannerPrompt | PromptTooLong:
        return planner_prompt(self._context, self.kinds, closing, self._limits.tokens, self._limits.count)
