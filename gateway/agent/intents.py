"""Several wishes in one message: when to ask a model to take it apart, and how much of its answer to believe.

The model only proposes where to cut. What comes out are stretches of the person's own message, in order, with nothing between
them but words that ask for nothing; whatever is in doubt leaves the message whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from gateway.agent.browser import as_json, ordered, trim
from gateway.agent.budget import beginning, length_of
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Call, Result
from gateway.agent.parse import ParseFailure, read_reply
from gateway.agent.provenance import neutralise
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import QUOTED, Word, words_of
from gateway.core.canonical import Json

MAX_ACTIONS: Final = LIMITS.actions
MAX_ACTION_LENGTH: Final = LIMITS.action_characters
MAX_MESSAGE: Final = MAX_ACTIONS * MAX_ACTION_LENGTH
"""Characters of a message that is taken apart. A longer one holds a text to work on."""

MAX_LINE: Final = LIMITS.progress_line_characters
"""Characters of a line of the progress block, its dash included."""

_MAX_FILLERS: Final = LIMITS.filler_words
"""Words between two wishes. More are a text, not a manner of speaking."""

_CUES: Final = frozenset(VOCABULARY.cues)
_FILLERS: Final = _CUES.union(VOCABULARY.fillers)
"""Words that may stand between two wishes, or around them, without being a part of either."""

CONDITIONS: Final = frozenset(VOCABULARY.conditions)
"""A wish that depends on another is none without it."""

_REFERENCES: Final = frozenset(VOCABULARY.figure_references)
"""Words by which a wish means figures that stand beside it."""

_WORDED: Final = re.compile(r"[^\t 0-9.,:;/+*%()€$£¥#•-]")
"""What a line of figures does not hold."""

_DIGIT: Final = re.compile(r"[0-9]")
_CUT: Final = re.compile(r"[,;.!?\n]")
_END: Final = re.compile(r"[,;.:!?]+$")
_AND_THEN: Final = re.compile(r",? and (?:then|also) ", re.IGNORECASE | re.ASCII)
"""No list: these two, after "and", are what was measured."""

_PAUSE: Final = re.compile(r"[,;.:]+$")
_BLANK: Final = re.compile("[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]+")


@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A call that has closed, as the model is reminded of it."""

    tool: str
    summary: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of the message: its first and last word, and as text with what it takes over from the part before."""

    first: Word
    last: Word
    text: str


def has_cue(message: str) -> bool:
    """Whether a message may ask for more than one thing: only then is the model asked what. Quoted text asks for nothing."""
    if length_of(message) > MAX_MESSAGE:
        return False
    unquoted = QUOTED.sub(" ", message)
    return ";" in unquoted or any(word.bare in _CUES for word in words_of(unquoted))


def probe_prompt(words: Mapping[str, Any], message: str) -> list[dict[str, str]]:
    """The prompt that takes a message apart. `words` is prompts.json."""
    probe = words["probe"]
    prompt = [{"role": "system", "content": str(probe["system"])}]
    for shot in probe["shots"]:
        actions = as_json({"requestedActions": shot["actions"]})
        prompt += [{"role": "user", "content": shot["user"]}, {"role": "assistant", "content": actions}]
    return [*prompt, {"role": "user", "content": _simplified(neutralise(_apart(message)[0]))}]


def probe_schema() -> dict[str, Json]:
    """What the model may reply to the probe."""
    action = {"type": "string", "minLength": 1, "maxLength": MAX_ACTION_LENGTH}
    actions = {"type": "array", "minItems": 1, "maxItems": MAX_ACTIONS, "items": action}
    return {
        "type": "object",
        "properties": {"requestedActions": actions},
        "required": ["requestedActions"],
        "additionalProperties": False,
    }


def read_actions(text: str, message: str) -> list[str]:
    """The wishes of a message, from what the model replied to the probe: at least two, or the message as it is."""
    proposed = _proposed(text)
    if length_of(message) > MAX_MESSAGE or not 2 <= len(proposed) <= MAX_ACTIONS:
        return [message]
    wishes, figures = _apart(message)
    actions = _cut_up(wishes, proposed)
    meaning = next((at for at, each in enumerate(actions) if any(word.bare in _REFERENCES for word in words_of(each))), None)
    if not actions or (figures and meaning is None):
        return [message]
    return [f"{each}\n{figures}" if figures and at == meaning else each for at, each in enumerate(actions)]


def summarise(call: Call, result: Result) -> CompletedCall:
    """One closed call in a few words. A result's content stays out: it is for reading, not for steering what comes next."""
    how = "done" if result["outcome"] == "ok" else f"not done, {result['outcome']}"
    given = ", ".join(f"{name}: {_told(value)}" for name, value in ordered(cast("dict[str, Json]", call["arguments"])).items())
    return CompletedCall(call["name"], f"{how} ({given})" if given else how)


def progress(completed: Sequence[CompletedCall], words: Mapping[str, Any]) -> str:
    """What a model is told of the steps behind it; nothing when there are none. `words` is prompts.json."""
    if not completed:
        return ""
    lines = [_line(f"- {each.tool}: {each.summary}") for each in completed]
    return "\n".join([words["chained"]["completed"], *lines])


def _simplified(message: str) -> str:
    """A message as a small model takes it apart best. Measured: it ends its string at a quotation mark that it copies, and
    reads over "and then" and "and also" where it heeds a semicolon. Neither marks nor cues are compared, so none come back."""
    return _AND_THEN.sub("; ", message.replace('"', "'"))


def _apart(message: str) -> tuple[str, str]:
    """A message without the lines of figures that were pasted before or after its words, and those lines."""
    lines = message.split("\n")
    worded = [at for at, line in enumerate(lines) if _WORDED.search(line)]
    if not worded:
        return message, ""
    first, last = worded[0], worded[-1]
    figures = "\n".join(line for line in lines[:first] + lines[last + 1 :] if _DIGIT.search(line))
    return ("\n".join(lines[first : last + 1]), figures) if figures else (message, "")


def _cut_up(wishes: str, proposed: Sequence[str]) -> list[str]:
    """The stretches of these words that the proposed actions stand for; none where that leaves a doubt."""
    if any(word.bare in CONDITIONS for word in words_of(QUOTED.sub(" ", wishes))):
        return []
    parts: list[_Part] = []
    rest = words_of(wishes)
    for action in proposed:
        part = _locate(_bare_words(action), wishes, rest, parts[-1].text if parts else "")
        if part is None or (parts and not _can_cut(parts[-1].last, part.first, wishes)):
            return []
        parts.append(part)
        rest = [word for word in rest if word.start > part.last.start]
    is_whole = all(word.bare in _FILLERS for word in rest)
    return [part.text for part in parts] if is_whole and _is_sound(parts) else []


def _proposed(text: str) -> list[str]:
    reply = read_reply(text)
    given: Json = None if isinstance(reply, ParseFailure) else reply.get("requestedActions")
    actions = cast("list[Json]", given) if isinstance(given, list) else []
    return actions if all(isinstance(each, str) and length_of(each) <= MAX_ACTION_LENGTH for each in actions) else []


def _locate(action: Sequence[str], message: str, words: Sequence[Word], before: str) -> _Part | None:
    """Where an action stands in what is left of the message.

    It may begin as the part before it begins: "read a and b" asks to read b.
    """
    taken = words_of(before)
    for at, bare in enumerate(action):
        found = _stretch(action[at:], words)
        if found is not None:
            first, last = found
            own = _PAUSE.sub("", message[first.start : last.end])
            return _Part(first, last, f"{before[: taken[at - 1].end]} {own}" if at else own)
        if at >= len(taken) - 1 or taken[at].bare != bare:
            return None
    return None


def _stretch(action: Sequence[str], words: Sequence[Word]) -> tuple[Word, Word] | None:
    """The first stretch that holds the action's words in order, with nothing but fillers before it."""
    for at, first in enumerate(words[: _MAX_FILLERS + 1]):
        last = _last_of(action[1:], words[at + 1 :], first) if first.bare == action[0] else None
        if last is not None:
            return first, last
        if first.bare not in _FILLERS:
            return None
    return None


def _last_of(action: Sequence[str], words: Sequence[Word], first: Word) -> Word | None:
    last, at = first, 0
    for word in words:
        if at < len(action) and word.bare == action[at]:
            last, at = word, at + 1
    return last if at == len(action) else None


def _is_sound(parts: Sequence[_Part]) -> bool:
    """Whether no part is said twice, is a single word or is longer than an action may be."""
    bare = [tuple(_bare_words(part.text)) for part in parts]
    return (
        len(set(bare)) == len(bare)
        and all(len(each) > 1 for each in bare)
        and all(length_of(part.text) <= MAX_ACTION_LENGTH for part in parts)
    )


def _can_cut(last: Word, first: Word, message: str) -> bool:
    """Whether something between two words parts them: a cue or a mark, and not inside quotes."""
    if any(quoted.start() < first.start < quoted.end() for quoted in QUOTED.finditer(message)):
        return False
    end = last.start + len(_END.sub("", message[last.start : last.end]))
    between = message[end : first.start]
    return _CUT.search(between) is not None or any(word.bare in _CUES for word in words_of(between))


def _bare_words(text: str) -> list[str]:
    """The words of an action without the cues that lead in or out."""
    bare = [word.bare for word in words_of(text)]
    asking = [at for at, word in enumerate(bare) if word not in _CUES]
    return bare[asking[0] : asking[-1] + 1] if asking else []


def _told(value: Json) -> str:
    return value if isinstance(value, str) else as_json(value)


def _line(text: str) -> str:
    line = trim(neutralise(_BLANK.sub(" ", text)))
    return line if length_of(line) <= MAX_LINE else f"{beginning(line, MAX_LINE - 1)}…"
