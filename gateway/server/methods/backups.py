"""The console's methods about backups (docs/PROTOCOL.md section 6): an operator has one made, where the settings say.

No byte of a backup leaves through a browser: it holds the key that signs the log, and whoever has it can write history.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.core.times import rfc3339
from gateway.protocol import backup_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.asking import ChangeLock
from gateway.runtime.ports import ConsoleSession
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """A backup in the folder."""

    file: str
    size: int
    made_at: int


@dataclass(frozen=True, slots=True)
class NewBackup:
    """A backup that was just made and checked."""

    kept: KeptBackup
    records: int
    root: str


class BackupMethods:
    """The handlers. `make` and `find` block; `require_fresh` raises Refused where the sign-in was too long ago."""

    def __init__(
        self,
        folder: Path,
        *,
        make: Callable[[], NewBackup],
        find: Callable[[], Sequence[KeptBackup]],
        require_fresh: Callable[[ConsoleSession], None],
    ) -> None:
        self._folder = folder
        self._make = make
        self._find = find
        self._require_fresh = require_fresh
        self._making = ChangeLock()

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        return {
            "backups/list": MethodRow(self.list, Concurrency.AT_ONCE, MethodPermission.OPERATOR),
            "backups/make": MethodRow(self.make, Concurrency.AT_ONCE, MethodPermission.OPERATOR),
        }

    async def list(self, _caller: ConsoleCaller, _params: Nothing) -> wire.BackupList:
        """What is there."""
        found = await asyncio.to_thread(self._find)
        return wire.BackupList(folder=str(self._folder), backups=tuple(map(_view_backup, found)))

    async def make(self, caller: ConsoleCaller, _params: Nothing) -> wire.BackupMade:
        """Make one, after a recent assertion with a passkey; it is checked before this returns."""
        self._require_fresh(caller.session)
        # One at a time: each copies the whole record and reads it once more.
        async with self._making:
            made = await asyncio.to_thread(self._make)
        _log.info("%s had the backup %s made", caller.principal.id, made.kept.file)
        return wire.BackupMade(backup=_view_backup(made.kept), records=made.records, root=made.root)


def _view_backup(kept: KeptBackup) -> wire.WireBackup:
    return wire.WireBackup(file=kept.file, size=kept.size, made_at=rfc3339(kept.made_at))
