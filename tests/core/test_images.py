"""Images before they leave: bounded by their decoded size, without metadata, followed to their end or refused."""

from __future__ import annotations

import contextlib
from struct import pack
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.images import UnusableImage, clean_image

SECRET = b"52.5200N 13.4050E"


def chunk(kind: bytes, content: bytes) -> bytes:
    return pack(">I", len(content)) + kind + content + pack(">I", crc32(kind + content))


def png(width: int = 2, height: int = 2, *more: bytes) -> bytes:
    head = chunk(b"IHDR", pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + chunk(b"IDAT", b"pixels") + chunk(b"IEND", b"")


def segment(kind: int, content: bytes) -> bytes:
    return bytes([0xFF, kind]) + pack(">H", len(content) + 2) + content


def jpeg(width: int = 2, height: int = 2, *more: bytes) -> bytes:
    frame = segment(0xC0, pack(">BHHB", 8, height, width, 3) + bytes(9))
    scans = segment(0xDA, bytes(8)) + b"a\xff\x00b\xff\xd0c" + segment(0xC4, b"table") + segment(0xDA, bytes(8)) + b"d"
    return b"\xff\xd8" + segment(0xE0, b"JFIF\0" + bytes(9)) + b"".join(more) + frame + scans + b"\xff\xd9"


def webp(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(pack("<4sI", kind, len(content)) + content + b"\0" * (len(content) % 2) for kind, content in chunks)
    return b"RIFF" + pack("<I", 4 + len(body)) + b"WEBP" + body


def lossy(width: int = 2, height: int = 2) -> tuple[bytes, bytes]:
    return b"VP8 ", b"\0\0\0\x9d\x01\x2a" + pack("<HH", width, height) + b"pixels!"


def lossless(width: int = 2, height: int = 2) -> tuple[bytes, bytes]:
    return b"VP8L", b"\x2f" + pack("<I", (width - 1) | (height - 1) << 14) + b"pixels"


def canvas(width: int = 2, height: int = 2, features: int = 0x1C) -> tuple[bytes, bytes]:
    return b"VP8X", bytes([features, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


def gif(*more: bytes, size: tuple[int, int] = (2, 2)) -> bytes:
    head = b"GIF89a" + pack("<HH", *size) + bytes([0x80, 0, 0]) + b"\0\0\0\xff\xff\xff"
    return head + b"".join(more) + b",\0\0\0\0" + pack("<HH", *size) + b"\x81" + bytes(12) + b"\x02\x02\x44\x01\0;"


def blocks(*contents: bytes) -> bytes:
    return b"".join(bytes([len(each)]) + each for each in contents) + b"\0"


PLAYING = (b"!\xff" + blocks(b"NETSCAPE2.0", b"\x01\0\0"), b"!\xf9" + blocks(b"\x04\x0a\0\x01"))


def test_of_an_animation_what_people_and_programs_wrote_into_it_is_left_out() -> None:
    assert clean_image(gif(*PLAYING)) == gif(*PLAYING)
    hidden = (
        b"!\xfe" + blocks(SECRET),
        b"!\x01" + blocks(bytes(12), SECRET),
        b"!\xff" + blocks(b"XMP DataXMP", SECRET),
        b"!\xff" + blocks(b"NETSCAPE2.0", b"\x01\0\0", SECRET),
        b"!\xf9" + blocks(b"\x04\x0a\0\x01", SECRET),
        b"!\xf9" + blocks(SECRET),
    )
    assert clean_image(gif(*PLAYING, *hidden)) == gif(*PLAYING)
    assert clean_image(gif() + SECRET) == gif()


def test_what_tells_where_it_was_taken_is_left_out_and_the_picture_stays() -> None:
    with_text = (chunk(b"tEXt", SECRET), chunk(b"eXIf", SECRET), chunk(b"iTXt", SECRET), chunk(b"tRNS", b"\0"))
    assert clean_image(png(2, 2, *with_text)) == png(2, 2, chunk(b"tRNS", b"\0"))
    assert clean_image(png() + SECRET) == png()
    marked = (segment(0xE1, b"Exif\0\0" + SECRET), segment(0xFE, SECRET), segment(0xE2, b"MPF\0" + SECRET))
    assert clean_image(jpeg(2, 2, *marked)) == jpeg()
    assert clean_image(jpeg() + jpeg(2, 2, *marked)) == jpeg()
    named = webp(canvas(), (b"ICCP", SECRET), lossy(), (b"EXIF", SECRET), (b"XMP ", SECRET))
    assert clean_image(named) == webp(canvas(features=0x10), lossy())
    assert clean_image(webp(lossless()) + SECRET) == webp(lossless())


def test_what_hides_in_a_known_part_is_left_out_too() -> None:
    """docs/SECURITY.md case 187: a thumbnail, and parts that are longer than they can be or come again."""
    sizes = chunk(b"pHYs", bytes(9))
    assert clean_image(png(2, 2, chunk(b"pHYs", bytes(9) + SECRET))) == png()
    assert clean_image(png(2, 2, sizes, *(chunk(b"pHYs", SECRET[:9]),) * 9)) == png(2, 2, sizes)
    for kind in (0xE0, 0xEE, 0xF0, 0xBF):
        assert clean_image(jpeg(2, 2, segment(kind, b"JFXX\0\x10" + SECRET))) == jpeg()
    small = segment(0xE0, b"JFIF\0" + bytes(7) + b"\1\1" + SECRET)
    assert clean_image(b"\xff\xd8" + small + jpeg()[20:]) == jpeg()
    adobe = segment(0xEE, b"Adobe" + bytes(7))
    assert clean_image(jpeg(2, 2, adobe)) == jpeg(2, 2, adobe)
    assert clean_image(jpeg(2, 2, segment(0xEE, b"Adobe" + bytes(7) + SECRET))) == jpeg(2, 2, adobe)


def test_metadata_between_two_scans_is_left_out_too() -> None:
    whole = jpeg()
    place = whole.rindex(b"\xff\xda")
    assert clean_image(whole[:place] + segment(0xE1, SECRET) + whole[place:]) == whole
    assert clean_image(whole[:2] + b"\xff\xff" + whole[3:]) == whole


@pytest.mark.parametrize(
    "bomb",
    [
        png(10_000, 10_000),
        jpeg(60_000, 60_000),
        webp(lossy(16_383, 16_383)),
        webp(lossless(16_384, 16_384)),
        webp(canvas(16_777_216, 16_777_216), lossy()),
        webp(canvas(), lossy(16_383, 16_383)),
        png(0, 5),
        gif(size=(65_535, 65_535)),
        gif(b",\0\0\0\0\xff\xff\xff\xff\0\x02\0"),
    ],
)
def test_what_is_small_in_a_file_and_huge_in_memory_is_refused(bomb: bytes) -> None:
    with pytest.raises(UnusableImage, match=r"pixels|no size"):
        clean_image(bomb)


@pytest.mark.parametrize(
    "other",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"GIF89a" + bytes(20),
        gif()[:-1],
        gif()[:-3],
        gif()[:20] + b";",
        gif()[:19] + b"?" + gif()[19:],
        gif(b"!\xfe\xff"),
        gif()[:13],
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a\n<svg onload='alert(1)'/>",
        png()[:-4],
        png().replace(b"IDAT", b"IDOT"),
        b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", b"x") + chunk(b"IEND", b""),
        png()[:-12] + chunk(b"IEND", SECRET),
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0) + SECRET) + png()[33:],
        b"\xff\xd8\xff\xd9",
        jpeg()[:-2],
        jpeg()[:40],
        b"\xff\xd8\xff\xe0\x00\x00",
        b"\xff\xd8\xff\xe0\x00\x04ab<svg>",
        webp((b"ALPH", b"x")),
        webp((b"ANIM", b"x"), lossy()),
        webp(lossy())[:-4],
        webp((b"VP8X", b"")),
        webp((b"VP8X", bytes(11))),
        b"",
    ],
)
def test_what_is_no_image_to_its_end_is_refused(other: bytes) -> None:
    with pytest.raises(UnusableImage):
        clean_image(other)


@given(st.sampled_from([png(), jpeg(), webp(canvas(), lossy())]), st.binary(max_size=200), st.integers(0, 90))
def test_any_bytes_are_an_image_or_refused_and_never_anything_else(image: bytes, noise: bytes, place: int) -> None:
    with contextlib.suppress(UnusableImage):
        assert len(clean_image(image[:place] + noise + image[place + len(noise) :])) <= len(image) + len(noise) + 2
