"""What a model says in each example of docs/examples, and what of it can be seen afterwards."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.adapters.inference.scripted import Reply
from tests.harness.terminal import call

EXAMPLES: Final = Path(__file__).parents[2] / "docs" / "examples"

_BLOCK: Final = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Walkthrough:
    """An example: its folder, the model's replies in order, the calls that ask a person, and what is different in the end."""

    name: str
    replies: tuple[Reply, ...]
    asks: tuple[str, ...] = ()
    is_done: Callable[[Path], bool] = lambda _workspace: True

    @property
    def answer(self) -> str:
        """The last words."""
        return self.replies[-1].text

    @property
    def commands(self) -> list[list[str]]:
        """The commands of its README, as a shell reads them: terminal, browser, record."""
        return [shlex.split(block) for kind, block in self._blocks() if kind == "sh"]

    @property
    def record(self) -> list[list[str]]:
        """What its README says that the record says, newest first: event, tool, decision, outcome."""
        (listing,) = [block for kind, block in self._blocks() if kind == "text"]
        return [line.split() for line in listing.splitlines()]

    def option(self, command: int, name: str) -> str:
        """The value that a command gives an option."""
        words = self.commands[command]
        return words[words.index(name) + 1]

    def _blocks(self) -> list[tuple[str, str]]:
        return _BLOCK.findall((EXAMPLES / self.name / "README.md").read_text(encoding="utf-8"))


_SHOPPING: Final = "oat milk\neggs\ntwo lemons\nrice\ncake at Lindner's, order 417\n"

WALKTHROUGHS: Final = (
    Walkthrough(
        "log-folder",
        (
            call("list_directory", path="logs"),
            call("search_files", query="error", path="logs"),
            call("read_file", path="logs/database.log"),
            call("read_file", path="logs/web.log"),
            Reply("At 07:01 the database ran out of space, and until 07:05 three requests of web failed. Mail was not affected."),
        ),
    ),
    Walkthrough(
        "debugger",
        (
            call("grep_repo", pattern="test_every_tenth_is_free|class Basket"),
            call("show_file", path="tests/test_basket.py"),
            call("show_file", path="shop/basket.py"),
            call("run_test", name="tests.test_basket.BasketTest.test_every_tenth_is_free"),
            Reply("It fails with 1000 != 900: total() in shop/basket.py divides the count by 11, not by 10."),
        ),
        asks=("run_test",),
    ),
    Walkthrough(
        "household",
        (
            call("list_directory", path="mail"),
            call("read_file", path="mail/2026-03-07-ana.txt"),
            call("read_file", path="lists/shopping.txt"),
            call("write_file", path="lists/shopping.txt", content=_SHOPPING),
            call("send_mail", to="Ana", text="We pick the cake up on Tuesday."),
            Reply("The cake is on the list, and Ana knows that you pick it up."),
        ),
        asks=("write_file", "send_mail"),
        is_done=lambda workspace: (
            (workspace / "lists/shopping.txt").read_text() == _SHOPPING
            and (workspace / "outbox/Ana.txt").read_text() == "We pick the cake up on Tuesday.\n"
        ),
    ),
    Walkthrough(
        "notes-search",
        (
            call("search_files", query="brake"),
            call("read_file", path="notes/bicycle.md"),
            Reply("Karim's workshop, for 35 EUR; it is open until six."),
        ),
    ),
)
