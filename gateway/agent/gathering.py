"""Questions that files answer by their names, or all of a folder: "which bills are unpaid?", "the total of all receipts".

No list of words tells that bills are somebody's and planets are not; the names of files do. They are looked at first, by
one search that the record shows, and what the question calls by its name is read, a folder as a whole. Rows, sums and counts over
its files are worked out by code. A question that calls nothing by its name goes on as if nobody had looked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.acts import READING, asked_acts, is_thing
from gateway.agent.affairs import may_be_own, own_queries, question_in
from gateway.agent.answers import source_of
from gateway.agent.asked import is_for_another
from gateway.agent.browser import trim
from gateway.agent.called_names import Meant, asks_count, asks_names, calling_terms, compares, meant_in
from gateway.agent.comparing import Measure, measures_in, told_of
from gateway.agent.copy import Copy
from gateway.agent.exclusions import exclusion_in
from gateway.agent.figures import ends_early, figure_in
from gateway.agent.finding import SoughtText, finding_in
from gateway.agent.folder_answers import counted_files, listed_files, told_of_folder
from gateway.agent.further import found_files, looking_for, searches, text_search
from gateway.agent.lane import ProposedCall
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Tool, ToolMessage
from gateway.agent.picking import picked_from
from gateway.agent.ranking import stem, terms_in
from gateway.agent.reading import reader_among
from gateway.agent.taking import name_searcher
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.words import words_of

ALL_NAMES: Final = "*"
"""The search for every name."""

_SUMMING: Final = [verb.partition(" ")[0] for verb in VOCABULARY.summing_verbs]
_ASKING: Final = frozenset(
    (*VOCABULARY.question_openers, *VOCABULARY.comparing_verbs, *_SUMMING, *VOCABULARY.explaining_verbs, "count")
)
_WORLD: Final = frozenset((*VOCABULARY.world_nouns, *VOCABULARY.world_verbs, *VOCABULARY.strange_words))
_OWN: Final = frozenset((*VOCABULARY.owners, *VOCABULARY.speakers))
_KNOWN: Final = frozenset(VOCABULARY.all_words)
_UNTOLD: Final = frozenset((*VOCABULARY.turned_away, *VOCABULARY.advice_modals))
_MOST: Final = LIMITS.gathered_files
_MOST_SEARCHES: Final = 3
_MEASURES: Final = frozenset(VOCABULARY.measures)
_ENDING: Final = re.compile(r"['’]s\Z")


def names_call(wish: str, tools: Sequence[Tool]) -> ProposedCall | None:
    """The search for all names, where a question may be about what the files hold and the policy asks nobody; else None."""
    search, reader = name_searcher(tools), reader_among(tools)
    quiet = {tool["name"] for tool in tools if tool.get("permission") == "auto"}
    if search is None or reader is None or not {search[0], reader[0]} <= quiet:
        return None
    if not _may_call(wish):
        return None
    if not _is_told(wish) and (looking_for(wish, tools) is not None or _is_for_another(wish, tools)):
        return None
    return ProposedCall(search[0], {search[1]: ALL_NAMES})


def _is_for_another(wish: str, tools: Sequence[Tool]) -> bool:
    """Whether another tool answers it: one that has the record of calls has no word of "the app log"."""
    return _KNOWN.isdisjoint(word.bare for word in words_of(wish)) and is_for_another(wish, tools)


def is_names_call(message: ToolMessage, tools: Sequence[Tool]) -> bool:
    """Whether a call is that search."""
    search = name_searcher(tools)
    return search is not None and message.call["name"] == search[0] and message.call["arguments"] == {search[1]: ALL_NAMES}


def after_names(
    wish: str, calls: Sequence[ToolMessage], tools: Sequence[Tool], copy: Copy, most: int
) -> Sequence[ProposedCall] | str | None:
    """What follows that search, the first of these calls, and those after it: reads of up to `most` files at once, a search for
    what the question calls by no name, or the words, which are none where nothing of it stands anywhere and it may be about the
    world; None where the rest is as for any other question."""
    reader, searched = reader_among(tools), [each for each in calls[1:] if searches(each)]
    read = [each for each in calls[1:] if each not in searched]
    assert reader is not None
    if any(each.result["outcome"] != "ok" for each in calls):
        return None
    meant = meant_in(wish, found_files(calls[0], tools)) or (_kept_together(wish, searched[-1], tools) if searched else None)
    if meant is None:
        return None if read or (searched and found_files(searched[-1], tools)) else _search_for(wish, len(searched), tools)
    counts, names = asks_count(wish, meant.folder), asks_names(wish, meant.folder)
    if (len(meant.files) > _MOST and not counts) or (meant.folder and _is_part(searched[-1] if searched else calls[0])):
        return None
    if counts and not searched:
        return counted_files(len(meant.files), meant.folder, copy)
    if names and not searched:
        return listed_files(meant.files, meant.folder, copy)
    if left := meant.files[len(read) :]:
        return [ProposedCall(reader[0], {reader[1]: file}) for file in left[:most]]
    if meant.folder:
        return told_of_folder(wish, meant.folder, [source_of(each) for each in read], copy)
    measures = measures_in([word.bare for word in words_of(wish)])
    return told_of(measures.pop() if len(measures) == 1 else Measure.NONE, read, copy) if len(read) > 1 else None


def _is_part(search: ToolMessage) -> bool:
    """Whether a search found more than it shows: what is said of all files would be wrong."""
    return bool(search.result.get("truncated")) or ends_early(search.result["content"])


def _search_for(wish: str, tried: int, tools: Sequence[Tool]) -> Sequence[ProposedCall] | str | None:
    """The search for the next word of the question that tells something, after so many that were found nowhere."""
    calling = calling_terms(wish)
    words = [word.bare for word in words_of(wish) if not calling.isdisjoint(terms_in(word.bare))][:_MOST_SEARCHES]
    if tried >= len(words):
        return None if may_be_own(wish) or finding_in(wish) is not None else ""
    word = stem(words[tried])
    call = text_search(word, SoughtText(word, "", wish), tools)
    assert call is not None
    return [call]


def _kept_together(wish: str, search: ToolMessage, tools: Sequence[Tool]) -> Meant | None:
    """The folder of which several files have the word, where a number or some of them are asked for."""
    files = found_files(search, tools)
    folders = {file.rpartition("/")[0] for file in files}
    is_one = len(files) > 1 and len(folders) == 1 and "" not in folders
    return Meant(folders.pop(), files) if is_one and _is_told(wish) else None


def _is_told(wish: str) -> bool:
    """Whether rows, a number or one of several things are asked for."""
    opener = words_of(question_in(wish))[:1]
    is_which = bool(opener) and opener[0].bare == "which"
    return figure_in(wish) is not None or exclusion_in(wish) is not None or is_which or compares(wish)


def _may_call(wish: str) -> bool:
    """Whether a wish is a question that the name of a file may be an answer to."""
    words = [_ENDING.sub("", word.bare) for word in words_of(question_in(wish))]
    if not words or any(is_thing(each) for each in wish.split(" ")) or any(each.act != READING for each in asked_acts(wish)):
        return False
    is_plain_how = words[0] == "how" and _MEASURES.isdisjoint(words[1:2])
    if words[0] not in _ASKING or is_plain_how or not _UNTOLD.isdisjoint(words):
        return False
    if picked_from(wish) is not None or not calling_terms(wish):
        return False
    is_own = bool(own_queries(wish)) or not _OWN.isdisjoint(words)
    names = any(each[:1].isupper() for each in trim(wish).split(" ")[1:])
    is_known = words[0] == "which" or exclusion_in(wish) is not None or not _KNOWN.isdisjoint(words) or (_is_told(wish) and names)
    return is_own or (_WORLD.isdisjoint(words) and is_known)
