"""One of several papers that is told by what it says, or by what it shows: "which invoice is unpaid", "the photo of a cat"; and a
table that is told by what it is about: "which client has the highest rate", "add up the hours".

The word for the kind stands in the name of all of them, so that it tells nothing: what is looked for is what the words say of the
one, and what was found counts only where it is of that kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.agent.finding import SoughtText, folder_in, query_of, shorter_queries
from gateway.agent.messages import ToolMessage
from gateway.agent.names import Slot, slot_of
from gateway.agent.passages import lines_of
from gateway.agent.picking import KINDS
from gateway.agent.tables import match_of
from gateway.agent.vocabulary import VOCABULARY, any_of

_FLAGS: Final = re.IGNORECASE | re.ASCII
_ARTICLES: Final = rf"(?:(?:{any_of((*VOCABULARY.plural_articles, 'a', 'an'))}) )*"
_TOLD: Final = re.compile(
    rf"\b(?:which|what) ({any_of(KINDS)}) (?:(?:that|which) )?(?:{any_of(VOCABULARY.telling_links)}) {_ARTICLES}(.+)$", _FLAGS
)
_PICTURES: Final = any_of(VOCABULARY.picture_kinds)
_PICTURED: Final = re.compile(rf"\b((?:{_PICTURES})s?) (?:of|with|showing) {_ARTICLES}(\w+)", _FLAGS)
_RANKED: Final = re.compile(
    rf"\b(?:which|what) (\w+) (?:{any_of(VOCABULARY.ranking_verbs)}) the (?:{any_of(VOCABULARY.superlatives)})\b", _FLAGS
)
_SHORT: Final = 3
"""Letters of a word that stands in too many names."""

_SUMMED: Final = re.compile(rf"\b(?:{any_of(VOCABULARY.summing_verbs)}) {_ARTICLES}(\w+)", _FLAGS)


def kind_told(source: str) -> str:
    """The kind of the one paper that words tell from others of its kind, in the singular; empty where they tell none."""
    found = _TOLD.search(source) or _PICTURED.search(source)
    return found[1].lower().removesuffix("s") if found else ""


def told_apart(source: str, asked: str) -> SoughtText | None:
    """What to look for to find the one that is told so, or the table; None for any other words."""
    folder = folder_in(source)
    if found := _TOLD.search(source):
        query = query_of(found[2])
        return SoughtText(query, folder, asked, tuple(shorter_queries(query))) if query else None
    if found := _PICTURED.search(source):
        return SoughtText(f"*{found[2].lower()}*", folder, asked)
    found = _RANKED.search(source) or _SUMMED.search(source)
    noun = found[1].lower() if found else ""
    is_plain = noun in VOCABULARY.figure_nouns or len(noun) < _SHORT
    return None if is_plain else SoughtText(f"*{noun.removesuffix('s')}*", folder, asked, (noun,))


def of_kind(files: Sequence[str], source: str, search: ToolMessage) -> Sequence[str]:
    """Of the files that a search found those of the kind that words tell, where what is looked for stands as a word of its own;
    all of them where they tell no kind."""
    kind = kind_told(source)
    if not kind:
        return files
    query = next(str(value) for name, value in search.call["arguments"].items() if slot_of(name) is Slot.QUERY)
    if "*" not in query:
        whole = re.compile(rf"(?<![^\W_])(?:{any_of([query])})(?![^\W_])", re.IGNORECASE)
        matches = [match for line in lines_of(search.result["content"]) if (match := match_of(line))]
        said = {path for path, text in matches if whole.search(text)}
        files = [file for file in files if file in said]
    return [file for file in files if _is_of(kind, file.lower())]


def _is_of(kind: str, path: str) -> bool:
    """Whether a file is of a kind: a picture by its ending, anything else by its name or its folder's."""
    if kind in VOCABULARY.picture_kinds:
        return path.endswith(tuple(VOCABULARY.picture_endings))
    return any(kind in part or part in VOCABULARY.kind_folders[kind] for part in path.split("/"))
