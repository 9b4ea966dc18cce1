"""Changes for which code has to look first, because the words of a wish tell all but one thing of the call: which line of a file
sets a value, which file is the list that takes an entry, which files are "both logs".

What is changed and to what is the person's own; of a result only a name, a line that is there, and how the entries of a list
begin go into the call. Where it stays open what is meant, nothing is changed, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, assert_never

from gateway.agent.acts import asked_acts, is_thing
from gateway.agent.answers import source_of
from gateway.agent.assigned import Assignment, assignment_in, change_for, is_met, setting_lines
from gateway.agent.browser import trim
from gateway.agent.carrying import able_for
from gateway.agent.copy import Copy
from gateway.agent.further import found_files, lister_among, none_picked, searcher_among
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.outcomes import Carry
from gateway.agent.passages import lines_of
from gateway.agent.picking import TOP
from gateway.agent.plain_calls import plain_call
from gateway.agent.reading import reader_among
from gateway.agent.render import required_of
from gateway.agent.tables import table_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, words_of


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be added to a list, and the words that the list's name has."""

    text: str
    named: Sequence[str]


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are to be deleted: how many, 0 for all of them, and the word for them, empty for those that were shown last."""

    count: int
    noun: str


Subject: TypeAlias = Assignment | Entry | Group


@dataclass(frozen=True, slots=True)
class Directed:
    """A change, and the call with which it begins, or the words where it cannot be made. `otherwise` is made where no line sets
    what an assignment names."""

    subject: Subject
    first: ProposedCall | str
    otherwise: ProposedCall | None = None


_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEAD: Final = rf"^(?:(?:{any_of({*VOCABULARY.fillers, *VOCABULARY.cues, *WISH_WORDS.fillers})})[, ]+)*"
_TAIL: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, 'away', 'out'))}))*[.!?]*$"
_LIST: Final = re.compile(
    rf"{_LEAD}(?:{any_of(VOCABULARY.entering_verbs)})(?: down)? (.+?)(?: down)? (?:{any_of(VOCABULARY.entry_links)}) "
    rf"(?:the|my|our) ((?:[a-z][a-z-]* ){{0,2}}(?:{any_of(VOCABULARY.list_nouns)})){_TAIL}",
    _FLAGS,
)
_NUMBER: Final = any_of([word for word, number in VOCABULARY.number_words.items() if number > 1])
_ARTICLES: Final = any_of(VOCABULARY.group_articles)
_GROUP: Final = re.compile(
    rf"{_LEAD}(?:{any_of(VOCABULARY.discarding_verbs)}) (?:(both|all)(?: of)?(?: (?:{_ARTICLES}))?|"
    rf"(?:(?:all|both|{_ARTICLES}) )+({_NUMBER}|[2-9]))(?: (them|[a-z][a-z-]*))??(?: (?:files|ones))?{_TAIL}",
    _FLAGS,
)
_SHOWN: Final = frozenset(("", *VOCABULARY.shown_files))
"""What only says that files are meant, which were shown before."""

_BULLET: Final = re.compile(r"(?:[-*+] )?(?:\[[ xX]\] )?")
_EDITORS: Final = frozenset({"edit", "replace"})
_TWO: Final = 2
_FEW: Final = 3
_LETTERS: Final = re.compile("[a-z]+")
_GENERAL: Final = frozenset((*VOCABULARY.document_nouns, "lists"))
"""Words for a list that its name need not have."""

_LEANING: Final = frozenset(VOCABULARY.leaning_words)
_RESULTS: Final = frozenset(WISH_WORDS.results)
_MOST: Final = 6
"""Files that one wish may take: further ones would come after as many questions."""


def directed_in(
    wish: str, messages: Sequence[Message], tools: Sequence[Tool], words: Mapping[str, Any], copy: Copy
) -> Directed | None:
    """The change that a wish asks for, where code has to look before it; None for any other wish. `words` is prompts.json."""
    return _assigning(wish, tools, words) or _entering(wish, tools) or _removing(wish, messages, tools, copy)


def next_directed(
    directed: Directed, calls: Sequence[ToolMessage], messages: Sequence[Message], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str | None:
    """What follows these calls of the change; the words where it cannot be made; None once it is done."""
    match subject := directed.subject:
        case Assignment():
            return _set(subject, directed.otherwise, calls, tools, copy)
        case Entry():
            return _entered(subject, calls, tools, copy)
        case Group():
            return _removed(subject, calls, messages, tools, copy)
        case _:
            assert_never(subject)


def stopped_at(
    directed: Directed | None, calls: Sequence[ToolMessage], messages: Sequence[Message], tools: Sequence[Tool], copy: Copy
) -> str:
    """What is said of calls of which the last one did not run, with the files of a group that nobody was asked about after it."""
    said = copy.explain_outcome(calls[-1].call["name"], calls[-1].result)
    if directed is None or not isinstance(directed.subject, Group) or not changes_among(calls, tools):
        return said
    left: list[str] = []
    closed = list(calls)
    while isinstance(step := _removed(directed.subject, closed, messages, tools, copy), ProposedCall):
        left += [f"delete {path}" for path in step.arguments.values()]
        closed.append(replace(calls[-1], call={**calls[-1].call, "arguments": step.arguments}))
    return f"{said}\n\n{copy.name_the_rest(left)}" if left else said


def changes_among(calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> Sequence[ToolMessage]:
    """Of the calls of a change those that changed something."""
    looks = {tool["name"] for tool in tools if tool["category"] == "read"}
    return [each for each in calls if each.call["name"] not in looks]


def _assigning(wish: str, tools: Sequence[Tool], words: Mapping[str, Any]) -> Directed | None:
    assignment, reader = assignment_in(wish), reader_among(tools)
    if assignment is None or reader is None or _editor_among(tools) is None:
        return None
    plain = plain_call(wish, tools, words)
    return Directed(assignment, ProposedCall(reader[0], {reader[1]: assignment.file}), plain)


def _set(
    assignment: Assignment,
    otherwise: ProposedCall | None,
    calls: Sequence[ToolMessage],
    tools: Sequence[Tool],
    copy: Copy,
) -> ProposedCall | str | None:
    editor, last = _editor_among(tools), calls[-1]
    assert editor is not None
    if changes_among(calls, tools):
        return None
    source = source_of(last)
    lines = setting_lines(assignment, source.text)
    change = change_for(assignment, source.text)
    if not lines and otherwise is not None:
        return otherwise
    if change is None:
        return copy.say("settingSeveral" if lines else "settingMissing", file=source.name, key=assignment.key)
    if change.old == change.new or not is_met(assignment, source.text):
        return copy.say("settingSame", file=source.name, line=trim(lines[0]))
    tool, path, old, new = editor
    return ProposedCall(tool, {path: source.name, old: change.old, new: change.new})


def _editor_among(tools: Sequence[Tool]) -> tuple[str, str, str, str] | None:
    """The one tool that replaces a text of a file by another, with its arguments for the file, the old text and the new one."""
    found: list[tuple[str, str, str, str]] = []
    for tool in tools:
        required = required_of(tool["paramSchema"])
        paths = [name for name in required if slot_of(name) is Slot.PATH]
        rest = {part: name for name in required for part in parts_of(name) if part in ("old", "new")}
        if (
            tool["category"] == "write"
            and not _EDITORS.isdisjoint(parts_of(tool["name"]))
            and len(paths) == 1
            and len(rest) == _TWO
        ):
            found.append((tool["name"], paths[0], rest["old"], rest["new"]))
    return found[0] if len(found) == 1 else None


def _entering(wish: str, tools: Sequence[Tool]) -> Directed | None:
    found, search = _LIST.search(trim(wish)), _name_searcher(tools)
    if found is None or search is None or able_for(Carry.ADD, tools) is None or reader_among(tools) is None:
        return None
    entry = [word.bare for word in words_of(found[1])]
    names_thing = any(is_thing(found[1][word.start : word.end]) for word in words_of(found[1]))
    is_result = not entry or entry[0] in _LEANING or not _RESULTS.isdisjoint(entry[:_FEW])
    if is_result or names_thing or len(asked_acts(wish)) > 1:
        return None
    named = _LETTERS.findall(found[2].lower())
    telling = [_root(word) for word in named if word not in _GENERAL] or named[-1:]
    text = found[1][1:-1] if QUOTED.fullmatch(found[1]) else found[1]
    return Directed(Entry(text, telling), ProposedCall(search[0], {search[1]: f"*{'*'.join(telling)}*"}))


def _entered(entry: Entry, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy) -> ProposedCall | str | None:
    adder, reader = able_for(Carry.ADD, tools), reader_among(tools)
    assert adder is not None
    assert reader is not None
    if changes_among(calls, tools):
        return None
    if calls[-1].call["name"] == reader[0]:
        source = source_of(calls[-1])
        return ProposedCall(adder[0], {adder[1]: source.name, adder[2]: f"{_bullet_of(source.text)}{entry.text}\n"})
    files = [each for each in found_files(calls[-1], tools) if _holds(each.rpartition("/")[2], entry.named)]
    return ProposedCall(reader[0], {reader[1]: files[0]}) if len(files) == 1 else _not_one(" ".join(entry.named), files, copy)


def _bullet_of(text: str) -> str:
    """How the last entry of a list begins, its box empty."""
    last = next((line for line in reversed(lines_of(text)) if trim(line)), "")
    found = _BULLET.match(last)
    return re.sub(r"\[[xX]\]", "[ ]", found[0]) if found else ""


def _removing(wish: str, messages: Sequence[Message], tools: Sequence[Tool], copy: Copy) -> Directed | None:
    found, search = _GROUP.search(trim(wish)), _name_searcher(tools)
    if found is None or search is None or able_for(Carry.REMOVE, tools) is None:
        return None
    said = (found[2] or "").lower()
    count = (
        _TWO if "both" in (found[1] or "").lower() else int(said) if said.isdecimal() else VOCABULARY.number_words.get(said, 0)
    )
    noun = (found[3] or "").lower()
    group = Group(count, "" if noun in _SHOWN else noun)
    shown = _shown_files(group, messages, tools)
    if shown and (first := _next_of(group, shown, (), tools, copy)) is not None:
        return Directed(group, first)
    return Directed(group, ProposedCall(search[0], {search[1]: f"*{_root(group.noun)}*"})) if group.noun else None


def _removed(
    group: Group, calls: Sequence[ToolMessage], messages: Sequence[Message], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str | None:
    changes, lister = changes_among(calls, tools), lister_among(tools)
    looks = [each for each in calls if each not in changes]
    if not looks:
        files = _shown_files(group, [each for each in messages if each not in calls], tools)
        return _next_of(group, files, changes, tools, copy)
    files = _meant(group, looks[-1], tools)
    if files or lister is None:
        return _next_of(group, files, changes, tools, copy)
    if len(looks) == 1:
        return ProposedCall(lister[0], {lister[1]: TOP})
    table = table_of(looks[-1].result["content"], "")
    folders = [row.cells[0] for row in table.rows if row.cells[1] == "folder"] if table is not None and table.listing else []
    folder = next((each for each in folders if _root(each.lower().rstrip("/")) == _root(group.noun)), None)
    is_new = folder is not None and len(looks) == _TWO
    return ProposedCall(lister[0], {lister[1]: folder}) if is_new else _not_one(group.noun, [], copy)


def _next_of(
    group: Group, files: Sequence[str], changes: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str | None:
    """The deletion of the next of these files, where they are as many as was said."""
    remover = able_for(Carry.REMOVE, tools)
    assert remover is not None
    if not files:
        return _not_one(group.noun, [], copy)
    if len(files) > _MOST or (group.count and group.count != len(files)):
        return none_picked(files, copy)
    gone = [each.call["arguments"].get(remover[1]) for each in changes]
    left = [each for each in files if each not in gone]
    return ProposedCall(remover[0], {remover[1]: left[0]}) if left else None


def _shown_files(group: Group, messages: Sequence[Message], tools: Sequence[Tool]) -> list[str]:
    """The files that are meant of those that the newest look of the conversation showed."""
    last = next((each for each in reversed(messages) if isinstance(each, ToolMessage)), None)
    return [] if last is None else _meant(group, last, tools)


def _meant(group: Group, look: ToolMessage, tools: Sequence[Tool]) -> list[str]:
    """The files of a listing that are called by the word for them: in their own name, or in that of their folder."""
    files, root = found_files(look, tools), _root(group.noun)
    return [each for each in files if not root or root in _roots_in(each)]


def _roots_in(path: str) -> list[str]:
    """The words of a file's name and of its folder's."""
    return [_root(word) for part in path.lower().split("/")[-2:] for word in _LETTERS.findall(part)]


def _not_one(name: str, files: Sequence[str], copy: Copy) -> str:
    """What is said where no file is called so, or several are."""
    if not files:
        return copy.say("noFileCalled", query=name)
    return copy.say("severalNamed", query=name, names=", ".join(f"`{file}`" for file in files))


def _name_searcher(tools: Sequence[Tool]) -> tuple[str, str] | None:
    """The tool that searches for names, where the policy lets it run without asking anybody."""
    return searcher_among([tool for tool in tools if "*" in tool["description"]])


def _root(word: str) -> str:
    """A word as it stands in names: of "logs" there is "log"."""
    return word.removesuffix("s") if len(word) > _FEW else word


def _holds(name: str, words: Sequence[str]) -> bool:
    return all(word in name.lower() for word in words)
