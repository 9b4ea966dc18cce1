"""What the Tab key offers: commands, names of tools or models after those that take one, files of the workspace in a sentence.

A name with spaces is offered in quotes, as the loop reads it for one name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from gateway.cli.terminal.slash import USAGES
from gateway.core.effects import escape

COMMANDS: Final = tuple(usage.split(" ")[0] for usage, _ in USAGES)

_NAMING_TOOLS: Final = ("/inspect ", "/call ")
_NAMING_MODEL: Final = "/model "
_MOST_ENTRIES: Final = 2000
"""Of a folder that are looked at."""

_QUOTE: Final = "`"
_QUOTED: Final = re.compile(r"(?:\A|(?<=\s))(?P<quote>[`\"])(?P<path>(?:(?!(?P=quote)).)*)\Z", re.DOTALL)
"""A quote that was opened and not closed."""


class Completer:
    """Offers what may stand in place of the word before the cursor. `tools` and `models` may be set anew before each line."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = Path(os.path.realpath(workspace))
        self.tools: Sequence[str] = ()
        self.models: Sequence[str] = ()

    def offer(self, before: str) -> tuple[str, Sequence[str]]:
        """The word, and whole words that it may become, sorted; a folder's ends in a slash."""
        if before.startswith(_NAMING_MODEL):
            # A model's name may have spaces, and nothing stands behind it.
            name = before.removeprefix(_NAMING_MODEL).lstrip()
            return name, _beginning(name, self.models) or _beginning_in_any_case(name, self.models)
        if (opened := _QUOTED.search(before)) is not None:
            return opened[0], _in_quotes(self._paths(opened["path"]), opened["quote"])
        word = before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else ""
        if before.startswith("/") and word == before and (commands := _beginning(word, COMMANDS)):
            return word, commands
        if before.startswith(_NAMING_TOOLS):
            return word, _beginning(word, self.tools) if before.count(" ") == 1 else ()
        paths = sorted(self._paths(word))
        return word, _in_quotes(paths, _QUOTE) if all(" " in path for path in paths) else paths

    def _paths(self, word: str) -> Iterator[str]:
        folder, _, beginning = word.rpartition("/")
        place = Path(os.path.realpath(self._workspace / folder))
        if word.startswith("/") or not place.is_relative_to(self._workspace):
            return
        start = f"{folder}/" if folder else ""
        try:
            with os.scandir(place) as entries:
                for entry in islice(entries, _MOST_ENTRIES):
                    is_hidden = entry.name.startswith(".") and not beginning
                    if entry.name.startswith(beginning) and not is_hidden and _is_plain(entry.name):
                        yield f"{start}{entry.name}{'/' if entry.is_dir(follow_symlinks=False) else ''}"
        except OSError:
            return


def _beginning(word: str, names: Sequence[str]) -> Sequence[str]:
    return sorted(name for name in names if name.startswith(word))


def _beginning_in_any_case(word: str, names: Sequence[str]) -> Sequence[str]:
    """None where the names themselves differ in that: what was typed would become shorter."""
    found = sorted(name for name in names if name.casefold().startswith(word.casefold()))
    return found if len({name[: len(word)] for name in found}) == 1 else ()


def _in_quotes(paths: Iterable[str], quote: str) -> Sequence[str]:
    """Those that can stand in such quotes. A folder's stay open, for what lies in it."""
    return sorted(f"{quote}{path}{'' if path.endswith('/') else quote}" for path in paths if quote not in path)


def _is_plain(name: str) -> bool:
    """Whether the name looks like what it is, and has no space but between its words: a tool may have given it."""
    return escape(name) == name and name.split() == name.split(" ")
