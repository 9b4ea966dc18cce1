"""The built-in tools: files of one folder, the machine's figures, and the caller's own calls in the audit log.

Their parameters are few and plain because the default model has half a billion parameters; their texts are short lines for
the same reason. The exact figures are in the structured part.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from gateway.adapters.tools.builtin.files import FileContent, FileEntry, Workspace
from gateway.adapters.tools.builtin.paths import is_nameable, read_path, write_path
from gateway.adapters.tools.builtin.previews import (
    MAX_EDITED,
    added_text,
    edit_text,
    preview_append,
    preview_delete,
    preview_edit,
    preview_make,
    preview_move,
    preview_write,
    read_target,
)
from gateway.adapters.tools.builtin.redacted import RedactedTexts
from gateway.adapters.tools.builtin.searching import MAX_AROUND, SearchMatch, search
from gateway.adapters.tools.builtin.status import MachineStatus, read_status
from gateway.adapters.tools.builtin.texts import TextEncoding, decode_text
from gateway.adapters.tools.declaration import AnyTool, tool
from gateway.core.attachments import MediaType, media_type_of
from gateway.core.canonical import Json
from gateway.core.effects import escape, show
from gateway.core.errors import ToolFailed
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.redaction import redact_lines
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Category, Recovery, Trust
from gateway.runtime.ports import AuditQuery, AuditRow, ToolContext

AuditReader: TypeAlias = Callable[[AuditQuery], Awaitable[Sequence[AuditRow]]]

_CLOSED: Final = "call:closed"
MOST_LINES: Final = 10_000_000
"""No file that is read has more lines."""

_FilePath: TypeAlias = Annotated[str, Field(description="File path in the workspace, for example notes/todo.txt")]
_FolderPath: TypeAlias = Annotated[str, Field(description="Folder path in the workspace, for example notes; . is all of it")]
_Query: TypeAlias = Annotated[
    str, Field(description="Text to find in files, or a file name with *, for example *.md", min_length=1, max_length=200)
]


def file_tools(workspace: Workspace) -> list[AnyTool]:
    """The tools over one folder."""
    texts = RedactedTexts()

    @tool(
        category=Category.READ,
        summary="List {path}",
        recovery=Recovery.PURE,
        facts=_find_path,
        interface="workspace",
    )
    def list_directory(path: _FolderPath) -> ToolOutput:
        """List the files and folders in a folder of the workspace."""
        parts = read_path(path)
        entries, complete = workspace.list(parts)
        where = escape(write_path(parts))
        head = f"{where} holds {len(entries)} {'entry' if len(entries) == 1 else 'entries'}"
        lines = [head + (":" if complete else " and more; these come first:" if entries else ""), *map(_line_of, entries)]
        if not entries:
            lines = [f"{where} is empty"]
        return ToolOutput(
            "\n".join(lines),
            {"path": write_path(parts), "entries": [_record_of(entry) for entry in entries], "complete": complete},
        )

    @tool(category=Category.READ, summary="Read {path}", recovery=Recovery.PURE, facts=_find_path, interface="workspace")
    def read_file(
        path: _FilePath,
        context: ToolContext,
        first_line: Annotated[int, Field(description="The first line to give", ge=1, le=MOST_LINES)] = 1,
        last_line: Annotated[int, Field(description="The last line to give; 0 is the end", ge=0, le=MOST_LINES)] = 0,
    ) -> ToolOutput:
        """Read a text file of the workspace."""
        parts = read_path(path)
        content = workspace.read(parts, context.cancelled)
        where = write_path(parts)
        record: dict[str, Json] = {"path": where, "bytes": content.size, "binary": False, "complete": True}
        whole = len(content.data) == content.size
        decoded = decode_text(content.data, whole=whole)
        if decoded is None:
            return _give_bytes(where, content.data if whole else b"", {**record, "binary": True})
        text = decoded.text
        if decoded.encoding is not TextEncoding.UTF_8:
            record["encoding"] = decoded.encoding.value
        record["complete"] = whole
        if (first_line, last_line) != (1, 0):
            return _give_lines(where, redact_lines(text, context.redact), first_line, last_line, record)
        if not whole:
            text += f"\n…[only the first {len(content.data)} of {content.size} bytes]"
        return ToolOutput(text or f"{escape(where)} is empty", record)

    @tool(
        category=Category.READ,
        summary="Search for {query} in {path}",
        recovery=Recovery.PURE,
        facts=_find_path,
        interface="workspace",
    )
    def search_files(
        query: _Query,
        context: ToolContext,
        path: _FolderPath = ".",
        around: Annotated[int, Field(description="Lines to show before and after each", ge=0, le=MAX_AROUND)] = 0,
    ) -> ToolOutput:
        """Find files by their text, or by their name if the query has a *."""
        parts = read_path(path)
        found = search(workspace, parts, query, context.cancelled, around, context.redact, texts)
        lines = [line for match in found.matches for line in _lines_of_match(match)] or [f"nothing found in {found.files} files"]
        if not found.complete:
            lines.append("…[there was too much to search all of it; ask for less, or in one folder]")
        return ToolOutput("\n".join(lines), {**asdict(found), "matches": [match.record() for match in found.matches]})

    @tool(
        category=Category.WRITE,
        summary="Write {path}",
        effects=("The file {path} will hold this text; if it holds something now, that is lost: {content}",),
        recovery=Recovery.IDEMPOTENT,
        facts=_find_path_and_size,
        preview=partial(preview_write, workspace),
        interface="workspace",
    )
    def write_file(path: _FilePath, content: Annotated[str, "The whole new text of the file"]) -> ToolOutput:
        """Write a text file in the workspace. Replaces the file if there is one."""
        parts = read_path(path)
        data = content.encode()
        replaced = workspace.write(parts, data)
        where = write_path(parts)
        done = "replaced" if replaced else "created"
        return ToolOutput(
            f"{done} {escape(where)}, {_sized(len(data))}", {"path": where, "bytes": len(data), "replaced": replaced}
        )

    @tool(
        category=Category.WRITE,
        summary="Add to {path}",
        effects=("At the end of {path}, below what it holds, there will be: {content}",),
        recovery=Recovery.UNSAFE,
        facts=_find_path_and_size,
        preview=partial(preview_append, workspace),
        interface="workspace",
    )
    def append_file(path: _FilePath, content: Annotated[str, "The text to add, on lines of its own"]) -> ToolOutput:
        """Add text at the end of a text file of the workspace. Keeps what is in it."""
        parts = read_path(path)
        data = added_text(workspace, parts, content).encode(show(write_path(parts)))
        existed = workspace.append(parts, data)
        where = write_path(parts)
        done = "added to" if existed else "created"
        return ToolOutput(
            f"{done} {escape(where)}, {_sized(len(data))}", {"path": where, "bytes": len(data), "created": not existed}
        )

    @tool(
        category=Category.WRITE,
        summary="Edit {path}",
        effects=("In {path} this text, which has to stand there once: {old}", "becomes this one: {new}"),
        recovery=Recovery.PROBE,
        facts=_find_path_and_new_size,
        preview=partial(preview_edit, workspace),
        interface="workspace",
    )
    def edit_file(
        path: _FilePath,
        old: Annotated[str, Field(description="The text to replace, exactly as it stands in the file", min_length=1)],
        new: Annotated[str, "The text that takes its place"],
    ) -> ToolOutput:
        """Replace a text in a text file of the workspace by another one. The old text must stand there exactly once."""
        parts = read_path(path)
        before, after = workspace.edit(parts, lambda content: _edited(parts, content, old, new), MAX_EDITED)
        where = write_path(parts)
        return ToolOutput(f"edited {escape(where)}, now {_sized(after)}", {"path": where, "bytesBefore": before, "bytes": after})

    @tool(
        category=Category.WRITE,
        summary="Move {path} to {to}",
        effects=("The file {path} will be {to}, and is no longer where it was",),
        recovery=Recovery.PROBE,
        facts=_find_both_paths,
        preview=partial(preview_move, workspace),
        interface="workspace",
    )
    def move_file(
        path: _FilePath, to: Annotated[str, "The new path of the file, or a folder with / at its end, for example old/"]
    ) -> ToolOutput:
        """Move a file of the workspace to another folder, or rename it. Replaces nothing."""
        parts = read_path(path)
        target = read_target(parts, to) if parts else ()
        where, there = write_path(parts), write_path(target)
        if parts and parts == target:
            raise ToolFailed(f"{show(where)} is there already")
        size = workspace.move(parts, target)
        return ToolOutput(f"moved {escape(where)} to {escape(there)}", {"path": where, "to": there, "bytes": size})

    @tool(
        category=Category.WRITE,
        summary="Make the folder {path}",
        effects=("There will be a folder {path}",),
        recovery=Recovery.IDEMPOTENT,
        facts=_find_path,
        preview=partial(preview_make, workspace),
        interface="workspace",
    )
    def make_directory(path: Annotated[str, "Folder path in the workspace, for example notes/old"]) -> ToolOutput:
        """Make a new folder in the workspace."""
        parts = read_path(path)
        made = workspace.make_folder(parts)
        where = write_path(parts)
        done = f"made the folder {escape(where)}" if made else f"the folder {escape(where)} was there already"
        return ToolOutput(done, {"path": where, "made": made})

    @tool(
        category=Category.DESTRUCTIVE,
        summary="Delete {path}",
        effects=("The file {path} is removed for good; there is no way back",),
        recovery=Recovery.UNSAFE,
        facts=_find_path,
        preview=partial(preview_delete, workspace),
        interface="workspace",
    )
    def delete_file(path: _FilePath) -> ToolOutput:
        """Delete a file of the workspace for good."""
        parts = read_path(path)
        size = workspace.delete(parts)
        where = write_path(parts)
        return ToolOutput(f"deleted {escape(where)}, {_sized(size)}", {"path": where, "bytes": size})

    reading: list[AnyTool] = [list_directory, read_file, search_files]
    tools = [*reading, write_file, append_file, edit_file, move_file, make_directory, delete_file]
    return [replace(each, own=True) for each in tools]


def system_tools(workspace: Workspace, read_audit_log: AuditReader) -> list[AnyTool]:
    """The tools over the gateway's own machine and log."""

    @tool(
        category=Category.READ,
        summary="Look at the machine's load, memory and disk",
        trust=Trust.TRUSTED,
        recovery=Recovery.PURE,
        interface="system",
    )
    def system_status() -> ToolOutput:
        """Show processor load, memory, disk space and uptime of this machine."""
        with workspace.held() as folder:
            status = read_status(folder)
        return ToolOutput(_describe_status(status), asdict(status))

    @tool(category=Category.READ, summary="Look at your last {limit} calls", recovery=Recovery.PURE, interface="audit")
    async def read_audit(
        context: ToolContext, limit: Annotated[int, Field(description="How many, newest first", ge=1, le=100)] = 20
    ) -> ToolOutput:
        """Show the user's own latest tool calls and how they ended."""
        owner = context.principal.id
        rows = await read_audit_log(AuditQuery(principal_id=owner, event=_CLOSED, limit=limit))
        # The query says whose; that no other's row is shown does not hang on it.
        calls = [_record_of_call(row) for row in rows if row.body.get("principalId") == owner]
        lines = [" ".join(escape(str(value)) for value in call.values() if value is not None) for call in calls]
        return ToolOutput("\n".join(lines) or "no calls yet", {"calls": calls})

    tools: list[AnyTool] = [system_status, read_audit]
    return [replace(each, own=True) for each in tools]


# ── facts for the policy ──


def _find_path(arguments: Mapping[str, Json]) -> CallFacts:
    return CallFacts(path=write_path(read_path(arguments["path"])))


def _find_path_and_size(arguments: Mapping[str, Json]) -> CallFacts:
    return CallFacts(path=write_path(read_path(arguments["path"])), bytes=len(arguments["content"].encode()))


def _find_path_and_new_size(arguments: Mapping[str, Json]) -> CallFacts:
    return CallFacts(path=write_path(read_path(arguments["path"])), bytes=len(arguments["new"].encode()))


def _find_both_paths(arguments: Mapping[str, Json]) -> CallFacts:
    parts = read_path(arguments["path"])
    target = read_target(parts, arguments["to"]) if parts else ()
    return CallFacts(path=write_path(parts), second_path=write_path(target))


# ── wording ──


def _edited(parts: tuple[str, ...], content: FileContent, old: str, new: str) -> bytes:
    return edit_text(parts, content, old, new).encode(show(write_path(parts)))


def _give_bytes(where: str, data: bytes, record: dict[str, Json]) -> ToolOutput:
    """A file that is no text: in words for the model, and whole for the person where it is an image that can be shown."""
    said = f"{escape(where)} is a binary file of {record['bytes']} bytes; its content is not text"
    kind = media_type_of(data)
    if kind is MediaType.BYTES:
        return ToolOutput(said, record)
    return ToolOutput(f"{said}. It is shown to the person ({kind.value})", {**record, "mediaType": kind.value}, attached=(data,))


def _give_lines(where: str, lines: Sequence[str], first: int, last: int, record: dict[str, Json]) -> ToolOutput:
    chosen = lines[first - 1 : last or None] if last == 0 or first <= last else ()
    if not chosen and not record["complete"]:
        raise ToolFailed(f"{show(where)} is too large to be read beyond its line {len(lines)}: it has {record['bytes']} bytes")
    if not chosen:
        raise ToolFailed(f"{show(where)} has {len(lines)} lines")
    given: dict[str, Json] = {**record, "lines": len(lines), "firstLine": first, "lastLine": first + len(chosen) - 1}
    return ToolOutput("\n".join(chosen), given)


def _line_of(entry: FileEntry) -> str:
    name = escape(entry.name)
    match entry.kind:
        case "folder":
            return f"- {name}/"
        case "file":
            return f"- {name} ({entry.bytes} bytes)"
        case kind:
            return f"- {name} ({'a link' if kind == 'link' else 'not a regular file'})"


def _record_of(entry: FileEntry) -> dict[str, Json]:
    name = entry.name if is_nameable(entry.name) else escape(entry.name)
    return {"name": name, "kind": entry.kind, "bytes": entry.bytes}


def _lines_of_match(match: SearchMatch) -> list[str]:
    where = escape(match.path)
    if match.line is None:
        return [where]
    before = [f"{where}-{match.line - len(match.before) + at}- {text}" for at, text in enumerate(match.before)]
    after = [f"{where}-{match.line + at}- {text}" for at, text in enumerate(match.after, start=1)]
    return [*before, f"{where}:{match.line}: {match.text}", *after]


def _describe_status(status: MachineStatus) -> str:
    lines = [f"load: {status.load} on {status.processors} processors"]
    if status.memory_total is not None:
        free = "" if status.memory_available is None else f"{_gigabytes(status.memory_available)} free of "
        lines.append(f"memory: {free}{_gigabytes(status.memory_total)}")
    lines.append(f"disk: {_gigabytes(status.disk_free)} free of {_gigabytes(status.disk_total)}")
    if status.uptime is not None:
        lines.append(f"up for {status.uptime // 86400} days {status.uptime // 3600 % 24} hours")
    return "\n".join(lines)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


def _record_of_call(row: AuditRow) -> dict[str, Json]:
    return {
        "at": rfc3339(row.body["at"]),
        **{name: row.body.get(name) for name in ("tool", "decision", "outcome", "reason")},
    }


def _sized(octets: int) -> str:
    return "1 byte" if octets == 1 else f"{octets} bytes"
