"""What the Tab key offers: commands, tools' names after those that take one, and files of the workspace in a sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from gateway.cli.terminal.slash import USAGES
from gateway.core.effects import escape

COMMANDS: Final = tuple(usage.split(" ")[0] for usage, _ in USAGES)

_NAMING_TOOLS: Final = ("/inspect ", "/call ")
_MOST_ENTRIES: Final = 2000
"""Of a folder that are looked at."""


class Completer:
    """Offers what may stand in place of the word before the cursor. `tools` may be set anew before each line."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = Path(os.path.realpath(workspace))
        self.tools: Sequence[str] = ()

    def offer(self, before: str) -> tuple[str, Sequence[str]]:
        """The word, and whole words that it may become, sorted; a folder's ends in a slash."""
        word = before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else ""
        if before.startswith("/") and word == before and (commands := _beginning(word, COMMANDS)):
            return word, commands
        if before.startswith(_NAMING_TOOLS):
            return word, _beginning(word, self.tools) if before.count(" ") == 1 else ()
        return word, sorted(self._paths(word))

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


def _is_plain(name: str) -> bool:
    """Whether the name is one word, and looks like what it is: a tool may have given it."""
    return escape(name) == name and not any(character.isspace() for character in name)
