"""What the loop itself answers from a result: the content that was asked to be seen, the figures of a machine, and numbers that
somebody would have to work out. A small model words these wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any, Final

from gateway.agent.acts import READING
from gateway.agent.affairs import question_in, spends
from gateway.agent.browser import trim
from gateway.agent.code_asked import answer_code
from gateway.agent.copy import Copy
from gateway.agent.excerpts import cited, excerpt_of, numbered
from gateway.agent.figures import Figure, ResultSource, answer_figure, asks_for_figure, figure_in
from gateway.agent.finding import finding_in
from gateway.agent.kept import page_of
from gateway.agent.limits import LIMITS
from gateway.agent.line_places import answer_lines
from gateway.agent.listed import answer_listing
from gateway.agent.log_levels import answer_level
from gateway.agent.looked_up import answer_value
from gateway.agent.messages import Call, Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.open_readings import with_open_read
from gateway.agent.passages import Place, closest_lines, invents_number, lines_of, missed_line, place_of
from gateway.agent.picking import without_pick
from gateway.agent.presence import answer_presence
from gateway.agent.prompts import fixed_report
from gateway.agent.quantities import numbers_in
from gateway.agent.ranking import terms_in
from gateway.agent.row_answers import answer_rows
from gateway.agent.switched import answer_switch
from gateway.agent.tables import rows_about, table_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of

_LABEL: Final = re.compile(r"[^:]*")
_NUMBER: Final = re.compile(r"[0-9]{1,3}")
_NEWEST: Final = frozenset(VOCABULARY.newest_words)
_LOOKING: Final = frozenset((*VOCABULARY.search_verbs, "list"))
_COMPLETED: Final = re.compile(rf"(?:{any_of(VOCABULARY.completions)})\b", re.IGNORECASE | re.ASCII)
_DEFINED: Final = re.compile(
    r"what (?:does|is) [\"'`]?([A-Za-z][A-Za-z0-9_-]{0,60})[\"'`]?(?: mean| stand for)?[?.! ]*", re.IGNORECASE | re.ASCII
)
_EXTREMES: Final = frozenset({Figure.LARGEST, Figure.SMALLEST})


def source_of(message: ToolMessage) -> ResultSource:
    """What a result is of, for people: its file, what was searched for, or the tool. Only a file has lines that people know."""
    call: Call = message.call
    slots = {slot_of(name): value for name, value in call["arguments"].items() if isinstance(value, str)}
    name = slots.get(Slot.QUERY) or slots.get(Slot.PATH) or slots.get(Slot.URL) or call["name"]
    # Of a part of a file, the lines have other numbers.
    has_lines = READING in parts_of(call["name"]) and Slot.PATH in slots and call["arguments"].get("first_line", 1) == 1
    return ResultSource(name, page_of(message.result["content"]).text, not message.result.get("truncated"), has_lines)


def own_answer(
    message: ToolMessage, wish: str, tools: Sequence[Tool], words: Mapping[str, Any], copy: Copy, today: date
) -> str | None:
    """The loop's own answer to a wish from a finished call; None where the model's words are better. `words` is prompts.json."""
    whole = source_of(message)
    wish = with_open_read(wish, whole)
    if (defined := _definition(wish, whole, copy)) is not None:
        return defined
    said = (
        answer_lines(wish, whole, copy)
        or answer_level(wish, whole, copy)
        or answer_code(wish, whole, copy)
        or answer_switch(wish, whole, copy)
        or answer_presence(wish, whole, copy)
        or answer_rows(wish, whole, today, copy)
        or answer_listing(wish, whole, copy)
    )
    if said is not None:
        return said
    category = next((tool["category"] for tool in tools if tool["name"] == message.call["name"]), None)
    stated = _stated(wish, whole, copy) if category == "read" and not spends(wish) else None
    if category == "read" and asks_for_figure(without_pick(wish)):
        source = source_of(message)
        if not _found_nothing(message, source) and (said := answer_figure(wish, source, copy)) is not None:
            return said
        is_doubtful = figure_in(wish) not in _EXTREMES or any(map(numbers_in, lines_of(source.text)))
        if stated is None and is_doubtful and (source.has_lines or message.call["name"] not in words["report"]["shown"]):
            return show_closest(copy.say("notComputed"), wish, source)
    elif category == "read" and spends(wish) and (said := answer_figure(f"total: {wish}", whole, copy)) is not None:
        return said
    if stated is not None:
        return stated
    if category == "read" and (value := answer_value(wish, whole)) is not None:
        return value
    sentence = fixed_report(message, wish, words)
    if sentence is None or message.call["name"] not in words["report"]["shown"]:
        return sentence
    source = source_of(message)
    excerpt = excerpt_of(source.text if source.has_lines else "\n".join(_asked_lines(lines_of(source.text), wish)))
    rest = excerpt.left_out
    left_out = "" if not rest else f"\n{copy.say('leftOutOne') if rest == 1 else copy.say('leftOut', rest=str(rest))}"
    return f"{sentence}\n\n{excerpt.text}{left_out}{_said_of_rest(message, copy)}"


def _found_nothing(message: ToolMessage, source: ResultSource) -> bool:
    """Whether a search or a listing came to one line that names nothing: "nothing found in 3 files" is no entry to be counted."""
    looks = not _LOOKING.isdisjoint(parts_of(message.call["name"]))
    return looks and len(lines_of(source.text)) == 1 and table_of(source.text, source.name) is None


def _said_of_rest(message: ToolMessage, copy: Copy) -> str:
    """How to see more of a result of which this is a page; nothing where it is all."""
    return f"\n{copy.say('readOn')}" if page_of(message.result["content"]).next else ""


def with_place(answer: str, wish: str, message: ToolMessage) -> str:
    """A model's answer with the lines of the file that hold it, where some few do."""
    source = source_of(message)
    place: Place | None = place_of(answer, wish, source.text, source.name) if source.has_lines else None
    if place is None:
        return answer
    # Behind the last row of a table it would be one more cell.
    joint = "\n\n" if trim(lines_of(answer)[-1]).startswith("|") else " "
    return f"{answer}{joint}{cited(source.name, range(place.first, place.last + 1))}"


def has_wrong_number(answer: str, wish: str, message: ToolMessage) -> bool:
    """Whether an answer holds a number that neither the wish, the call nor its result does, or one of another row than the wish
    speaks of."""
    given = [str(value) for value in message.call["arguments"].values() if isinstance(value, str | int)]
    source = source_of(message)
    rows = rows_about(wish, source.text, source.name) if source.has_lines else None
    text = source.text if rows is None else "\n".join(" ".join(row.cells) for row in rows)
    return invents_number(answer, [wish, text, *given])


def is_echo(answer: str, message: ToolMessage, words: Mapping[str, Any]) -> bool:
    """Whether an answer is that of one of the prompt's own examples, which a small model gives when it has none."""
    return answer in {shot["reply"] for shot in words["report"]["shots"]} and answer not in message.result["content"]


def is_unfounded(answer: str, wish: str, message: ToolMessage, *, is_further: bool = False) -> bool:
    """Whether an answer to a question about the person's own affairs has words that no few lines of the file bear out. Which file
    it was read from is the loop's own guess; so it is for a further question (`is_further`), which names no file itself."""
    finding, source = finding_in(wish), source_of(message)
    if source.has_lines and _COMPLETED.match(answer):
        # A file that tells how something is done is no record that it was.
        return True
    is_guess = (is_further or (finding is not None and finding.own)) and source.has_lines
    return is_guess and place_of(answer, wish, source.text, source.name) is None


def missed_quote(answer: str, wish: str, message: ToolMessage, copy: Copy, query: str = "") -> str | None:
    """The line of a file that a question points at, or the `query` that found the file, quoted with its place, where an answer
    passes it over; else None."""
    source = source_of(message)
    line = missed_line(answer, wish, source.text, source.name, query) if source.has_lines else None
    if line is None:
        return None
    return f"{copy.say('quoted')} {cited(source.name, [line])}:\n\n{excerpt_of(lines_of(source.text)[line - 1]).text}"


def _stated(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """The one line of a file that has a number of what is counted or measured, quoted: "4 eggs"; None for other questions."""
    words = [word.bare for word in words_of(wish)]
    things = [after for lead, after in pairwise(words) if lead in ("many", "much")]
    if len(things) != 1 or not source.has_lines or _has_columns(source):
        return None
    wanted, lines = set(terms_in(things[0])), lines_of(source.text)
    places = [at for at, line in enumerate(lines, 1) if len(numbers_in(line)) == 1 and not wanted.isdisjoint(terms_in(line))]
    if len(places) != 1:
        return None
    return f"{copy.say('quoted')} {cited(source.name, places)}:\n\n{excerpt_of(lines[places[0] - 1]).text}"


def _has_columns(source: ResultSource) -> bool:
    table = table_of(source.text, source.name)
    return table is not None and bool(table.columns)


def _definition(wish: str, source: ResultSource, copy: Copy) -> str | None:
    """The one line of a file that begins with what is asked for, quoted: "E021: the reading is old"; None for other questions."""
    asked = _DEFINED.fullmatch(question_in(wish))
    if asked is None or not source.has_lines:
        return None
    begins = re.compile(rf"[ \t]*(?:[-*+] )?[`*]*{re.escape(asked[1])}[`*]*[ \t]*(?::|=|-|–) *[^ ]", re.IGNORECASE | re.ASCII)
    lines = lines_of(source.text)
    places = [place for place, line in enumerate(lines, 1) if begins.match(line)]
    if len(places) != 1:
        return None
    return f"{copy.say('quoted')} {cited(source.name, places)}:\n\n{excerpt_of(lines[places[0] - 1]).text}"


def show_closest(sentence: str, wish: str, source: ResultSource) -> str:
    """A sentence, and below it the lines of a result that a question comes closest to."""
    lines = lines_of(source.text)
    places = closest_lines(source.text, wish, LIMITS.closest_lines)
    if not source.has_lines:
        shown = excerpt_of("\n".join(lines[place - 1] for place in places)).text
        return f"{sentence} {cited(source.name)}:\n\n{shown}"
    return f"{sentence} {cited(source.name, places)}:\n\n{numbered(lines, places)}"


def _asked_lines(lines: Sequence[str], wish: str) -> Sequence[str]:
    """Of a machine's figures those that the wish names, of a log the newest where it asks for them; else all."""
    said = [word.bare for word in words_of(wish)]
    same = [frozenset(words) for words in VOCABULARY.same_words.values()]
    meant = frozenset[str]().union(said, *(words for words in same if not words.isdisjoint(said)))
    labelled = [line for line in lines if any(word.bare in meant for word in words_of((_LABEL.match(line) or [""])[0])[:1])]
    if labelled:
        return labelled
    if _NEWEST.isdisjoint(said):
        return lines
    return lines[: next((int(word) for word in said if _NUMBER.fullmatch(word) and int(word)), 1)]
