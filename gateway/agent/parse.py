"""What a model meant, out of what it wrote.

Replies are hostile input: every function here answers in time linear in the text, with a value or with a reason that
completes "Your last reply was not a valid action: …". What leaves this module is I-JSON: no member twice, no number that two
readers could read differently, no half of a character.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Never, TypeAlias, TypeGuard, cast

from gateway.agent.browser import has_half
from gateway.agent.budget import length_of
from gateway.agent.limits import LIMITS
from gateway.agent.mistakes import MISTAKES
from gateway.core.canonical import MAX_DEPTH, MAX_INTEGER, Json

MAX_REPLY: Final = LIMITS.reply_characters
"""Longest reply in UTF-16 code units that is read. A call that needs more would not fit into one message to the gateway."""

MAX_NAME: Final = LIMITS.tool_name_characters
"""Characters of a tool's name, known or not; the gateway has no record of longer ones."""

ARGUMENTS: Final = ("arguments", "args", "parameters")
"""Under which names models give the arguments of a call."""

_SPACE = " \t\r\n"
_BEFORE_FIRST_MEMBER = "\"'}"
_OPENING = re.compile(r"""\{(?=[ \t\r\n"'}]|\Z)""")
_IN_OBJECT = re.compile(r'["{}]')
_IN_STRING = re.compile(r'["\\]')
_IN_JSON = re.compile(r'["\\{}\[\]:\x00-\x1f]')


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """A call as the model proposed it."""

    tool: str
    arguments: dict[str, Json]


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """Words for the person."""

    text: str


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """Neither. `reason` is said to the model."""

    reason: str


Envelope: TypeAlias = ToolChoice | AnswerChoice


class _Thought(Enum):
    OPENING = auto()
    THINKING = auto()
    OVER = auto()


class ThoughtFilter:
    """Parts the thinking at the beginning of a reply, `<think>…</think>`, from what the reply says."""

    def __init__(self) -> None:
        self._phase = _Thought.OPENING
        self._held: str = ""

    def feed(self, delta: str) -> tuple[str, str]:
        """The next piece as (thought, said). What may be a part of a tag is held back until that is clear."""
        if self._phase is _Thought.OVER:
            return "", delta
        text, said = self._held + delta, ""
        self._held = ""
        if self._phase is _Thought.OPENING:
            bare = text.lstrip(_SPACE)
            said = text[: len(text) - len(bare)]
            if len(bare) < len("<think>") and "<think>".startswith(bare):
                self._held = bare
                return "", said
            if not bare.startswith("<think>"):
                self._phase = _Thought.OVER
                return "", text
            self._phase = _Thought.THINKING
            text = bare.removeprefix("<think>")
        thought, closing, after = text.partition("</think>")
        if closing:
            self._phase = _Thought.OVER
            return thought, said + after
        held = next(size for size in range(len("</think>") - 1, -1, -1) if text.endswith("</think>"[:size]))
        self._held = text[len(text) - held :]
        return text[: len(text) - held], said

    def finish(self) -> tuple[str, str]:
        """What was held back when the reply ended, as (thought, said)."""
        held, self._held = self._held, ""
        return (held, "") if self._phase is _Thought.THINKING else ("", held)


class _Place(Enum):
    OUTSIDE = auto()
    OPENED = auto()
    INSIDE = auto()
    STRING = auto()
    ESCAPE = auto()


class ObjectScanner:
    """Finds the first complete top-level `{…}` of a reply while it is being written.

    Braces inside strings do not count, nor do escaped quotes. A brace opens an object only when what follows could begin one:
    a member or the end; `{like this}` is prose. Each character is looked at once, however the reply is cut into pieces.
    """

    def __init__(self) -> None:
        self._thoughts = ThoughtFilter()
        self._pieces: list[str] = []
        self._place = _Place.OUTSIDE
        self._depth = 0
        self._found: str | None = None

    @property
    def began(self) -> bool:
        """Whether an object was begun, complete or not."""
        return self._found is not None or self._place is not _Place.OUTSIDE

    def feed(self, delta: str) -> str | None:
        """Read on; the object once it is complete, None before."""
        if self._found is None:
            self._scan(self._thoughts.feed(delta)[1])
        return self._found

    def _scan(self, text: str) -> None:
        at = start = 0
        while at < len(text):
            match self._place:
                case _Place.OUTSIDE:
                    opening = _OPENING.search(text, at)
                    if opening is None:
                        return
                    start, at, self._place = opening.start(), opening.end(), _Place.OPENED
                case _Place.OPENED:
                    char = text[at]
                    if char in _BEFORE_FIRST_MEMBER:
                        self._place, self._depth = _Place.INSIDE, 1
                    elif char in _SPACE:
                        at += 1
                    else:
                        self._place = _Place.OUTSIDE
                        self._pieces.clear()
                case _Place.INSIDE:
                    mark = _IN_OBJECT.search(text, at)
                    at = mark.end() if mark else len(text)
                    if mark and self._enter(mark[0]):
                        self._found = "".join((*self._pieces, text[start:at]))
                        return
                case _Place.STRING:
                    mark = _IN_STRING.search(text, at)
                    at = mark.end() if mark else len(text)
                    if mark:
                        self._place = _Place.INSIDE if mark[0] == '"' else _Place.ESCAPE
                case _:
                    at, self._place = at + 1, _Place.STRING
        if self._place is not _Place.OUTSIDE:
            self._pieces.append(text[start:])

    def _enter(self, mark: str) -> bool:
        """Go into or out of what a character begins or ends; whether that was the end of the object."""
        match mark:
            case '"':
                self._place = _Place.STRING
            case "{":
                self._depth += 1
            case _:
                self._depth -= 1
        return self._depth == 0


def find_object(text: str) -> str | None:
    """The first complete object of a whole reply, with fences, prose or thinking around it or not."""
    return ObjectScanner().feed(text)


def read_reply(text: str) -> dict[str, Json] | ParseFailure:
    """The first object of a reply as a value."""
    scanner = ObjectScanner()
    found = scanner.feed(text)
    if found is None:
        return ParseFailure(MISTAKES.endless_object if scanner.began else MISTAKES.no_object)
    return read_object(found)


def read_object(text: str) -> dict[str, Json] | ParseFailure:
    """One JSON object as a value. Line ends and other control characters written plainly inside strings are let pass."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) > 2 * MAX_REPLY:
        return ParseFailure(MISTAKES.too_long)
    try:
        # Pieces of a stream may part a surrogate pair; here it becomes one character again.
        text = units.decode("utf-16-le")
    except UnicodeDecodeError:
        return ParseFailure(MISTAKES.half_character)
    survey = _survey(text)
    if survey.depth > MAX_DEPTH:
        return ParseFailure(MISTAKES.too_deep)
    try:
        value: Json = _DECODER.decode(survey.text)
    except ValueError:
        return ParseFailure(MISTAKES.no_json)
    if not is_object(value):
        return ParseFailure(MISTAKES.other_json)
    contents = _Contents()
    contents.take(value)
    if contents.has_surrogate:
        return ParseFailure(MISTAKES.half_character)
    if contents.members != survey.members:
        return ParseFailure(MISTAKES.doubled_member)
    return ParseFailure(MISTAKES.wild_number) if contents.has_wild_number else value


def parse_envelope(text: str) -> Envelope | ParseFailure:
    """A call or an answer.

    Both `{"tool", "arguments"}` | `{"answer"}` and the planner's `{"type": "tool_call", "toolName", "arguments"}` |
    `{"type": "final_answer", "content"}` are understood, and so is how common models were taught to write a call: `name` with
    `parameters`, and arguments that are JSON inside a string.
    """
    value = read_reply(text)
    if isinstance(value, ParseFailure):
        return value
    tool = tool_of(value)
    if tool is not None:
        if length_of(tool) > MAX_NAME:
            return ParseFailure(MISTAKES.no_tool)
        arguments = arguments_of(value)
        return arguments if isinstance(arguments, ParseFailure) else ToolChoice(tool, arguments)
    match value:
        case (
            {"answer": str(words)}
            | {"type": "final_answer", "content": str(words)}
            | {"type": "ask_user", "question": str(words)}
        ):
            return AnswerChoice(words)
        case _:
            return ParseFailure(MISTAKES.no_action)


class AnswerReader:
    """Reads the answer out of `{"answer": "…` while it is being written, each character once."""

    def __init__(self) -> None:
        self._at = 0
        self._is_broken = False

    def read(self, text: str) -> str | None:
        """What of the answer is new in the text so far; None when it is not (or not yet) an answer."""
        if self._is_broken:
            return None
        if self._at == 0:
            opening = _ANSWER_OPENING.match(text)
            if opening is None:
                return None
            self._at = opening.end()
        end = self._at
        while piece := _STRING_PIECE.match(text, end):
            end = piece.end()
        written = _HALF_AT_END.sub("", text[self._at : end])
        try:
            said: str = _DECODER.decode(_survey(f'"{written}"').text)
        except ValueError:
            self._is_broken = True
            return None
        self._at += len(written)
        return said


def tool_of(value: dict[str, Json]) -> str | None:
    """The tool that an object names, under any of the names that models use for it."""
    names = [value.get("tool"), value.get("toolName")]
    if any(key in value for key in ARGUMENTS):
        names.append(value.get("name"))
    return next((name for name in names if isinstance(name, str) and name), None)


def arguments_of(value: dict[str, Json]) -> dict[str, Json] | ParseFailure:
    """The arguments that an object gives, under any of the names that models use for them; none are no arguments."""
    given: Json = next((value[key] for key in ARGUMENTS if value.get(key) is not None), dict[str, Json]())
    if isinstance(given, str):
        given = read_object(given)
    return given if is_object(given) else ParseFailure(MISTAKES.other_arguments)


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


_ANSWER_OPENING = re.compile(r'[ \t\r\n]*\{[ \t\r\n]*"answer"[ \t\r\n]*:[ \t\r\n]*"')
_STRING_PIECE = re.compile(
    r'[^"\\]+|\\[^u]|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u(?![dD][89abAB])[\da-fA-F]{4}', re.ASCII
)
"""A whole piece of a string as it stands in JSON; half of a surrogate pair waits for the other half."""
_HALF_AT_END = re.compile(r"[\ud800-\udbff]\Z")


@dataclass(frozen=True, slots=True)
class _Survey:
    """What is to know about a JSON text before it is decoded."""

    text: str
    depth: int
    members: int


def _survey(text: str) -> _Survey:
    """Measure nesting, count members (a colon each), and escape the control characters inside strings."""
    pieces: list[str] = []
    kept = at = depth = deepest = members = 0
    quoted = False
    while mark := _IN_JSON.search(text, at):
        char, at = mark[0], mark.end()
        if char == '"':
            quoted = not quoted
        elif char == "\\":
            at += 1
        elif quoted:
            if char < " ":
                pieces += text[kept : mark.start()], f"\\u{ord(char):04x}"
                kept = at
        elif char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
        elif char == ":":
            members += 1
    return _Survey("".join((*pieces, text[kept:])), deepest, members)


class _Contents:
    """What a decoded value holds."""

    def __init__(self) -> None:
        self.members = 0
        self.has_surrogate = False
        self.has_wild_number = False

    def take(self, value: Json) -> None:
        match value:
            case str():
                self.has_surrogate = self.has_surrogate or has_half(value)
            case int() | float():
                self.has_wild_number = self.has_wild_number or not abs(value) <= MAX_INTEGER
            case dict():
                members = cast("dict[str, Json]", value)
                self.members += len(members)
                for name, member in members.items():
                    self.take(name)
                    self.take(member)
            case list():
                for item in cast("list[Json]", value):
                    self.take(item)
            case _:
                pass


def _whole_number(digits: str) -> float:
    # 17 characters hold a sign and the 16 digits of 2^53-1; longer text is out of range, and int() could be slow on it.
    return int(digits) if len(digits) <= 17 else math.inf


def _number(text: str) -> float:
    number = float(text)
    # The browser has one kind of number: there 1.0 and 1e3 are whole, and so they are here.
    return int(number) if number.is_integer() else number


def _no_constant(name: str) -> Never:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_int=_whole_number, parse_float=_number, parse_constant=_no_constant)
