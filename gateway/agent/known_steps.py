"""The steps of the chained loop that code can tell by the words, so that no model has to: the look with which a question about
the person's own papers begins, where it goes on after a search, and a number that has to be worked out.

Left to itself a small model looks for half a sentence, finds nothing and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import is_thing
from gateway.agent.answers import source_of
from gateway.agent.choosing import offered
from gateway.agent.figures import answer_figure, asks_for_figure
from gateway.agent.finding import SoughtText, folder_in, shorter_queries
from gateway.agent.further import (
    answering_call,
    found_files,
    further_call,
    looking_for,
    query_that_found,
    searches,
    text_search,
)
from gateway.agent.lane import AnswerStep, CallsStep, LaneInput, LaneStep, ProposedCall
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.papers import with_day
from gateway.agent.turn_progress import TurnProgress, is_repeat
from gateway.agent.words import words_of

_MOST_SEARCHES: Final = 3
"""A word that stands nowhere says little; after these the model has its say."""


def known_step(lane: LaneInput, state: TurnProgress) -> LaneStep | None:
    """The next step where code can tell it; None where the model has to."""
    if any(each.result["outcome"] != "ok" for each in state.closed):
        return None
    call = _look_step(lane, state)
    if call is not None and not is_repeat(call.name, call.arguments, state.closed, lane.tools):
        return CallsStep([call])
    figure = _figure(lane, state)
    return None if figure is None else AnswerStep(figure)


def _look_step(lane: LaneInput, state: TurnProgress) -> ProposedCall | None:
    """The look of a question that says no file; after it what is to be read, or looked for instead."""
    tools, wish = offered(lane.tools), with_day(state.message, lane.today)
    if any(is_thing(wish[word.start : word.end]) for word in words_of(wish)):
        return None
    if not state.closed:
        return looking_for(wish, tools)
    return further_call(wish, state.closed, tools) or _search_again(wish, state.closed, tools)


def _figure(lane: LaneInput, state: TurnProgress) -> str | None:
    """The number that has to be worked out of what was read, where it is clear which ones are meant: no model counts or adds."""
    if not state.closed or not asks_for_figure(state.message):
        return None
    tools = offered(lane.tools)
    return answer_figure(state.message, source_of(answering_call(state.message, state.closed, tools)), lane.copy)


def _search_again(wish: str, closed: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """The search for a part of what was looked for where nothing holds all of it, then for a word of the wish."""
    if not all(map(searches, closed)) or len(closed) >= _MOST_SEARCHES or found_files(closed[-1], tools):
        return None
    query = query_that_found(closed[:1])
    tried = {query_that_found([each]).lower() for each in closed}
    words = [each for each in (*shorter_queries(query), *shorter_queries(wish)) if each.lower() not in tried]
    return text_search(words[0], SoughtText(words[0], folder_in(wish), wish), tools) if query and words else None
