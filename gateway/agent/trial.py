"""A few tasks by which a model shows which loop it can carry, and the world of files in which it does them.

The loop is the product's own, with nothing left away. Only what it asks of a gateway is answered here: everything is allowed, and
nothing leaves the process.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from gateway.agent.copy import Copy
from gateway.agent.dependencies import LoopDependencies
from gateway.agent.events import AgentEvent, AssistantSaidEvent
from gateway.agent.messages import Result, Tool
from gateway.agent.ports import Chat, ChatMessage, StopSignal
from gateway.agent.runner import TurnRunner
from gateway.agent.trajectory import TokenIds
from gateway.core.vocabulary import Category, Tier
from gateway.shipped import read_loop_file

ExpectedCall = tuple[str, str]
"""A tool, and what one of its arguments has to be, a slash at its end left away."""


@dataclass(frozen=True, slots=True)
class Trial:
    """`calls` have to be made in this order, reading ones possibly with others between; `told` are words of the answer that
    stand only in what has to be read. `changes` is what may be written or deleted at all. With
    `has_own_tools` the model is shown tools of which no example speaks: one call is made, and no second."""

    say: str
    calls: Sequence[ExpectedCall] = ()
    told: Sequence[str] = ()
    changes: Sequence[ExpectedCall] = ()
    has_own_tools: bool = False


FILES: Final[Mapping[str, str]] = {
    "garden.md": "# Garden\nThe seeds are in the shed.\nThe hose leaks near the gate.",
    "ideas.md": "Fly a kite at the harbour, then take the ferry.",
    "draft.txt": "nothing of use",
    "notes/visit.txt": "Ida comes on Sunday.\nShe would like pancakes with plums.",
    "notes/shop.txt": "bread, soap",
    "bills/water.txt": "Water, November: 18.00 EUR",
}
"""Names and texts of which no example of prompts.json has a word: a model that repeats an example has done nothing."""

TRIALS: Final[Sequence[Trial]] = (
    Trial("what does garden.md say about the hose?", [("read_file", "garden.md")], ["leak"]),
    Trial(
        "save an expense of 7.20 at Lido",
        [("save_expense", "Lido")],
        changes=[("save_expense", "Lido")],
        has_own_tools=True,
    ),
    Trial(
        "delete draft.txt and show me ideas.md",
        [("delete_file", "draft.txt"), ("read_file", "ideas.md")],
        ["harbour"],
        changes=[("delete_file", "draft.txt")],
    ),
    Trial("thank you, that was all for today"),
)

_MODEL: Final = {"id": "tried", "backend": "tried", "outputTokens": 1024, "local": True}
_WORDS: Final = read_loop_file("prompts")
_TODAY: Final = date(2026, 3, 10)


async def play(trial: Trial, chat: Chat, tier: Tier, context_tokens: int) -> bool:
    """Whether a model does the task in the loop of this tier. What `chat` raises ends the turn, and so counts as not done."""
    world = _World(OWN_TOOLS if trial.has_own_tools else TOOLS)
    dependencies = LoopDependencies(
        gateway=world,
        chat_with=lambda _token: chat,
        new_call_id=world.new_call_id,
        wait=_wait,
        side_by_side=_alone,
        emit=world.hear,
        observer=world,
        words=_WORDS,
        copy=Copy(read_loop_file("copy")),
        today=lambda: _TODAY,
    )
    model = {**_MODEL, "contextTokens": context_tokens, "supportsTools": tier is Tier.NATIVE, "tier": tier.value}
    await TurnRunner(dependencies, "trial").run(trial.say, model)
    return _is_done(trial, world)


def _is_done(trial: Trial, world: _World) -> bool:
    if any(call not in trial.changes for call in world.changes):
        return False
    if len(world.calls) > len(trial.calls) + (0 if trial.has_own_tools or not trial.calls else 2):
        return False
    rest = list(trial.calls)
    for call in world.calls:
        if rest and call == rest[0]:
            rest.pop(0)
    said = world.said.lower()
    return not rest and bool(said.strip()) and all(word.lower() in said for word in trial.told)


def _tool(name: str, category: Category, *needs: str) -> Tool:
    described = {"name": name, "description": _WORDS["action"]["descriptions"][name], "category": category.value}
    return {**described, "permission": "auto", "paramSchema": _schema(*needs)}


def _schema(*needs: str) -> Mapping[str, Any]:
    properties = {need: {"type": "string"} for need in needs}
    return {"type": "object", "properties": properties, "required": list(needs), "additionalProperties": False}


TOOLS: Final[Sequence[Tool]] = (
    _tool("list_directory", Category.READ, "path"),
    _tool("read_file", Category.READ, "path"),
    _tool("search_files", Category.READ, "query"),
    _tool("write_file", Category.WRITE, "path", "content"),
    _tool("delete_file", Category.DESTRUCTIVE, "path"),
)


OWN_TOOLS: Final[Sequence[Tool]] = tuple(
    {"name": name, "description": "", "category": category.value, "permission": "auto", "paramSchema": schema}
    for name, category, schema in (
        ("save_expense", Category.WRITE, _schema("merchant", "amount")),
        ("set_budget", Category.WRITE, _schema("category", "amount")),
        ("find_expenses", Category.READ, _schema("merchant")),
    )
)


class _World:
    """The GatewayLink and the ReplyObserver of one trial: files in memory."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._files = dict(FILES)
        self._ids = 0
        self.calls: list[ExpectedCall] = []
        self.changes: list[ExpectedCall] = []
        self.said = ""

    def new_call_id(self) -> str:
        self._ids += 1
        return f"call-{self._ids}"

    def hear(self, event: AgentEvent) -> None:
        if isinstance(event, AssistantSaidEvent):
            self.said += event.content + "\n"

    def wrote(self, prompt: Sequence[ChatMessage], text: str, tokens: TokenIds | None) -> None:
        """Of no interest here."""

    def faulted(self, reason: str) -> None:
        """Neither."""

    async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
        match method:
            case "turns/begin":
                about = {"conversationId": params["conversationId"], "turnId": "turn"}
                return {"snapshot": {"id": "snapshot", "digest": "digest", "tools": self._tools, **about}}
            case "tools/invoke":
                return self._invoke(params["call"])
            case _:
                return {}

    def _invoke(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        name, arguments = call["name"], call["arguments"]
        tool = next((each for each in self._tools if each["name"] == name), None)
        if tool is None:
            return _result("unknownTool", reason="unknownTool")
        given = [arguments.get(need) for need in tool["paramSchema"]["required"]]
        if not all(isinstance(each, str) for each in given):
            return _result("invalidArguments", error="an argument is missing, or is no text", reason="schema")
        made: ExpectedCall = (name, given[0].rstrip("/"))
        self.calls.append(made)
        if tool["category"] != Category.READ.value:
            self.changes.append(made)
        return self._run(name, *given)

    def _run(self, name: str, about: str, content: str = "") -> Mapping[str, Any]:
        place = about.removeprefix("./").rstrip("/")
        match name:
            case "list_directory":
                folder = "" if place in ("", ".") else f"{place}/"
                names = {path.removeprefix(folder).split("/")[0] for path in self._files if path.startswith(folder)}
                return _result("ok", "\n".join(sorted(names)) or f"{about} is empty")
            case "search_files":
                hits = [
                    f"{path}:{number}: {line}"
                    for path, text in sorted(self._files.items())
                    for number, line in enumerate(text.split("\n"), 1)
                    if about.lower() in line.lower()
                ]
                return _result("ok", "\n".join(hits) or f"nothing found in {len(self._files)} files")
            case "write_file":
                self._files[place] = content
                return _result("ok", f"created {about}")
            case "save_expense" | "set_budget" | "find_expenses":
                return _result("ok", "done")
            case _ if place not in self._files:
                return _result("executionError", error=f"there is no file `{about}`", reason="toolError")
            case "delete_file":
                del self._files[place]
                return _result("ok", f"deleted {about}")
            case _:
                return _result("ok", self._files[place])


def _result(outcome: str, content: str = "", **why: str) -> Mapping[str, Any]:
    return {"outcome": outcome, "content": content, "trust": "untrusted", "truncated": False, **why}


async def _wait(_seconds: float, _stop: StopSignal) -> None:
    """A model that is tried has been started."""


async def _alone(calls: Sequence[Coroutine[Any, Any, Result]]) -> AsyncGenerator[Result, None]:
    """Nobody is asked here, so that what is sent at once is always one call."""
    (call,) = calls
    yield await call
