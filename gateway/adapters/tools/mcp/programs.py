"""Which files a server's command needs beside those that every program may read, found out before it is started.

Interpreters and servers often live outside /usr: in a virtual environment, under nvm or pyenv, in `node_modules`. What is made
readable for one is where its code and libraries are, and never a whole home or anything of the gateway's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.sandbox import machine_paths

STANDARD_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")

LOADERS: Final = frozenset({"npx", "uvx", "uv", "bunx", "pipx", "pnpm", "yarn"})
"""Commands that may fetch the server they start from the network."""

_CODE: Final = ("bin", "lib", "lib64", "libexec")
"""What is read of the folder that a program is installed under: code, never `etc`, `share` or `state`."""

_SCRIPTS: Final = frozenset({".js", ".mjs", ".cjs", ".ts", ".py"})
_LONGEST_FIRST_LINE: Final = 256
"""Bytes of the first line that Linux looks at."""

_MOST_STEPS: Final = 4
"""A script whose interpreter is a script is rare; a circle of them is not followed."""


@dataclass(frozen=True, slots=True)
class ResolvedCommand:
    """A command as the sandbox runs it: its words, the folders it must be able to read, and where it looks for programs."""

    words: tuple[str, ...]
    readable: tuple[Path, ...]
    path: str
    fetches: bool
    """Whether it may have to fetch the server from the network first."""


def resolve_command(words: Sequence[str], search_path: str) -> ResolvedCommand:
    """Find the program on `search_path`, or at its path. Raises Misconfigured, naming what is missing."""
    name = words[0]
    found = name if os.path.isabs(name) else shutil.which(name, path=search_path) if "/" not in name else None
    if found is None:
        kind = "should be a whole path, or a name without `/`" if "/" in name else "is not found on the PATH of the gateway"
        raise Misconfigured(f"the program `{escape(name)}` {kind}")
    if not os.access(found, os.X_OK) or os.path.isdir(found):
        state = "is not there" if not os.path.exists(found) else "is no program that can be run"
        raise Misconfigured(f"the program `{escape(name)}` {state}")
    # The last step stays as it is: a virtual environment is recognised by the path of its link.
    program = Path(os.path.realpath(os.path.dirname(found)), os.path.basename(found))
    folders: list[Path] = []
    bins: list[str] = []
    for step in _follow(program, search_path):
        bins.append(str(step.parent))
        folders += _code_of(step)
    for word in words[1:]:
        folders += _package_of(word)
    return ResolvedCommand(
        (str(program), *words[1:]),
        tuple(dict.fromkeys(each for each in folders if machine_paths.exposes(each) is None)),
        ":".join(dict.fromkeys((*bins, *STANDARD_PATH))),
        fetches=program.name in LOADERS,
    )


def find_missing(words: Sequence[str], granted: Sequence[Path]) -> str | None:
    """The first argument that is a path of this machine which the program cannot see; a hint for when it fails."""
    for word in words:
        path = Path(word)
        if path.is_absolute() and os.path.lexists(path) and machine_paths.exposes(path) is None:
            real = path.resolve()
            if not any(real.is_relative_to(each) for each in granted):
                return word
    return None


def _follow(program: Path, search_path: str) -> Iterator[Path]:
    """The program, what its links lead to, and the interpreters of scripts."""
    step = program
    for _ in range(_MOST_STEPS):
        yield step
        real = Path(os.path.realpath(step))
        if real != step:
            yield real
        interpreter = _interpreter_of(real)
        if interpreter is None:
            return
        if "/" not in interpreter:
            found = shutil.which(interpreter, path=f"{real.parent}:{step.parent}:{search_path}")
            if found is None:
                raise Misconfigured(
                    f"`{escape(step.name)}` needs `{escape(interpreter)}`, which is not found on the gateway's PATH"
                )
            interpreter = found
        if not os.access(interpreter, os.X_OK):
            raise Misconfigured(f"`{escape(step.name)}` needs `{escape(interpreter)}`, which is not there")
        step = Path(os.path.realpath(os.path.dirname(interpreter)), os.path.basename(interpreter))


def _interpreter_of(path: Path) -> str | None:
    """What a script names in its first line; the program that `env` would look for is only a name."""
    try:
        with path.open("rb") as file:
            first = file.read(_LONGEST_FIRST_LINE).partition(b"\n")[0]
    except OSError:
        return None
    words = os.fsdecode(first).removeprefix("#!").split()
    if not first.startswith(b"#!") or not words:
        return None
    if Path(words[0]).name != "env":
        return words[0]
    named = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return named[0] if named else None


def _code_of(program: Path) -> Iterator[Path]:
    """The folders with the code that an installed program consists of."""
    prefix = program.parent.parent
    if (prefix / "pyvenv.cfg").is_file():
        yield prefix
        # Its interpreter is a link to the one it was made with; the libraries are there.
        base = Path(os.path.realpath(program.parent / "python")).parent.parent
        yield from _installed(base)
    elif "node_modules" in program.parts:
        yield _modules_of(program)
    elif program.parent.name == "bin" and _is_apart(prefix):
        yield from _installed(prefix)
    else:
        yield program


def _installed(prefix: Path) -> Iterator[Path]:
    yield from (Path(os.path.realpath(prefix / name)) for name in _CODE if (prefix / name).is_dir())


def _is_apart(prefix: Path) -> bool:
    """Whether a folder holds installed programs, and not somebody's things beside a `bin` of their own."""
    return (prefix / "lib").is_dir() and prefix not in (Path("/"), Path.home()) and not (prefix / ".ssh").exists()


def _package_of(word: str) -> Iterator[Path]:
    """The package of a script that is an argument, as in `node /opt/server/dist/index.js`."""
    path = Path(word)
    if not path.is_absolute() or path.suffix not in _SCRIPTS or not path.is_file():
        return
    real = path.resolve()
    if "node_modules" in real.parts:
        yield _modules_of(real)
        return
    for folder in real.parents:
        if (folder / "package.json").is_file() or (folder / "pyproject.toml").is_file():
            if folder not in (Path("/"), Path.home()):
                yield folder
            return
    yield real


def _modules_of(path: Path) -> Path:
    """The outermost `node_modules`: packages beside it are needed too."""
    return Path(*path.parts[: path.parts.index("node_modules") + 1])
