"""Where the backups are that the console has made, and what they are called."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from gateway.core.errors import Misconfigured
from gateway.runtime.sessions import Sessions
from gateway.server.methods.backups import BackupMethods, KeptBackup, NewBackup
from gateway.settings import Settings

NAME: Final = "countersign-%Y%m%dT%H%M%S.%fZ.tar"
_FOUND: Final = "countersign-*Z.tar"


def backup_methods(settings: Settings, sessions: Sessions) -> BackupMethods:
    """The methods, over the folder that the settings name."""
    folder = (settings.backups or settings.state / "backups").absolute()
    return BackupMethods(
        folder,
        make=partial(_make, settings.state, folder),
        find=partial(_find, folder),
        require_fresh=sessions.require_fresh,
    )


def _make(state: Path, folder: Path) -> NewBackup:
    # Imported by the first backup that somebody asks for.
    from gateway.adapters.storage.backup import back_up

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Misconfigured(f"the folder of backups cannot be made: {error.strerror}") from None
    file = folder / datetime.fromtimestamp(time.time(), UTC).strftime(NAME)
    made = back_up(state, file, lambda _done, _total: None)
    return NewBackup(_look(file), made.report.size, made.report.root)


def _find(folder: Path) -> Sequence[KeptBackup]:
    return [_look(file) for file in sorted(folder.glob(_FOUND), reverse=True) if file.is_file()]


def _look(file: Path) -> KeptBackup:
    status = file.stat()
    return KeptBackup(file.name, status.st_size, status.st_mtime_ns // 1_000_000)
