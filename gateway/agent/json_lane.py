"""The lane of small models: they pick one action as JSON, held to a schema; a second, separate prompt words what came of it.

Measured on the default model: declared tools 0 % right calls, this 95 %; and asked for the next action after a result it
repeats the call, so it is asked to report instead, and each further action that the person named is picked on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from gateway.agent.action_schema import action_schema
from gateway.agent.acts import READING, asked_acts
from gateway.agent.answers import (
    has_wrong_number,
    is_echo,
    own_answer,
    show_closest,
    source_of,
)
from gateway.agent.asked import is_asked_for, is_of_another
from gateway.agent.attached_asked import attached_for
from gateway.agent.browser import trim
from gateway.agent.budget import cut, fit_messages, tokens_of, tokens_of_prompt
from gateway.agent.called_for import tools_called_for
from gateway.agent.candidates import examples_in, select
from gateway.agent.carrying import (
    Carrying,
    carrying_in,
    is_carried,
    lines_about,
    must_be_worked_out,
    next_look,
    own_value,
    read_for,
    shown_value,
)
from gateway.agent.choosing import choose, offered, tokens_for
from gateway.agent.comparing import comparison_in, next_compared
from gateway.agent.condensing import condense
from gateway.agent.copied import NOTHING_SAID, copyable_strings
from gateway.agent.directed import Directed, directed_in, next_directed, stopped_at
from gateway.agent.file_asked import call_for_file
from gateway.agent.finding import finding_in
from gateway.agent.foreseen import with_foreseen
from gateway.agent.further import (
    answering_call,
    asked_of_file,
    calls_under_way,
    found_no_word,
    further_call,
    left_open,
    looking_for,
    names_for,
    picked_shown,
    pointed_reading,
    query_that_found,
    resolved,
)
from gateway.agent.gathered_step import gathering_step, without_names
from gateway.agent.grounded import narrowed
from gateway.agent.intents import has_cue, probe_prompt, probe_schema, read_actions
from gateway.agent.just_done import reading_of_done
from gateway.agent.keeping import as_addition, kept_call, without_look
from gateway.agent.kept import without_reader
from gateway.agent.lane import (
    AnswerStep,
    CallsStep,
    LaneInput,
    LaneStep,
    ProposedCall,
    ReportStep,
    SplitStep,
    StuckStep,
    collect,
    complete,
)
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.misplaced import look_again, name_places, without_miss
from gateway.agent.paging import next_page
from gateway.agent.papers import with_day
from gateway.agent.partial_looks import with_part_told
from gateway.agent.passages import place_of, repeats_question
from gateway.agent.picking import picked_from
from gateway.agent.plain_calls import plain_call, said_tools
from gateway.agent.ports import ChatMessage, ChatRequest
from gateway.agent.prompts import action_prefix, describe_mistake
from gateway.agent.provenance import neutralise
from gateway.agent.questions import asks_for_named, questions_in
from gateway.agent.ranking import terms_in
from gateway.agent.read_before import read_again
from gateway.agent.reading import ordered_reading, reading_for
from gateway.agent.reckoning import reckoned_in
from gateway.agent.remembered import from_memory, out_of_memory, without_call
from gateway.agent.repair import MAX_REPAIRS, correction
from gateway.agent.reply import ReplyEnd
from gateway.agent.routing import as_chat, past_of, present_of
from gateway.agent.row_choices import show_choices
from gateway.agent.taking import changes_among
from gateway.agent.turn_progress import StuckReason, TurnProgress, is_mistake, is_repeat, progress_of
from gateway.agent.whole_files import rest_call, with_rest
from gateway.agent.wishes import wishes_in
from gateway.agent.withheld import withheld_words
from gateway.agent.wording import PROMPT_MARGIN, is_no_answer, report, worded

MISTAKE_LENGTH: Final = LIMITS.mistake_characters
"""What a model is told of its mistake, in characters: enough for the schema's complaint."""


async def json_lane(lane: LaneInput) -> LaneStep:
    """The next step of a turn. Calls of wishes in a row that a person is asked about are proposed together."""
    state = progress_of(lane.messages, lane.turn_id)
    wish = _asked_for(lane, state)
    if not state.closed and (attached := attached_for(wish, lane.messages, lane.turn_id, offered(lane.tools))) is not None:
        return _answer(lane, state, await _answer_from(lane, wish, [attached]))
    gathered = gathering_step(lane, state, wish, lambda: _first_call(lane, state))
    if gathered == "":
        gathered = await from_memory(lane, wish, state.closed)
    if gathered is not None:
        return _answer(lane, state, gathered) if isinstance(gathered, str) else CallsStep(gathered)
    lane = without_names(lane)
    step = await _next_step(lane)
    is_first = all(map(is_mistake, calls_under_way(lane.messages, lane.turn_id)))
    if not isinstance(step, CallsStep) or not is_first:
        return step
    finished = progress_of(lane.messages, lane.turn_id).finished
    return await with_foreseen(lane, step.proposals[0], (lane.actions or [])[finished + 1 :], _next_step)


async def _next_step(lane: LaneInput) -> LaneStep:
    result = (state := progress_of(lane.messages, lane.turn_id)).result
    if _may_split(lane):
        tools = offered(lane.tools)
        if carrying_in(state.message, tools) is not None or _directed(lane, state.message) is not None:
            return SplitStep([state.message])
        if reckoned_in(state.message, lane.copy) is not None or comparison_in(state.message, tools) is not None:
            return SplitStep([state.message])
        if call_for_file(state.message, tools) is not None or finding_in(state.message) is not None:
            return SplitStep([state.message])
        if _reading_again(lane, state.message) is not None:
            return SplitStep([state.message])
        if wishes := wishes_in(state.message, tools):
            return SplitStep(wishes)
        if picked_from(state.message) is not None and all(each.act == READING for each in asked_acts(state.message)):
            return SplitStep([state.message])
        if len(questions_in(state.message)) > 1 and reading_for(state.message, tools) is not None:
            return SplitStep([state.message])
        if has_cue(state.message):
            return await _split(lane, state.message)
    if result is not None and not (is_mistake(result) and state.mistakes <= MAX_REPAIRS):
        return await _conclude(lane, state)
    if not lane.may_call:
        return StuckStep(StuckReason.CAPPED)
    if result is None:
        reading = _first_call(lane, state)
        if isinstance(reading, str):
            return _answer(lane, state, reading)
        return await _pick(lane, state, []) if reading is None else _propose(lane, state, reading)
    told = correction(neutralise(cut(describe_mistake(result), MISTAKE_LENGTH)))
    return await _pick(lane, state, [{"role": "user", "content": told}])


def _first_call(lane: LaneInput, state: TurnProgress) -> ProposedCall | str | None:
    """The call with which a wish begins that shows by its words what has to be read, or looked for; the words where what was
    shown leaves open what is meant."""
    tools, wish = offered(lane.tools), with_day(_asked_for(lane, state), lane.today)
    if (reckoned := reckoned_in(wish, lane.copy)) is not None:
        return reckoned
    if (carrying := carrying_in(wish, tools)) is not None:
        return carrying.first
    if (directed := _directed(lane, wish)) is not None:
        return directed.first
    if (comparison := comparison_in(wish, tools)) is not None:
        return next_compared(comparison, [], tools, lane.copy)
    if (
        plain := next_page(wish, lane.messages, tools) or names_for(wish, tools) or plain_call(wish, tools, lane.words)
    ) is not None:
        return plain
    done = reading_of_done(wish, state.closed, tools)
    reading = done or _reading_again(lane, wish) or call_for_file(wish, tools) or reading_for(wish, tools)
    return reading or picked_shown(wish, state.closed, tools) or looking_for(wish, tools)


def _reading_again(lane: LaneInput, wish: str) -> ProposedCall | None:
    """The call that reads the file which was read, or found, before, where a wish is about "it" or about what it says."""
    tools = offered(lane.tools)
    return pointed_reading(wish, lane.messages, tools) or read_again(wish, lane.messages, lane.turn_id, tools)


def _directed(lane: LaneInput, wish: str, calls: Sequence[ToolMessage] = ()) -> Directed | None:
    before = [each for each in lane.messages if each not in calls]
    return directed_in(wish, before, offered(lane.tools), lane.words, lane.copy)


async def _split(lane: LaneInput, message: str) -> LaneStep:
    """Ask which actions a message asks for. One, in its own words, wherever the reply leaves a doubt."""
    request = ChatRequest(probe_prompt(lane.words, message), tokens_for(lane), lane.stop, schema=probe_schema())
    heard = await collect(lane, request, ReplyEnd.AFTER_OBJECT)
    return SplitStep(read_actions(heard.text, message))


def _may_split(lane: LaneInput) -> bool:
    """Whether it is still open, and worth asking, what the message asks for. Without tools there is nothing to take apart."""
    return lane.actions is None and bool(offered(lane.tools))


async def _pick(lane: LaneInput, state: TurnProgress, closing: Sequence[ChatMessage]) -> LaneStep:
    wish = _asked_for(lane, state)
    able = said_tools(wish, without_reader(offered(lane.tools)), lane.words)
    tools = select(wish, able, examples_in(lane.words))
    prefix = action_prefix(tools, lane.words)
    past = past_of(lane.shown, lane.turn_id)
    present = present_of(lane.messages, lane.turn_id, [state.message] if lane.actions is None else lane.actions)
    limit = _room_for(lane, prefix, closing)
    condensed = await condense(lane, [*past, *present[:1]], limit - tokens_of(present[1:]))
    if condensed is not None:
        return condensed
    fitted = fit_messages([*past, *present], limit)
    if fitted.dropped:
        lane.listener.trimmed(fitted.dropped)
    spoken = (each for each in fitted.messages if not isinstance(each, ToolMessage))
    prompt: list[ChatMessage] = [*prefix, *map(as_chat, spoken), *closing]
    schema = action_schema(tools, copyable_strings(lane.messages, wish), lane.words, wish=wish)
    match chosen := await choose(lane, prompt, schema, can_call=bool(tools)):
        case ProposedCall() if (said := withheld_words(lane, wish, chosen)) is not None:
            lane.observer.faulted("the words speak against that call")
            return _answer(lane, state, said)
        case ProposedCall() if not _has_reason(lane, state, chosen):
            lane.observer.faulted("nobody asked for that call")
            said = await choose(lane, prompt, action_schema([], NOTHING_SAID, lane.words), can_call=False)
            return _answer(lane, state, without_call(lane, wish, said.text if isinstance(said, AnswerStep) else "", chosen))
        case ProposedCall():
            return _propose(lane, state, as_addition(chosen, wish, tools))
        case AnswerStep(text):
            return await _instead_of(text, lane, state, prompt, tools)
        case StuckStep():
            return chosen
        case _:
            assert_never(chosen)


async def _instead_of(
    text: str, lane: LaneInput, state: TurnProgress, prompt: Sequence[ChatMessage], tools: Sequence[Tool]
) -> LaneStep:
    """The call that an answer stands in the place of, where the wish asks by its words for a tool that somebody brought; else
    the answer. Of several wishes one that asks for a change and gets no call is said to be not done."""
    wish, is_order = _asked_for(lane, state), len(lane.actions or ()) > 1
    brought = [tool for tool in offered(tools) if tool["name"] not in lane.words["action"]["descriptions"]]
    likely = tools_called_for(wish, brought, is_order=is_order)
    if not likely and (ordered := ordered_reading(wish, tools)) is not None:
        lane.observer.faulted("it answers where a file is to be read")
        lane.listener.discarded()
        return _propose(lane, state, ordered)
    if not likely:
        return _answer(lane, state, out_of_memory(lane, wish, text) or text)
    schema = action_schema(likely, copyable_strings(lane.messages, wish), lane.words, wish=wish, can_answer=False)
    lane.observer.faulted("it answers where a tool is asked for")
    lane.listener.discarded()
    chosen = await choose(lane, prompt, schema, can_call=False)
    if isinstance(chosen, ProposedCall) and _has_reason(lane, state, chosen):
        return _propose(lane, state, chosen)
    is_change = is_order and all(tool["category"] != "read" for tool in likely)
    return _answer(lane, state, lane.copy.name_the_rest([wish]) if is_change else text)


def _has_reason(lane: LaneInput, state: TurnProgress, call: ProposedCall) -> bool:
    """Whether anything in the person's words asks for the call. One of an unknown tool goes to the gateway, which says so."""
    tool = next((tool for tool in lane.tools if tool["name"] == call.name), None)
    if tool is None:
        return True
    examples = examples_in(lane.words).get(call.name, ())
    has_called = any(isinstance(each, ToolMessage) for each in lane.messages)
    wish = _asked_for(lane, state)
    # A wish that was made whole names what the message leaves out.
    message = state.message if wish in state.message else f"{state.message}\n{wish}"
    if is_of_another(call.arguments, tool, wish, lane.actions or ()):
        return False
    return is_asked_for(call.arguments, tool, message, wish=wish, examples=examples, has_called=has_called)


def _room_for(lane: LaneInput, prefix: Sequence[ChatMessage], closing: Sequence[ChatMessage]) -> int:
    """Tokens for the conversation, beside the beginning that never changes, what closes the prompt, and the reply."""
    taken = tokens_for(lane) + PROMPT_MARGIN + tokens_of_prompt(prefix) + tokens_of_prompt(closing)
    return max(lane.model["contextTokens"] - taken, PROMPT_MARGIN)


def _propose(lane: LaneInput, state: TurnProgress, picked: ProposedCall) -> LaneStep:
    proposal = resolved(complete(picked, _asked_for(lane, state), lane), lane.messages, offered(lane.tools))
    if is_repeat(proposal.name, proposal.arguments, state.closed, lane.tools):
        return StuckStep(StuckReason.REPEATED)
    return CallsStep([proposal])


def _answer(lane: LaneInput, state: TurnProgress, text: str) -> LaneStep:
    count = 1 if lane.actions is None else len(lane.actions)
    # Of several wishes one that gets neither a call nor words is not done, and that is said.
    said = lane.copy.name_the_rest([_asked_for(lane, state)]) if count > 1 and not trim(text) else text
    return AnswerStep(said) if state.finished + 1 >= count else ReportStep(said)


def _asked_for(lane: LaneInput, state: TurnProgress) -> str:
    """The words of the action under way."""
    rest = (lane.actions or [])[state.finished :]
    return rest[0] if rest else state.message


async def _conclude(lane: LaneInput, state: TurnProgress) -> LaneStep:
    """Say what came of an action, and whether another one follows."""
    tools, made = offered(lane.tools), calls_under_way(lane.messages, lane.turn_id)
    if lane.may_call and (again := look_again(made, tools)) is not None:
        return CallsStep([again])
    calls = without_miss(made)
    last = calls[-1]
    outcome = last.result["outcome"]
    # A person's no, a timeout and a refusal are said in our words: a small model invents reasons for them.
    if outcome == "ok":
        wish = with_day(_asked_for(lane, state), lane.today)
        carrying = carrying_in(wish, tools)
        step = await _step_after(lane, wish, carrying, calls)
        if isinstance(step, ProposedCall):
            return CallsStep([step])
        text = with_part_told(step, calls, tools, lane.copy)
    else:
        directed = _directed(lane, _asked_for(lane, state), calls)
        text = name_places(made, tools, lane.copy) or stopped_at(directed, calls, lane.messages, tools, lane.copy)
    rest = (lane.actions or [])[state.finished + 1 :]
    # What the person decided leaves the rest as it was asked; what failed may be what the rest stands on.
    if outcome in ("ok", "deniedByUser") and rest:
        return ReportStep(text)
    return AnswerStep(f"{text}\n\n{lane.copy.name_the_rest(rest)}" if rest else text)


async def _step_after(lane: LaneInput, wish: str, carrying: Carrying | None, calls: Sequence[ToolMessage]) -> ProposedCall | str:
    """The call that follows those of an action, or the words that it ends with."""
    tools = offered(lane.tools)
    if carrying is None and (directed := _directed(lane, wish, calls)) is not None and lane.may_call:
        step = next_directed(directed, calls, lane.messages, tools, lane.copy)
        done = changes_among(calls, tools) if step is None else ()
        return step or "\n\n".join([await _answer_from(lane, wish, [each]) for each in done])
    if carrying is None and (comparison := comparison_in(wish, tools)) is not None and lane.may_call:
        return next_compared(comparison, calls, tools, lane.copy)
    if carrying is None or not lane.may_call:
        further = (further_call(wish, calls, tools) or rest_call(wish, calls, tools)) if lane.may_call else None
        return further or await _answer_from(lane, wish, calls)
    if is_carried(carrying, calls):
        told = (await _answer_from(lane, wish, calls), shown_value(carrying, calls))
        return "\n\n".join(each for each in told if each)
    own = without_look(carrying, calls, tools)
    look = next_look(carrying, own, tools, lane.copy)
    if look is not None:
        return look
    answering = read_for(carrying, own, tools)
    value = own_value(carrying, answering)
    if value is None and must_be_worked_out(carrying):
        return show_closest(lane.copy.say("notComputed"), carrying.question, source_of(answering))
    value = value or await _value_from(lane, carrying, answering)
    if value:
        return kept_call(carrying, value, wish, calls, tools)
    source, asked = source_of(answering), carrying.question
    is_near = not set(terms_in(asked)).isdisjoint(terms_in(source.text))
    return show_closest(lane.copy.say("noAnswer"), asked, source) if is_near else lane.copy.say("notFound", query=asked)


async def _value_from(lane: LaneInput, carrying: Carrying, answering: ToolMessage) -> str:
    """What a file answers: in the model's words where some lines of it bear them out, else the lines about it; empty for none."""
    source, question = source_of(answering), carrying.question
    said = await worded(lane, question, answering, lambda _: None)
    is_none = not said or is_echo(said, answering, lane.words) or repeats_question(said, question)
    is_borne_out = place_of(said, question, source.text, source.name) is not None
    is_wrong = has_wrong_number(said, question, answering) or is_no_answer(said, question, answering)
    if not is_none and is_borne_out and not is_wrong:
        return narrowed(said, question)
    return lines_about(question, source)


async def _answer_from(lane: LaneInput, wish: str, calls: Sequence[ToolMessage]) -> str:
    """What an action came to: in our own words where they are surer, else in the model's."""
    if found_no_word(wish, calls):
        return await from_memory(lane, wish, calls)
    if (said := left_open(wish, calls, lane.copy)) is not None:
        return said
    answering = with_rest(answering_call(wish, calls, lane.tools), calls, lane.tools)
    source = source_of(answering)
    parts = questions_in(wish) if source.has_lines else [wish]
    told: list[str] = []
    for part in parts:
        asked = asked_of_file(part, answering, lane.tools)
        if source.has_lines and asks_for_named(asked, source.name):
            # What of it is in its name says only which file is meant.
            asked = source.name
        own = own_answer(answering, asked, lane.tools, lane.words, lane.copy, lane.today)
        own = own or show_choices(asked, source, lane.copy)
        told.append(own or await report(lane, part, answering, query_that_found(calls), is_further=bool(told)))
    return "\n\n".join(dict.fromkeys(told))
