"""Parameters and results of the console's methods about backups, for operators."""

from __future__ import annotations

from gateway.protocol.wire import Count, Digest, Timestamp, Wire


class WireBackup(Wire):
    """A backup that was checked before it got its name. `file` is that name, within the folder of backups."""

    file: str
    size: Count
    made_at: Timestamp


class BackupList(Wire):
    """The backups that the console has had made and that are still there, newest first; `folder` is where they are, on the
    gateway's machine."""

    folder: str
    backups: tuple[WireBackup, ...]


class BackupMade(Wire):
    """The new backup, how many records it holds, and their root."""

    backup: WireBackup
    records: Count
    root: Digest
