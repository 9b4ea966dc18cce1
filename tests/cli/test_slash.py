"""What a line at the prompt asks for."""

from __future__ import annotations

import pytest

from gateway.cli.terminal.slash import (
    CallCommand,
    CommandMistake,
    InspectCommand,
    PlainCommand,
    ToolsCommand,
    Typed,
    TypedMessage,
    read_typed,
)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (" /tools ", ToolsCommand("")),
        ("/tools read notes", ToolsCommand("read notes")),
        ("/more", PlainCommand("more")),
        ("/help", PlainCommand("help")),
        ("exit", PlainCommand("exit")),
        ("quit", PlainCommand("exit")),
        (":quit", PlainCommand("exit")),
        ("/exit", PlainCommand("exit")),
        ("/inspect read_file", InspectCommand("read_file")),
        ("/call now", CallCommand("now", {})),
        ('/call read_file {"path": "a b"}', CallCommand("read_file", {"path": "a b"})),
        ("", TypedMessage("")),
        ("exit the program", TypedMessage("exit the program")),
        ("/etc/hosts is what?", TypedMessage("/etc/hosts is what?")),
        ("what is in /tools", TypedMessage("what is in /tools")),
    ],
)
def test_only_a_known_word_after_a_slash_is_a_command(line: str, meant: Typed) -> None:
    assert read_typed(line) == meant


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/more now", "takes nothing after it"),
        ("/inspect", "Which tool?"),
        ("/inspect a b", "Which tool?"),
        ("/call", "Which tool?"),
        ("/call now [1]", "one JSON object"),
        ("/call now {oops", "one JSON object"),
        ("/frobnicate", "There is no command `/frobnicate`"),
    ],
)
def test_what_is_no_command_says_why_and_does_not_reach_a_model(line: str, why: str) -> None:
    typed = read_typed(line)
    assert isinstance(typed, CommandMistake)
    assert why in typed.why
