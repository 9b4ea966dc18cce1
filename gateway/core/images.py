"""Images as they may leave: of a kind that models are shown, of a size that can be decoded, and without what tells where
and by whom they were taken.

Only the containers are read, never the pixels: a decoder is the largest part of such a program that an image could attack. What
is not known to be part of the picture is left out, and what cannot be followed to its end is refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from struct import pack, unpack_from
from typing import Final

from gateway.core.attachments import MediaType, media_type_of

MOST_PIXELS: Final = 16 * 1024 * 1024
"""Of the decoded image: 64 MB of memory. A photo of twelve megapixels is one of the largest that phones take unasked."""

_PNG_KEPT: Final = {
    b"IHDR": 13,
    b"PLTE": 768,
    b"IEND": 0,
    b"tRNS": 256,
    b"gAMA": 4,
    b"cHRM": 32,
    b"sRGB": 1,
    b"sBIT": 4,
    b"bKGD": 6,
    b"pHYs": 9,
    b"IDAT": 2**31,
}
"""With the most bytes that each may have: in what is longer, anything could stand."""

_WEBP_KEPT: Final = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ALPH"))
_WEBP_FEATURES: Final = 0x10
"""Of the features that `VP8X` announces: transparency. Profiles, metadata and animation are left out."""

_START_OF_FRAME: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH: Final = frozenset((0x01, *range(0xD0, 0xD8)))
_JPEG_KEPT: Final = frozenset((*range(0xC0, 0xD0), *range(0xDA, 0xE0)))
"""Frames, tables and scans."""

_JFIF, _ADOBE = 0xE0, 0xEE
"""How colours are written."""

_GIF_TIMING: Final = b"\x21\xf9\x04"
_GIF_REPEATS: Final = (b"\x21\xff\x0bNETSCAPE2.0\x03\x01", b"\x21\xff\x0bANIMEXTS1.0\x03\x01")
"""How often it plays, in the only two ways that browsers know."""


class UnusableImage(ValueError):
    """Says why, to a person."""


def clean_image(data: bytes) -> bytes:
    """The image without its metadata. Raises UnusableImage."""
    clean = _CLEANERS.get(media_type_of(data))
    if clean is None:
        raise UnusableImage("it is no PNG, JPEG, WebP or GIF image")
    try:
        return clean(data)
    except (struct.error, IndexError):
        raise UnusableImage("the image is cut off or damaged") from None


def _check_size(width: int, height: int) -> None:
    if not width or not height:
        raise UnusableImage("the image has no size")
    if width * height > MOST_PIXELS:
        raise UnusableImage(f"the image has {width} × {height} pixels; at most {MOST_PIXELS // 2**20} million are taken")


def _clean_png(data: bytes) -> bytes:
    kept = [data[:8]]
    at, kind, kinds = 8, b"", set[bytes]()
    while kind != b"IEND":
        length, kind = unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data) or (not kinds) != (kind == b"IHDR"):
            raise UnusableImage("the image is cut off or damaged")
        if (kind == b"IHDR" and length != _PNG_KEPT[kind]) or (kind == b"IEND" and length):
            raise UnusableImage("the image is cut off or damaged")
        if kind == b"IHDR":
            _check_size(*unpack_from(">II", data, at + 8))
        if length <= _PNG_KEPT.get(kind, -1) and (kind == b"IDAT" or kind not in kinds):
            kept.append(data[at:end])
        kinds.add(kind)
        at = end
    if b"IDAT" not in kinds:
        raise UnusableImage("the image is cut off or damaged")
    return b"".join(kept)


def _clean_jpeg(data: bytes) -> bytes:
    kept = [data[:2]]
    at, is_sized = 2, False
    while True:
        if data[at] != 0xFF:
            raise UnusableImage("the image is cut off or damaged")
        kind = data[at + 1]
        if kind == 0xFF:
            at += 1
            continue
        if kind == 0xD9:
            break
        if kind in _WITHOUT_LENGTH:
            kept.append(data[at : at + 2])
            at += 2
            continue
        (length,) = unpack_from(">H", data, at + 2)
        end = at + 2 + length
        if length < 2 or end > len(data):
            raise UnusableImage("the image is cut off or damaged")
        if kind in _START_OF_FRAME:
            height, width = unpack_from(">HH", data, at + 5)
            _check_size(width, height)
            is_sized = True
        if kind == 0xDA:
            end = _end_of_scan(data, end)
        kept.append(data[at:end] if kind in _JPEG_KEPT else _tell_colours(kind, data[at + 4 : end]))
        at = end
    if not is_sized:
        raise UnusableImage("the image is cut off or damaged")
    # What follows the end is no part of the picture. Phones put a second one there.
    return b"".join((*kept, b"\xff\xd9"))


def _tell_colours(kind: int, content: bytes) -> bytes:
    """What is left of application data. A thumbnail may show what was cut out of the picture since."""
    if kind == _JFIF and content.startswith(b"JFIF\0") and len(content) >= 14:
        content = content[:12] + b"\0\0"
    elif kind == _ADOBE and content.startswith(b"Adobe"):
        content = content[:12]
    else:
        return b""
    return pack(">BBH", 0xFF, kind, len(content) + 2) + content


def _end_of_scan(data: bytes, at: int) -> int:
    """Where the next marker is: within a scan 0xFF is followed by zero, by a restart or by itself."""
    while (at := data.find(b"\xff", at)) >= 0:
        following = data[at + 1]
        if following == 0xFF:
            at += 1
        elif following == 0 or 0xD0 <= following <= 0xD7:
            at += 2
        else:
            return at
    raise UnusableImage("the image is cut off or damaged")


def _clean_webp(data: bytes) -> bytes:
    (size,) = unpack_from("<I", data, 4)
    end = min(len(data), 8 + size)
    kept: list[bytes] = []
    at, is_sized = 12, False
    while at < end:
        kind, length = unpack_from("<4sI", data, at)
        content = data[at + 8 : at + 8 + length]
        if len(content) < length or kind in (b"ANIM", b"ANMF"):
            raise UnusableImage("the image is animated, cut off or damaged")
        if kind in _WEBP_KEPT:
            is_sized = _measure_webp(kind, content) or is_sized
            if kind == b"VP8X":
                content = bytes([content[0] & _WEBP_FEATURES]) + content[1:]
            kept.append(pack("<4sI", kind, length) + content + b"\0" * (length % 2))
        at += 8 + length + length % 2
    if not is_sized:
        raise UnusableImage("the image is cut off or damaged")
    chunks = b"".join(kept)
    return b"RIFF" + pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def _measure_webp(kind: bytes, content: bytes) -> bool:
    """Whether this is the picture itself; its size, and that of the canvas, is checked."""
    match kind:
        case b"VP8 ":
            width, height = unpack_from("<HH", content, 6)
            _check_size(width & 0x3FFF, height & 0x3FFF)
        case b"VP8L":
            (bits,) = unpack_from("<I", content, 1)
            _check_size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            width, height = (int.from_bytes(content[place : place + 3], "little") + 1 for place in (4, 7))
            if len(content) != 10:
                raise UnusableImage("the image is cut off or damaged")
            _check_size(width, height)
            return False
        case _:
            return False
    return True


def _clean_gif(data: bytes) -> bytes:
    _check_size(*unpack_from("<HH", data, 6))
    at = 13 + _size_of_colours(data[10])
    kept, is_there = [data[:at]], False
    while (block := data[at : at + 1]) != b";":
        match block:
            case b",":
                _check_size(*unpack_from("<HH", data, at + 5))
                end = _end_of_blocks(data, at + 11 + _size_of_colours(data[at + 9]))
                kept.append(data[at:end])
                is_there = True
            case b"!":
                end = _end_of_blocks(data, at + 2)
                # Comments, texts over the picture and what applications add are left out.
                extension = data[at:end]
                is_known = len(extension) == 8 and extension.startswith(_GIF_TIMING)
                if is_known or (len(extension) == 19 and extension.startswith(_GIF_REPEATS)):
                    kept.append(extension)
            case _:
                raise UnusableImage("the image is cut off or damaged")
        at = end
    if not is_there or len(kept[0]) < 13:
        raise UnusableImage("the image is cut off or damaged")
    return b"".join((*kept, b";"))


def _size_of_colours(flags: int) -> int:
    """Bytes of the table of colours that these flags announce."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_blocks(data: bytes, at: int) -> int:
    """Where a chain of blocks ends, each led by its length, the last of length zero."""
    while length := data[at]:
        at += 1 + length
    return at + 1


_CLEANERS: Final[Mapping[MediaType, Callable[[bytes], bytes]]] = {
    MediaType.PNG: _clean_png,
    MediaType.JPEG: _clean_jpeg,
    MediaType.WEBP: _clean_webp,
    MediaType.GIF: _clean_gif,
}
