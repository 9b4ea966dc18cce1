"""Which call a fragment of a streamed reply belongs to.

OpenAI numbers the calls of a reply and names each once. Others leave the number out, give every call the number 0, repeat id
and name with each fragment, or write arguments as an object. What counts here: an id or a whole name that is new begins a call.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from gateway.agent.browser import as_json, trim
from gateway.agent.ports import CallDelta


@dataclass(slots=True)
class _OpenCall:
    """A call that has begun. `last` is the last character of its arguments that is no white space."""

    number: int
    id: str
    name: str = ""
    last: str = ""


class CallSorter:
    """Reads the `tool_calls` of one reply, chunk after chunk."""

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}
        self._by_id: dict[str, _OpenCall] = {}

    def read(self, fragments: Sequence[Any]) -> Generator[CallDelta]:
        """The fragments of one chunk, each with the number of its call."""
        for place, fragment in enumerate(fragments):
            if isinstance(fragment, dict):
                yield self._read_one(cast("dict[str, Any]", fragment), place if len(fragments) > 1 else None)

    def _read_one(self, fragment: dict[str, Any], place: int | None) -> CallDelta:
        function = fragment.get("function")
        members = cast("dict[str, Any]", function) if isinstance(function, dict) else {}
        name, arguments = _text(members.get("name")), _arguments(members.get("arguments"))
        index, id_ = fragment.get("index"), _text(fragment.get("id"))
        number = index if type(index) is int else None
        call = self._find(number, id_, place)
        if call is None or _is_other(call, id_, name, arguments):
            call = self._open(number, id_)
        added = "" if name == call.name else name
        call.name += added
        call.last = trim(arguments)[-1:] or call.last
        return CallDelta(call.number, added, arguments)

    def _find(self, index: int | None, id_: str, place: int | None) -> _OpenCall | None:
        if index is not None:
            return self._by_index.get(index)
        if id_ in self._by_id:
            return self._by_id[id_]
        # Without any number, fragments that come together are told apart by their place.
        return next(iter(self._calls[-1:] if place is None else self._calls[place : place + 1]), None)

    def _open(self, index: int | None, id_: str) -> _OpenCall:
        call = _OpenCall(len(self._calls), id_)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if id_:
            self._by_id[id_] = call
        return call


def _is_other(call: _OpenCall, id_: str, name: str, arguments: str) -> bool:
    """Whether a fragment begins another call. One without a name continues, whatever id it has: some give each a new one."""
    if not name:
        return False
    if id_ and call.id:
        return id_ != call.id
    begins_anew = call.last == "}" and trim(arguments).startswith("{")
    return begins_anew or bool(call.last and name != call.name)


def _arguments(value: Any) -> str:
    return as_json(value) if isinstance(value, dict) else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
