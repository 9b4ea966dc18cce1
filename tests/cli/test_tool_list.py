"""The list of tools in the terminal: by source, with words for what each needs, a page at a time however many there are."""

from __future__ import annotations

from typing import Any

from gateway.cli.terminal.tool_list import ToolPages


def tool(name: str, source: str, permission: str, description: str = "Does it.\nAnd more.") -> dict[str, Any]:
    return {"name": name, "source": source, "permission": permission, "description": description}


BUILT_IN = [
    tool("read_file", "builtin", "auto", "Read a file."),
    tool("write_file", "builtin", "consent"),
    tool("delete_file", "builtin", "stepUp"),
    tool("reboot", "builtin", "forbidden"),
]
MANY = [tool(f"shop__order_{at:04}", "http:shop", "forbidden", f"Order number {at}.") for at in range(2_000)]
AWAY = [tool("notes__read", "mcp:notes", "forbidden")]
OBSTACLES = [
    {"reason": "forbidden", "why": "Only an operator may", "tools": ["reboot"]},
    {"reason": "forbidden", "why": "nobody has decided about it yet", "tools": [each["name"] for each in MANY]},
    {"reason": "sourceUnavailable", "why": "`notes` is away: no licence", "tools": ["notes__read"]},
]


def test_tools_stand_below_their_source_with_what_each_needs_or_why_it_cannot_be_called() -> None:
    pages = ToolPages([*BUILT_IN, *AWAY], OBSTACLES)
    assert list(pages.next()) == [
        "builtin, 4 tools",
        "  read_file: Read a file. (runs by itself)",
        "  write_file: Does it. (needs your yes)",
        "  delete_file: Does it. (needs your passkey)",
        "  reboot: Does it. (is not allowed: Only an operator may)",
        "mcp:notes, one tool",
        "  notes__read: Does it. (is unavailable: `notes` is away: no licence)",
        "5 tools.",
    ]
    assert not pages.has_more


def test_thousands_of_tools_are_read_a_page_at_a_time_and_none_is_left_out() -> None:
    pages = ToolPages([*BUILT_IN, *MANY, *AWAY], OBSTACLES)
    first = list(pages.next())
    assert first[5:8] == [
        "http:shop, 2,000 tools",
        "  2,000 tools cannot be called: nobody has decided about it yet",
        "  shop__order_0000: Order number 0. (is not allowed)",
    ]
    assert first[-1] == "40 of 2,005 tools. `/more` shows the next ones, `/tools WORDS` finds some."
    second = list(pages.next())
    assert second[:2] == ["http:shop, continued", "  shop__order_0036: Order number 36. (is not allowed)"]
    lines = [*first, *second]
    while pages.has_more:
        page = list(pages.next())
        assert len(page) <= 44
        lines += page
    names = [line.strip().partition(":")[0] for line in lines if line.startswith("  ") and ": " in line and "cannot" not in line]
    assert names == [each["name"] for each in [*BUILT_IN, *MANY, *AWAY]]


def test_words_narrow_the_list_by_name_first_line_and_source_whatever_their_case() -> None:
    pages = ToolPages([*BUILT_IN, *MANY, *AWAY], OBSTACLES, "NUMBER 1234")
    assert list(pages.next()) == [
        "http:shop, one tool",
        "  shop__order_1234: Order number 1234. (is not allowed: nobody has decided about it yet)",
        "one tool of 2,005 with these words.",
    ]
    assert list(ToolPages(BUILT_IN, (), "and more").next()) == ["No tool has all of these words."]
    assert list(ToolPages((), ()).next()) == ["There are no tools."]
