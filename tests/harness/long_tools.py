"""Tools whose results are longer than what is handed out of them."""

from __future__ import annotations

from gateway.adapters.tools import ToolContext, ToolFailed, tool

SECRET = "AKIA" + "IOSFODNN7EXAMPLE"
ADDRESS = "ada.lovelace@analytical-engines.example.com"


def lines_of(lines: int) -> str:
    """So many numbered lines; every hundredth names a lighthouse."""
    return "".join(f"{place:06} {'lighthouse' if place % 100 == 0 else 'sea'}\n" for place in range(1, lines + 1))


@tool(category="read", trust="trusted", result_cap=1024)
def recite(lines: int) -> str:
    """Give so many lines."""
    return lines_of(lines)


@tool(category="read", labels=("label:confidential",), result_cap=1024)
def confess(lines: int) -> str:
    """Give so many lines that are confidential."""
    return lines_of(lines)


@tool(category="read", result_cap=1024)
def leak(before: int) -> str:
    """Give a credential and an address behind so many characters, and lines after them."""
    return f"{'x' * before} {SECRET}\n{lines_of(40)}{'y' * before} {ADDRESS}\n{lines_of(200)}"


@tool(category="read", result_cap=1024)
def sprawl(megabytes: int) -> str:
    """Give so many megabytes on one line."""
    return "lighthouse " * (megabytes * 1024 * 1024 // 11)


@tool(category="read")
def chatter(megabytes: int, context: ToolContext) -> str:
    """Report one line of so many megabytes as progress."""
    context.progress("sea " * (megabytes << 18), None)
    return "done"


@tool(category="read", trust="trusted", result_cap=1024)
def drone(megabytes: int) -> str:
    """Give so many megabytes that are slow to look through: many beginnings of credentials, none of which is one."""
    return "mongodump login: docker 1Q~ token value key= -us1 sk- 1000. gl " * (megabytes * 1024 * 1024 // 64)


@tool(category="read")
def give_up(before: int, after: int) -> str:
    """Fail, with a credential behind so many characters, and so many after it."""
    raise ToolFailed(f"{'sea ' * (before // 4)}{' ' * (before % 4)}{SECRET}\n{'sea ' * (after // 4)}")
