"""A module of tools in whose presence names that end in `.rebound.test` have a public address at first and this machine's later.

What the gateway looks up and connects to is written to files beside the effects; nothing beyond this machine is connected to.
"""

from __future__ import annotations

import os
import socket
import sys
from collections import Counter
from pathlib import Path
from typing import Any, cast

from gateway.adapters.tools import tool
from gateway.adapters.tools.mcp import launching
from tests.harness import rebound_worker

PUBLIC = "93.184.215.14"
_system = socket.getaddrinfo
_asked: Counter[str] = Counter()


def _note(file: str, line: str) -> None:
    with (Path(os.environ["EFFECTS"]).parent / file).open("a") as notes:
        notes.write(f"{line}\n")


def _look_up(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if not name.endswith(".rebound.test"):
        return _system(host, port, *arguments, **options)
    _asked[name] += 1
    address = PUBLIC if _asked[name] == 1 else "127.0.0.1"
    _note("looked-up", f"{name} {address}")
    return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, int(port or 0)))]


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "socket.connect" or isinstance(arguments[1], str | bytes):
        return
    address = cast("tuple[Any, ...]", arguments[1])
    _note("connected", f"{address[0]} {address[1]}")
    if address[0] == PUBLIC:
        raise ConnectionRefusedError("nothing beyond this machine is connected to here")


socket.getaddrinfo = _look_up
# Workers look names up by themselves, and their interpreter is isolated from this one.
launching._BOOT = (  # pyright: ignore[reportPrivateUsage] # no setting leads there
    f"import runpy; runpy.run_path({rebound_worker.__file__!r})['divert']"
    f"({str(Path(os.environ['EFFECTS']).parent)!r}); {launching._BOOT}"  # pyright: ignore[reportPrivateUsage] # as above
)
sys.addaudithook(_watch)


@tool(category="read", summary="Tell of names")
def rebound() -> str:
    """Say how names are resolved here."""
    return "to another address the second time"
