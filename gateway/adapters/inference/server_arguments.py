"""What an operator may add to the command of their own llama-server: where the weights go, and nothing that it does besides.

A list of what is allowed and not of what is not: llama.cpp gains flags every week, among them ones that give the server a shell,
files, agents and addresses to ask (`--tools`, `--agent`, `--mcp-…`), and others would undo what is set here (`--host`,
`--api-key`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gateway.core.effects import escape

_NUMBER: Final = r"-?[0-9]{1,6}"
_LIST: Final = r"[0-9.]{1,12}([,/][0-9.]{1,12}){0,31}"
_NAMES: Final = r"[A-Za-z0-9_]{1,32}(,[A-Za-z0-9_]{1,32}){0,31}"

ALLOWED: Final = {
    "--n-gpu-layers": rf"{_NUMBER}|all|auto",
    "--device": _NAMES,
    "--main-gpu": _NUMBER,
    "--split-mode": "none|layer|row|tensor",
    "--tensor-split": _LIST,
    "--flash-attn": "on|off|auto",
    "--n-cpu-moe": _NUMBER,
    "--cpu-moe": "",
    "--no-kv-offload": "",
    "--no-mmap": "",
    "--mlock": "",
}
"""Flags with the pattern of their value, which is empty where they take none."""


def check_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """The same arguments. Raises ValueError with what would be right."""
    left = list(arguments)
    while left:
        flag = left.pop(0)
        if flag not in ALLOWED:
            raise ValueError(f"`{escape(flag[:40])}` is not among what may be added, which is {', '.join(ALLOWED)}")
        pattern = ALLOWED[flag]
        if pattern and (not left or not re.fullmatch(pattern, left[0])):
            raise ValueError(f"`{flag}` should be followed by a value like `{_EXAMPLES.get(pattern, pattern.split('|', 1)[0])}`")
        if pattern:
            left.pop(0)
    return tuple(arguments)


_EXAMPLES: Final = {_NUMBER: "1", rf"{_NUMBER}|all|auto": "99", _LIST: "3,1", _NAMES: "CUDA0"}


def flags_of(arguments: Sequence[str]) -> list[str]:
    """The flags among checked arguments."""
    return [argument for argument in arguments if argument in ALLOWED]
