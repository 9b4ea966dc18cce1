"""What the loop has to beat: the same examples and a JSON schema around every reply, and nothing else of the loop.

Results go back into the conversation. Where the model asks for its last call again, it is held to answer instead.
"""

from __future__ import annotations

from typing import Any, Final

from eval.cases import Case
from eval.chat import Meter, complete
from eval.plain import RESULT_CHARACTERS, ROUNDS, STEP_TOKENS, attempt_of, read_reply, result_of, tell_before
from eval.scoring import Attempt, Proposal
from eval.workspaces import CaseWorkspace
from gateway.agent.action_schema import constrain
from gateway.agent.prompts import action_prefix
from gateway.core.local_tools import with_local_tools
from gateway.core.model import PublishedTool, ToolSpec
from gateway.core.vocabulary import PermissionMode
from gateway.runtime.ports import InferenceBackend
from gateway.shipped import read_loop_file

_ANSWER: Final = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


async def play(case: Case, world: CaseWorkspace, backend: InferenceBackend) -> Attempt:
    """Let the model do the case. Raises ModelUnavailable."""
    specs = world.catalog.specs()
    tools = with_local_tools(tuple(PublishedTool(spec, PermissionMode.AUTO) for spec in specs), ("respond",))
    messages: list[dict[str, Any]] = [
        dict(each) for each in action_prefix([t.descriptor() for t in tools], read_loop_file("prompts"))
    ]
    messages += [*await tell_before(case, world), {"role": "user", "content": case.say}]
    schema = {"oneOf": [*map(_call_of, specs), _ANSWER]}
    meter, proposals, malformed, said, last = Meter(case.injected), list[Proposal](), 0, "", None
    for _ in range(ROUNDS):
        text = await complete(backend, messages, meter, max_tokens=STEP_TOKENS, schema=schema)
        messages.append({"role": "assistant", "content": text})
        match read_reply(text):
            case (str(tool), arguments) if (tool, arguments) == last:
                messages.pop()
                schema = _ANSWER
            case (str(tool), arguments):
                last = (tool, arguments)
                proposal, outcome, result = await world.propose(tool, arguments)
                proposals.append(proposal)
                messages.append({"role": "user", "content": result_of(tool, outcome, result[:RESULT_CHARACTERS])})
            case str(said):
                break
            case None:
                malformed += 1
                break
    return attempt_of(case, world, proposals, malformed, meter, said)


def _call_of(spec: ToolSpec) -> dict[str, Any]:
    arguments = {**constrain(spec.param_schema), "additionalProperties": False}
    members: dict[str, Any] = {"tool": {"const": spec.name}, "arguments": {"type": "object", "properties": {}, **arguments}}
    return {"type": "object", "properties": members, "required": ["tool", "arguments"], "additionalProperties": False}
