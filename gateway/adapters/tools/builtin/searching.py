"""Looking through a workspace for a text or for names."""

from __future__ import annotations

import os
import stat
import threading
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from re import compile as compile_pattern

from gateway.adapters.tools.builtin.files import Workspace
from gateway.adapters.tools.builtin.paths import is_nameable, write_path
from gateway.adapters.tools.builtin.redacted import RedactedTexts
from gateway.adapters.tools.builtin.texts import decode_text
from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed

MAX_MATCHES = 100
MAX_FILES = 5_000
MAX_DEPTH = 32
MAX_TOTAL = 64 * 1024 * 1024
"""Bytes that one search reads."""

MAX_REDACTED = 8 * 1024 * 1024
"""Characters of files that one search redacts: some three seconds' work. What was redacted once is remembered, and free."""

MAX_AROUND = 5
"""Lines before and after a matching one."""

MAX_LINE = 200
"""Characters of a matching line that are shown."""

_GLOB = frozenset("*?[")


@dataclass(slots=True)
class SearchFindings:
    """Matches, those nearest to the top first, then in the order of their paths. `line` and `text` are None for a match of the
    name alone."""

    matches: list[SearchMatch] = field(default_factory=list["SearchMatch"])
    files: int = 0
    complete: bool = True


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """One place. Lines count from 1."""

    path: str
    line: int | None = None
    text: str | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def record(self) -> dict[str, Json]:
        """As structured data; lines around it only where some were asked for."""
        around = {"before": list(self.before), "after": list(self.after)} if self.before or self.after else {}
        return {"path": self.path, "line": self.line, "text": self.text, **around}


@dataclass(slots=True)
class Redacting:
    """What is taken out of files before they are looked into, and how many characters of them may still be redacted."""

    texts: RedactedTexts
    classes: Collection[str]
    left: int = MAX_REDACTED


def search(
    workspace: Workspace,
    parts: tuple[str, ...],
    query: str,
    cancelled: threading.Event,
    around: int = 0,
    redact: Collection[str] = (),
    texts: RedactedTexts | None = None,
) -> SearchFindings:
    """Lines that contain the query, whatever its case, each with so many `around` it; or, if the query has `*`, `?` or `[`, files
    whose name it matches. What is redacted is not found: whoever may guess as often as they like would read it so. Nor does the
    work, or where it stops, depend on it. `texts` remembers what was redacted."""
    findings = SearchFindings()
    by_name = not _GLOB.isdisjoint(query)
    # Since Python 3.9 `translate` makes patterns that do not backtrack over earlier stars.
    pattern = compile_pattern(translate(query.casefold()))
    wanted = query.casefold()
    budget, redacting = MAX_TOTAL, Redacting(texts or RedactedTexts(), redact)
    for found in walk_files(workspace, parts, findings, cancelled):
        path = write_path(found)
        if by_name:
            if pattern.match(found[-1].casefold()) or pattern.match(path.casefold()):
                findings.matches.append(SearchMatch(path))
        else:
            budget -= _search_file(workspace, found, wanted, findings, cancelled, around, redacting)
        if len(findings.matches) >= MAX_MATCHES or budget <= 0:
            findings.complete = False
            break
    return findings


def walk_files(
    workspace: Workspace, start: tuple[str, ...], findings: SearchFindings, cancelled: threading.Event
) -> Iterator[tuple[str, ...]]:
    """Regular files; counts them, and notes where it stops early. Those nearest to the top come first, so that a folder of
    thousands does not hide what stands beside it."""
    if _is_file(workspace, start):
        findings.files = 1
        yield start
        return
    folders = deque([start])
    while folders:
        folder = folders.popleft()
        try:
            entries, complete = workspace.list(folder, MAX_FILES)
        except ToolFailed:
            # The start is the caller's own path; what vanishes or is closed further down is left out.
            if folder == start:
                raise
            continue
        findings.complete &= complete
        for entry in entries:
            if cancelled.is_set() or findings.files >= MAX_FILES:
                findings.complete = False
                return
            inner = (*folder, entry.name)
            if entry.kind == "folder" and len(inner) <= MAX_DEPTH:
                folders.append(inner)
            elif entry.kind == "file" and is_nameable(entry.name):
                findings.files += 1
                yield inner


def _is_file(workspace: Workspace, parts: tuple[str, ...]) -> bool:
    try:
        with workspace.opened(parts, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY) as descriptor:
            return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        # Listing it will say what is wrong.
        return False


def _search_file(
    workspace: Workspace,
    parts: tuple[str, ...],
    wanted: str,
    findings: SearchFindings,
    cancelled: threading.Event,
    around: int,
    redacting: Redacting,
) -> int:
    """Add the matching lines of one file; the bytes that were read."""
    try:
        content = workspace.read(parts, cancelled)
    except ToolFailed:
        return 0
    findings.complete &= len(content.data) == content.size
    decoded = decode_text(content.data, whole=len(content.data) == content.size)
    if decoded is None:
        return len(content.data)
    path = write_path(parts)
    if wanted in parts[-1].casefold():
        findings.matches.append(SearchMatch(path))
    # The whole before the lines: one alone does not tell that it is part of a key.
    lines, looked_at = redacting.texts.look(content.data, decoded.text, redacting.classes, redacting.left)
    redacting.left -= looked_at
    if lines is None:
        findings.complete = False
        return len(content.data)
    for number, line in enumerate(lines, start=1):
        if wanted in line.casefold():
            before, after = lines[max(0, number - 1 - around) : number - 1], lines[number : number + around]
            findings.matches.append(SearchMatch(path, number, _around(line, wanted), _shown(before), _shown(after)))
            if len(findings.matches) >= MAX_MATCHES:
                break
    return len(content.data)


def _shown(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line[:MAX_LINE] for line in lines)


def _around(line: str, wanted: str) -> str:
    if len(line) <= MAX_LINE:
        return line.strip()
    start = max(0, line.casefold().find(wanted) - MAX_LINE // 4)
    return ("…" if start else "") + line[start : start + MAX_LINE].strip() + ("…" if start + MAX_LINE < len(line) else "")
