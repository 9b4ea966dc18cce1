"""What is read after a search or a listing, so that a question is answered out of a file and not out of the list.

Reading is all that ever follows here: a name out of a result is given to the one tool that reads and to no other, so that no
text in a result can make anything change or leave the machine. What the person asks to be done with a find is in `carrying`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gateway.agent.acts import READING, asked_acts, is_thing
from gateway.agent.affairs import spends
from gateway.agent.asked import is_for_another
from gateway.agent.code_asked import defining_files, tells_places, told_places
from gateway.agent.copy import Copy
from gateway.agent.endings import answer_ending, ending_call, ending_in, finds_names
from gateway.agent.excerpts import excerpt_of
from gateway.agent.figures import asks_for_figure
from gateway.agent.file_asked import file_asked
from gateway.agent.finding import SoughtText, doubted, finding_in, sought
from gateway.agent.lane import ProposedCall
from gateway.agent.limits import LIMITS
from gateway.agent.mentioned import mentioned_query, told_mentions
from gateway.agent.messages import AssistantMessage, Message, Tool, ToolMessage
from gateway.agent.names import Slot, parts_of, slot_of
from gateway.agent.passages import lines_of
from gateway.agent.picking import joined, kind_folder, pick_of, picked_from, top_kind
from gateway.agent.ranking import terms_in
from gateway.agent.reading import files_read, is_path, reader_among
from gateway.agent.render import required_of
from gateway.agent.several import none_picked, several_found
from gateway.agent.tables import match_of, table_of
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

_MOST: Final = LIMITS.further_reads
_MOST_FOUND: Final = LIMITS.found_files
_MEANING: Final = frozenset(VOCABULARY.meaning_words)
_SEARCHING: Final = frozenset(VOCABULARY.search_verbs)
_IT: Final = frozenset(VOCABULARY.file_references)
_ASKING: Final = frozenset((*VOCABULARY.asking_words, *VOCABULARY.content_verbs))
_LETTERS: Final = re.compile("[^a-z0-9]")
_MOST_ALIKE: Final = 2
"""Passages that are shown of a search by meaning."""

_MOST_WORDS: Final = 10
"""Words of a wish that is about "it" and nothing else."""


def calls_under_way(messages: Sequence[Message], turn_id: str) -> list[ToolMessage]:
    """The calls of the action under way that have closed: those after the last words of the turn; of those that were proposed for
    several actions together the first that no words have told of."""
    calls: list[ToolMessage] = []
    are_several = False
    for each in messages:
        if each.turn_id != turn_id:
            continue
        if isinstance(each, ToolMessage):
            calls.append(each)
        elif isinstance(each, AssistantMessage) and each.tool_calls:
            own, are_several = calls[:1] if are_several else calls, len(each.tool_calls) > 1
            calls = [] if are_several else own
        elif isinstance(each, AssistantMessage):
            calls = calls[1:] if are_several else []
    return calls[:1] if are_several else calls


def looking_for(wish: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The search or the listing with which a question about a file that it only describes begins; None for any other wish."""
    if reader_among(tools) is None:
        return None
    if (pick := picked_from(wish)) is not None:
        lister = lister_among(tools)
        return None if lister is None else ProposedCall(lister[0], {lister[1]: pick})
    finding = finding_in(wish) or doubted(wish)
    if finding is None or (finding.own and is_for_another(wish, tools)):
        return None
    search = text_search(finding.query, finding, tools)
    is_doubted = finding_in(wish) is None
    return None if is_doubted and search is not None and not _runs_by_itself(search.name, tools) else search


def names_for(wish: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The search for files by their ending, or by what they mention, where a wish asks for just that."""
    sought_ending, mentioned = ending_in(wish), mentioned_query(wish)
    if sought_ending is None:
        return text_search(mentioned, SoughtText(mentioned, "", wish), tools) if mentioned else None
    search = text_search(sought_ending.ending, SoughtText(sought_ending.ending, sought_ending.folder, wish), tools)
    return ending_call(sought_ending, search) if search is not None and finds_names(search.name, tools) else None


def found_no_word(wish: str, calls: Sequence[ToolMessage]) -> bool:
    """Whether it was looked for what may as well be of the world, and nothing was found."""
    finding = None if finding_in(wish) is not None else doubted(wish)
    return finding is not None and searches(calls[-1]) and not _ranked_files(finding, calls[-1])


def _runs_by_itself(name: str, tools: Sequence[Tool]) -> bool:
    """Whether the policy lets a tool run without asking anybody."""
    return any(tool["name"] == name and tool.get("permission") == "auto" for tool in tools)


def picked_shown(wish: str, closed: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads the file which a wish means by its place in a folder that was just listed; None for any other wish."""
    reader, lister, folder = reader_among(tools), lister_among(tools), picked_from(wish)
    if reader is None or lister is None or folder is None:
        return None
    listings = [each for each in closed if each.call["name"] == lister[0] and each.result["outcome"] == "ok"]
    shown = next((each for each in listings if str(each.call["arguments"].get(lister[1])).rstrip("/") == folder), None)
    picked = None if shown is None else pick_of(wish, shown)
    return None if picked is None else ProposedCall(reader[0], {reader[1]: picked})


def further_call(wish: str, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """What to read, or to look for, after these calls of one action; None once that is enough. Never more than three."""
    reader = reader_among(tools)
    if reader is None or not calls or len(calls) > _MOST or any(each.result["outcome"] != "ok" for each in calls):
        return None
    if calls[0].call["name"] == reader[0] or ending_in(wish) is not None or mentioned_query(wish):
        return None
    if picked_from(wish) is not None:
        return _picked_call(wish, calls[-1], tools)
    finding = _finding_of(wish, calls)
    return None if finding is None else further_search(finding, calls, tools)


def _picked_call(wish: str, last: ToolMessage, tools: Sequence[Tool]) -> ProposedCall | None:
    """What follows a listing among whose files one is meant: the listing of the folder that keeps such files, or the read."""
    reader, lister = reader_among(tools), lister_among(tools)
    if reader is None or lister is None or last.call["name"] != lister[0]:
        return None
    if folder := kind_folder(wish, last):
        return ProposedCall(lister[0], {lister[1]: folder})
    picked = pick_of(wish, last)
    return None if picked is None else ProposedCall(reader[0], {reader[1]: picked})


def further_search(finding: SoughtText, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """What to read, or to look for, after these calls that began with a search; None once that is enough."""
    reader = reader_among(tools)
    if reader is None or len(calls) > _MOST or not searches(calls[0]):
        return None
    found = [each for each in calls if searches(each)]
    if not (files := _ranked_files(finding, found[-1])):
        return _another_search(finding, found, tools)
    if _is_by_meaning(found[-1].call["name"]) or tells_places(finding.asked, found[-1].result["content"]):
        return None
    read = [each for each in calls if each.call["name"] == reader[0]]
    if finding.one and len(files) > 1:
        files = _called(finding, files)
    if not _can_answer(finding, files) or any(_holds_all(finding, each) for each in read):
        return None
    paths = [each.call["arguments"].get(reader[1]) for each in read]
    unread = [path for path in files if path not in paths]
    return ProposedCall(reader[0], {reader[1]: unread[0]}) if unread else None


def answering_call(wish: str, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ToolMessage:
    """Of the calls of an action the one that answers it: what was read and holds most of the question, else the last."""
    finding = _finding_of(wish, calls)
    return calls[-1] if finding is None else answering_among(finding, calls, tools)


def answering_among(finding: SoughtText, calls: Sequence[ToolMessage], tools: Sequence[Tool]) -> ToolMessage:
    """The same where it is known what is looked for."""
    reader = reader_among(tools)
    read = [each for each in calls if reader is not None and each.call["name"] == reader[0]]
    if len(read) < 2:
        return calls[-1]
    return max(read, key=lambda each: len(_wanted(finding).intersection(terms_in(each.result["content"]))))


def asked_of_file(wish: str, last: ToolMessage, tools: Sequence[Tool]) -> str:
    """The half of a wish that asks something of the file that was found; all of it for any other call."""
    reader = reader_among(tools)
    is_read = reader is not None and last.call["name"] == reader[0]
    asked = (file_asked(wish) or finding_in(wish)) if is_read else None
    return wish if asked is None else asked.asked


def left_open(wish: str, calls: Sequence[ToolMessage], copy: Copy) -> str | None:
    """What the loop says where a search or a listing did not lead to one file; None where it did, or where that is not asked."""
    last = calls[-1]
    if (said := answer_ending(wish, last, copy)) is not None:
        return said
    if (mentioned := mentioned_query(wish)) and searches(last) and not _is_by_meaning(last.call["name"]):
        return told_mentions(mentioned, last, copy)
    if picked_from(wish) is not None:
        table = table_of(last.result["content"], "")
        if table is None or not table.listing:
            return None
        if kind := top_kind(wish, last):
            return copy.say("noFolderOf", kind=kind)
        files = [row.cells[0] for row in table.rows if row.cells[1] == "file"]
        return none_picked(files, copy) if files else None
    finding = _finding_of(wish, calls)
    if finding is None or not searches(last):
        return None
    if (told := told_places(wish, last.result["content"], copy)) is not None:
        return told
    files = _ranked_files(finding, last)
    if finding.defined and not files:
        return copy.say("notDefined", query=finding.query.rstrip("("))
    if files and _is_by_meaning(last.call["name"]):
        # It finds something for every question: what is near is shown, and no model makes an answer of it.
        nearest = [line for line in lines_of(last.result["content"]) if match_of(line)]
        shown = excerpt_of("\n".join(nearest[:_MOST_ALIKE])).text
        return f"{copy.say('nearest', query=finding.query)}\n\n{shown}"
    return several_found(query_that_found([last]) if files else finding.query, files, copy)


def pointed_reading(wish: str, messages: Sequence[Message], tools: Sequence[Tool]) -> ProposedCall | None:
    """The call that reads "it", where the newest call of the conversation found one file; None for any other wish."""
    reader = reader_among(tools)
    last = next((each for each in reversed(messages) if isinstance(each, ToolMessage)), None)
    words = words_of(wish)
    bare = {word.bare for word in words}
    is_about_it = not bare.isdisjoint(_IT) and len(words) <= _MOST_WORDS and not bare.isdisjoint(_ASKING)
    names_thing = any(is_thing(wish[word.start : word.end]) for word in words)
    if reader is None or last is None or not is_about_it or names_thing or any(each.act != READING for each in asked_acts(wish)):
        return None
    files = [*files_read(wish, last, reader), *found_files(last, tools)]
    return ProposedCall(reader[0], {reader[1]: files[0]}) if len(files) == 1 else None


def found_files(message: ToolMessage, tools: Sequence[Tool]) -> list[str]:
    """The files that a listing or a search shows, by their paths."""
    is_listing = any(tool["name"] == message.call["name"] and _is_reading(tool) for tool in tools)
    if not is_listing or message.result["outcome"] != "ok":
        return []
    lines = lines_of(message.result["content"])
    table = table_of(message.result["content"], "")
    if table is not None and table.listing and not any(map(match_of, lines)):
        return [joined(message.call["arguments"], row.cells[0]) for row in table.rows if row.cells[1] == "file"]
    paths = [match[0] if match else line for line in lines if (match := match_of(line)) or is_path(line)]
    return list(dict.fromkeys(paths))


def resolved(call: ProposedCall, messages: Sequence[Message], tools: Sequence[Tool]) -> ProposedCall:
    """A call that reads a file by a bare name, with the path that the newest listing or search has for it, where that is one."""
    reader = reader_among(tools)
    given = call.arguments.get(reader[1]) if reader is not None and call.name == reader[0] else None
    shown = next((each for each in reversed(messages) if isinstance(each, ToolMessage) and found_files(each, tools)), None)
    if reader is None or shown is None or not isinstance(given, str) or not given or "/" in given:
        return call
    wanted = given.lower()
    paths = [path for path in found_files(shown, tools) if wanted in spellings(path)]
    return replace(call, arguments={**call.arguments, reader[1]: paths[0]}) if len(paths) == 1 else call


def spellings(path: str) -> tuple[str, str]:
    """The name of a file, with its ending and without."""
    name = path.rpartition("/")[2].lower()
    return name, name.rpartition(".")[0] or name


def _finding_of(wish: str, calls: Sequence[ToolMessage]) -> SoughtText | None:
    """What is looked for: by the words of the wish, or by the search that the model chose for it."""
    queries = _queries_in(calls[0])
    return finding_in(wish) or ((doubted(wish) or sought(wish, queries[0])) if queries else None)


def _queries_in(message: ToolMessage) -> list[str]:
    """What a call looks for."""
    arguments = message.call["arguments"].items()
    return [value for name, value in arguments if slot_of(name) is Slot.QUERY and isinstance(value, str)]


def _called(finding: SoughtText, files: Sequence[str]) -> list[str]:
    """Of several files the one whose name is what is looked for and nothing else; none where that is not one."""
    wanted = _LETTERS.sub("", finding.query.lower())
    called = [each for each in files if _LETTERS.sub("", spellings(each)[1]) == wanted]
    return called if len(called) == 1 else []


def _can_answer(finding: SoughtText, files: Sequence[str]) -> bool:
    """Whether one of so many files can answer. A number that is worked out of one is wrong where others have a part of it."""
    is_shared = finding.own and len(files) > 1 and (asks_for_figure(finding.asked) or spends(finding.asked))
    return len(files) <= _MOST_FOUND and not is_shared


def _another_search(finding: SoughtText, found: Sequence[ToolMessage], tools: Sequence[Tool]) -> ProposedCall | None:
    """What to look for where nothing was found: other words, then, where a tool does that, the meaning."""
    tried = {str(value).lower() for each in found for value in each.call["arguments"].values()}
    query = next((each for each in (finding.query, *finding.others) if each.lower() not in tried), None)
    if query is not None and len(found) < _MOST:
        return text_search(query, finding, tools)
    by_meaning = _only([tool for tool in tools if _is_reading(tool) and _is_by_meaning(tool["name"])], Slot.QUERY)
    # Of a name in a program no other words come near.
    if finding.defined or by_meaning is None or any(each.call["name"] == by_meaning[0] for each in found):
        return None
    return ProposedCall(by_meaning[0], {by_meaning[1]: finding.asked if finding.own else finding.query})


def searches(message: ToolMessage) -> bool:
    """Whether a call looks for something."""
    return not _SEARCHING.isdisjoint(parts_of(message.call["name"]))


def query_that_found(calls: Sequence[ToolMessage]) -> str:
    """What the last search among these calls looked for; empty where none searched."""
    searched = [query for each in calls if searches(each) for query in _queries_in(each)]
    return searched[-1] if searched else ""


def _is_by_meaning(name: str) -> bool:
    return not _SEARCHING.isdisjoint(parts_of(name)) and not _MEANING.isdisjoint(parts_of(name))


def text_search(query: str, finding: SoughtText, tools: Sequence[Tool]) -> ProposedCall | None:
    """A search for words, or by meaning where no tool looks for words."""
    searcher = searcher_among(tools)
    if searcher is None:
        return None
    schema: Mapping[str, Any] = next(tool["paramSchema"] for tool in tools if tool["name"] == searcher[0])
    properties: Mapping[str, Any] = schema.get("properties", {})
    folders = [name for name in properties if slot_of(name) is Slot.PATH] if finding.folder else []
    return ProposedCall(searcher[0], {searcher[1]: query, **dict.fromkeys(folders[:1], finding.folder)})


def searcher_among(tools: Sequence[Tool]) -> tuple[str, str] | None:
    """The one tool that searches, for words where one does that, and the argument that it looks for."""
    searchers = [tool for tool in tools if _is_reading(tool) and not _SEARCHING.isdisjoint(parts_of(tool["name"]))]
    return _only([tool for tool in searchers if not _is_by_meaning(tool["name"])] or searchers, Slot.QUERY)


def lister_among(tools: Sequence[Tool]) -> tuple[str, str] | None:
    """The one tool that lists a folder, and the argument that is its path."""
    return _only([tool for tool in tools if _is_reading(tool) and "list" in parts_of(tool["name"])], Slot.PATH)


def _only(tools: Sequence[Tool], slot: Slot) -> tuple[str, str] | None:
    """The one tool and the one argument that it needs, where that is of this kind."""
    required = required_of(tools[0]["paramSchema"]) if len(tools) == 1 else []
    return (tools[0]["name"], required[0]) if len(required) == 1 and slot_of(required[0]) is slot else None


def _is_reading(tool: Tool) -> bool:
    return tool["category"] == "read" and READING not in parts_of(tool["name"])


def _ranked_files(finding: SoughtText, search: ToolMessage) -> list[str]:
    """The files that a search found, those first whose lines hold most of the question, then those with most lines."""
    files = defining_files(finding.query.rstrip("("), search.result["content"]) if finding.code else []
    if files or finding.defined:
        return files
    held: dict[str, set[str]] = {}
    begun: dict[str, int] = {}
    counts: dict[str, int] = {}
    begins = _beginning_of(finding, search)
    for line in filter(begins.search, lines_of(search.result["content"])):
        match = match_of(line)
        path = match[0] if match else line
        if match or is_path(line):
            held.setdefault(path, _wanted(finding).intersection(terms_in(path))).update(
                _wanted(finding).intersection(terms_in(match[1] if match else line))
            )
            counts[path] = counts.get(path, 0) + 1
            # What a line begins with it tells of: "E021: the reading is old".
            first = terms_in(match[1] if match else line)[:1]
            begun[path] = begun.get(path, 0) + (first == terms_in(finding.query)[:1])
    meant = [path for path in held if not finding.apart or held[path] or spellings(path)[0].startswith(finding.query)]
    # What is called so is meant before what only speaks of it: "todo".
    called = {path: finding.own and finding.query.lower() in spellings(path)[0] for path in meant}
    return sorted(meant, key=lambda path: (-len(held[path]), not called[path], -begun[path], -counts[path]))


def _beginning_of(finding: SoughtText, search: ToolMessage) -> re.Pattern[str]:
    """What a line has to hold: where the loop itself chose what to look for, a word that begins with it. "Take" is no mistake."""
    looked = next((str(value) for name, value in search.call["arguments"].items() if slot_of(name) is Slot.QUERY), "")
    is_by_words = finding.own and not _is_by_meaning(search.call["name"])
    return re.compile(rf"(?<![^\W_]){re.escape(looked.strip('*'))}" if is_by_words else "", re.IGNORECASE)


def _wanted(finding: SoughtText) -> set[str]:
    """What the question asks for beside what was looked for."""
    light = {term for word in (*VOCABULARY.light_words, *VOCABULARY.asking_words) for term in terms_in(word)}
    return set(terms_in(finding.asked)) - light - set(terms_in(finding.query))


def _holds_all(finding: SoughtText, read: ToolMessage) -> bool:
    return _wanted(finding).issubset(terms_in(read.result["content"]))
