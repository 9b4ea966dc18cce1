"""What a message asks to be done, and which calls do it.

Only what is plain: a verb where a wish begins, and the names of things that stand right after it. A wish in other words is not
seen here, and nothing is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gateway.agent.browser import as_json, trim
from gateway.agent.budget import length_of
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Call, Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import QUOTED, Word, without_given, words_of
from gateway.core.canonical import Json

ACTS: Final = VOCABULARY.acts
READING: Final = "read"
"""The act that changes nothing."""

_ACT_OF: Final[Mapping[str, str]] = {verb: act for act, words in ACTS.items() for verb in words["verbs"]}
_CUES: Final = frozenset(VOCABULARY.cues)
_LEADING: Final = _CUES.union(VOCABULARY.fillers)
_CONDITIONS: Final = frozenset(VOCABULARY.conditions)
_QUESTIONS: Final = frozenset(VOCABULARY.question_words)
_PLACING_ACTS: Final = frozenset({"write", "move"})
_CHANGE: Final = "write"
_OUT_OF: Final = frozenset(("from", "off", "out"))
_LINKS: Final = frozenset(VOCABULARY.moving_links)
_PREPOSITIONS: Final = frozenset(VOCABULARY.leading_prepositions)
_TAKING: Final = ("delete", "move", "send")
_FREE: Final = frozenset({"execute", "admin"})
"""Categories of tools that can do whatever they are told."""

_MAX_MESSAGE: Final = LIMITS.actions * LIMITS.action_characters
"""Characters of a message that is read for what it asks. A longer one holds a text to work on."""

_PAUSED: Final = re.compile(r"[,;.:!?][\"'`)]*\Z")
_STOPPED: Final = re.compile(r"[;.!?][\"'`)]*\Z|\n")
_ENDINGS: Final = "|".join((*VOCABULARY.file_endings, *map(str.upper, VOCABULARY.file_endings)))
_THING: Final = re.compile(
    rf"[^/]*[^/.0-9][^/]*\.[A-Za-z][A-Za-z0-9]*|[0-9][0-9.]*\.(?:{_ENDINGS})|[^@]+@[^@]+\.[A-Za-z]+|.*[^.]/.*", re.DOTALL
)
"""A file with its ending, an address, or a path. A number or an ellipsis is none, and digits only with an ending of files."""

_WISH_NAMED: Final = re.compile("`([^`]*)`")

_TAKEN: Final = "|".join(verb for act in _TAKING for verb in ACTS[act]["verbs"])
_POINTED: Final = re.compile(
    rf"(?:{_TAKEN}) (?:{'|'.join(VOCABULARY.pointing_words)})\b(?:[^.,;:!?\n]|[.,:!?](?=[^ \n]))*",
    re.IGNORECASE | re.ASCII,
)
"""A thing that is taken away or sent, and that is told by a description: "delete the one about the printer"."""

_EDITS: Final = frozenset({"edit", "replace"})
_BARE: Final = 2
"""Words of an order that describes nothing: "delete it"."""

_PART: Final = re.compile(rf"[,;!\n]|\.(?= |$)|\b(?:{'|'.join(VOCABULARY.cues)})\b", re.IGNORECASE | re.ASCII)
_ASKS: Final = re.compile(rf"\?|\b(?:{'|'.join(VOCABULARY.question_words)})\b", re.IGNORECASE | re.ASCII)
_SPARES: Final = re.compile(
    rf"\b(?:[a-z]+n['’]t|{'|'.join((*VOCABULARY.let_be, *VOCABULARY.sparing_words, *VOCABULARY.excepting_words))})\b",
    re.IGNORECASE | re.ASCII,
)
"""What may say of a thing that nothing is to be done with it."""

_BEFORE: Final = "\"'`“([<@"
_AFTER: Final = "\"'`”)]>,;:.!?"


@dataclass(frozen=True, slots=True)
class AskedAct:
    """One verb of a message, the place where it begins, and the things that are named right after it."""

    at: int
    act: str
    verb: str
    things: Sequence[str]


def asked_acts(message: str) -> list[AskedAct]:
    """What a message asks to be done, in order. Quoted words ask for nothing, and neither does a question how to do it."""
    if length_of(message) > _MAX_MESSAGE:
        return []
    message = without_given(message)
    words = words_of(message)
    quoted = [(match.start(), match.end()) for match in QUOTED.finditer(message)]
    asked: list[AskedAct] = []
    for at, word in enumerate(words):
        act = _ACT_OF.get(word.bare)
        is_quoted = any(start < word.start + 1 and word.end <= end for start, end in quoted)
        if act is not None and not is_quoted and not _adds_up(words, at) and _begins_wish(message, words, at):
            things = _things_of(act, message, words, at)
            asked.append(
                AskedAct(word.start, _CHANGE if _takes_out(act, things, message, words[at:]) else act, word.bare, things)
            )
    return asked


def _takes_out(act: str, things: Sequence[str], message: str, words: Sequence[Word]) -> bool:
    """Whether something is taken out of a file, which stays: "remove milk from list.txt"."""
    if act != "delete" or len(things) != 1 or things[0].endswith("/"):
        return False
    named = next(place for place, word in enumerate(words) if _name_of(message, word) is not None)
    return not _OUT_OF.isdisjoint(word.bare for word in words[:named])


def left_undone(message: str, closed: Sequence[ToolMessage], tools: Sequence[Tool]) -> list[str]:
    """What a message plainly asked for and no call of its turn was about, as `verb thing`.

    A turn without a call leaves nothing undone: its answer speaks for itself. What stands under a condition is left alone.
    """
    if not closed or any(word.bare in _CONDITIONS for word in words_of(message)):
        return []
    undone: list[str] = []
    acts = asked_acts(message)
    for asked in acts:
        calls = [each.call for each in closed if asked.act == READING or does(asked.act, each.call, tools)]
        # In "list a/ and show me b.txt" the listing is what was asked for first, and shows no b.txt.
        others = [thing for each in acts if each is not asked for thing in each.things]
        if asked.act == READING and all(any(is_about(call, thing) for thing in others) for call in calls):
            calls = [call for call in calls if any(is_about(call, thing) for thing in asked.things)]
        undone += [f"{asked.verb} {thing}" for thing in missing_things(asked, calls)]
        pointed = None if calls or asked.things else _POINTED.match(message, asked.at)
        is_only = len(acts) == 1 and asked.act == "delete"
        if pointed is not None and not (is_only and _is_taken_out(pointed[0], closed)):
            undone.append(pointed[0])
    return list(dict.fromkeys([*undone, *_untouched(message, closed, [thing for each in acts for thing in each.things])]))


def _is_taken_out(pointed: str, closed: Sequence[ToolMessage]) -> bool:
    """Whether an entry was taken out of a file that stays, which "delete it" may mean: out of the file that was looked at last,
    and where nothing was looked at by a bare "it" only."""
    edits = [each.call for each in closed if _EDITS & set(parts_of(each.call["name"]))]
    looks = [each for each in closed if each.call not in edits]
    if not looks:
        return len(words_of(pointed)) == _BARE
    paths = [value for call in edits for name, value in call["arguments"].items() if slot_of(name) is Slot.PATH]
    return any(is_about(looks[-1].call, str(path)) or str(path) in looks[-1].result["content"] for path in paths)


def _untouched(message: str, closed: Sequence[ToolMessage], judged: Sequence[str]) -> list[str]:
    """The parts of an order that name things of which no call has one, whatever their verb is, beside those that were `judged`
    by it."""
    told = QUOTED.sub(lambda quoted: "" if " " in quoted[0] else quoted[0], without_given(message))
    is_order = length_of(message) <= _MAX_MESSAGE and _ASKS.search(message) is None and _SPARES.search(message) is None
    parts = [trim(part) for part in _PART.split(told)] if is_order else []
    left: list[str] = []
    for part in parts:
        things = [bare_thing(part[word.start : word.end]) for word in words_of(part) if is_thing(part[word.start : word.end])]
        known = any(is_about(each.call, thing) for each in closed for thing in things)
        if things and not known and set(things).isdisjoint(judged):
            left.append(part)
    return left


def is_named_in(said: str, undone: str) -> bool:
    """Whether words already name what was left undone, as it stands or as the wish that it is a part of: "`add wine to list.txt`"
    names "add list.txt"."""
    verb, _, thing = undone.partition(" ")
    wishes: list[str] = _WISH_NAMED.findall(said)
    return undone in said or any(thing in wish and verb in (word.bare for word in words_of(wish)) for wish in wishes)


def missing_things(asked: AskedAct, calls: Sequence[Call]) -> list[str]:
    """The things that none of these calls names, all of them where there is no call at all.

    A call that names none of them may be about all of them, such as one for their folder.
    """
    named = [thing for thing in asked.things if any(is_about(call, thing) for call in calls)]
    return [thing for thing in asked.things if thing not in named] if named or not calls else []


def does(act: str, call: Call, tools: Sequence[Tool]) -> bool:
    """Whether a call can have done an act, by its tool's name and category. A tool whose name tells nothing may do anything."""
    parts = parts_of(call["name"])
    if not set(parts).isdisjoint(ACTS[act]["calls"]):
        return True
    category = next((tool["category"] for tool in tools if tool["name"] == call["name"]), None)
    if category in _FREE:
        return True
    is_other = any(not set(parts).isdisjoint(words["calls"]) for words in ACTS.values())
    return category != "read" and not is_other


def is_thing(text: str) -> bool:
    """Whether a word is the name of a thing: a file, a folder or an address."""
    return _THING.fullmatch(bare_thing(text)) is not None


def bare_thing(text: str) -> str:
    """A word without the quotes, brackets and stops around it."""
    return text.lstrip(_BEFORE).rstrip(_AFTER)


def _adds_up(words: Sequence[Word], at: int) -> bool:
    """Whether it is "add up", which works a number out and writes nothing."""
    return [word.bare for word in words[at : at + 2]] == ["add", "up"]


def _begins_wish(message: str, words: Sequence[Word], at: int) -> bool:
    """Whether a wish begins with this word: at the start, after a pause, or after words that lead into one."""
    if at == 0:
        return True
    before = words[at - 1]
    if before.bare not in _LEADING and not _pauses(message, before, words[at]):
        return False
    if at > 1 and words[at - 2].bare in _QUESTIONS:
        return False
    first = at
    while first > 0 and not _STOPPED.search(message[words[first - 1].start : words[first].start].rstrip(" ")):
        first -= 1
    sentence = [word.bare for word in words[first:at] if word.bare not in _LEADING]
    # "By when do we have to send it?"
    openers = sentence[1:2] if sentence and sentence[0] in _PREPOSITIONS else sentence[:1]
    return _QUESTIONS.isdisjoint(openers)


def _things_of(act: str, message: str, words: Sequence[Word], at: int) -> list[str]:
    """What an act is about, of the names after its verb. What is written is the file in which something is kept, and not the one
    that it comes from: "save the total of costs.csv in sum.txt". Where something is moved to is no thing that is moved."""
    things = _things_after(message, words, at)
    if len(things) != 1 or act not in _PLACING_ACTS:
        return things
    place = next(place for place in range(at + 1, len(words)) if _name_of(message, words[place]) is not None)
    if act == "move":
        return [] if _links(words[at + 1 : place]) else things
    end = place + 1
    while end < len(words) and words[end].bare not in _CUES and not _pauses(message, words[end - 1], words[end]):
        name = _name_of(message, words[end])
        if name is not None and _links(words[place + 1 : end]):
            return [name]
        end += 1
    return things


def _links(words: Sequence[Word]) -> bool:
    """Whether one of these words says that the place of something follows."""
    return any(word.bare in _LINKS for word in words)


def _things_after(message: str, words: Sequence[Word], at: int) -> list[str]:
    """The first name after a verb, before any pause or cue, and those that are listed with it."""
    place = at + 1
    while place < len(words) and _name_of(message, words[place]) is None:
        place += 1
    is_parted = any(_pauses(message, *pair) for pair in pairwise(words[at : place + 1]))
    if is_parted or any(word.bare in _CUES for word in words[at + 1 : place]):
        return []
    things: list[str] = []
    is_listed = True
    while is_listed and place < len(words) and (name := _name_of(message, words[place])) is not None:
        things.append(name)
        is_listed = place + 1 < len(words) and _pauses(message, words[place], words[place + 1])
        place += 1
        while place < len(words) and words[place].bare in _CUES:
            is_listed, place = True, place + 1
    return things


def _name_of(message: str, word: Word) -> str | None:
    """The name of a thing that a word is, if it is one."""
    written = message[word.start : word.end]
    return bare_thing(written) if is_thing(written) else None


def _pauses(message: str, before: Word, word: Word) -> bool:
    """Whether something between two words parts them."""
    return _PAUSED.search(message[before.start : before.end]) is not None or not {";", "\n"}.isdisjoint(
        message[before.end : word.start]
    )


def is_about(call: Call, thing: str) -> bool:
    """Whether an argument holds the name of a thing, which a folder's may without the slash at its end."""
    arguments: Mapping[str, Json] = call["arguments"]
    return thing.rstrip("/") in as_json(arguments)
