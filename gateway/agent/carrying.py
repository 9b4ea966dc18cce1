"""From what was found to the call that stands on it: which file is looked for, and which part of a result goes on as data.

A path that was found goes into a call that deletes or moves only where the person's own sentence asked for just that, and only
where it is the one that was found. What a file says never decides what is done, only what is written down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import ACTS
from gateway.agent.affairs import own_queries
from gateway.agent.answers import source_of
from gateway.agent.browser import trim
from gateway.agent.collected import collected, kind_asked
from gateway.agent.copied import folders_said
from gateway.agent.copy import Copy
from gateway.agent.excerpts import excerpt_of
from gateway.agent.figures import Figure, ResultSource, asks_for_figure, bare_figure, figure_in
from gateway.agent.finding import SoughtText, dated_in, described_text, finding_in, folder_in, query_of, shorter_queries
from gateway.agent.further import (
    answering_among,
    found_files,
    further_search,
    lister_among,
    searches,
    text_search,
)
from gateway.agent.lane import ProposedCall
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.outcomes import Carry, OutcomeWish, files_in, outcome_in
from gateway.agent.passages import lines_of
from gateway.agent.picking import KINDS, PICK_OF, TOP, folder_of_kind, kind_folder, kind_in, picked_of, top_kind
from gateway.agent.questions import asks_about_content
from gateway.agent.ranking import terms_in
from gateway.agent.reading import reader_among
from gateway.agent.render import required_of
from gateway.agent.several import none_picked, several_found
from gateway.agent.tables import table_of
from gateway.agent.told_apart import of_kind, told_apart
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import words_of

_LEAD: Final = re.compile(
    rf"^(?:(?:{any_of((*VOCABULARY.fillers, *VOCABULARY.cues, 'pls'))})[, ]+)*"
    rf"(?:(?:{any_of((*VOCABULARY.finding_out, *VOCABULARY.search_phrases))}) )?",
    re.IGNORECASE | re.ASCII,
)
_SEARCHED: Final = re.compile(
    rf"^(?:{any_of(VOCABULARY.search_phrases)}) (?:(?:{any_of((*VOCABULARY.plural_articles, 'through'))}) )*(?:\w+ )?for (.+)$",
    re.IGNORECASE | re.ASCII,
)
"""What a search is for: "search my notes for garlic"."""

_STANDS: Final = re.compile(
    rf"^where (?:{any_of(VOCABULARY.helpers)}) (?:(?:{any_of(VOCABULARY.plural_articles)}) )?(.+?) "
    rf"(?:{any_of(VOCABULARY.standing_words)})$",
    re.IGNORECASE | re.ASCII,
)
"""What stands somewhere: "where is the ladder mentioned"."""

_LISTED: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.listing_phrases)})\b", re.IGNORECASE | re.ASCII)
_SPOKEN: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.spoken_names)})\b", re.IGNORECASE | re.ASCII)
"""A file that is told by what it says, and not by its name."""

_LINE: Final = re.compile(rf"\b({any_of(VOCABULARY.line_places)}) (?:line|entry|item)\b", re.IGNORECASE | re.ASCII)
_OF: Final = re.compile(r"\b(?:which|what|one) of (?:the|my|our) ", re.IGNORECASE | re.ASCII)
"""What is followed by files, and by no folder: "which of the weekly reports"."""

_CALLED: Final = re.compile(r"\b(?:the|my|our) (\w+) (?:file|list|notes|manual)\b", re.IGNORECASE | re.ASCII)
"""A file that is told by its name without an ending: "the loans file"."""

_VAGUE: Final = re.compile(rf",? \b(?:{any_of(VOCABULARY.placeless_words)})\b", re.IGNORECASE | re.ASCII)
_NAMES: Final = frozenset({"name", "names", "path", "paths"})
_DOCUMENTS: Final = KINDS.union(VOCABULARY.document_nouns, VOCABULARY.picked_nouns)
_COUNTED: Final = frozenset(VOCABULARY.counted_nouns["file"])
_ASKING: Final = frozenset(VOCABULARY.asking_words) - {"check", "tell"}
_LEANING: Final = frozenset(VOCABULARY.leaning_words)
_WHOLE: Final = frozenset(VOCABULARY.whole_nouns)
_LOOKING: Final = frozenset(ACTS["read"]["verbs"])
_OPENED: Final = 3
"""Words of a wish that only opens a file: "please read a.txt"."""

_MOST_LINES: Final = 3
_FIGURE_NOUNS: Final = frozenset(VOCABULARY.figure_nouns)
_UNTELLING_WORDS: Final = (
    *(*VOCABULARY.light_words, *VOCABULARY.asking_words, *VOCABULARY.figure_nouns),
    *(*VOCABULARY.finding_out, *VOCABULARY.kept_nouns),
)
_UNTELLING: Final = frozenset(term for word in _UNTELLING_WORDS for term in terms_in(word))
"""Terms that tell nothing of the line in which an answer stands."""

_UNNAMING: Final = _DOCUMENTS.union(VOCABULARY.light_words, VOCABULARY.common_terms, VOCABULARY.folder_nouns)
"""Words of "the budget file from there" that a file's name need not have."""

_EXTREMES: Final = frozenset({Figure.LARGEST, Figure.SMALLEST})


@dataclass(frozen=True, slots=True)
class Carrying:
    """A wish that stands on an outcome, as the tools can do it: the first call, the tool that does the second half with its
    arguments for the path and for the rest, and what is looked for or picked."""

    wish: OutcomeWish
    first: ProposedCall
    tool: str
    path: str
    rest: str
    finding: SoughtText | None = None
    pick: str = ""
    adder: tuple[str, str, str] | None = None
    """The tool that adds to a file, with its arguments, where `tool` would write all of one."""

    @property
    def doers(self) -> Sequence[str]:
        """The tools that do the second half."""
        return [self.tool] if self.adder is None else [self.tool, self.adder[0]]

    @property
    def named(self) -> Sequence[str]:
        """The words that the name of the one file has which is meant among those of a folder; none where it is told otherwise."""
        is_taken = self.wish.carry in (Carry.REMOVE, Carry.MOVE) and not self.pick
        return [word.bare for word in words_of(self.wish.kept) if word.bare not in _UNNAMING] if is_taken else []

    @property
    def question(self) -> str:
        """What a file is asked for."""
        is_bare = {word.bare for word in words_of(self.wish.kept)} <= _LEANING or _asks(self.wish.source)
        is_opened = len(words_of(self.wish.source)) <= _OPENED
        asked = f"what is {self.wish.kept}?"
        return self.wish.source if is_bare else asked if is_opened else f"{self.wish.source}. {asked}"

    @property
    def all_words(self) -> str:
        """What is to be found out, and which part of it."""
        return f"{self.wish.source} {self.wish.kept}" if self.wish.kept != self.wish.source else self.wish.source


def carrying_in(wish: str, tools: Sequence[Tool]) -> Carrying | None:
    """What to do for a wish that stands on an outcome; None for any other wish, and where no one tool does a half of it."""
    outcome = outcome_in(wish)
    able = None if outcome is None else able_for(outcome.carry, tools)
    reader = reader_among(tools)
    if outcome is None or able is None or reader is None:
        return None
    adder = able_for(Carry.ADD, tools) if outcome.carry is Carry.KEEP else None
    if files := files_in(outcome.source):
        return Carrying(outcome, ProposedCall(reader[0], {reader[1]: files[0]}), *able, adder=adder)
    listed = _listing_for(outcome, tools)
    if listed is not None:
        return Carrying(outcome, listed, *able, pick=_pick_in(outcome.source) or _pick_in_kept(outcome), adder=adder)
    finding = _finding_for(outcome)
    first = None if finding is None else text_search(finding.query, finding, tools)
    return None if first is None else Carrying(outcome, first, *able, finding=finding, adder=adder)


def is_carried(carrying: Carrying, calls: Sequence[ToolMessage]) -> bool:
    """Whether the second half is done, or was decided."""
    return any(each.call["name"] in carrying.doers for each in calls)


def next_look(carrying: Carrying, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy) -> ProposedCall | str | None:
    """What follows these calls: a further one, which is the second half itself where a path is what goes on; the words where it
    stays open which file is meant; None where what was read goes on."""
    wish, finding = carrying.wish, carrying.finding
    takes_path = wish.carry in (Carry.REMOVE, Carry.MOVE)
    if named := carrying.named:
        files = [each for each in found_files(calls[0], tools) if all(word in each.rpartition("/")[2].lower() for word in named)]
        return carried(carrying, files[0]) if len(files) == 1 else several_found(" ".join(named), files, copy)
    if carrying.pick:
        return _next_picked(carrying, calls, tools, copy)
    if finding is None:
        return None
    search = next(each for each in reversed(calls) if searches(each))
    files = of_kind(found_files(search, tools), wish.source, search) if takes_path else found_files(search, tools)
    query = finding.query.replace("*", "")
    if takes_path or (_keeps_names(wish) and not _asks(wish.source)):
        if not files:
            return further_search(finding, calls, tools) or several_found(query, files, copy)
        if takes_path and len(files) > 1:
            return several_found(query, files, copy)
        return carried(carrying, "\n".join(files))
    if len(files) > 1 and search is calls[-1] and finding.query.startswith("*") and must_be_worked_out(carrying):
        # A number out of one of them is a guess.
        return several_found(query, files, copy)
    further = further_search(finding, calls, tools)
    return several_found(query, files, copy) if further is None and searches(calls[-1]) else further


def _next_picked(
    carrying: Carrying, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy
) -> ProposedCall | str | None:
    """The same where one file is told by how it stands among those of a folder."""
    wish, reader, lister = carrying.wish, reader_among(tools), lister_among(tools)
    assert reader is not None
    assert lister is not None
    listing = next(each for each in reversed(calls) if each.call["name"] == lister[0])
    if folder := kind_folder(wish.source, listing):
        return ProposedCall(lister[0], {lister[1]: folder})
    kind = top_kind(wish.source, listing)
    picked = picked_of(carrying.pick, wish.source, listing)
    if picked is None and kind:
        return copy.say("noFolderOf", kind=kind)
    if picked is None:
        files = found_files(listing, tools)
        return none_picked(files, copy) if files else several_found(wish.source, [], copy)
    if wish.carry in (Carry.REMOVE, Carry.MOVE) or _keeps_names(wish):
        return carried(carrying, picked)
    return ProposedCall(reader[0], {reader[1]: picked}) if calls[-1] is listing else None


def carried(carrying: Carrying, value: str) -> ProposedCall:
    """The second half, with what was found as its data."""
    wish = carrying.wish
    match wish.carry:
        case Carry.REMOVE:
            return ProposedCall(carrying.tool, {carrying.path: value})
        case Carry.MOVE:
            return ProposedCall(carrying.tool, {carrying.path: value, carrying.rest: _place_for(value, wish.target)})
        case _:
            text = f"{value}\n" if not value.endswith("\n") else value
            return ProposedCall(carrying.tool, {carrying.path: wish.target, carrying.rest: text})


def shown_value(carrying: Carrying, calls: Sequence[ToolMessage]) -> str:
    """What was written down, for the person to see; empty where nothing was."""
    done = next(each for each in calls if each.call["name"] in carrying.doers)
    adder = carrying.adder
    rest = adder[2] if adder is not None and done.call["name"] == adder[0] else carrying.rest
    kept = done.call["arguments"].get(rest) if carrying.wish.carry in (Carry.KEEP, Carry.ADD) else None
    return excerpt_of(trim(kept)).text if isinstance(kept, str) else ""


def read_for(carrying: Carrying, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ToolMessage:
    """Of the calls the one whose result goes on."""
    return calls[-1] if carrying.finding is None else answering_among(carrying.finding, calls, tools)


def own_value(carrying: Carrying, answering: ToolMessage) -> str | None:
    """What goes on, where code can tell: a figure, a line by its place, names, the whole. None where words have to be found."""
    source, wish = source_of(answering), carrying.all_words
    lines = [line for line in lines_of(source.text) if trim(line)]
    place = _LINE.search(wish)
    if place is not None and source.has_lines:
        at = VOCABULARY.line_places[place[1].lower()]
        return next(iter(lines[at - 1 : at] if at > 0 else lines[at:]), None)
    if kind := kind_asked(wish):
        return collected(kind, source.text)
    if asks_for_figure(wish):
        return bare_figure(carrying.wish.source, source) or bare_figure(wish, source)
    table = table_of(source.text, "")
    if table is not None and table.listing:
        return "\n".join(row.cells[0] for row in table.rows)
    return source.text if source.has_lines and _is_whole(carrying.wish) else None


def lines_about(question: str, source: ResultSource) -> str:
    """The one line of a file that holds most of a question, or those that hold all that the file has of it; empty where that is
    in doubt. What only comes close to an answer is shown, and goes into no other file."""
    wanted = set(terms_in(question)) - _UNTELLING - set(terms_in(source.name))
    lines = [line for line in lines_of(source.text) if not line.startswith("#")]
    told = wanted.intersection(terms_in("\n".join(lines)))
    counts = [len(told.intersection(terms_in(line))) for line in lines]
    most = max(counts, default=0)
    held = [line for line, count in zip(lines, counts, strict=True) if count == most]
    is_clear = most == len(told) or (len(held) == 1 and 2 * most >= len(told))
    return "\n".join(held[:_MOST_LINES]) if most and is_clear else ""


def must_be_worked_out(carrying: Carrying) -> bool:
    """Whether a number, or all of something, is asked for that nobody may guess."""
    if kind_asked(carrying.all_words):
        return True
    return asks_for_figure(carrying.all_words) and figure_in(carrying.all_words) not in _EXTREMES


def able_for(carry: Carry, tools: Sequence[Tool]) -> tuple[str, str, str] | None:
    """The one tool that does this, its argument for the path, and the other one."""
    words = {
        Carry.KEEP: ("write", {"write", "save"}, 2),
        Carry.ADD: ("write", {"append", "add"}, 2),
        Carry.REMOVE: ("destructive", {*ACTS["delete"]["calls"]}, 1),
        Carry.MOVE: ("write", {*ACTS["move"]["calls"]}, 2),
    }
    category, parts, count = words[carry]
    found: list[tuple[str, str, str]] = []
    for tool in tools:
        required = required_of(tool["paramSchema"])
        paths = [name for name in required if slot_of(name) is Slot.PATH]
        if (
            tool["category"] == category
            and not parts.isdisjoint(parts_of(tool["name"]))
            and len(required) == count
            and len(paths) == 1
        ):
            found.append((tool["name"], paths[0], next((name for name in required if name not in paths), "")))
    return found[0] if len(found) == 1 else None


def _listing_for(outcome: OutcomeWish, tools: Sequence[Tool]) -> ProposedCall | None:
    """The listing with which it begins: of a folder out of which one file is meant, or whose files are counted or named."""
    lister, source = lister_among(tools), outcome.source
    words = {word.bare for word in words_of(source)}
    all_words = f"{source} {outcome.kept}"
    counts = figure_in(all_words) is Figure.COUNT and not _COUNTED.isdisjoint(words)
    names = _keeps_names(outcome) and _LISTED.search(source) is not None
    takes = outcome.carry in (Carry.REMOVE, Carry.MOVE) and bool(outcome.kept)
    if lister is None or not (takes or _pick_in(source) or counts or names):
        return None
    folder = _folder_for(source)
    return ProposedCall(lister[0], {lister[1]: folder}) if folder else None


def _folder_for(source: str) -> str:
    """The folder that words speak of: by its name, or, as with "the newest report", by what it holds."""
    said = folders_said(_OF.sub("", source))
    named = folder_in(source) or (said[0].rstrip("/") if len(said) == 1 else "") or folder_of_kind(source)
    is_top = kind_in(source) != "" or any(word.bare == "here" for word in words_of(source))
    return named or (TOP if is_top else "")


def _pick_in(source: str) -> str:
    """How one file is told among those of a folder; empty where none is."""
    words = [word.bare for word in words_of(source)]
    if _DOCUMENTS.isdisjoint(words) or _LINE.search(source):
        return ""
    return next((PICK_OF[word] for word in words if word in PICK_OF), "")


def _pick_in_kept(outcome: OutcomeWish) -> str:
    """The same where the half after a listing tells it: "list tmp/ and delete the biggest file"."""
    pick = _pick_in(outcome.kept) if outcome.carry in (Carry.REMOVE, Carry.MOVE) else ""
    return "" if pick == "only" else pick


def _finding_for(outcome: OutcomeWish) -> SoughtText | None:
    """What to look for where no file is named."""
    source, takes_path = outcome.source, outcome.carry in (Carry.REMOVE, Carry.MOVE)
    if (dated := dated_in(source)) is not None:
        return dated
    asked = f"{source} {outcome.kept}" if outcome.kept not in source else source
    if (apart := told_apart(source, asked)) is not None:
        return apart
    if not takes_path and (told := finding_in(source)) is not None:
        return told
    text = _VAGUE.sub("", _LEAD.sub("", source))
    searched = _SEARCHED.search(source) or _STANDS.search(source)
    called = _CALLED.search(text)
    described = query_of(searched[1]) if searched else described_text(text)
    if takes_path and not described and text == source and not _asks(source):
        return None
    words = shorter_queries(described) if described else [*own_queries(text), *shorter_queries(text)]
    whole = query_of(text) if takes_path and not described else described
    queries = [each for each in dict.fromkeys((whole, *words)) if each and each.lower() not in _FIGURE_NOUNS]
    if not queries:
        return None
    name = called[1] if called else ""
    if not name and takes_path and not _SPOKEN.search(source):
        name = next(iter(shorter_queries(described or text)), queries[0])
    if name:
        queries = [f"*{name}*", *queries]
    return SoughtText(queries[0], folder_in(source), asked, tuple(queries[1:]))


def _asks(source: str) -> bool:
    """Whether the words ask for something out of a file."""
    return not _ASKING.isdisjoint(word.bare for word in words_of(source)) and asks_about_content(source)


def _keeps_names(wish: OutcomeWish) -> bool:
    """Whether the names of files are what is kept."""
    kept = [word.bare for word in words_of(wish.kept)]
    said = {word.bare for word in words_of(wish.source)}
    is_file = not {"file", "files"}.isdisjoint(kept) or not (_DOCUMENTS | {"in"}).isdisjoint(said)
    return not _NAMES.isdisjoint(kept) and is_file


def _is_whole(wish: OutcomeWish) -> bool:
    """Whether all of a file goes on: a copy of it, or what was only opened."""
    kept = [word.bare for word in words_of(wish.kept)]
    said = [word.bare for word in words_of(wish.source)]
    is_copied = wish.source.strip("\"'`") in files_in(wish.source)
    is_opened = set(kept) <= _LEANING and not _LOOKING.isdisjoint(said) and len(said) <= _OPENED
    return is_copied or not _WHOLE.isdisjoint(kept) or is_opened


def _place_for(path: str, target: str) -> str:
    """Where a file goes: into the folder that was named, or to the new name, in its own folder where that names none."""
    folder, _, name = path.rpartition("/")
    if files_in(target):
        return target if "/" in target or not folder else f"{folder}/{target}"
    return f"{target.rstrip('/')}/{name}"
