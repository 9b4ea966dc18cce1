"""What an answer of the chained loop has to stand on, what a model hears of one that does not, and what is shown in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.answers import show_closest, source_of
from gateway.agent.browser import as_json
from gateway.agent.copy import Copy
from gateway.agent.messages import AssistantMessage, Message, Tool, ToolMessage
from gateway.agent.ports import ChatMessage
from gateway.agent.provenance import describe_observation, neutralise
from gateway.agent.ranking import terms_in
from gateway.agent.render import fill

_MOST_NAMED: Final = 5
"""What a model is told of at once."""


def sources_of(messages: Sequence[Message], tools: Sequence[Tool]) -> list[str]:
    """The texts that an answer may take from: what the person said, what was called and what it came to, and the tools' names.
    Not what a model said before."""
    said: list[str] = []
    for each in messages:
        if isinstance(each, ToolMessage):
            given = (value if isinstance(value, str) else as_json(value) for value in each.call["arguments"].values())
            said += [*given, describe_observation(each.result)]
        elif not isinstance(each, AssistantMessage):
            said.append(each.content)
    return [*said, *(tool["name"] for tool in tools)]


def correction_of(answer: str, missing: Sequence[str], words: Mapping[str, Any]) -> list[ChatMessage]:
    """The answer as the model gave it, and what of it stands nowhere. `words` is prompts.json."""
    what = ", ".join(neutralise(each) for each in missing[:_MOST_NAMED])
    told = fill(words["chained"]["unsupported"], {"what": what}.get)
    return [{"role": "assistant", "content": as_json({"answer": neutralise(answer)})}, {"role": "user", "content": told}]


def passage_of(question: str, closed: Sequence[ToolMessage], copy: Copy) -> str:
    """The lines of a result that come closest to a question, with their place: of what was read where something was, of the
    result that has most of the question's words. Where no call went well, why the last one did not."""
    done = [each for each in closed if each.result["outcome"] == "ok"]
    if not done:
        return copy.explain_outcome(closed[-1].call["name"], closed[-1].result)
    asked = set(terms_in(question))
    read = [each for each in done if source_of(each).has_lines] or done
    best = max(reversed(read), key=lambda each: len(asked.intersection(terms_in(each.result["content"]))))
    return show_closest(copy.say("noAnswer"), question, source_of(best))
