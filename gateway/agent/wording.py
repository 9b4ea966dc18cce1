"""A result in the words of a small model, as far as the result bears them out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from gateway.agent.answers import (
    has_wrong_number,
    is_echo,
    is_unfounded,
    missed_quote,
    show_closest,
    source_of,
    with_place,
)
from gateway.agent.borne_out import unsupported_in
from gateway.agent.browser import trim
from gateway.agent.budget import length_of, tokens_of_prompt
from gateway.agent.choosing import tokens_for
from gateway.agent.circles import goes_round, without_circles
from gateway.agent.excerpts import excerpt_of
from gateway.agent.grounded import is_made_up, narrowed, summary_of
from gateway.agent.kept import page_of
from gateway.agent.lane import LaneInput, collect
from gateway.agent.limits import LIMITS
from gateway.agent.messages import ToolMessage
from gateway.agent.misreading import misreads_row
from gateway.agent.passages import fitting_passages, repeats_question
from gateway.agent.pertinent import is_beside_question
from gateway.agent.ports import ChatRequest
from gateway.agent.prompts import fixed_report, report_prompt
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

PROMPT_MARGIN: Final = LIMITS.json_lane_margin
CHARACTERS_PER_TOKEN: Final = LIMITS.characters_per_dense_token
"""Fewer than the usual four: results are paths, figures and code, which take more tokens than prose."""

_EXPLAINING: Final = frozenset(VOCABULARY.explaining_verbs)
_DENSE: Final = re.compile("[0-9.,:;/_-]")


def characters_in(room: int, content: str) -> int:
    """Characters of a result that fit into so many tokens. Each digit and each mark may be a token by itself, as in a table or
    in a log full of times."""
    digits = len(_DENSE.findall(content))
    length = length_of(content)
    return room * CHARACTERS_PER_TOKEN * length // max(1, length + (CHARACTERS_PER_TOKEN - 1) * digits)


async def worded(lane: LaneInput, question: str, last: ToolMessage, hear: Callable[[str], None]) -> str:
    """What the model says of a result."""
    bare = tokens_of_prompt(report_prompt(question, last, "", lane.words))
    room = max(0, lane.model["contextTokens"] - tokens_for(lane) - PROMPT_MARGIN - bare)
    content = page_of(last.result["content"]).text
    body = fitting_passages(content, question, characters_in(room, content))
    if body != content:
        lane.listener.trimmed(0)
    prompt = report_prompt(question, last, body, lane.words)
    heard = await collect(lane, ChatRequest(prompt, tokens_for(lane), lane.stop), hear=hear)
    return without_circles(trim(heard.text))


async def report(lane: LaneInput, question: str, last: ToolMessage, query: str, *, is_further: bool) -> str:
    """The same as an answer: with its place where the result bears it out, else the closest lines. What the model says is
    streamed as it comes."""
    source = source_of(last)
    if lane.quotes and source.has_lines:
        return _quoted(lane, question, last)
    written = ""

    def hear(text: str) -> None:
        nonlocal written
        if len(text) > len(written):
            lane.listener.streamed(text[len(written) :])
        written = text

    said = await worded(lane, question, last, hear)
    if not said:
        return lane.copy.say("worded")
    if (summary := summary_of(said, question, source, lane.copy)) is not None:
        lane.listener.discarded()
        return summary
    is_empty = is_echo(said, last, lane.words) or repeats_question(said, question)
    if not is_empty and has_wrong_number(said, question, last):
        instead = show_closest(lane.copy.say("notSure"), question, source)
    elif is_empty or is_no_answer(said, question, last) or is_unfounded(said, question, last, is_further=is_further):
        instead = show_closest(lane.copy.say("noAnswer"), question, source)
    else:
        instead = missed_quote(said, question, last, lane.copy, query)
    kept = narrowed(said, question)
    if instead is not None or kept != said:
        lane.listener.discarded()
    if instead is not None:
        return instead
    cut = f"\n\n{lane.copy.say('saidAgain')}" if goes_round(trim(written)) else ""
    return f"{with_place(kept, question, last)}{cut}"


def is_no_answer(said: str, question: str, last: ToolMessage) -> bool:
    """Whether what a model says of a result cannot stand: it is of another row or another matter, made up, or has names and
    numbers that nobody wrote."""
    source = source_of(last)
    is_of_another = misreads_row(said, question, source) or is_beside_question(said, question, source)
    is_worded = not _EXPLAINING.isdisjoint(word.bare for word in words_of(question))
    known = [question, source.name, source.text]
    return is_of_another or is_made_up(said, question, source) or (not is_worded and bool(unsupported_in(said, known)))


def _quoted(lane: LaneInput, question: str, last: ToolMessage) -> str:
    """What a file says of a question, word by word: all of it where the question is about the whole, else the closest lines."""
    source = source_of(last)
    is_whole = any(word.bare in _EXPLAINING for word in words_of(question))
    sentence = fixed_report(last, "", lane.words) if is_whole else None
    if sentence is None:
        return show_closest(lane.copy.say("closest"), question, source)
    return f"{sentence}\n\n{excerpt_of(source.text).text}"
