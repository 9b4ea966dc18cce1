"""What a command's author may not have thought of, for `countersign doctor`. Read off the text, so no reason to refuse it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gateway.adapters.tools.tool_file.command import Command, DirectCommand
from gateway.core.effects import escape

_NOT_PROGRAMS: Final = frozenset(
    (
        *("!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in"),
        *("select", "then", "time", "until", "while", "{", "}", ".", ":", "[", "alias", "bg", "bind", "break"),
        *("builtin", "caller", "cd", "command", "compgen", "complete", "compopt", "continue", "declare", "dirs"),
        *("disown", "echo", "enable", "eval", "exec", "exit", "export", "false", "fc", "fg", "getopts", "hash"),
        *("help", "history", "jobs", "kill", "let", "local", "logout", "mapfile", "popd", "printf", "pushd", "pwd"),
        *("read", "readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "test", "times"),
        *("trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait"),
    )
)
"""Bash's own words and commands."""

_LEADING: Final = frozenset(("!", "if", "then", "elif", "else", "do", "while", "until", "time", "{", "exec", "command"))
"""Words after which a command follows."""

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=.*", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z0-9_./+-]+")
_PIPE: Final = re.compile(r"(?<![|>&])\|(?!\|)")


def hints_about(command: Command, path: str) -> tuple[str, ...]:
    """Sentences without a stop. `path` is where programs are looked for."""
    if isinstance(command, DirectCommand):
        name = command.elements[0][0][0]
        return () if _is_there(name, path) else (_missing(name, path),)
    missing = dict.fromkeys(name for name in _programs(command.template) if not _is_there(name, path))
    hints = [_missing(name, path) for name in missing]
    if _PIPE.search(_unquoted(command.template)) and not re.search(r"pipefail|PIPESTATUS", command.template):
        hints.append(
            "its exit code is that of the last program in the pipe; with `set -o pipefail;` before it, that of the last one that"
            " failed"
        )
    return tuple(hints)


def _programs(template: str) -> Iterator[str]:
    """The words that begin a command, where that is plain to see."""
    lexer = shlex.shlex(template.replace("\\\n", " ").replace("\n", " ; "), posix=False, punctuation_chars=True)
    lexer.commenters = ""
    begins = True
    try:
        # Bash itself has read it; here-documents and some quotes are beyond this.
        words = [] if "<<" in template else list(lexer)
    except ValueError:
        return
    for word in words:
        if set(word) <= set("();<>|&"):
            begins = "<" not in word and ">" not in word
        elif begins and not _ASSIGNMENT.fullmatch(word):
            begins = word in _LEADING
            if word not in _NOT_PROGRAMS and _NAME.fullmatch(word) and f"{word}()" not in template.replace(" ", ""):
                yield word


def _unquoted(template: str) -> str:
    return re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", "", template)


def _is_there(name: str, path: str) -> bool:
    return Path(name).exists() if name.startswith("/") else "/" in name or shutil.which(name, path=path) is not None


def _missing(name: str, path: str) -> str:
    return f"there is no program `{escape(name)}` in {path}, where programs are looked for"
