"""Checkpoints with the time stamp of an authority (RFC 3161): what it signs is the digest of the signed note, and when."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import aiohttp
from cryptography.x509 import (
    Certificate,
    ExtendedKeyUsage,
    ExtensionNotFound,
    KeyUsage,
    load_der_x509_certificate,
    load_pem_x509_certificates,
)
from cryptography.x509.oid import ExtendedKeyUsageOID
from rfc3161_client import (
    TimestampRequestBuilder,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from gateway.adapters.anchoring.places import AnchorDown, SignedCheckpoint
from gateway.adapters.anchoring.settings import TimestampAnchor
from gateway.adapters.bounded_answers import read_answer
from gateway.core.time_stamps import MalformedStamp, StampFault, TimeStamp, find_signer, read_time_stamp

_SECONDS: Final = 20.0
_ANSWER_LIMIT: Final = 256 * 1024
_NO_CHAIN: Final = "certificate verify error"
"""How OpenSSL calls that."""


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
        builder = VerifierBuilder.from_request(request)
        for root in roots:
            builder = builder.add_root_certificate(root)
        _require(builder, raw, checkpoint.note)
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
                return await read_answer(answer.content.iter_any(), _ANSWER_LIMIT)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise AnchorDown("it did not answer in time" if isinstance(error, TimeoutError) else "it cannot be reached") from None


def check_stamp(ca: Path, answer: bytes, note: str) -> str | None:
    """Why an answer is no time stamp of this note by an authority of these certificates; None where it is one."""
    try:
        builder = VerifierBuilder()
        for root in _read_roots(ca):
            builder = builder.add_root_certificate(root)
        _require(builder, answer, note)
    except AnchorDown as fault:
        return str(fault)
    return None


def _require(builder: VerifierBuilder, answer: bytes, note: str) -> None:
    """What the library does not look at comes first: that what is signed names the certificate (RFC 3161 section 2.4.2), and
    that it is of a time stamp."""
    fault = _find_fault(answer)
    if fault is None:
        try:
            builder.build().verify_message(decode_timestamp_response(answer), note.encode())
        except ValueError:
            # It reads more of what is signed than was read before.
            fault = StampFault.SIGNATURE
        except VerificationError as error:
            fault = StampFault.CHAIN if _NO_CHAIN in str(error) else StampFault.SIGNATURE
    if fault is not None:
        raise AnchorDown(f"its time stamp does not hold: {fault}")


def _find_fault(answer: bytes) -> StampFault | None:
    try:
        stamp, signer = read_time_stamp(answer), find_signer(answer)
        if signer is None:
            return StampFault.SIGNER
        certificate = load_der_x509_certificate(signer)
        if not _is_for_stamps(certificate):
            return StampFault.PURPOSE
    except (MalformedStamp, ValueError):
        return StampFault.FORM
    return None if _was_valid(certificate, stamp) else StampFault.VALIDITY


def _is_for_stamps(certificate: Certificate) -> bool:
    """For nothing else (RFC 3161 section 2.3)."""
    try:
        purposes = certificate.extensions.get_extension_for_class(ExtendedKeyUsage)
    except ExtensionNotFound:
        return False
    try:
        usage = certificate.extensions.get_extension_for_class(KeyUsage).value
    except ExtensionNotFound:
        usage = None
    signs = usage is None or usage.digital_signature or usage.content_commitment
    more = usage is not None and (
        usage.key_encipherment or usage.data_encipherment or usage.key_agreement or usage.key_cert_sign or usage.crl_sign
    )
    return purposes.critical and [*purposes.value] == [ExtendedKeyUsageOID.TIME_STAMPING] and signs and not more


def _was_valid(certificate: Certificate, stamp: TimeStamp) -> bool:
    # As OpenSSL has it, which counts the last moment no more.
    at = datetime.fromtimestamp(stamp.at, UTC)
    return certificate.not_valid_before_utc <= at < certificate.not_valid_after_utc


def _read_roots(path: Path) -> list[Certificate]:
    """In PEM, one or many, or one in DER; each once."""
    try:
        raw = path.read_bytes()
        found = load_pem_x509_certificates(raw) if b"-----BEGIN" in raw else [load_der_x509_certificate(raw)]
    except (OSError, ValueError):
        raise AnchorDown("the file `ca` holds no certificates in PEM or DER") from None
    return [*dict.fromkeys(found)]
