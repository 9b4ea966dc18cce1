"""What a file tool would do to the workspace as it is now: shown beside the question, and made again whenever it is asked for.

Nothing here is signed. The file may change after a person looked; the console compares the digest with that of the moment of the
answer. Contents are hostile: they are cut to few lines and compared within bounds.
"""

from __future__ import annotations

import hashlib
import stat
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.adapters.tools.builtin.files import FileContent, Workspace
from gateway.adapters.tools.builtin.paths import read_path, write_path
from gateway.adapters.tools.builtin.texts import FileText, TextEncoding, decode_text
from gateway.core.canonical import Json
from gateway.core.effects import show
from gateway.core.errors import ToolFailed
from gateway.core.preview import LineMark, Preview, PreviewChange, PreviewLine
from gateway.core.redaction import RedactionClass, find_redacted

MAX_COMPARED = 256 * 1024
"""Bytes of the present file that are read."""

MAX_EDITED: Final = 1024 * 1024
"""Bytes of a file that is edited."""

_ALIGNED: Final = 300
"""Lines on either side that are aligned with each other; the work grows with the square, and 300 take milliseconds."""

_CONTEXT: Final = 3
_SHOWN: Final = 200
_FIRST: Final = 20
"""Lines of a file that is deleted."""

_LINE: Final = 500
"""Characters of a line."""


def preview_write(workspace: Workspace, arguments: Mapping[str, Json]) -> Preview:
    """What the file loses and gains. Raises ToolFailed where it cannot be written."""
    parts = _require_file(arguments["path"])
    return _preview_change(parts, _read(workspace, parts), FileText(str(arguments["content"])))


def preview_append(workspace: Workspace, arguments: Mapping[str, Json]) -> Preview:
    """What the file gains at its end. Raises ToolFailed where it cannot be written."""
    parts = _require_file(arguments["path"])
    added = added_text(workspace, parts, str(arguments["content"]))
    before = _read(workspace, parts)
    if before is None:
        return _preview_change(parts, None, added)
    old = _text(before)
    if old is None:
        begun = not workspace.ends_line(parts)
        after = before.size + len(added.encode(show(write_path(parts)))) + begun
        return Preview(PreviewChange.REPLACE, write_path(parts), before.size, after, _digest(before), (), complete=False)
    start = old.text if not old.text or old.text.endswith("\n") else f"{old.text}\n"
    return _preview_change(parts, before, old.with_text(start + added.text))


def added_text(workspace: Workspace, parts: tuple[str, ...], content: str) -> FileText:
    """What is added to a file, in lines of its own and in the file's encoding. Raises ToolFailed for UTF-16: what is added there
    would have to begin at an even byte, and no line of it ends where ours would."""
    added = FileText(line_of(content))
    before = _read(workspace, parts)
    present = None if before is None else decode_text(before.data, whole=len(before.data) == before.size)
    match present.encoding if present is not None else TextEncoding.UTF_8:
        case TextEncoding.UTF_8 | TextEncoding.WINDOWS_1252 as encoding:
            return replace(added, encoding=encoding)
        case TextEncoding.UTF_16_LE | TextEncoding.UTF_16_BE as encoding:
            raise ToolFailed(f"{show(write_path(parts))} is in {encoding.value}; edit it, or write the whole file anew")


def preview_edit(workspace: Workspace, arguments: Mapping[str, Json]) -> Preview:
    """Which lines the file loses and gains. Raises ToolFailed where it cannot be edited so."""
    parts = _require_file(arguments["path"])
    before = workspace.read(parts, threading.Event(), MAX_EDITED)
    return _preview_change(parts, before, edit_text(parts, before, str(arguments["old"]), str(arguments["new"])))


def edit_text(parts: tuple[str, ...], content: FileContent, old: str, new: str) -> FileText:
    """A file's text with `new` in the one place of `old`. Raises ToolFailed where `old` is not there exactly once.

    Whoever may guess as often as they like learns from each question that is asked, also from one that they withdraw at once. So
    a text that ends or begins within a credential is answered as one that is not there; who knows all of it may name it.
    """
    shown = show(write_path(parts))
    if len(content.data) < content.size:
        raise ToolFailed(f"{shown} is too large to be edited: {content.size} bytes, and {MAX_EDITED} are the most")
    present = decode_text(content.data)
    if present is None:
        raise ToolFailed(f"{shown} is no text")
    text = present.text
    # Before it is looked for, so that the time that this takes tells nothing either.
    redacted = find_redacted(text, (RedactionClass.SECRETS,))
    plain, around = _find_places(text, old, redacted)
    if len(plain) > 1:
        raise ToolFailed(f"{shown} holds the old text more than once; write more of what stands around it")
    # Nobody is asked about a text that is there twice, so that answer would tell whether a guessed credential is right.
    place = (plain or around or [-1])[0]
    if place < 0 or (not plain and len(around) > 1):
        raise ToolFailed(f"{shown} does not hold the old text; it has to be written exactly as it stands there")
    return present.with_text(text[:place] + new + text[place + len(old) :])


def _find_places(text: str, old: str, redacted: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """At most two places of `old` with nothing in them that would be redacted, and as many that hold all of what would be."""
    plain, around = list[int](), list[int]()
    starts, ends = [start for start, _ in redacted], [end for _, end in redacted]
    place = text.find(old)
    while place >= 0 and len(plain) < 2:
        end = place + len(old)
        first, last = bisect_right(ends, place), bisect_left(starts, end) - 1
        if first > last:
            plain.append(place)
        elif place > starts[first]:
            # It begins within one, and so does every other place up to its end.
            place = text.find(old, ends[first])
            continue
        elif ends[last] <= end and len(around) < 2:
            around.append(place)
        # From the next character on: two places may overlap.
        place = text.find(old, place + 1)
    return plain, around


def preview_move(workspace: Workspace, arguments: Mapping[str, Json]) -> Preview:
    """The two names of the file. Raises ToolFailed where it cannot be moved so."""
    parts = _require_file(arguments["path"])
    to = read_target(parts, str(arguments["to"]))
    before = workspace.read(parts, threading.Event(), MAX_COMPARED)
    if parts == to:
        return Preview(PreviewChange.KEEP, write_path(parts), before.size, before.size, _digest(before))
    require_free(workspace, to)
    lines = (PreviewLine(LineMark.REMOVED, write_path(parts)), PreviewLine(LineMark.ADDED, write_path(to)))
    return Preview(PreviewChange.MOVE, write_path(parts), before.size, before.size, _digest(before), lines)


def read_target(parts: tuple[str, ...], to: str) -> tuple[str, ...]:
    """The path that a file gets: `to`, or the file's name in it where it ends with `/`. It depends on nothing that is in the
    workspace, so that what the policy judged and a person read is what happens."""
    target = read_path(to)
    return (*target, parts[-1]) if to.endswith("/") or not target else target


def require_free(workspace: Workspace, to: tuple[str, ...]) -> None:
    """Raises ToolFailed where something has that name."""
    status = workspace.status(to)
    if status is None:
        return
    shown = show(write_path(to))
    if stat.S_ISDIR(status.st_mode):
        raise ToolFailed(f"{shown} is a folder; write {show(write_path(to) + '/')} to move the file into it")
    raise ToolFailed(f"there is something called {shown} already, and nothing is replaced")


def preview_make(workspace: Workspace, arguments: Mapping[str, Json]) -> Preview:
    """Whether the folder is there already. Raises ToolFailed where it cannot be made."""
    parts = _require_file(arguments["path"])
    status = workspace.status(parts)
    if status is not None and not stat.S_ISDIR(status.st_mode):
        raise ToolFailed(f"there is something called {show(write_path(parts))} already, and it is no folder")
    return Preview(PreviewChange.KEEP if status is not None else PreviewChange.MAKE, write_path(parts))


def line_of(text: str) -> str:
    """A text that ends its last line, as what is added to a file does."""
    return text if text.endswith("\n") else f"{text}\n"


def _require_file(path: Json) -> tuple[str, ...]:
    parts = read_path(path)
    if not parts:
        raise ToolFailed("`.` is the workspace itself; name a file in it, such as `notes/todo.txt`")
    return parts


def _preview_change(parts: tuple[str, ...], before: FileContent | None, new: FileText) -> Preview:
    data = new.encode(show(write_path(parts)))
    if before is None:
        return Preview(PreviewChange.CREATE, write_path(parts), bytes_after=len(data))
    if before.data == data:
        return Preview(PreviewChange.KEEP, write_path(parts), before.size, len(data), _digest(before))
    old = _text(before)
    lines, complete = ((), False) if old is None else _cut(_compare(old.text.splitlines(), new.text.splitlines()), _SHOWN)
    return Preview(PreviewChange.REPLACE, write_path(parts), before.size, len(data), _digest(before), lines, complete)


def preview_delete(workspace: Workspace, arguments: Mapping[str, Json]) -> Preview:
    """How large the file is and how it begins. Raises ToolFailed where there is none."""
    parts = read_path(arguments["path"])
    before = workspace.read(parts, threading.Event(), MAX_COMPARED)
    old = _text(before)
    removed = [] if old is None else [PreviewLine(LineMark.REMOVED, line[:_LINE]) for line in old.text.splitlines()]
    complete = old is not None and len(removed) <= _FIRST
    return Preview(
        PreviewChange.DELETE, write_path(parts), before.size, None, _digest(before), tuple(removed[:_FIRST]), complete=complete
    )


def _read(workspace: Workspace, parts: tuple[str, ...]) -> FileContent | None:
    try:
        return workspace.read(parts, threading.Event(), MAX_COMPARED)
    except ToolFailed as failure:
        if isinstance(failure.__cause__, FileNotFoundError):
            return None
        raise


def _digest(content: FileContent) -> str:
    return hashlib.sha256(b"%d " % content.size + content.data).hexdigest()


def _text(content: FileContent) -> FileText | None:
    """None for what is no text, or more of it than is compared."""
    return None if len(content.data) < content.size else decode_text(content.data)


def _compare(old: Sequence[str], new: Sequence[str]) -> Iterator[PreviewLine]:
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield from _same(old[:start])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(before), len(after)) > _ALIGNED:
        yield from _marked(LineMark.REMOVED, before)
        yield from _marked(LineMark.ADDED, after)
    else:
        # Imported by the first edit that is shown.
        import difflib

        for kind, i, j, k, m in difflib.SequenceMatcher(None, before, after).get_opcodes():
            if kind == "equal":
                yield from _same(before[i:j])
            else:
                yield from _marked(LineMark.REMOVED, before[i:j])
                yield from _marked(LineMark.ADDED, after[k:m])
    yield from _same(old[len(old) - end :])


def _marked(mark: LineMark, lines: Sequence[str]) -> Iterator[PreviewLine]:
    return (PreviewLine(mark, line[:_LINE]) for line in lines)


def _same(lines: Sequence[str]) -> Iterator[PreviewLine]:
    if len(lines) <= 2 * _CONTEXT + 1:
        yield from _marked(LineMark.SAME, lines)
        return
    yield from _marked(LineMark.SAME, lines[:_CONTEXT])
    yield PreviewLine(LineMark.SKIPPED, "", len(lines) - 2 * _CONTEXT)
    yield from _marked(LineMark.SAME, lines[-_CONTEXT:])


def _cut(lines: Iterator[PreviewLine], most: int) -> tuple[tuple[PreviewLine, ...], bool]:
    found = list(lines)
    return tuple(found[:most]), len(found) <= most
