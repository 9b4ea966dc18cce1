"""A module of tools in whose presence names that end in `.slow.test` are not resolved before a file is there."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

from gateway.adapters.tools import tool

_system = socket.getaddrinfo
_never = threading.Event()


def _look_up(host: Any, *arguments: Any, **options: Any) -> Any:
    if not str(host).endswith(".slow.test"):
        return _system(host, *arguments, **options)
    here = Path(os.environ["EFFECTS"]).parent
    with (here / "asked").open("a") as asked:
        asked.write(f"{host}\n")
    for _ in range(6000):
        if (here / "answer").exists():
            break
        _never.wait(0.02)
    raise socket.gaierror(socket.EAI_NONAME, "no such name")


socket.getaddrinfo = _look_up


@tool(category="read", summary="Wait for names")
def names() -> str:
    """Say how names are resolved here."""
    return "slowly"
