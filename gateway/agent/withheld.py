"""Changes that a small model proposes and that the words of a wish speak against: what is not to be done, what is left out, and
a whole file where a part of it, or only its place, is to change.

It is no protection, for which there is the gateway; it keeps a person from being asked about what they have just ruled out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from gateway.agent.acts import ACTS, READING
from gateway.agent.browser import trim
from gateway.agent.lane import LaneInput, ProposedCall
from gateway.agent.messages import Tool
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.render import required_of
from gateway.agent.spaced_names import longer_name
from gateway.agent.taken_back import changed_inside
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, words_of
from gateway.core.canonical import Json


class Withheld(StrEnum):
    """Why a call is not made, by the name of its sentence in copy.json."""

    SPARED = "spared"
    OVER_ALL = "overAll"
    LIST_UNTOLD = "listUntold"
    NAME_IN_DOUBT = "nameInDoubt"
    ALL_DELETED = "allDeleted"


_FLAGS: Final = re.IGNORECASE | re.ASCII
_VERBS: Final = frozenset(verb for act, words in ACTS.items() if act != READING for verb in words["verbs"])
_PARTED: Final = re.compile(rf"[;!?\n]|[.,:](?= )|\b(?:but|just|instead|and(?= (?:{any_of(_VERBS)})\b))\b", _FLAGS)
_NEGATED: Final = re.compile(
    rf"(?<![\w'’])(?:{any_of(VOCABULARY.order_negations)})(?: (?:ever|please|you))* "
    rf"(?!(?:{any_of(VOCABULARY.unnegated)})\b|need\b(?! to\b)|want\b(?! (?:you )?to\b))",
    _FLAGS,
)
_LEFT_OUT: Final = re.compile(rf"\b(?:{any_of((*VOCABULARY.excepting_words, *VOCABULARY.sparing_words))})\b", _FLAGS)
_STOPPED: Final = re.compile(r"[;!?\n]|\.(?= )")
_LEADS: Final = rf"(?:(?:{any_of(VOCABULARY.kept_leads)}|file) )*"
_DENIED: Final = re.compile(rf"\bnot {_LEADS}[\"'`“]?\Z", _FLAGS)
_IT: Final = frozenset(WISH_WORDS.pronouns)
_CARRIERS: Final = frozenset((*ACTS["move"]["calls"], *ACTS["copy"]["verbs"]))
_WRITERS: Final = frozenset({"write", "save"})
_LEAD: Final = rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*"
_PARTS: Final = any_of((*VOCABULARY.counted_nouns["line"], *VOCABULARY.picked_nouns))
_NAMED: Final = rf" {_LEADS}[\"'`“]?"
_OUT_OF: Final = re.compile(
    rf"\b(?:from|off|out of|(?:{_PARTS}) (?:of|in))(?: (?:{any_of(VOCABULARY.kept_leads)}))?(?: file)? [\"'`“]?\Z", _FLAGS
)
_OUT_OF_IT: Final = re.compile(
    rf"\b(?:from|off|out of|(?:{_PARTS}) (?:of|in)) (?:{any_of(WISH_WORDS.pronouns)}|that|this)\b", _FLAGS
)
_PART: Final = re.compile(
    rf"\b(?:{any_of((*WISH_WORDS.possessives, *VOCABULARY.kept_leads, *VOCABULARY.line_places))}) (?:[a-z]+ )?"
    rf"(?:{any_of((*VOCABULARY.counted_nouns['line'], *VOCABULARY.counted_nouns['row'], *VOCABULARY.counted_nouns['word']))})\b"
    rf"(?! (?:{any_of(VOCABULARY.named_by_parts)})\b)",
    _FLAGS,
)
"""A part of a file, which is no file: "delete its last line", and not "delete my word list"."""

_DELETING: Final = rf"\b(?:{any_of({*VOCABULARY.discarding_verbs, *VOCABULARY.striking_verbs, *ACTS['delete']['verbs']})})"
_WHOLE_FILES: Final = any_of((*VOCABULARY.whole_files, *VOCABULARY.folder_nouns))
_WHOLE_FILE_WORDS: Final = frozenset(VOCABULARY.whole_files)
_NAME_PARTED: Final = re.compile("[-_ ]+")
_TAILS: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, *VOCABULARY.repeating_tails))}|[a-z]+ly)\b)*"
_PHRASE_END: Final = rf"(?:{_TAILS}(?:[.,;:!?]|\s*\Z|\n)| (?:and|then|but|because)\b)"
_BEFORE_PATH: Final = (
    rf"{_DELETING} (?:\S+(?:,|,? and) )*(?:(?:the|this|my) )?(?:(?:{_WHOLE_FILES}) )?(?:(?:called|named) )?[\"'`“]?(?:\S*/)?"
)
_AFTER_PATH: Final = rf"/?[\"'`”]?(?:{_PHRASE_END}| (?:{any_of(VOCABULARY.link_words)})\b)"
_ALL_FILES: Final = re.compile(rf"{_DELETING} all (?:(?:the|my) )?(?:[a-z]+ )?files{_PHRASE_END}", _FLAGS)

_PLACES: Final = any_of((*VOCABULARY.moving_links, *VOCABULARY.keeping_links))
_ANEW: Final = frozenset(VOCABULARY.rewriting_verbs)
"""Verbs of which a new text of a whole file is meant as well: "change it to bye"."""

_SETTING: Final = any_of({*VOCABULARY.setting_verbs} - _ANEW)
_SETS_IT: Final = re.compile(rf"{_LEAD}(?:{_SETTING}) (?:{any_of((*WISH_WORDS.pronouns, 'that', 'this'))})\b", _FLAGS)
_CHANGES: Final = re.compile(rf"{_LEAD}(?:{any_of(VOCABULARY.part_verbs)})\b", _FLAGS)


_OF_IT: Final = re.compile(
    rf"\b(?:{any_of(VOCABULARY.entering_verbs)}) (?:{any_of(WISH_WORDS.possessives)}) [^.;!?\n]+? "
    rf"(?:{any_of(VOCABULARY.entry_links)}) (?:{any_of(VOCABULARY.kept_leads)}) (?:[a-z-]+ )?"
    rf"(?:{any_of(VOCABULARY.entry_lists)})\b",
    _FLAGS,
)
"""What a file says goes into a list that is not told by a name: "read a.txt and add its date to the list"."""


def withheld_words(lane: LaneInput, wish: str, call: ProposedCall) -> str | None:
    """What is said in the place of a change that the words of a wish, or what was done before it, speak against; None for any
    other call."""
    tool = next((tool for tool in lane.tools if tool["name"] == call.name), None)
    why = None if tool is None else withheld(call.arguments, tool, wish)
    paths = _paths_in(call.arguments)
    if tool is not None and why is None and tool["category"] == "destructive":
        is_inside = any(not means_whole(path, wish) and changed_inside(path, lane.messages, lane.tools) for path in paths)
        why = Withheld.ALL_DELETED if is_inside else None
    names = [(file, longer) for file in paths if (longer := longer_name(wish, file)) is not None]
    file, longer = (names or [(next(iter(paths), ""), "")])[0]
    return None if why is None else lane.copy.say(why.value, file=file, longer=longer)


def withheld(arguments: Mapping[str, Json], tool: Tool, wish: str) -> Withheld | None:
    """Why a call is not to be made for a wish; None where nothing speaks against it."""
    if tool["category"] == "read":
        return None
    required = required_of(tool["paramSchema"])
    paths = _paths_in(arguments)
    if _is_spared(paths, tool, wish):
        return Withheld.SPARED
    if any(longer_name(wish, path) is not None for path in paths):
        return Withheld.NAME_IN_DOUBT
    if len(required) > len(paths) == 1 and _OF_IT.search(wish) and _places_of(paths[0], wish):
        return Withheld.LIST_UNTOLD
    is_whole = not _WRITERS.isdisjoint(parts_of(tool["name"])) and len(required) > len(paths) == 1
    if tool["category"] == "destructive" and any(_is_taken_out_of(path, wish) for path in paths):
        return Withheld.ALL_DELETED
    if len(paths) == 1 and _is_placed(paths[0], wish, tool):
        return Withheld.OVER_ALL
    return Withheld.OVER_ALL if is_whole and _is_part(paths[0], wish) else None


def _paths_in(arguments: Mapping[str, Json]) -> list[str]:
    return [value for name, value in arguments.items() if slot_of(name) is Slot.PATH and isinstance(value, str) and value]


def _is_spared(paths: Sequence[str], tool: Tool, wish: str) -> bool:
    """Whether a wish says "not" of every place where it names one of these paths, or of all that it asks for."""
    names = {name for path in paths for name in (path, _base_of(path)) if name}
    text = QUOTED.sub(lambda quoted: quoted[0] if quoted[0][1:-1] in names else " ", wish)
    clauses = [each for each in _PARTED.split(text) if words_of(each)]
    if any(not _is_negated(each) and _is_for_it(each, tool) for each in clauses):
        return False
    named = [path for path in paths if _places_of(path, text)]
    if not named:
        return bool(clauses) and all(map(_is_negated, clauses))
    return any(
        all(_is_negated(each) for each in clauses if _places_of(path, each))
        or all(_is_left_out(text, at) for at in _places_of(path, text))
        for path in named
    )


def _is_for_it(clause: str, tool: Tool) -> bool:
    """Whether a clause asks of "it" what the tool does: "don't delete a.txt, just move it to c/"."""
    words = [word.bare for word in words_of(clause)]
    parts = parts_of(tool["name"])
    does = any(word in acts["verbs"] and not set(parts).isdisjoint(acts["calls"]) for acts in ACTS.values() for word in words)
    return does and not _IT.isdisjoint(words)


def _places_of(path: str, text: str) -> list[int]:
    """Where a text names a path: as it stands, or else by its last part, or else in other letters, small for large ones."""
    for flags in (re.ASCII, _FLAGS):
        for name in (path, _base_of(path)):
            if name and (found := [each.start() for each in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags)]):
                return found
    return []


def _base_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def means_whole(path: str, wish: str) -> bool:
    """Whether a wish has a whole file deleted: by its path, by its name before such a word as "file", or by that word
    alone. What else it has deleted is in the file, or in doubt."""
    base = _base_of(path)
    is_object = not _has(_DELETING, wish) or _has(rf"{_BEFORE_PATH}{re.escape(base)}{_AFTER_PATH}", wish)
    if is_object and _places_of(path, wish):
        return True
    parts = _NAME_PARTED.split(base.rpartition(".")[0] or base)
    # "The shopping list" is shopping.txt, and shopping-list.txt.
    name = "[-_ ]".join(map(re.escape, parts[:-1] if len(parts) > 1 and parts[-1] in _WHOLE_FILE_WORDS else parts))
    called = rf"{_DELETING} (?:the|this|my) (?:(?:whole|entire) )?(?:{name} )?(?:{_WHOLE_FILES}){_PHRASE_END}"
    return _has(called, wish) or _ALL_FILES.search(wish) is not None


def _is_negated(clause: str) -> bool:
    """Whether an order is given with a "not" before its verb. In "write I will not come" it is a part of the text."""
    found = _NEGATED.search(clause)
    return found is not None and _VERBS.isdisjoint(word.bare for word in words_of(clause[: found.start()]))


def _is_left_out(text: str, at: int) -> bool:
    """Whether what stands here is left out: "all but a.txt", "not a.txt"."""
    before = _STOPPED.split(text[:at])[-1]
    if _DENIED.search(before):
        return True
    found = list(_LEFT_OUT.finditer(before))
    return bool(found) and _VERBS.isdisjoint(word.bare for word in words_of(before[found[-1].end() :]))


def _is_taken_out_of(path: str, wish: str) -> bool:
    """Whether only a part of what would be deleted is to go: "remove the second one from it", "delete the last line of a.txt"."""
    text = QUOTED.sub(" ", wish)
    named = _places_of(path, wish)
    lead = _STOPPED.split(wish[: named[0]])[-1] if named else ""
    if named:
        return _OUT_OF.search(lead) is not None
    return _OUT_OF_IT.search(text) is not None or _PART.search(text) is not None


def _is_placed(path: str, wish: str, tool: Tool) -> bool:
    """Whether a wish only says where a file goes into which a call would write: "put a.txt into b/"."""
    placed = rf"{_LEAD}(?:{any_of(VOCABULARY.placing_verbs)}){_NAMED}{re.escape(path)}[\"'`”]? (?:{_PLACES})\b"
    return tool["category"] == "write" and _CARRIERS.isdisjoint(parts_of(tool["name"])) and _has(placed, wish)


def _is_part(path: str, wish: str) -> bool:
    """Whether a wish is for a change of something in a file: "set workers = 2 in app.toml"."""
    whole = rf"{_LEAD}(?:{any_of(VOCABULARY.part_verbs)}){_NAMED}{re.escape(path)}"
    is_all = not {word.bare for word in words_of(wish)}.isdisjoint((*VOCABULARY.whole_nouns, "text"))
    clauses = [trim(each) for each in _PARTED.split(wish)]
    named = [each for each in clauses if _places_of(path, each)]
    # "Set it to 5" names no file, and is about no whole one.
    is_set = not named and any(_SETS_IT.search(each) for each in clauses)
    return not is_all and (is_set or any(_CHANGES.search(each) and not _has(whole, each) for each in named))


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, _FLAGS) is not None
