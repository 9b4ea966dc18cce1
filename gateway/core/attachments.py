"""Images and other bytes that a tool gave: what they are, and how a result refers to them.

What they are is decided by their first bytes. What the server calls them is written in the result's text and believed by
nobody: a page or a drawing that a browser would run is bytes like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import ConfigDict, with_config
from pydantic.alias_generators import to_camel

from gateway.core.canonical import digest_of_bytes

MAX_ATTACHMENTS: Final = 8
MAX_ATTACHED: Final = 2 * 1024 * 1024
"""Bytes of all attachments of one result; a screenshot has some 500,000."""


class MediaType(StrEnum):
    """What may be shown as what it is; everything else is bytes to be saved. SVG is not among them, for it is a document with
    scripts and links."""

    PNG = "image/png"
    JPEG = "image/jpeg"
    GIF = "image/gif"
    WEBP = "image/webp"
    BYTES = "application/octet-stream"


_SIGNATURES: Final = (
    (MediaType.PNG, b"\x89PNG\r\n\x1a\n"),
    (MediaType.JPEG, b"\xff\xd8\xff"),
    (MediaType.GIF, b"GIF87a"),
    (MediaType.GIF, b"GIF89a"),
)
"""WHATWG MIME Sniffing, section 6.1."""


def media_type_of(data: bytes) -> MediaType:
    """What these bytes are by their signature."""
    for media_type, signature in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    if data[:4] == b"RIFF" and data[8:14] == b"WEBPVP":
        return MediaType.WEBP
    return MediaType.BYTES


@with_config(ConfigDict(alias_generator=to_camel))
@dataclass(frozen=True, slots=True)
class AttachmentReference:
    """Where bytes are that came with a result: the id that fetches them, what they are, how many, and their digest."""

    id: str
    media_type: MediaType
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class KeptAttachment:
    """Bytes that are kept with their call."""

    id: str
    data: bytes

    @property
    def reference(self) -> AttachmentReference:
        """What the result's record says of it."""
        return AttachmentReference(self.id, media_type_of(self.data), len(self.data), digest_of_bytes(self.data))


def keep_attachments(attached: Sequence[bytes], keep: Callable[[int], str | None]) -> tuple[KeptAttachment, ...]:
    """Those for which `keep`, asked with the size in bytes, gives an id, as many as one result may have. The others are
    spoken of in the result's text alone."""
    kept: list[KeptAttachment] = []
    left = MAX_ATTACHED
    for data in attached[:MAX_ATTACHMENTS]:
        if not data or len(data) > left or (attachment_id := keep(len(data))) is None:
            continue
        left -= len(data)
        kept.append(KeptAttachment(attachment_id, data))
    return tuple(kept)
