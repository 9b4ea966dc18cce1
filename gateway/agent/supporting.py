"""What an answer of the chained loop has to stand on, what a model hears of one that does not, and what is shown in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.agent.answers import show_closest, source_of
from gateway.agent.borne_out import unsupported_in
from gateway.agent.browser import as_json
from gateway.agent.copy import Copy
from gateway.agent.messages import AssistantMessage, Message, Tool, ToolMessage
from gateway.agent.placed_values import values_elsewhere
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


@dataclass(frozen=True, slots=True)
class AnswerFault:
    """What is wrong with an answer: `says` of it stand nowhere, or only of something else. `name` is that of the sentence in
    prompts.json with which a model is told."""

    name: str
    says: Sequence[str]


def fault_of(
    answer: str, question: str, messages: Sequence[Message], closed: Sequence[ToolMessage], tools: Sequence[Tool]
) -> AnswerFault | None:
    """What an answer says that neither a result, the person nor a call does, or the results of something else alone. Where
    nothing was called it may be of the world."""
    if not closed:
        return None
    if missing := unsupported_in(answer, sources_of(messages, tools)):
        return AnswerFault("unsupported", missing)
    elsewhere = values_elsewhere(answer, question, closed)
    return AnswerFault("elsewhere", elsewhere) if elsewhere else None


def correction_of(answer: str, fault: AnswerFault, words: Mapping[str, Any]) -> list[ChatMessage]:
    """The answer as the model gave it, and what is wrong with it. `words` is prompts.json."""
    what = ", ".join(neutralise(each) for each in fault.says[:_MOST_NAMED])
    told = fill(words["chained"][fault.name], {"what": what}.get)
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
