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
from gateway.agent.affairs import TASKS
from gateway.agent.answers import source_of
from gateway.agent.assigned import FILE, LEAD, TAIL, Assignment, assignment_in, change_for, is_met, setting_lines
from gateway.agent.browser import trim
from gateway.agent.called_for import tools_called_for
from gateway.agent.carrying import able_for
from gateway.agent.copy import Copy
from gateway.agent.copying import Copying, copying_in
from gateway.agent.further import found_files, searches
from gateway.agent.kept import page_of
from gateway.agent.lane import ProposedCall
from gateway.agent.marked import ListMark, mark_change, mark_in, marked_lines
from gateway.agent.messages import Message, Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.outcomes import Carry
from gateway.agent.passages import lines_of
from gateway.agent.plain_calls import plain_call
from gateway.agent.reading import reader_among
from gateway.agent.render import required_of
from gateway.agent.sought_settings import SoughtSetting, next_sought, seeking_call, sought_setting
from gateway.agent.taking import Group, changes_among, first_taken, group_in, left_of, name_searcher, next_taken, not_one, root_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, words_of


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be added to a list, and the words that the list's name has, or the `file` that it is."""

    text: str
    named: Sequence[str]
    file: str = ""


Subject: TypeAlias = Assignment | SoughtSetting | Entry | Group | ListMark | Copying


@dataclass(frozen=True, slots=True)
class Directed:
    """A change, and the call with which it begins, or the words where it cannot be made. `otherwise` is made where no line sets
    what an assignment names."""

    subject: Subject
    first: ProposedCall | str
    otherwise: ProposedCall | None = None


_FLAGS: Final = re.IGNORECASE | re.ASCII
_LIST: Final = re.compile(
    rf"{LEAD}(?:{any_of(VOCABULARY.entering_verbs)})(?: down)? (.+?)(?: down)? (?:{any_of(VOCABULARY.entry_links)}) "
    rf"(?:the|my|our) ((?:[a-z][a-z-]* ){{0,2}}(?:{any_of(VOCABULARY.list_nouns)})){TAIL}",
    _FLAGS,
)
_FILED: Final = re.compile(
    rf"{LEAD}(?:{any_of(WISH_WORDS.listing_verbs)})(?: down)? (.+?)(?: down)? (?:{any_of(VOCABULARY.entry_links)}) {FILE}{TAIL}",
    _FLAGS,
)
_BULLET: Final = re.compile(r"(?:[-*+] )?(?:\[[ xX]\] )?")
_EDITORS: Final = frozenset({"edit", "replace"})
_TWO: Final = 2
_FEW: Final = 3
_LETTERS: Final = re.compile("[a-z]+")
_GENERAL: Final = frozenset((*VOCABULARY.document_nouns, "lists"))
"""Words for a list that its name need not have."""

_LISTED: Final = frozenset(map(root_of, (*VOCABULARY.list_nouns, *WISH_WORDS.listed_things)))
"""Words by which a file is a list."""

_LEANING: Final = frozenset(VOCABULARY.leaning_words)
_RESULTS: Final = frozenset(WISH_WORDS.results)
_REDACTED: Final = "[redacted:"


def directed_in(
    wish: str, messages: Sequence[Message], tools: Sequence[Tool], words: Mapping[str, Any], copy: Copy
) -> Directed | None:
    """The change that a wish asks for, where code has to look before it; None for any other wish. `words` is prompts.json."""
    return (
        _assigning(wish, tools, words)
        or _seeking(wish, tools, words)
        or _entering(wish, tools)
        or _removing(wish, messages, tools, copy)
        or _marking(wish, messages, tools)
        or _copying(wish, tools)
    )


def next_directed(
    directed: Directed, calls: Sequence[ToolMessage], messages: Sequence[Message], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str | None:
    """What follows these calls of the change; the words where it cannot be made; None once it is done."""
    match subject := directed.subject:
        case Assignment():
            return _set(subject, directed.otherwise, calls, tools, copy)
        case SoughtSetting():
            is_read = not searches(calls[-1])
            return _set(subject.assignment, None, calls, tools, copy) if is_read else next_sought(subject, calls, tools, copy)
        case Entry():
            return _entered(subject, calls, tools, copy)
        case Group():
            return next_taken(subject, calls, messages, tools, copy)
        case ListMark():
            return _marked(subject, calls, tools, copy)
        case Copying():
            return _copied(subject, calls, tools, copy)
        case _:
            assert_never(subject)


def stopped_at(
    directed: Directed | None, calls: Sequence[ToolMessage], messages: Sequence[Message], tools: Sequence[Tool], copy: Copy
) -> str:
    """What is said of calls of which the last one did not run, with the files of a group that nobody was asked about after it."""
    said = copy.explain_outcome(calls[-1].call["name"], calls[-1].result)
    if directed is None or not isinstance(directed.subject, Group) or not changes_among(calls, tools):
        return said
    left = [f"delete {path}" for path in left_of(directed.subject, calls, messages, tools, copy)]
    return f"{said}\n\n{copy.name_the_rest(left)}" if left else said


def _assigning(wish: str, tools: Sequence[Tool], words: Mapping[str, Any]) -> Directed | None:
    assignment, reader = assignment_in(wish), reader_among(tools)
    if assignment is None or reader is None or _editor_among(tools) is None:
        return None
    plain = plain_call(wish, tools, words)
    return Directed(assignment, ProposedCall(reader[0], {reader[1]: assignment.file}), plain)


def _seeking(wish: str, tools: Sequence[Tool], words: Mapping[str, Any]) -> Directed | None:
    sought = sought_setting(wish)
    if sought is None or reader_among(tools) is None or _editor_among(tools) is None:
        return None
    # What somebody has a tool for, such as a lamp, stands in no file.
    brought = [tool for tool in tools if tool["name"] not in words["action"]["descriptions"]]
    first = None if tools_called_for(wish, brought, is_order=True) else seeking_call(sought, 0, tools)
    return None if first is None else Directed(sought, first)


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
        is_neither = assignment.switches and len(lines) == 1
        sentence = "settingNeither" if is_neither else "settingSeveral" if lines else "settingMissing"
        return copy.say(sentence, file=source.name, key=assignment.key)
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
    listed, search = _LIST.search(trim(wish)), name_searcher(tools)
    found = listed or _FILED.search(trim(wish))
    if found is None or search is None or able_for(Carry.ADD, tools) is None or reader_among(tools) is None:
        return None
    entry = [word.bare for word in words_of(found[1])]
    names_thing = any(is_thing(found[1][word.start : word.end]) for word in words_of(found[1]))
    is_result = not entry or entry[0] in _LEANING or not _RESULTS.isdisjoint(entry[:_FEW])
    if is_result or names_thing or len(asked_acts(wish)) > 1:
        return None
    text = found[1][1:-1] if QUOTED.fullmatch(found[1]) else found[1]
    if listed is None:
        file = found[2].removeprefix("./")
        call = ProposedCall(search[0], {search[1]: f"*{file.rpartition('/')[2]}*"})
        return Directed(Entry(text, (), file), call) if _is_list(file) else None
    telling = _telling_words(found[2])
    return Directed(Entry(text, telling), ProposedCall(search[0], {search[1]: f"*{'*'.join(telling)}*"}))


def _is_list(file: str) -> bool:
    """Whether a file is a list by its name, or by a folder of lists. One of notes holds texts of any kind."""
    folder, _, name = file.lower().rpartition("/")
    return not _LISTED.isdisjoint(map(root_of, _LETTERS.findall(name))) or "list" in map(root_of, _LETTERS.findall(folder))


def _entered(entry: Entry, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy) -> ProposedCall | str | None:
    adder, reader = able_for(Carry.ADD, tools), reader_among(tools)
    assert adder is not None
    assert reader is not None
    if changes_among(calls, tools):
        return None
    if calls[-1].call["name"] == reader[0]:
        source = source_of(calls[-1])
        return ProposedCall(adder[0], {adder[1]: source.name, adder[2]: f"{_bullet_of(source.text)}{entry.text}\n"})
    if entry.file and entry.file not in found_files(calls[-1], tools):
        return ProposedCall(adder[0], {adder[1]: entry.file, adder[2]: f"{entry.text}\n"})
    if entry.file:
        return ProposedCall(reader[0], {reader[1]: entry.file})
    return _list_among(entry.named, calls[-1], reader, tools, copy)


def _list_among(
    named: Sequence[str], look: ToolMessage, reader: tuple[str, str], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str:
    """The call that reads the one file of a search which is called so; the words where there is none, or more of them."""
    files = [each for each in found_files(look, tools) if _holds(each.rpartition("/")[2], named)]
    return ProposedCall(reader[0], {reader[1]: files[0]}) if len(files) == 1 else not_one(" ".join(named), files, copy)


def _telling_words(name: str) -> Sequence[str]:
    """The words of a list's name that are looked for."""
    named = _LETTERS.findall(name.lower())
    return [root_of(word) for word in named if word not in _GENERAL] or named[-1:]


def _bullet_of(text: str) -> str:
    """How the last entry of a list begins, its box empty."""
    last = next((line for line in reversed(lines_of(text)) if trim(line)), "")
    found = _BULLET.match(last)
    return re.sub(r"\[[xX]\]", "[ ]", found[0]) if found else ""


def _removing(wish: str, messages: Sequence[Message], tools: Sequence[Tool], copy: Copy) -> Directed | None:
    group = group_in(wish)
    first = None if group is None else first_taken(group, messages, tools, copy)
    return None if group is None or first is None else Directed(group, first)


def _marking(wish: str, messages: Sequence[Message], tools: Sequence[Tool]) -> Directed | None:
    mark, reader, search = mark_in(wish), reader_among(tools), name_searcher(tools)
    if mark is None or reader is None or search is None or _editor_among(tools) is None or len(asked_acts(wish)) > 1:
        return None
    file = mark.file or ("" if mark.listed else _read_last(messages, reader))
    if file:
        return Directed(replace(mark, file=file), ProposedCall(reader[0], {reader[1]: file}))
    # What somebody has done stands on the list of what is to do.
    named = mark.listed or (TASKS[0] if mark.ticks else "")
    telling = _telling_words(named)
    if not telling:
        return None
    return Directed(replace(mark, listed=" ".join(telling)), ProposedCall(search[0], {search[1]: f"*{'*'.join(telling)}*"}))


def _read_last(messages: Sequence[Message], reader: tuple[str, str]) -> str:
    """The file that was read last in the conversation; empty where none was."""
    calls = [each for each in messages if isinstance(each, ToolMessage) and each.result["outcome"] == "ok"]
    return next((str(each.call["arguments"][reader[1]]) for each in reversed(calls) if each.call["name"] == reader[0]), "")


def _marked(mark: ListMark, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy) -> ProposedCall | str | None:
    editor, reader, last = _editor_among(tools), reader_among(tools), calls[-1]
    assert editor is not None
    assert reader is not None
    if changes_among(calls, tools):
        return None
    if last.call["name"] != reader[0]:
        return _list_among(mark.listed.split(), last, reader, tools, copy)
    source = source_of(last)
    lines = marked_lines(mark, source.text)
    change = mark_change(mark, lines[0], source.text) if len(lines) == 1 else None
    if change is None:
        sentence = "entrySeveral" if len(lines) > 1 else "entryUnmarked" if lines else "entryMissing"
        return copy.say(sentence, file=source.name, entry=mark.entry, line=trim(lines[0]) if lines else "")
    if change.old == change.new:
        return copy.say("settingSame", file=source.name, line=trim(change.old))
    tool, path, old, new = editor
    return ProposedCall(tool, {path: source.name, old: change.old, new: change.new})


def _copying(wish: str, tools: Sequence[Tool]) -> Directed | None:
    copying, reader = copying_in(wish), reader_among(tools)
    is_made = any("copy" in parts_of(tool["name"]) for tool in tools)
    if copying is None or reader is None or is_made or able_for(Carry.KEEP, tools) is None:
        return None
    return Directed(copying, ProposedCall(reader[0], {reader[1]: copying.file}))


def _copied(copying: Copying, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy) -> ProposedCall | str | None:
    writer, source = able_for(Carry.KEEP, tools), source_of(calls[-1])
    assert writer is not None
    if changes_among(calls, tools):
        return None
    # A copy that lacks a part of the file, or a secret that nobody may see, would be none.
    if not source.whole or page_of(calls[-1].result["content"]).note or _REDACTED in source.text:
        return copy.say("notCopied", file=source.name)
    return ProposedCall(writer[0], {writer[1]: copying.to, writer[2]: source.text})


def _holds(name: str, words: Sequence[str]) -> bool:
    return all(word in name.lower() for word in words)
