"""What bytes that come with a result are taken for, and how many are kept."""

from __future__ import annotations

import pytest

from gateway.core.attachments import MAX_ATTACHED, MAX_ATTACHMENTS, MediaType, keep_attachments, media_type_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, MediaType.PNG),
        (b"\xff\xd8\xff\xe0rest", MediaType.JPEG),
        (b"GIF89arest", MediaType.GIF),
        (b"GIF87arest", MediaType.GIF),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 rest", MediaType.WEBP),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", MediaType.BYTES),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", MediaType.BYTES),
        (b"<html><script>1</script>", MediaType.BYTES),
        (b" " + PNG, MediaType.BYTES),
        (b"%PDF-1.7", MediaType.BYTES),
        (b"", MediaType.BYTES),
    ],
    ids=str,
)
def test_bytes_are_what_their_signature_says_and_documents_are_only_bytes(data: bytes, media_type: MediaType) -> None:
    assert media_type_of(data) is media_type


def test_as_many_are_kept_as_one_result_may_have_and_there_is_room_for() -> None:
    ids = iter(range(100))
    kept = keep_attachments([PNG] * (MAX_ATTACHMENTS + 3), lambda size: f"res_{next(ids)}")
    assert [each.id for each in kept] == [f"res_{number}" for number in range(MAX_ATTACHMENTS)]
    assert keep_attachments([bytes(MAX_ATTACHED + 1), b"", PNG], lambda size: "res_1")[0].data == PNG
    assert keep_attachments([PNG], lambda size: None) == ()
    half = bytes(MAX_ATTACHED // 2 + 1)
    assert len(keep_attachments([half, half], lambda size: "res_1")) == 1


def test_a_reference_names_type_size_and_digest() -> None:
    (kept,) = keep_attachments([PNG], lambda size: "res_1")
    assert kept.reference.media_type is MediaType.PNG
    assert kept.reference.bytes == len(PNG)
    assert len(kept.reference.digest) == 64
