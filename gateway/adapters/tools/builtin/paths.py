"""Paths as models write them."""

from __future__ import annotations

import unicodedata

from gateway.core.effects import show
from gateway.core.errors import ToolFailed

RESERVED_PREFIX = ".countersign-"
"""Names of files that are being written; no path may hold one."""

MAX_PART = 255
"""Bytes of one name on every file system in use."""

MAX_PATH = 1024
"""Bytes of a whole path; macOS' PATH_MAX, the smaller one."""


def read_path(text: str) -> tuple[str, ...]:
    """The parts of a workspace path; `.` is the workspace itself, no part at all.

    `./a` and `a/` are taken for `a`. Everything else that is not plainly below the workspace raises ToolFailed with a
    sentence that says what a path looks like.
    """
    shown = show(text)
    if text == "":
        raise ToolFailed("the path is empty; `.` is the workspace itself")
    if text.startswith("/"):
        raise ToolFailed(f"{shown} is an absolute path; write it relative to the workspace, such as `notes/todo.txt`")
    if not is_nameable(text):
        raise ToolFailed(f"{shown} holds characters that no path here may hold")
    if len(text.encode()) > MAX_PATH:
        raise ToolFailed(f"{shown} is too long for a path")
    parts = text.removesuffix("/").split("/")
    if "" in parts:
        raise ToolFailed(f"{shown} has an empty part; write one `/` between names")
    if ".." in parts:
        raise ToolFailed(f"{shown} goes up with `..`; paths stay inside the workspace")
    named = tuple(part for part in parts if part != ".")
    if any(len(part.encode()) > MAX_PART for part in named):
        raise ToolFailed(f"{shown} has a name that is too long")
    if any(part.startswith(RESERVED_PREFIX) for part in named):
        raise ToolFailed(f"names that begin with `{RESERVED_PREFIX}` belong to the gateway")
    return named


def is_nameable(text: str) -> bool:
    """Whether a path may hold this: no control characters, and no bytes that are not UTF-8 (which arrive as surrogates)."""
    return not any(unicodedata.category(char) in ("Cc", "Cs") for char in text)


def write_path(parts: tuple[str, ...]) -> str:
    """The one spelling of a path: what policies compare and results show."""
    return "/".join(parts) or "."
