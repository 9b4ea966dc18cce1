"""What a model's words claim was done, held against the calls that ran.

A sentence proves nothing: what was done is what the calls' records say. A sentence that claims an act of which no call is on
record is not shown. What a text merely tells, as a letter does that somebody sent, is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from gateway.agent.acts import ACTS, AskedAct, asked_acts, bare_thing, does, is_thing, missing_things
from gateway.agent.browser import SPACE, as_json, trim
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.names import parts_of
from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_ACT_OF: Final[Mapping[str, str]] = {claim: act for act, words in ACTS.items() for claim in words["claims"]}
_HELPERS: Final = frozenset(VOCABULARY.claim_helpers)
_ADVERBS: Final = frozenset(VOCABULARY.claim_adverbs)
_SUBJECTS: Final = frozenset(VOCABULARY.claim_subjects)
_OPENINGS: Final = frozenset(VOCABULARY.claim_openings)
_PRONOUNS: Final = frozenset(VOCABULARY.claim_pronouns)
_COMPLETIONS: Final = frozenset(VOCABULARY.completions)
_UNCLAIMED: Final = frozenset((*VOCABULARY.negations, *VOCABULARY.modals))
_COMMON: Final = frozenset(
    (*VOCABULARY.common_terms, *VOCABULARY.fillers, *VOCABULARY.cues, *(verb for act in ACTS.values() for verb in act["verbs"]))
)
"""Words that two sentences share by chance."""

_CUES: Final = frozenset(VOCABULARY.cues)
_TERM: Final = re.compile("[^\\W_]+")
_BEYOND: Final = 2
"""Words of the message that no call was about. One may be a word for what the call was about."""

_BEFORE_NOW: Final = "already"
_SENTENCE: Final = re.compile(rf"[^\n]+?(?:[.!?]+(?=[{SPACE}]|\Z)|(?=\n)|\Z)[{SPACE}]*|[{SPACE}]+")


_BLOCK: Final = re.compile(r"^(`{3,})\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)
_NUMBERED: Final = re.compile(r"^[0-9]+: ")


class _Form(Enum):
    """How a sentence claims an act."""

    PASSIVE = auto()
    """"dinner.txt is deleted" """

    OWN = auto()
    """"I deleted dinner.txt", "Deleted dinner.txt" """


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """What a turn's words are held against: what the person said, the calls of the turn that have closed, in order, those of the
    turns before it, and the tools on offer."""

    message: str
    closed: Sequence[ToolMessage]
    earlier: Sequence[ToolMessage]
    tools: Sequence[Tool]


def without_false_claims(text: str, record: TurnRecord) -> str:
    """The text without the sentences that claim what no call on record did. The same text where there is none."""
    asked = asked_acts(record.message)
    kept: list[str] = []
    end = 0
    for block in _BLOCK.finditer(text):
        if _is_quoted(block[2], record):
            kept += [*_kept(text[end : block.start()], asked, record), block[0]]
            end = block.end()
    kept += _kept(text[end:], asked, record)
    return text if "".join(kept) == text else trim("".join(kept))


def _kept(text: str, asked: Sequence[AskedAct], record: TurnRecord) -> list[str]:
    return [match[0] for match in _SENTENCE.finditer(text) if not _is_false(match[0], asked, record)]


def _is_quoted(block: str, record: TurnRecord) -> bool:
    """Whether each line of a block stands in a result, as the loop itself shows it: they are no claims of the agent's."""
    contents = "\n".join(each.result["content"] for each in record.closed)
    return all(_NUMBERED.sub("", line) in contents or line in contents for line in block.split("\n"))


def _is_false(sentence: str, asked: Sequence[AskedAct], record: TurnRecord) -> bool:
    words = [word.bare for word in words_of(sentence)]
    if trim(sentence).endswith("?"):
        return False
    if _goes_beyond(words, sentence, record):
        return True
    if " ".join(words) in _COMPLETIONS:
        return any(each.things for each in asked) and not any(map(_is_done, record.closed))
    return any(
        _is_claim(words, at, sentence, asked, record) and not _is_recorded(_ACT_OF[word], words, sentence, asked, record)
        for at, word in enumerate(words)
        if word in _ACT_OF
    )


def _goes_beyond(words: Sequence[str], sentence: str, record: TurnRecord) -> bool:
    """Whether a sentence takes over of several wishes what no call was about: "timer and lamp are set", where only the timer
    was. Asked to tell of one call, a small model tells of the whole message."""
    is_list = "," in record.message or ";" in record.message or not _CUES.isdisjoint(_bare(record.message))
    changed = any(_is_done(each) and _changes(each, record.tools) for each in record.closed)
    is_told = any(trim(sentence) in each.result["content"] for each in record.closed)
    if not (is_list and changed) or is_told or any(word in _UNCLAIMED or word.endswith(("n't", "n’t")) for word in words):
        return False
    covered = {stem(word) for each in record.closed if _is_done(each) for word in _words_about(each)}
    taken = {word for word in words if word in _bare(record.message) and word not in _COMMON}
    return len({word for word in taken if stem(word) not in covered}) >= _BEYOND


def _words_about(message: ToolMessage) -> list[str]:
    """The words that a call and its result hold, and those for what it does."""
    parts = parts_of(message.call["name"])
    acts = [each for each in ACTS.values() if not set(parts).isdisjoint(each["calls"])]
    told = f"{as_json(message.call['arguments'])} {message.result['content']}"
    return [*parts, *_TERM.findall(told.lower()), *(word for each in acts for word in (*each["verbs"], *each["claims"]))]


def _bare(text: str) -> set[str]:
    return {word.bare for word in words_of(text)}


def _changes(message: ToolMessage, tools: Sequence[Tool]) -> bool:
    return any(tool["name"] == message.call["name"] and tool["category"] != "read" for tool in tools)


def _is_claim(words: Sequence[str], at: int, sentence: str, asked: Sequence[AskedAct], record: TurnRecord) -> bool:
    """Whether the word at this place claims its act: one that the message asks for, or an own one about a thing by its name."""
    form = _form_of(words, at)
    if form is None:
        return False
    if any(each.act == _ACT_OF[words[at]] for each in asked):
        about = {word.bare for word in words_of(record.message)} - _COMMON
        if not about.isdisjoint(words) or not _PRONOUNS.isdisjoint(words):
            return True
    elif form is not _Form.OWN:
        return False
    is_told = any(trim(sentence) in each.result["content"] for each in record.closed)
    return not is_told and any(is_thing(word) for word in re.split(f"[{SPACE}]+", sentence))


def _form_of(words: Sequence[str], at: int) -> _Form | None:
    """How a word claims its act, if it does: denied, wished for and possible is not done."""
    if any(word in _UNCLAIMED or word.endswith(("n't", "n’t")) for word in words[:at]):
        return None
    before = at
    while before > 0 and words[before - 1] in _ADVERBS:
        before -= 1
    if before == 0 or words[before - 1] in _SUBJECTS or all(word in _OPENINGS for word in words[:before]):
        return _Form.OWN
    return _Form.PASSIVE if words[before - 1] in _HELPERS else None


def _is_recorded(act: str, words: Sequence[str], sentence: str, asked: Sequence[AskedAct], record: TurnRecord) -> bool:
    is_asked = any(each.act == act for each in asked)
    messages = record.closed if is_asked and _BEFORE_NOW not in words else [*record.earlier, *record.closed]
    calls = [each.call for each in messages if _is_done(each) and does(act, each.call, record.tools)]
    if not calls:
        return False
    things = {bare_thing(word) for word in re.split(f"[{SPACE}]+", sentence)}
    missing = {thing for each in asked if each.act == act for thing in missing_things(each, calls)}
    return missing.isdisjoint(things)


def _is_done(message: ToolMessage) -> bool:
    return message.result["outcome"] == "ok"
