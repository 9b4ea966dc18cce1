"""What a question calls by its name, of the files and folders that a search for all names found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gateway.agent.figures import Figure, figure_in
from gateway.agent.ranking import stem, terms_in
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import words_of

_LIGHT_WORDS: Final = (
    *(*VOCABULARY.light_words, *VOCABULARY.asking_words, *VOCABULARY.common_terms, *VOCABULARY.passed_over),
    *(*VOCABULARY.figure_nouns, *VOCABULARY.comparing_verbs, *VOCABULARY.folder_nouns, *VOCABULARY.measures),
    *(word for words in VOCABULARY.figures.values() for word in words),
    *(word for words in VOCABULARY.compared_by.values() for phrase in words for word in phrase.split(" ")),
)
_LIGHT: Final = frozenset(map(stem, _LIGHT_WORDS))
"""Terms that call no file: they say what is done with it."""
_KINDS: Final = [frozenset(map(stem, (kind, *names))) for kind, names in VOCABULARY.kind_folders.items()]
"""Words for the same kind of paper: what is asked of meetings may stand in a folder of minutes."""
_KIND_FORMS: Final = frozenset(name for names in VOCABULARY.kind_folders.values() for name in names)
_COMPARING: Final = frozenset(VOCABULARY.comparing_verbs)
_FILES: Final = frozenset(VOCABULARY.counted_nouns["file"])
_PLACES: Final = frozenset(map(stem, (*VOCABULARY.counted_nouns["file"], *VOCABULARY.folder_nouns)))
"""What is counted and compared for itself, and called by no name."""
_PASSED: Final = re.compile(rf"['’](?:{any_of(VOCABULARY.contractions)})\b|\b(?:not|never)\b", re.IGNORECASE | re.ASCII)
"""What calls nothing. Without its ending, "notes" would be called by a "not"."""

_CLINGING: Final = re.compile(rf"['’](?:{any_of(VOCABULARY.contractions)})\b", re.IGNORECASE | re.ASCII)
_SHORTENED: Final = re.compile(r"n['’]t\b", re.IGNORECASE | re.ASCII)
_WORN: Final = {"can": "can", "wo": "will", "sha": "shall"}
"""Verbs that a "not" has grown into: "can't", "won't", "shan't"."""

_WORN_NOT: Final = re.compile(r"\b(can|wo(?=n)|sha(?=n))n?['’]t\b", re.IGNORECASE | re.ASCII)
_OPENING: Final = re.compile(
    rf"((?:^|[.;!?]\s)\s*(?:(?:{any_of(WISH_WORDS.fillers)})\b,? )*[a-z]+?)n['’]t\b", re.IGNORECASE | re.ASCII
)
"""A verb that is asked with its "not": "isn't the rent due?" denies no rent."""

_DENIED: Final = re.compile(
    rf"\b(?:not|never)\b(?: (?:{any_of((*VOCABULARY.passed_over, *VOCABULARY.common_terms))})\b)*(?: [\w-]+)?",
    re.IGNORECASE | re.ASCII,
)
_DENYING: Final = re.compile(r"(?<![A-Za-z0-9])(?:not|never)(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII)
"""What a name itself says "not" by. Only such a one is called by what is denied: "not paid" calls no "paid.csv"."""

_PLAIN: Final = frozenset(VOCABULARY.plain_listing_words)
_PAIR: Final = 2
_FEW: Final = 3
"""Files that are compared at once."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a question calls by its name: a folder with the files below it, or files; never both."""

    folder: str
    files: Sequence[str]


def meant_in(wish: str, paths: Sequence[str]) -> Meant | None:
    """What a question calls by its name, of these paths; None where that is nothing, or in doubt. A folder may as well be called
    by another word for the same kind of paper, and the only file of its kind by its ending: "the log"."""
    whole = _SHORTENED.sub(" not", _OPENING.sub(r"\1", _WORN_NOT.sub(_as_whole, _CLINGING.sub("", wish))))
    said, denied = set(terms_in(_DENIED.sub(" ", whole))), set(terms_in(whole))
    called = [path for path in paths if _is_called(_stem_of(path), denied if _DENYING.search(_stem_of(path)) else said)]
    if compares(wish):
        files = called
        if len(files) < _PAIR:
            files = [path for path in paths if not said.isdisjoint(_words_in(_stem_of(path)))]
        return Meant("", files) if _PAIR <= len(files) <= _FEW else None
    called = _longest(called)
    files = [path for path in called if _is_called(_stem_of(path), asked_kind(wish))] if len(called) > 1 else called
    if len(files) == 1:
        return Meant("", files)
    folders = list(dict.fromkeys(each for path in paths for each in _folders_of(path)))
    for words, others in ((said, denied), (with_kinds(said), with_kinds(denied))):
        meant = [each for each in folders if _is_called(_last(each), others if _DENYING.search(_last(each)) else words)]
        if meant:
            below = [path for path in paths if path.startswith(f"{meant[0]}/")]
            return Meant(meant[0], below) if len(meant) == 1 else None
    ending = [path for path in paths if path.rpartition(".")[2].lower() in said]
    return Meant("", ending) if len(ending) == 1 and not called else None


def _as_whole(worn: re.Match[str]) -> str:
    """Its verb as it is without the "not" that has grown into it."""
    return f"{_WORN[worn[1].lower()]}n't"


def compares(wish: str) -> bool:
    """Whether it has things compared by that word."""
    return not _COMPARING.isdisjoint(word.bare for word in words_of(wish))


def asked_kind(wish: str) -> set[str]:
    """What is asked for by "which" or "how many"."""
    words = [word.bare for word in words_of(wish)]
    return {term for lead, word in pairwise(words) if lead in ("which", "many") for term in terms_in(word)}


def _longest(files: Sequence[str]) -> list[str]:
    """Those whose names have most words: "spring concert" is called before "spring"."""
    most = max((len(_words_in(_stem_of(path))) for path in files), default=0)
    return [path for path in files if len(_words_in(_stem_of(path))) == most]


def asks_count(wish: str, folder: str) -> bool:
    """Whether it asks how many there are of what a folder is called after, all of them."""
    words = [word.bare for word in words_of(wish)]
    named = with_kinds(set(terms_in(_last(folder))))
    after = words[words.index("many") + 1 :] if "many" in words else []
    is_all = calling_terms(wish) <= named and figure_in(wish) is Figure.COUNT
    return folder != "" and is_all and after != [] and (stem(after[0]) in named or after[0] in _FILES)


def asks_names(wish: str, folder: str) -> bool:
    """Whether it asks which there are of what a folder is called after, all of them: "which recipes do I have?"."""
    words = [word.bare for word in words_of(wish)]
    named = with_kinds(set(terms_in(_last(folder))))
    if folder == "" or words[:1] not in (["which"], ["what"]) or not words[1:2]:
        return False
    if not words[1].endswith("s") and (words[1] in VOCABULARY.kind_folders or words[1] not in _KIND_FORMS):
        return False
    return stem(words[1]) in named and _PLAIN.issuperset(words[2:])


def calling_terms(wish: str) -> set[str]:
    """The terms of a wish that may call something."""
    whole = _all_of(wish)
    return {
        term
        for term in terms_in(_PASSED.sub("", wish))
        if term in whole or term not in _LIGHT or any(term in kind for kind in _KINDS)
    }


def _all_of(wish: str) -> set[str]:
    """The terms of what a number is worked out over, whatever it is called: "the total of all orders"."""
    words = [word.bare for word in words_of(wish)]
    if figure_in(wish) in (None, Figure.COUNT) or "all" not in words:
        return set()
    noun = next((word for word in words[words.index("all") + 1 :] if word not in VOCABULARY.plural_articles), "")
    return set(terms_in(noun)) - _PLACES if noun.endswith("s") else set()


def with_kinds(terms: set[str]) -> set[str]:
    return terms.union(*(kind for kind in _KINDS if not kind.isdisjoint(terms)))


def _folders_of(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[: at + 1]) for at in range(len(parts) - 1)]


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _stem_of(path: str) -> str:
    name = _last(path)
    return name.rpartition(".")[0] or name


def _words_in(name: str) -> list[str]:
    """The words of a name: no figures, which are days and numbers."""
    return [term for term in terms_in(name) if not any(map(str.isdigit, term))]


def _is_called(name: str, said: set[str]) -> bool:
    words = _words_in(name)
    return bool(words) and said.issuperset(words)
