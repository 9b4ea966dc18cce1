"""What an argument may repeat out of what the person wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.agent.browser import SPACE
from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, UserMessage
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import QUOTED, is_spaced_name, without_given

_MOST_STRINGS: Final = LIMITS.copied_strings
"""More than this is a pasted document, and a grammar of it would take longer than the answer."""

_SPACES = re.compile(f"[{SPACE}]+")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`|“([^”\n]+)”")
_URL = re.compile(r"https?://")
_ENDED = re.compile(r"\.[A-Za-z][A-Za-z0-9]*\Z")
_FILE = re.compile(r"[^/]\.[A-Za-z][A-Za-z0-9]*\Z")
"""How the name of a file ends. `.config` is a folder as well as a file."""

_AMOUNT = re.compile(r"[$€£¥]?[0-9][0-9.,/]*[%$€£¥]?")
_BACK = re.compile(rf"\b(?:{any_of(VOCABULARY.file_references)})\b", re.ASCII | re.IGNORECASE)
"""Words by which a wish may be about files that it does not name."""

_POINTED = re.compile(rf"\b(?:{any_of(VOCABULARY.pointed_files)})\b", re.ASCII | re.IGNORECASE)

_BARE = frozenset(VOCABULARY.bare_files)
_NO_FOLDERS = frozenset(VOCABULARY.no_folders)
"""Words of any sentence, none of which names a folder by itself. With a slash at its end it does."""

_HOLDING = frozenset(VOCABULARY.folder_nouns)
_PLACING = frozenset((*VOCABULARY.inside_words, *VOCABULARY.placing_words))
_DETERMINERS = frozenset(WISH_WORDS.determiners)

_BEFORE = "\"'`()[]<>,;:!?"
_AFTER = _BEFORE + "."


@dataclass(frozen=True, slots=True)
class CopyableStrings:
    """The strings that a person wrote and that an argument may repeat."""

    names: Sequence[str]
    files: Sequence[str]
    folders: Sequence[str]
    urls: Sequence[str]


NOTHING_SAID: Final = CopyableStrings((), (), (), ())


def copyable_strings(messages: Sequence[Message], wish: str = "") -> CopyableStrings:
    """What can be copied out of everything the person wrote in this conversation.

    A path, file or address that a small model uses has to be one of these: it cannot make one up, nor take one out of what a
    file said. A `wish` that names its files is about no others: shown an older name, a small model writes over that one. So are
    its folders: those where a folder's name stands, or else all its words that can be one.
    """
    texts = [message.content for message in reversed(messages) if isinstance(message, UserMessage)]
    names, urls = _strings_in(texts)
    naming = _strings_in([without_given(text) for text in texts])[0]
    own = _strings_in([without_given(wish)])[0]
    named = _files_in(own)
    is_plain = any(map(_ENDED.search, named)) and not _BACK.search(wish)
    folders = folders_said(wish) or _folders_in(own) or _folders_in(naming)
    return CopyableStrings(names, named if is_plain else _files_in(naming), folders, urls)


def points_back(wish: str) -> bool:
    """Whether a wish may be about a file that another one names: "it", "that note"."""
    return _BACK.search(wish) is not None or _POINTED.search(wish) is not None


def _strings_in(texts: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What can be copied out of texts: names, and addresses."""
    quoted = [found[1] or found[2] or found[3] or found[4] for text in texts for found in _QUOTED.finditer(text)]
    plain = [word.lstrip(_BEFORE).rstrip(_AFTER) for text in texts for word in _SPACES.split(_without_spaced(text))]
    strings = [word for word in dict.fromkeys((*plain, *quoted)) if word][:_MOST_STRINGS]
    urls = [word for word in strings if _URL.match(word)]
    return [word for word in strings if word not in urls], urls


def _without_spaced(text: str) -> str:
    """A text without the names that have spaces in them: no piece of one is a name."""
    return QUOTED.sub(lambda quoted: " " if is_spaced_name(quoted[0][1:-1]) else quoted[0], text)


def _files_in(names: Sequence[str]) -> Sequence[str]:
    """The names that can be files'. An amount is none, for all its dot. A file without an ending is known by its spelling, where
    no other is named."""
    named = [name for name in names if ("/" in name or "." in name) and not name.endswith("/") and not _AMOUNT.fullmatch(name)]
    return named or [name for name in names if name in _BARE]


def _folders_in(names: Sequence[str]) -> Sequence[str]:
    """The names that can be folders': neither a file's nor a word such as "here", for which there is the folder `.`."""
    return [name for name in names if not (_FILE.search(name) or name in _BARE or name.lower() in _NO_FOLDERS)]


def folders_said(wish: str) -> Sequence[str]:
    """The folders that a wish names where a folder's name stands."""
    return _folders_in(_placed_in(without_given(wish)))


def _placed_in(wish: str) -> Sequence[str]:
    """The words of a wish that stand where a folder's name does: "in the mail", "the mail folder", "mail/"."""
    words = [bare for word in _SPACES.split(_without_spaced(wish)) if (bare := word.lstrip(_BEFORE).rstrip(_AFTER))]
    placed: list[str] = []
    before = ""
    for word, after in zip(words, [*words[1:], ""], strict=False):
        lowered = word.lower()
        is_placed = before in _PLACING or after.lower() in _HOLDING
        if "/" in word or (is_placed and lowered not in _PLACING):
            placed.append(word)
        before = before if lowered in _DETERMINERS else lowered
    quoted = [each for each in _strings_in([wish])[0] if " " in each]
    return list(dict.fromkeys((*placed, *quoted)))


def choices_for(tool: str, argument: str, source: CopyableStrings, words: Mapping[str, Any]) -> Sequence[str] | None:
    """What an argument of a built-in tool may be, or None when it is free. `words` is prompts.json."""
    match words["action"]["copied"].get(tool, {}).get(argument):
        case "folders":
            return [*source.folders, "."]
        case "files":
            return source.files
        case "urls":
            return source.urls
        case _:
            return None
