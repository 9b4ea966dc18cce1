"""Checkpoints with the time stamp of an authority (RFC 3161): what it signs is the digest of the signed note, and when."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Final

import aiohttp
from cryptography.x509 import Certificate, load_pem_x509_certificates
from rfc3161_client import (
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from gateway.adapters.anchoring.places import AnchorDown, SignedCheckpoint
from gateway.adapters.anchoring.settings import TimestampAnchor

_SECONDS: Final = 20.0
_ANSWER_LIMIT: Final = 256 * 1024


class TimestampAsker:
    """Asks one authority."""

    def __init__(self, settings: TimestampAnchor) -> None:
        self._url = settings.url
        self._ca = settings.ca

    async def held(self) -> str:
        """It keeps none."""
        return ""

    async def put(self, checkpoint: SignedCheckpoint, old: int) -> str:
        """Gives its answer in base64, verified."""
        del old
        request = TimestampRequestBuilder().data(checkpoint.note.encode()).build()
        raw = await self._ask(request.as_bytes())
        roots = _read_roots(self._ca)
        try:
            answer = decode_timestamp_response(raw)
            builder = VerifierBuilder.from_request(request)
            for root in roots:
                builder = builder.add_root_certificate(root)
            _require(builder, answer, checkpoint.note)
        except ValueError:
            raise AnchorDown("its answer is no time stamp in DER") from None
        return b64encode(raw).decode()

    async def _ask(self, asked: bytes) -> bytes:
        headers = {"content-type": "application/timestamp-query"}
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_SECONDS), headers=headers) as client,
                client.post(self._url, data=asked, allow_redirects=False) as answer,
            ):
                if answer.status != 200:
                    raise AnchorDown(f"it answered {answer.status}")
                return await answer.content.read(_ANSWER_LIMIT)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise AnchorDown("it did not answer in time" if isinstance(error, TimeoutError) else "it cannot be reached") from None


def check_stamp(ca: Path, answer: bytes, note: str) -> str | None:
    """Why an answer is no time stamp of this note by an authority of these certificates; None where it is one."""
    try:
        builder = VerifierBuilder()
        for root in _read_roots(ca):
            builder = builder.add_root_certificate(root)
        _require(builder, decode_timestamp_response(answer), note)
    except AnchorDown as fault:
        return str(fault)
    except ValueError:
        return "its answer is no time stamp in DER"
    return None


def _require(builder: VerifierBuilder, answer: TimeStampResponse, note: str) -> None:
    try:
        builder.build().verify_message(answer, note.encode())
    except VerificationError as error:
        raise AnchorDown(f"its time stamp does not hold: {str(error)[:200]}") from None


def _read_roots(path: Path) -> list[Certificate]:
    try:
        return load_pem_x509_certificates(path.read_bytes())
    except (OSError, ValueError):
        raise AnchorDown("the file `ca` holds no certificates in PEM") from None
