"""`python -m eval.asking`: how often a person is asked in the tasks of `cases/`, by the shipped policy.

No model takes part: the loop of the tier `single` is given the expected calls, one for each wish in its order, so that what is
counted is the loop's and not a model's luck. Counted are calls that ask, which would each be a page of their own, and the pages
that there are, where calls that are sent together share one.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eval.cases import Case, Kind, load_cases
from eval.workspaces import TODAY, CaseWorkspace
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.agent.browser import as_json
from gateway.agent.copy import Copy
from gateway.agent.dependencies import LoopDependencies
from gateway.agent.ports import ChatDelta, ChatRequest, StopSignal, TextDelta
from gateway.agent.runner import TurnRunner
from gateway.cli.terminal.gateway_link import side_by_side
from gateway.core.model import Principal, PublishedTool
from gateway.core.vocabulary import Label, PermissionMode, Profile
from gateway.runtime.ports import PolicySubject
from gateway.shipped import read_loop_file

POLICY: Final = Path(__file__).parent.parent / "policy"
SEVERAL: Final = frozenset({Kind.TWO, Kind.THREE, Kind.PLAIN_TWO, Kind.PLAIN_THREE})

_SUBJECT: Final = PolicySubject(Principal("prn_asked", "Asked", Profile.OPERATOR), Label.PUBLIC)
_ASKING: Final = frozenset({PermissionMode.CONSENT, PermissionMode.STEP_UP})
_MODEL: Final = {
    "id": "expected",
    "backend": "none",
    "local": True,
    "contextTokens": 32_768,
    "outputTokens": 1024,
    "supportsTools": False,
    "tier": "single",
}


@dataclass
class Asked:
    """Tasks in which somebody is asked, the calls of these that ask, and the pages that these are."""

    tasks: int = 0
    calls: int = 0
    pages: int = 0


def main() -> None:
    """Count, and print a row for each group of tasks."""
    groups = {"all that ask": Asked(), "of these several wishes in one message": Asked()}
    policy = CedarPolicy(POLICY)
    for case in load_cases():
        counted = asyncio.run(play(case, policy))
        for group in list(groups.values())[: 2 if case.kind in SEVERAL else 1]:
            group.tasks += counted.tasks
            group.calls += counted.calls
            group.pages += counted.pages
    sys.stdout.write("| tasks | number | questions a task, call by call | with plans |\n|---|---|---|---|\n")
    for name, each in groups.items():
        sys.stdout.write(f"| {name} | {each.tasks} | {each.calls / each.tasks:.2f} | {each.pages / each.tasks:.2f} |\n")


async def play(case: Case, policy: CedarPolicy) -> Asked:
    """How often a person is asked in one task."""
    with tempfile.TemporaryDirectory() as folder:
        gateway, chat = _Gateway(CaseWorkspace(case.tools, Path(folder)), policy), _Expected(case)
        dependencies = LoopDependencies(
            gateway=gateway,
            chat_with=lambda _token: chat,
            new_call_id=gateway.new_call_id,
            wait=_wait,
            side_by_side=side_by_side,
            emit=lambda _event: None,
            observer=gateway,
            words=read_loop_file("prompts"),
            copy=Copy(read_loop_file("copy")),
            today=lambda: TODAY,
        )
        await TurnRunner(dependencies, "conversation").run(case.say, _MODEL)
    return Asked(int(gateway.calls > 0), gateway.calls, gateway.pages)


class _Gateway:
    """The GatewayLink and the Witness: a person says yes to all that asks."""

    def __init__(self, world: CaseWorkspace, policy: CedarPolicy) -> None:
        self._world = world
        self._modes = {
            spec.name: policy.judge(_SUBJECT, spec, None, taint=0, label=Label.PUBLIC).mode for spec in world.catalog.specs()
        }
        self._tools = [PublishedTool(spec, self._modes[spec.name]).descriptor() for spec in world.catalog.specs()]
        self._ids = 0
        self.calls = 0
        self.pages = 0

    def new_call_id(self) -> str:
        self._ids += 1
        return f"call-{self._ids}"

    async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
        if method == "turns/begin":
            about = {"conversationId": params["conversationId"], "turnId": "turn"}
            return {"snapshot": {"id": "snapshot", "digest": "digest", "tools": self._tools, **about}}
        if method != "tools/invoke":
            return {}
        tool, arguments = params["call"]["name"], params["call"]["arguments"]
        if self._modes.get(tool) in _ASKING:
            self.calls += 1
            self.pages += "after" not in params
        if fault := self._world.find_fault(tool, arguments):
            return {"outcome": fault[0], "error": fault[1], "content": "", "trust": "trusted", "truncated": False}
        outcome, text, trust = await self._world.run(tool, arguments)
        said = {"content": text} if outcome == "ok" else {"content": "", "error": text}
        return {"outcome": outcome, "trust": trust.value, "truncated": False, **said}

    def wrote(self, prompt: Any, text: str, tokens: Any) -> None:
        pass

    def faulted(self, reason: str) -> None:
        pass


class _Expected:
    """The Chat port: the expected calls in their order, the same one for the same wish."""

    def __init__(self, case: Case) -> None:
        self._calls = [as_json({"tool": tool, "arguments": _values_of(checks)}) for tool, checks in case.expect]
        self._wishes: list[str] = []

    async def __call__(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        yield TextDelta(self._reply(request))

    def _reply(self, request: ChatRequest) -> str:
        if request.schema is None:
            return "It is done."
        wish = request.messages[-1]["content"]
        if "oneOf" not in request.schema:
            return as_json({"requestedActions": [wish]})
        if wish not in self._wishes:
            self._wishes.append(wish)
        at = self._wishes.index(wish)
        return self._calls[at] if at < len(self._calls) else as_json({"answer": "That is all."})


def _values_of(checks: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that pass these checks."""
    return {name: _value_of(check) for name, check in checks.items() if not (isinstance(check, dict) and "maybe" in check)}


def _value_of(check: Any) -> Any:
    match check:
        case {"path": value} | {"text": value}:
            return value
        case {"has": [*words]}:
            return " ".join(map(str, words))
        case _:
            return check


async def _wait(_seconds: float, _stop: StopSignal) -> None:
    """Nothing is waited for here."""


if __name__ == "__main__":
    main()
