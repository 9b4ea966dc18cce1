"""The workspace of somebody who has none: a folder with sample files."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path

from gateway.adapters.tools.builtin.files import require_folder
from gateway.core.errors import Misconfigured


def prepare_workspace(path: Path) -> bool:
    """Make the workspace with its sample files if there is nothing at `path`; whether it was made.

    An existing folder is left as it is, also when it is empty. Raises Misconfigured when there is no folder to work in.
    """
    if path.exists():
        require_folder(path)
        return False
    try:
        with as_file(files("gateway.adapters.tools.builtin") / "samples") as samples:
            shutil.copytree(samples, path, copy_function=shutil.copyfile)
    except OSError as error:
        raise Misconfigured(f"the workspace `{path.name}` cannot be made: {error.strerror}") from error
    return True


@asynccontextmanager
async def prepared_workspace(path: Path, tell: Callable[[str], object]) -> AsyncGenerator[None]:
    """The same, and says so. A workspace that was made goes again when the context fails, as long as it is what was made."""
    if made := prepare_workspace(path):
        tell(f"Made {path}/ with a few sample files; tools work there and nowhere else.")
    try:
        yield
    except BaseException:
        with as_file(files("gateway.adapters.tools.builtin") / "samples") as samples, suppress(OSError):
            if made and _content_of(path) == _content_of(samples):
                shutil.rmtree(path)
        raise


def _content_of(folder: Path) -> dict[Path, bytes | None]:
    """What is in it: the bytes of each file, None for each folder and for what is neither."""
    return {
        each.relative_to(folder): each.read_bytes() if each.is_file() and not each.is_symlink() else None
        for each in folder.rglob("*")
    }
