"""The tools of a conversation as lines to read: by source, narrowed by words, and so many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, Final

AT_ONCE: Final = 40
"""Tools that are shown before somebody asks for more: about what a screen holds."""

_NEEDS: Final[Mapping[str, str]] = {
    "auto": "runs by itself",
    "consent": "needs your yes",
    "stepUp": "needs your passkey",
    "forbidden": "is not allowed",
}


class ToolPages:
    """A list that is read page by page. `tools` are `ToolDescriptor`s, `obstacles` `ToolObstacle`s; only tools that hold every
    one of the `words` are in it, in their name, title, first line or source."""

    def __init__(self, tools: Sequence[Mapping[str, Any]], obstacles: Sequence[Mapping[str, Any]], words: str = "") -> None:
        self._obstacles = {name: obstacle for obstacle in obstacles for name in obstacle["tools"]}
        self._found = [tool for tool in tools if _holds(tool, words.lower().split())]
        self._sizes = Counter(tool["source"] for tool in self._found)
        self._shared = Counter((tool["source"], why) for tool in self._found if (why := self._why(tool)))
        self._shown = 0
        self._all = len(tools)

    def next(self) -> Iterator[str]:
        """The lines of the next page; the last of them says what is left."""
        begin = self._shown
        page = list(islice(self._found, begin, begin + AT_ONCE))
        self._shown += len(page)
        for source, tools in groupby(page, key=lambda tool: tool["source"]):
            is_continued = begin > 0 and self._found[begin - 1]["source"] == source
            yield from self._head(source, is_continued=is_continued)
            for tool in tools:
                yield f"  {tool['name']}: {_first_line(tool)} ({self.needs(tool)})"
            begin = 0
        yield self._foot()

    @property
    def has_more(self) -> bool:
        """Whether a page is left."""
        return self._shown < len(self._found)

    def needs(self, tool: Mapping[str, Any]) -> str:
        """What a call of a tool needs, or why there can be none."""
        needs = _NEEDS.get(tool["permission"], str(tool["permission"]))
        obstacle = self._obstacles.get(tool["name"])
        if obstacle is None:
            return needs
        needs = "is unavailable" if obstacle["reason"] == "sourceUnavailable" else needs
        is_said_above = self._shared[tool["source"], obstacle["why"]] > 1
        return needs if is_said_above else f"{needs}: {obstacle['why']}"

    def _head(self, source: str, *, is_continued: bool) -> Iterator[str]:
        if is_continued:
            yield f"{source}, continued"
            return
        yield f"{source}, {_count(self._sizes[source])}"
        for (of, why), count in self._shared.items():
            if of == source and count > 1:
                yield f"  {_count(count)} cannot be called: {why}"

    def _foot(self) -> str:
        found, whole = len(self._found), self._all
        if not found:
            return "No tool has all of these words." if whole else "There are no tools."
        words = "" if found == whole else " with these words"
        if self.has_more:
            return f"{self._shown:,} of {_count(found)}{words}. `/more` shows the next ones, `/tools WORDS` finds some."
        return f"{_count(found)} of {whole:,}{words}." if words else f"{_count(found)}."

    def _why(self, tool: Mapping[str, Any]) -> str:
        obstacle = self._obstacles.get(tool["name"])
        return "" if obstacle is None else str(obstacle["why"])


def _holds(tool: Mapping[str, Any], words: Sequence[str]) -> bool:
    text = f"{tool['name']}\n{tool.get('title', '')}\n{_first_line(tool)}\n{tool['source']}".lower()
    return all(word in text for word in words)


def _first_line(tool: Mapping[str, Any]) -> str:
    return str(tool["description"]).strip().partition("\n")[0]


def _count(tools: int) -> str:
    return "one tool" if tools == 1 else f"{tools:,} tools"
