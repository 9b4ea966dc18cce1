"""YAML as JSON's values: PyYAML's parser tells what stands in the text, and here it is decided what that means.

YAML 1.2's core schema, which OpenAPI asks for, and not 1.1's, which PyYAML's own loaders follow: `no` is a text, a date is a
text. A key is always a text (`200`), once in its mapping. No tag makes anything else than JSON has. What aliases unfold into is
counted before it exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import yaml

from gateway.core.canonical import Json
from gateway.core.effects import escape, show
from gateway.core.errors import Misconfigured

MAX_VALUES: Final = 2_000_000
"""Values of a document with every alias followed."""

_TAGS: Final = "tag:yaml.org,2002:"

_NULL: Final = re.compile(r"~|null|Null|NULL|")
_TRUTH: Final = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")

_MERGE: Final = "<<"
"""YAML 1.1's key for taking over what another mapping has; documents with anchors use it."""


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come. `before` is how many values stood in front of it."""

    anchor: str | None
    before: int
    made: dict[str, Json] | list[Json]
    key: str | None = None
    merged: list[Json] = field(default_factory=list[Json])

    def put(self, value: Json, *, plain: bool) -> None:
        """Take the next value, which in a mapping is a key first."""
        if isinstance(self.made, list):
            self.made.append(value)
        elif self.key is not None:
            if self.key == _MERGE:
                self.merged.extend(cast("list[Json]", value) if isinstance(value, list) else [value])
            else:
                self.made[self.key] = value
            self.key = None
        elif not isinstance(value, str) or not plain:
            raise Misconfigured("the document has a key that is no text")
        elif value in self.made:
            raise Misconfigured(f"the document has {show(value)} twice in one object")
        else:
            self.key = value

    def close(self) -> Json:
        """The list, or the mapping with what it takes over; its own members win, and earlier ones over later ones."""
        if not self.merged:
            return self.made
        members: dict[str, Json] = {}
        for other in reversed(self.merged):
            if not isinstance(other, dict):
                raise Misconfigured("the document merges something that is no mapping")
            members |= cast("dict[str, Json]", other)
        return {**members, **cast("dict[str, Json]", self.made)}


def read_yaml(text: str, max_nesting: int) -> Json:
    """The one document in a text. Raises Misconfigured with one line."""
    try:
        return _compose(_parse(text), max_nesting)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise Misconfigured(f"the document is no YAML: {where}{escape(error.problem or 'it cannot be read')[:200]}") from None
    except yaml.YAMLError:
        raise Misconfigured("the document is no YAML: it holds characters that YAML does not allow") from None


def _parse(text: str) -> Iterator[Any]:
    # libyaml, where the wheel has it: ten times as fast.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return cast("Iterator[Any]", yaml.parse(text, Loader=loader))  # pyright: ignore[reportUnknownMemberType] # its stubs


def _compose(events: Iterator[Any], max_nesting: int) -> Json:
    anchors: dict[str, tuple[Json, int]] = {}
    stack: list[_Open] = [_Open(None, 0, [])]
    total = 0
    for event in events:
        plain = False
        match event:
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                mapping = isinstance(event, yaml.MappingStartEvent)
                _require_tag(event.tag, "map" if mapping else "seq")
                anchors.pop(event.anchor, None)
                stack.append(_Open(event.anchor, total, {} if mapping else []))
                total += 1
                if len(stack) > max_nesting + 1:
                    raise Misconfigured(f"the document nests deeper than {max_nesting} levels")
                continue
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                ended = stack.pop()
                value, anchor, weight = ended.close(), ended.anchor, total - ended.before
            case yaml.ScalarEvent():
                is_key = isinstance(stack[-1].made, dict) and stack[-1].key is None
                value = str(event.value) if is_key else _resolve(event)
                plain, anchor, weight = True, event.anchor, 1
                total += 1
            case yaml.AliasEvent():
                if event.anchor not in anchors:
                    raise Misconfigured("the document has an alias of nothing, or of what it stands in")
                value, weight = anchors[event.anchor]
                plain, anchor = isinstance(value, str), None
                total += weight
            case yaml.DocumentStartEvent():
                if stack[0].made:
                    raise Misconfigured("the document is several in one file")
                continue
            case _:
                continue
        if total > MAX_VALUES:
            raise Misconfigured(f"the document has more than {MAX_VALUES:,} values once its aliases are followed")
        if anchor is not None:
            anchors[anchor] = (value, weight)
        stack[-1].put(value, plain=plain)
    (value,) = cast("Sequence[Json]", stack[0].made) or (None,)
    return value


def _require_tag(tag: str | None, kind: str) -> None:
    if tag not in (None, "!", _TAGS + kind):
        raise Misconfigured(f"the document has the tag {show(tag)}, which means nothing here")


def _resolve(event: Any) -> Json:
    text, tag = str(event.value), event.tag
    if tag is None and not event.implicit[0]:
        return text
    kind = None if tag is None else str(tag).removeprefix(_TAGS)
    if kind in ("str", "!"):
        return text
    if kind in (None, "null") and _NULL.fullmatch(text):
        return None
    if kind in (None, "bool") and _TRUTH.fullmatch(text):
        return text.lower() == "true"
    if kind in (None, "int") and _INTEGER.fullmatch(text):
        return _read_integer(text)
    if kind in (None, "float") and _FLOAT.fullmatch(text):
        return float(text)
    if kind is None:
        return text
    raise Misconfigured(f"the document has the tag {show(str(tag))}, which means nothing here")


def _read_integer(text: str) -> int:
    try:
        return int(text[2:] if text[:2] in ("0o", "0x") else text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    except ValueError:
        raise Misconfigured("the document holds a number with too many digits") from None
