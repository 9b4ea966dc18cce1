"""Time stamps (RFC 3161) made by hand: an authority that says whatever it is told to, with whatever certificate.

`openssl ts` refuses to make most of what a verifier has to refuse.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

YEAR: Final = timedelta(days=365)
AT: Final = datetime(2026, 11, 18, 12, tzinfo=UTC)
"""When a stamp is made, unless it is said."""

_SEQUENCE, _SET, _INTEGER, _OCTETS, _OBJECT, _TIME, _FIRST = 0x30, 0x31, 0x02, 0x04, 0x06, 0x18, 0xA0
_DIGESTS: Final = {"sha1": "1.3.14.3.2.26", "sha256": "2.16.840.1.101.3.4.2.1", "sha384": "2.16.840.1.101.3.4.2.2"}
_RSA: Final = {"sha256": "1.2.840.113549.1.1.11", "sha384": "1.2.840.113549.1.1.12"}
_ECDSA: Final = {"sha256": "1.2.840.10045.4.3.2", "sha384": "1.2.840.10045.4.3.3"}
_STAMP_INFO: Final = "1.2.840.113549.1.9.16.1.4"


@dataclass(frozen=True)
class Identity:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: Key

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)


@cache
def new_key(number: int = 0, *, elliptic: bool = False) -> Key:
    """The same one for the same number: making one takes long."""
    del number
    return ec.generate_private_key(ec.SECP256R1()) if elliptic else rsa.generate_private_key(65537, 2048)


def certify(
    name: str,
    key: Key,
    issuer: Identity | None = None,
    *,
    ca: bool | None = False,
    purposes: Sequence[ObjectIdentifier] | None = (ExtendedKeyUsageOID.TIME_STAMPING,),
    critical: bool = True,
    signs_certificates: bool = True,
    path_length: int | None = None,
    begins: datetime = AT - YEAR,
    ends: datetime = AT + YEAR,
    more: Sequence[tuple[x509.ExtensionType, bool]] = (),
) -> Identity:
    """A certificate for that key; its own root where there is no issuer."""
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(named if issuer is None else issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]))
        .not_valid_before(begins)
        .not_valid_after(ends)
    )
    if ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca, path_length if ca else None), critical=True)
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only"), False
    )
    signs = bool(ca) and signs_certificates
    usage |= {"digital_signature": not signs, "key_cert_sign": signs, "crl_sign": False}
    builder = builder.add_extension(x509.KeyUsage(**usage), critical=True)
    if not ca and purposes is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=critical)
    for extension, needed in more:
        builder = builder.add_extension(extension, critical=needed)
    return Identity(builder.sign((issuer or Identity(None, key)).key, hashes.SHA256()), key)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class Stamping:
    """How a stamp is made. Every `None` is as it should be; an empty text leaves the part out."""

    signer: Identity
    carried: Sequence[Identity] | None = None
    at: datetime = AT
    digest: str = "sha256"
    said: bytes | None = None
    """What is stamped in the signed content, in place of the message's digest."""
    content_digest: bytes | None = None
    content_type: str | None = None
    named: Identity | None = None
    """The certificate that the signed attributes name."""
    naming: Sequence[str] = ("v2",)
    """Whether by SHA-256 (`v2`), by SHA-384, or by SHA-1 as it was done before (`v1`)."""
    issuer: Identity | None = None
    """Whose issuer and serial number the signature is by."""
    signed_by: Key | None = None
    signers: int = 1
    signature_kind: str | None = None
    disordered: bool = False

    def stamp(self, message: bytes) -> bytes:
        """The whole answer."""
        info = self._info(message)
        attributes = self._attributes(info)
        signer = self._signer(attributes)
        carried = (self.signer,) if self.carried is None else self.carried
        signed = seq(
            integer(3),
            tlv(_SET, algorithm(_DIGESTS[self.digest])),
            seq(oid(_STAMP_INFO), tlv(_FIRST, tlv(_OCTETS, info))),
            *([tlv(_FIRST, b"".join(sorted(each.der for each in carried)))] if carried else []),
            tlv(_SET, signer * self.signers),
        )
        return seq(seq(integer(0)), seq(oid("1.2.840.113549.1.7.2"), tlv(_FIRST, signed)))

    def _info(self, message: bytes) -> bytes:
        said = hashlib.new(self.digest, message).digest() if self.said is None else self.said
        imprint = seq(algorithm(_DIGESTS[self.digest]), tlv(_OCTETS, said))
        return seq(integer(1), oid("1.2.3.4.1"), imprint, integer(7), tlv(_TIME, self.at.strftime("%Y%m%d%H%M%SZ").encode()))

    def _attributes(self, info: bytes) -> bytes:
        digest = hashlib.new(self.digest, info).digest() if self.content_digest is None else self.content_digest
        kind = _STAMP_INFO if self.content_type is None else self.content_type
        parts = [
            seq(oid("1.2.840.113549.1.9.3"), tlv(_SET, oid(kind))),
            seq(oid("1.2.840.113549.1.9.4"), tlv(_SET, tlv(_OCTETS, digest))),
            *(self._naming(each) for each in self.naming),
        ]
        return b"".join(sorted(parts, reverse=self.disordered))

    def _naming(self, version: str) -> bytes:
        der = (self.named or self.signer).der
        if version == "v1":
            return seq(oid("1.2.840.113549.1.9.16.2.12"), tlv(_SET, seq(seq(seq(tlv(_OCTETS, hashlib.sha1(der).digest()))))))
        hashed = tlv(_OCTETS, hashlib.new("sha384" if version == "sha384" else "sha256", der).digest())
        parts = (algorithm(_DIGESTS["sha384"]), hashed) if version == "sha384" else (hashed,)
        return seq(oid("1.2.840.113549.1.9.16.2.47"), tlv(_SET, seq(seq(seq(*parts)))))

    def _signer(self, attributes: bytes) -> bytes:
        key = self.signed_by or self.signer.key
        signed = tlv(_SET, attributes)
        hashed = {"sha1": hashes.SHA1, "sha256": hashes.SHA256, "sha384": hashes.SHA384}[self.digest]()
        if isinstance(key, rsa.RSAPrivateKey):
            signature, kind = key.sign(signed, padding.PKCS1v15(), hashed), _RSA.get(self.digest, "1.2.840.113549.1.1.1")
        else:
            signature, kind = key.sign(signed, ec.ECDSA(hashed)), _ECDSA.get(self.digest, "1.2.840.10045.4.1")
        by = (self.issuer or self.signer).certificate
        return seq(
            integer(1),
            seq(by.issuer.public_bytes(), integer(by.serial_number)),
            algorithm(_DIGESTS[self.digest]),
            tlv(_FIRST, attributes),
            algorithm(self.signature_kind or kind),
            tlv(_OCTETS, signature),
        )


def tlv(tag: int, held: bytes) -> bytes:
    """One value in DER."""
    size = len(held)
    if size < 0x80:
        return bytes([tag, size]) + held
    spelled = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 + len(spelled)]) + spelled + held


def seq(*parts: bytes) -> bytes:
    """A SEQUENCE of these."""
    return tlv(_SEQUENCE, b"".join(parts))


def integer(number: int) -> bytes:
    """An INTEGER that is not negative."""
    return tlv(_INTEGER, number.to_bytes(number.bit_length() // 8 + 1))


def oid(name: str) -> bytes:
    """An OBJECT IDENTIFIER."""
    first, second, *rest = map(int, name.split("."))
    held = bytes([first * 40 + second])
    for number in rest:
        parts = [number & 0x7F]
        while number := number >> 7:
            parts.append(0x80 | number & 0x7F)
        held += bytes(reversed(parts))
    return tlv(_OBJECT, held)


def algorithm(name: str) -> bytes:
    """An algorithm without parameters: NULL, as RSA and the digests have it, and none with ECDSA."""
    return seq(oid(name), *(() if name.startswith("1.2.840.10045") else (b"\x05\x00",)))
