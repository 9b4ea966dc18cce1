"""Everything that a person is shown about a call before they approve it, as rows of text. Nothing is folded or left out.

A text of several lines stands below its name with its lines numbered, so that a line that is too wide cannot pass for two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never, cast

import orjson

from gateway.cli.terminal.styling import Tone
from gateway.core.approval import Approval
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.preview import LineMark, Preview, PreviewChange, PreviewLine
from gateway.runtime.approvals import CallObstacle

_STEP: Final = "  "

_ONE_ROW: Final = 60
"""Characters of a text whose line ends are spelt out in its row."""

_OTHER_TYPE: Final = re.compile(
    r"true|false|null|none|nothing|yes|no|empty (?:text|list|object)|[-+]?[0-9][0-9_.,]*(?:e[-+]?[0-9]+)?", re.IGNORECASE
)
"""Texts that read as a value of another type: they are said to be texts."""

_MARKS: Final[Mapping[LineMark, str]] = {LineMark.SAME: " ", LineMark.REMOVED: "-", LineMark.ADDED: "+"}

_TONES: Final[Mapping[LineMark, Tone]] = {
    LineMark.SAME: Tone.PLAIN,
    LineMark.REMOVED: Tone.REMOVED,
    LineMark.ADDED: Tone.ADDED,
    LineMark.SKIPPED: Tone.FAINT,
}


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """One row, and how far in it stands."""

    text: str
    indent: str = ""
    tone: Tone = Tone.PLAIN


def describe_approval(
    approval: Approval, order: Sequence[str], preview: Preview | CallObstacle | None
) -> tuple[ApprovalRow, ...]:
    """The rows of a question, in the order in which they are read."""
    arguments = approval.parsed_arguments
    return (
        *(ApprovalRow(line) for line in (approval.summary, *approval.effects)),
        *(row for name in order for row in _describe_argument((name,), arguments[name])),
        *_describe_preview(preview),
        *(ApprovalRow(f"because: {rule.why}", tone=Tone.FAINT) for rule in approval.because),
    )


# ── arguments ──


def _describe_argument(steps: tuple[str, ...], value: Json) -> Iterator[ApprovalRow]:
    name = " > ".join(escape(step) for step in steps)
    if isinstance(value, str) and "\n" in value and len(value) > _ONE_ROW:
        lines = value.split("\n")
        yield ApprovalRow(f"{name} = text of {len(lines):,} lines", _STEP)
        width = len(str(len(lines)))
        for number, line in enumerate(lines, start=1):
            yield ApprovalRow(f"{number:>{width}}  {escape(line)}", _STEP * 2)
        return
    inner = _members(value)
    if not inner:
        yield ApprovalRow(f"{name} = {_describe_value(value)}", _STEP)
        return
    for step, item in inner:
        yield from _describe_argument((*steps, step), item)


def _members(value: Json) -> Sequence[tuple[str, Json]]:
    if isinstance(value, dict):
        return tuple(cast("dict[str, Json]", value).items())
    if isinstance(value, list):
        return tuple((str(place), item) for place, item in enumerate(cast("list[Json]", value), start=1))
    return ()


def _describe_value(value: Json) -> str:
    """A value that has nothing inside, its type told in words where its letters do not."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{orjson.dumps(value).decode()} (number)"
        case str():
            quoted = orjson.dumps(value).decode()
            return f"{quoted} (text)" if _OTHER_TYPE.fullmatch(value) else quoted
        case dict():
            return "empty object"
        case _:
            return "empty list"


# ── what it would change ──


def _describe_preview(preview: Preview | CallObstacle | None) -> Iterator[ApprovalRow]:
    match preview:
        case None:
            return
        case CallObstacle(message):
            yield ApprovalRow(f"This could not work any more: {message}")
        case Preview():
            yield ApprovalRow(_describe_change(preview))
            for line in preview.lines:
                yield ApprovalRow(_describe_line(line), _STEP, _TONES[line.mark])
            if not preview.complete:
                yield ApprovalRow(
                    "More of it is not shown here." if preview.lines else "It is no text, or too long to be shown here."
                )
        case _:
            assert_never(preview)


_NO_FILE: Final = {
    PreviewChange.CREATE: "adds",
    PreviewChange.REPLACE: "changes",
    PreviewChange.DELETE: "deletes",
    PreviewChange.KEEP: "changes nothing:",
}
"""What has neither size is no file, and its target says how much of what is changed: `3 rows of orders`."""


def _describe_change(preview: Preview) -> str:
    verb = _NO_FILE.get(preview.change)
    if verb is not None and preview.bytes_before is None and preview.bytes_after is None:
        return f"As things are now this {verb} {escape(preview.target)}."
    return _describe_file(preview)


def _describe_file(preview: Preview) -> str:
    before, after = _bytes(preview.bytes_before or 0), _bytes(preview.bytes_after or 0)
    match preview.change:
        case PreviewChange.CREATE:
            return f"There is no such file yet. It will have {after}."
        case PreviewChange.REPLACE:
            return f"The file that is there now has {before} and is replaced by one of {after}."
        case PreviewChange.KEEP:
            return f"The file that is there now holds exactly this already, {before}."
        case PreviewChange.DELETE:
            return f"The file that is there now has {before} and is removed."
        case PreviewChange.MOVE:
            return f"The file that is there now has {before} and gets another name:"
        case PreviewChange.MAKE:
            return "There is no such folder yet. It is made, empty."
        case PreviewChange.SEND:
            return f"This is sent, with a body of {after}:" if preview.bytes_after else "This is sent, without a body:"
        case _:
            assert_never(preview.change)


def _describe_line(line: PreviewLine) -> str:
    if line.mark is LineMark.SKIPPED:
        return f"... {line.count:,} lines stay"
    return f"{_MARKS[line.mark]} {escape(line.text)}"


def _bytes(count: int) -> str:
    return f"{count:,} byte{'' if count == 1 else 's'}"
