"""Files that are to be deleted together, or by how they stand among others: "both logs", "the two oldest logs", all of a folder.

Which they are only a look tells. Where they are not as many as was said, or cannot be told apart, nothing is deleted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from gateway.agent.assigned import LEAD
from gateway.agent.browser import trim
from gateway.agent.carrying import able_for
from gateway.agent.copy import Copy
from gateway.agent.further import found_files, lister_among, searcher_among
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.outcomes import Carry
from gateway.agent.picking import TOP, by_age
from gateway.agent.several import none_picked
from gateway.agent.tables import table_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are to be deleted: how many, 0 for all of them, and the word for them, empty for those that were shown last;
    "oldest" or "newest" where they stand so among the others; the folder whose files they are, where all of one are meant."""

    count: int
    noun: str
    pick: str = ""
    folder: str = ""


_FLAGS: Final = re.IGNORECASE | re.ASCII
_TAIL: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, 'away', 'out'))}))*[.!?]*$"
_DISCARDS: Final = any_of(VOCABULARY.discarding_verbs)
_NUMBER: Final = any_of([word for word, number in VOCABULARY.number_words.items() if number > 1])
_ARTICLES: Final = any_of(VOCABULARY.group_articles)
_GROUP: Final = re.compile(
    rf"{LEAD}(?:{_DISCARDS}) (?:(both|all)(?: of)?(?: (?:{_ARTICLES}))?|"
    rf"(?:(?:all|both|{_ARTICLES}) )+({_NUMBER}|[2-9]))(?: (them|[a-z][a-z-]*))??(?: (?:files|ones))?{_TAIL}",
    _FLAGS,
)
_PICKED: Final = re.compile(
    rf"{LEAD}(?:{_DISCARDS}) (?:{_ARTICLES}) (?:({_NUMBER}|[2-9]) )?({any_of(VOCABULARY.aged_picks)})"
    rf"(?: ({_NUMBER}|[2-9]))? ([a-z][a-z-]*)(?: files?)?{_TAIL}",
    _FLAGS,
)
_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9_./-]*"
_FOLDER: Final = rf"(?:(?:the|my|our) )?(?:(?:folder|directory) ({_NAME}?)/?|({_NAME}?)/|({_NAME}?)/? (?:folder|directory))"
_EMPTIED: Final = re.compile(rf"{LEAD}(?:{any_of(VOCABULARY.clearing_verbs)}) {_FOLDER}{_TAIL}", _FLAGS)
_INSIDE: Final = re.compile(
    rf"{LEAD}(?:{_DISCARDS}) (?:{any_of(VOCABULARY.files_whole)}) (?:{any_of(VOCABULARY.folder_links)}) "
    rf"(?:{_FOLDER}|the ([a-z][a-z_-]*)){_TAIL}",
    _FLAGS,
)
_NO_FILES: Final = frozenset((*VOCABULARY.unpicked_nouns, *VOCABULARY.event_nouns, *VOCABULARY.unnamed_files))
"""What is deleted one by one and is no file."""

_NO_FOLDERS: Final = frozenset(
    (*VOCABULARY.list_nouns, *VOCABULARY.document_nouns, *VOCABULARY.unpicked_nouns, "past", "workspace")
)
_SHOWN: Final = frozenset(("", *VOCABULARY.shown_files, "file"))
"""What only says that files are meant, which were shown before."""

_TWO: Final = 2
_FEW: Final = 3
_LETTERS: Final = re.compile("[a-z]+")
_MOST: Final = 6
"""Files that one wish may take: further ones would come after as many questions."""


def group_in(wish: str) -> Group | None:
    """The files that a wish is to have deleted together, or by their age; None for any other wish."""
    text = trim(wish)
    if found := _GROUP.search(text):
        count = _TWO if (found[1] or "").lower() == "both" else _number(found[2])
        return Group(count, _noun(found[3]))
    if (found := _PICKED.search(text)) and found[4].lower() not in _NO_FILES:
        return Group(_number(found[1] or found[3]) or 1, _noun(found[4]), pick=VOCABULARY.aged_picks[found[2].lower()])
    for form in (_EMPTIED, _INSIDE):
        found = form.search(text)
        folder = next((each for each in found.groups() if each), "") if found else ""
        if folder and folder.lower() not in _NO_FOLDERS:
            return Group(0, "", folder=folder)
    return None


def first_taken(group: Group, messages: Sequence[Message], tools: Sequence[Tool], copy: Copy) -> ProposedCall | str | None:
    """The call with which the deletion begins, or the words where it cannot be made; None where nothing tells which files."""
    search, lister = name_searcher(tools), lister_among(tools)
    if search is None or able_for(Carry.REMOVE, tools) is None:
        return None
    if group.folder:
        return None if lister is None else ProposedCall(lister[0], {lister[1]: group.folder})
    shown = _shown_files(group, messages, tools)
    if shown and (first := _next_of(group, shown, (), tools, copy)) is not None:
        return first
    return ProposedCall(search[0], {search[1]: f"*{root_of(group.noun)}*"}) if group.noun else None


def next_taken(
    group: Group, calls: Sequence[ToolMessage], messages: Sequence[Message], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str | None:
    """What follows these calls; the words where it cannot be made; None once they are gone."""
    changes, lister = changes_among(calls, tools), lister_among(tools)
    looks = [each for each in calls if each not in changes]
    if not looks:
        files = _shown_files(group, [each for each in messages if each not in calls], tools)
        return _next_of(group, files, changes, tools, copy)
    files = _meant(group, looks[-1], tools)
    if files or lister is None or group.folder:
        return _next_of(group, files, changes, tools, copy)
    if len(looks) == 1:
        return ProposedCall(lister[0], {lister[1]: TOP})
    table = table_of(looks[-1].result["content"], "")
    folders = [row.cells[0] for row in table.rows if row.cells[1] == "folder"] if table is not None and table.listing else []
    folder = next((each for each in folders if root_of(each.lower().rstrip("/")) == root_of(group.noun)), None)
    is_new = folder is not None and len(looks) == _TWO
    return ProposedCall(lister[0], {lister[1]: folder}) if is_new else not_one(group.noun, [], copy)


def left_of(
    group: Group, calls: Sequence[ToolMessage], messages: Sequence[Message], tools: Sequence[Tool], copy: Copy
) -> Sequence[str]:
    """The files that nobody was asked about after these calls, of which the last one did not run."""
    left: list[str] = []
    closed = list(calls)
    while isinstance(step := next_taken(group, closed, messages, tools, copy), ProposedCall):
        left += map(str, step.arguments.values())
        closed.append(replace(calls[-1], call={**calls[-1].call, "arguments": step.arguments}))
    return left


def changes_among(calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> Sequence[ToolMessage]:
    """Of the calls of a change those that changed something."""
    looks = {tool["name"] for tool in tools if tool["category"] == "read"}
    return [each for each in calls if each.call["name"] not in looks]


def not_one(name: str, files: Sequence[str], copy: Copy) -> str:
    """What is said where no file is called so, or several are."""
    if not files:
        return copy.say("noFileCalled", query=name)
    return copy.say("severalNamed", query=name, names=", ".join(f"`{file}`" for file in files))


def name_searcher(tools: Sequence[Tool]) -> tuple[str, str] | None:
    """The tool that searches for names, where the policy lets it run without asking anybody."""
    return searcher_among([tool for tool in tools if "*" in tool["description"]])


def root_of(word: str) -> str:
    """A word as it stands in names: of "logs" there is "log"."""
    return word.removesuffix("s") if len(word) > _FEW else word


def _number(said: str | None) -> int:
    word = (said or "").lower()
    return int(word) if word.isdecimal() else VOCABULARY.number_words.get(word, 0)


def _noun(said: str | None) -> str:
    noun = (said or "").lower()
    return "" if noun in _SHOWN else noun


def _next_of(
    group: Group, files: Sequence[str], changes: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str | None:
    """The deletion of the next of these files, where they are as many as was said."""
    remover = able_for(Carry.REMOVE, tools)
    assert remover is not None
    if not files:
        return copy.say("nothingInside", file=group.folder) if group.folder else not_one(group.noun, [], copy)
    taken = by_age(group.pick, files)[: group.count] if group.pick else files
    if len(taken) > _MOST or (group.count and group.count != len(taken)):
        return none_picked(files, copy)
    gone = [each.call["arguments"].get(remover[1]) for each in changes]
    left = [each for each in taken if each not in gone]
    return ProposedCall(remover[0], {remover[1]: left[0]}) if left else None


def _shown_files(group: Group, messages: Sequence[Message], tools: Sequence[Tool]) -> list[str]:
    """The files that are meant of those that the newest look of the conversation showed."""
    last = next((each for each in reversed(messages) if isinstance(each, ToolMessage)), None)
    return [] if last is None else _meant(group, last, tools)


def _meant(group: Group, look: ToolMessage, tools: Sequence[Tool]) -> list[str]:
    """The files of a listing that are called by the word for them: in their own name, or in that of their folder."""
    files, root = found_files(look, tools), root_of(group.noun)
    return [each for each in files if not root or root in _roots_in(each)]


def _roots_in(path: str) -> list[str]:
    """The words of a file's name and of its folder's."""
    return [root_of(word) for part in path.lower().split("/")[-2:] for word in _LETTERS.findall(part)]
