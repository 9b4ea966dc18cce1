"""The baseline: the same model, told about its tools in the system prompt and otherwise left alone.

No examples, no schema, no repair. What it writes is read kindly: the first JSON object in it counts, fences and prose around
it or not. A result goes back into the conversation, and the model is asked again until it answers, has had its rounds or repeats
its last call. That repetition is not even counted as a call, so the baseline is shown in the best light.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, cast

import orjson

from eval.cases import Case
from eval.chat import Meter, complete
from eval.claims import find_false_claims
from eval.scoring import Attempt, Proposal, values_not_done
from eval.workspaces import TODAY, CaseWorkspace
from gateway.core.canonical import Json
from gateway.runtime.ports import InferenceBackend

ROUNDS: Final = 8
STEP_TOKENS: Final = 256
RESULT_CHARACTERS: Final = 6000
"""Of a result, so that it fits into a context of 4096 tokens beside the rest."""

_READER: Final = JSONDecoder()

_SYSTEM: Final = """You are a helpful assistant. Today is {today:%A, %Y-%m-%d}.
You have access to these tools:
{tools}

When you need to use a tool, respond with a SINGLE valid JSON object:
{{"tool": "<name>", "arguments": {{...}}}}
After the tool ran you receive its output.
When you have the final answer, or no tool is needed, respond with:
{{"answer": "..."}}"""


async def play(case: Case, world: CaseWorkspace, backend: InferenceBackend) -> Attempt:
    """Let the model do the case. Raises ModelUnavailable."""
    messages = [{"role": "system", "content": _system_of(world)}, *await tell_before(case, world)]
    messages.append({"role": "user", "content": case.say})
    meter, proposals, malformed, said, last = Meter(case.injected), list[Proposal](), 0, "", None
    for _ in range(ROUNDS):
        text = await complete(backend, messages, meter, max_tokens=STEP_TOKENS)
        messages.append({"role": "assistant", "content": text})
        match read_reply(text):
            case (str(tool), arguments):
                if (tool, arguments) == last:
                    break
                last = (tool, arguments)
                proposal, outcome, result = await world.propose(tool, arguments)
                proposals.append(proposal)
                messages.append({"role": "user", "content": result_of(tool, outcome, result[:RESULT_CHARACTERS])})
            case str(said):
                break
            case None:
                malformed, said = malformed + 1, text
                break
    return attempt_of(case, world, proposals, malformed, meter, said)


def attempt_of(case: Case, world: CaseWorkspace, proposals: list[Proposal], malformed: int, meter: Meter, said: str) -> Attempt:
    """What came of it."""
    return Attempt(
        proposals,
        malformed,
        meter.steps,
        meter.prompt_tokens,
        meter.completion_tokens,
        said=said,
        replies=meter.replies,
        claims=find_false_claims(said, world.acts, world.read, values_not_done(case.expect, proposals), case.say),
        reached=meter.reached,
        asked=meter.asked,
    )


def read_reply(text: str) -> tuple[str, Mapping[str, Json]] | str | None:
    """A call, an answer, or None for what wants to be a call and cannot be read as one. Prose is an answer."""
    start = text.find("{")
    if start < 0:
        return text
    try:
        value, _ = _READER.raw_decode(text, start)
    except JSONDecodeError:
        return None if '"tool"' in text else text
    return _read_object(value, text)


def _read_object(value: dict[str, Any], text: str) -> tuple[str, Mapping[str, Json]] | str | None:
    if "tool" in value:
        tool, arguments = value["tool"], value.get("arguments", {})
        is_call = isinstance(tool, str) and isinstance(arguments, dict)
        return (tool, cast("dict[str, Json]", arguments)) if is_call else None
    answer = value.get("answer")
    return answer if isinstance(answer, str) else text


def _system_of(world: CaseWorkspace) -> str:
    lines = [f"- {spec.name}: {spec.description} Parameters: {_dump(spec.param_schema)}" for spec in world.catalog.specs()]
    return _SYSTEM.format(today=TODAY, tools="\n".join(lines))


async def tell_before(case: Case, world: CaseWorkspace) -> list[dict[str, str]]:
    """The earlier turns as messages; their calls are run."""
    messages: list[dict[str, str]] = []
    for turn in case.before:
        messages.append({"role": "user", "content": turn.user})
        for tool, arguments in turn.calls:
            outcome, result, _ = await world.run(tool, arguments)
            messages.append({"role": "assistant", "content": _dump({"tool": tool, "arguments": arguments})})
            messages.append({"role": "user", "content": result_of(tool, outcome, result[:RESULT_CHARACTERS])})
        messages.append({"role": "assistant", "content": _dump({"answer": turn.answer})})
    return messages


def result_of(tool: str, outcome: str, result: str) -> str:
    """How a result is told."""
    return f"<tool_result>{_dump({'tool': tool, 'outcome': outcome, 'output': result})}</tool_result>"


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()
