"""Finds the folders that come with the program and are not Python, and reads the files that the agent loop runs on.

A wheel carries the folders inside the package, a checkout beside it. This is the only module that knows;
`deploy/build_hook.py` says what a wheel carries. It lies at the bottom because the loop in `gateway/agent` reads its words and
numbers when it is imported, and gives no path of the file system, of which the loop knows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, cast

import orjson

from gateway.core.errors import Misconfigured


def shipped_folder(name: str) -> Traversable:
    """The folder of that name inside the installed package, or beside the package in a checkout. Raises Misconfigured."""
    package = resources.files("gateway")
    for folder in (package / name, package / ".." / name):
        if folder.is_dir():
            return folder
    raise Misconfigured(f"this installation has no `{name}` folder; install it again")


def read_loop_file(name: str) -> Mapping[str, Any]:
    """A file of `loop/`: `prompts`, `copy`, `mistakes`, `limits`, `vocabulary` or `wishes`. Raises Misconfigured."""
    try:
        return orjson.loads((shipped_folder("loop") / f"{name}.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        raise Misconfigured(f"`{name}.json`, a file of the agent loop, cannot be read; install it again") from None


def loop_fields(name: str) -> dict[str, Any]:
    """The members of such a file under the names of Python: `maxCalls` as `max_calls`, and lists as tuples."""
    return {
        re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", member): _frozen(value)
        for member, value in read_loop_file(name).items()
    }


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, cast("list[Any]", value))) if isinstance(value, list) else value
