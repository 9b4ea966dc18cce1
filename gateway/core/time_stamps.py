"""What a time stamp of RFC 3161 says: of which digest it is, and when it was made; and what of its signature can be read without
a cipher (RFC 5652, RFC 5035): who is to have signed it, and whether that signature names the certificate that comes with it.

Whether the signature verifies, and for whom, is another question, which needs the authority's certificate
(`gateway.adapters.anchoring.timestamp`). Another verifier reads the same places, and refuses what this refuses.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from typing import Final

from gateway.core.der import (
    FIRST,
    INTEGER,
    OBJECT,
    OCTETS,
    SECOND,
    SEQUENCE,
    SET,
    TIME,
    MalformedDer,
    Value,
    held_by,
    only,
    read_values,
    require,
    value_at,
    values_in,
)

_SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
_STAMP_INFO: Final = bytes.fromhex("2a864886f70d0109100104")
_HASHES: Final = {
    bytes.fromhex("608648016503040201"): "sha256",
    bytes.fromhex("608648016503040202"): "sha384",
    bytes.fromhex("608648016503040203"): "sha512",
}
_RSA: Final = bytes.fromhex("2a864886f70d010101")
_SIGNATURES: Final = {
    bytes.fromhex("2a864886f70d01010b"): "sha256",
    bytes.fromhex("2a864886f70d01010c"): "sha384",
    bytes.fromhex("2a864886f70d01010d"): "sha512",
    bytes.fromhex("2a8648ce3d040302"): "sha256",
    bytes.fromhex("2a8648ce3d040303"): "sha384",
    bytes.fromhex("2a8648ce3d040304"): "sha512",
}
_CONTENT_TYPE: Final = bytes.fromhex("2a864886f70d010903")
_MESSAGE_DIGEST: Final = bytes.fromhex("2a864886f70d010904")
_SIGNING_CERTIFICATE: Final = bytes.fromhex("2a864886f70d010910020c")
_SIGNING_CERTIFICATE_V2: Final = bytes.fromhex("2a864886f70d010910022f")
_OLD_NAMING: Final = "sha1"
"""How a certificate was named before RFC 5035; by an attribute that is itself signed."""

_NO_PARAMETERS: Final = (b"", b"\x05\x00")
_DIRECTORY_NAME: Final = 0xA4
_MOMENT: Final = re.compile(rb"([0-9]{14})(?:\.[0-9]{1,9})?Z")


class MalformedStamp(Exception):
    """An answer that is no time stamp."""


class StampFault(StrEnum):
    """Why a time stamp is not its authority's, in the order in which it is looked at."""

    FORM = "this is no time stamp"
    SIGNER = "its signature names another certificate than those that it carries, or none"
    PURPOSE = "its certificate is not one for time stamps"
    VALIDITY = "its certificate was not valid at its time"
    CHAIN = "its certificate does not go back to one that was given"
    SIGNATURE = "its signature does not verify"


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """The digest that was stamped, by the name of its function, and when, in seconds since 1970."""

    hash_name: str
    imprint: bytes
    at: int

    def is_of(self, message: bytes) -> bool:
        """Whether it is the stamp of these bytes."""
        return hashlib.new(self.hash_name, message).digest() == self.imprint


def read_time_stamp(answer: bytes) -> TimeStamp:
    """What an authority's answer says. Raises MalformedStamp."""
    try:
        return _read_info(_read_signed(answer))
    except MalformedDer:
        raise MalformedStamp from None


def find_signer(answer: bytes) -> bytes | None:
    """The certificate in an authority's answer whose key is to have signed it, in DER: by the signer's issuer and number, and by
    its digest in what is signed. None where there is none, or it is another. Raises MalformedStamp."""
    try:
        return _find_signer(_read_signed(answer))
    except MalformedDer:
        raise MalformedStamp from None


def _read_signed(answer: bytes) -> Sequence[Value]:
    response = values_in(only(answer), SEQUENCE)
    status = values_in(value_at(response, 0), SEQUENCE)
    require(held_by(value_at(status, 0), INTEGER) == b"\x00")
    token = values_in(value_at(response, 1), SEQUENCE)
    require(held_by(value_at(token, 0), OBJECT) == _SIGNED_DATA)
    return values_in(only(held_by(value_at(token, 1), FIRST)), SEQUENCE)


def _read_info(signed: Sequence[Value]) -> TimeStamp:
    content = values_in(value_at(signed, 2), SEQUENCE)
    require(held_by(value_at(content, 0), OBJECT) == _STAMP_INFO)
    info = values_in(only(held_by(only(held_by(value_at(content, 1), FIRST)), OCTETS)), SEQUENCE)
    imprint = values_in(value_at(info, 2), SEQUENCE)
    hash_name = _HASHES.get(held_by(value_at(values_in(value_at(imprint, 0), SEQUENCE), 0), OBJECT))
    if hash_name is None:
        raise MalformedStamp
    return TimeStamp(hash_name, held_by(value_at(imprint, 1), OCTETS), _read_moment(held_by(value_at(info, 4), TIME)))


def _read_moment(raw: bytes) -> int:
    read = _MOMENT.fullmatch(raw)
    if read is None:
        raise MalformedStamp
    try:
        return int(datetime.strptime(read[1].decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise MalformedStamp from None


def _find_signer(signed: Sequence[Value]) -> bytes | None:
    require(held_by(value_at(signed, 0), INTEGER) == b"\x03")
    for each in values_in(value_at(signed, 1), SET):
        _read_hash(each)
    parts = list(signed[3:])
    carried = _read_set(parts.pop(0).held) if parts and parts[0].tag == FIRST else ()
    if parts and parts[0].tag == SECOND:
        parts.pop(0)
    require(len(parts) == 1)
    signers = values_in(parts[0], SET)
    require(len(signers) == 1)
    issuer, number, attributes = _read_signer(values_in(signers[0], SEQUENCE))
    require(held_by(_one(attributes, _CONTENT_TYPE), OBJECT) == _STAMP_INFO)
    held_by(_one(attributes, _MESSAGE_DIGEST), OCTETS)
    for each in carried:
        if _read_issued(each) == (issuer, number):
            return each.raw if _is_named(each.raw, issuer, number, attributes) else None
    return None


def _read_signer(parts: Sequence[Value]) -> tuple[bytes, bytes, Mapping[bytes, Value]]:
    require(6 <= len(parts) <= 7 and (len(parts) == 6 or parts[6].tag == SECOND))
    version, named, digest, attributes, kind, signature = parts[:6]
    require(held_by(version, INTEGER) == b"\x01")
    issued = values_in(named, SEQUENCE)
    require(len(issued) == 2)
    held_by(issued[0], SEQUENCE)
    hash_name, (signature_kind, *_) = _read_hash(digest), _read_algorithm(kind)
    require(signature_kind == _RSA or _SIGNATURES.get(signature_kind) == hash_name)
    held_by(signature, OCTETS)
    return issued[0].raw, held_by(issued[1], INTEGER), _read_attributes(held_by(attributes, FIRST))


def _read_algorithm(value: Value) -> tuple[bytes, bytes]:
    parts = values_in(value, SEQUENCE)
    require(1 <= len(parts) <= 2)
    parameters = b"".join(each.raw for each in parts[1:])
    require(parameters in _NO_PARAMETERS)
    return held_by(parts[0], OBJECT), parameters


def _read_hash(value: Value) -> str:
    name = _HASHES.get(_read_algorithm(value)[0])
    if name is None:
        raise MalformedDer
    return name


def _read_set(raw: bytes) -> Sequence[Value]:
    """DER has the parts of a set in one order."""
    found = read_values(raw)
    require(all(one.raw < other.raw for one, other in pairwise(found)))
    return found


def _read_attributes(raw: bytes) -> Mapping[bytes, Value]:
    found: dict[bytes, Value] = {}
    for each in _read_set(raw):
        parts = values_in(each, SEQUENCE)
        require(len(parts) == 2)
        name = held_by(parts[0], OBJECT)
        require(name not in found)
        found[name] = parts[1]
    return found


def _one(attributes: Mapping[bytes, Value], name: bytes) -> Value:
    require(name in attributes)
    return only(held_by(attributes[name], SET))


def _read_issued(certificate: Value) -> tuple[bytes, bytes]:
    """Its issuer and its number."""
    parts = values_in(value_at(values_in(certificate, SEQUENCE), 0), SEQUENCE)
    start = 1 if parts and parts[0].tag == FIRST else 0
    return value_at(parts, start + 2).raw, held_by(value_at(parts, start), INTEGER)


def _is_named(certificate: bytes, issuer: bytes, number: bytes, attributes: Mapping[bytes, Value]) -> bool:
    """By each of the two attributes for it that there are, and there is one."""
    naming = [name for name in (_SIGNING_CERTIFICATE, _SIGNING_CERTIFICATE_V2) if name in attributes]
    return bool(naming) and all(
        _names(_one(attributes, name), name == _SIGNING_CERTIFICATE, certificate, issuer, number) for name in naming
    )


def _names(value: Value, old: bool, certificate: bytes, issuer: bytes, number: bytes) -> bool:
    parts = list(values_in(value_at(values_in(value_at(values_in(value, SEQUENCE), 0), SEQUENCE), 0), SEQUENCE))
    hash_name = _OLD_NAMING if old else "sha256"
    if not old and parts and parts[0].tag == SEQUENCE:
        hash_name = _read_hash(parts.pop(0))
    require(1 <= len(parts) <= 2)
    if hashlib.new(hash_name, certificate).digest() != held_by(parts[0], OCTETS):
        return False
    if len(parts) == 1:
        return True
    issued = values_in(parts[1], SEQUENCE)
    require(len(issued) == 2)
    named = only(held_by(issued[0], SEQUENCE))
    return held_by(named, _DIRECTORY_NAME) == issuer and held_by(issued[1], INTEGER) == number
