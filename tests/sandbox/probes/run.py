"""The program: every attempt that is asked for, each in a process of its own."""

from __future__ import annotations

import errno
import json
import os
import sys

from . import files, network, processes, system_calls
from .attempts import ATTEMPTS, Attempt, Targets

MODULES = (files, network, processes, system_calls)
"""Imported for the attempts that they declare."""


def run(probe: Attempt, targets: Targets) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            probe(targets)
            outcome = "reached"
        except OSError as error:
            outcome = errno.errorcode.get(error.errno or 0, type(error).__name__)
        os.write(writer, outcome.encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        outcome = answer.read().decode()
    _, ended = os.waitpid(child, 0)
    return outcome or f"died of {ended}"


def main() -> None:
    """Read what to attempt and at what, try it, and write what came of it."""
    given = json.load(sys.stdin)
    json.dump({name: run(ATTEMPTS[name], given) for name in given["attempts"]}, sys.stdout)
