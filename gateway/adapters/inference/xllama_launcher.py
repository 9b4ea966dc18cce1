"""Starts llama.cpp's server in this process and ends with the gateway. Run by file path with `python -I`, never imported.

One JSON line on standard input says what to do, so that nothing secret is on the command line or in the environment:

    {"parent": PID, "settings": {NAME: VALUE}}    the `xllamacpp` wheel, settings by attribute path of its parameters
    {"parent": PID, "command": [PATH, ...]}       a llama-server binary
    {"path": FOLDER, "settings": {NAME: VALUE}}   the wheel in a sandbox, which ends this process; FOLDER is where the wheel lies

With a `parent`, standard input then stays open. Its end means that the gateway is gone.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

PR_SET_PDEATHSIG = 1
"""linux/prctl.h: the kernel sends this signal when the thread that started the process ends; it outlives `exec`."""

EXIT_UNSUITABLE = 78
"""sysexits.h EX_CONFIG: the engine is missing, or is not the release that the settings are written for."""


def main() -> None:
    """Read the order and become, or run, the server."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    if "path" in order:
        sys.path.append(order["path"])
        _serve(order["settings"])
        return
    _die_with(order["parent"])
    if "settings" in order:
        threading.Thread(target=_end_with_input, daemon=True).start()
        _serve(order["settings"])
    elif sys.platform == "linux":
        os.execv(order["command"][0], order["command"])  # noqa: S606 - the operator's binary, no shell
    else:
        threading.Thread(target=_end_with_input, daemon=True).start()
        sys.exit(subprocess.call(order["command"], stdin=subprocess.DEVNULL))  # noqa: S603 - the operator's binary, no shell


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The parent may have ended before the signal was requested.
    if os.getppid() != parent:
        sys.exit("the gateway is gone")


def _end_with_input() -> None:
    # Past the buffer, whose lock a waiting thread would hold when the interpreter shuts down.
    while os.read(sys.stdin.fileno(), 1):
        pass
    # The whole group: a binary that runs as a child has to go too.
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _serve(settings: dict[str, Any]) -> None:
    try:
        engine: Any = importlib.import_module("xllamacpp")
    except ImportError as error:
        print(f"xllamacpp does not load: {error}", flush=True)  # noqa: T201 - standard output is the sidecar's log
        sys.exit(EXIT_UNSUITABLE)
    parameters = engine.CommonParams()
    for path, value in settings.items():
        *parents, name = path.split(".")
        target = parameters
        for parent in parents:
            target = getattr(target, parent)
        # Names drift between releases, and an attribute that nothing reads would be a limit that nothing keeps.
        if not hasattr(target, name):
            print(f"this release of xllamacpp has no parameter {path}", flush=True)  # noqa: T201 - as above
            sys.exit(EXIT_UNSUITABLE)
        # JSON knows no sets.
        setattr(target, name, set(value) if isinstance(getattr(target, name), set) else value)
    server = engine.Server(parameters)
    while server:
        signal.pause()


if __name__ == "__main__":
    main()
