"""Signed checkpoints: the C2SP examples, round trips, and every way a note may fail to prove anything."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.checkpoint import (
    Checkpoint,
    SigningKey,
    Unverified,
    VerificationKey,
    open_note,
    read_signing_key,
    read_verification_key,
)
from gateway.core.errors import Misconfigured

KEY = SigningKey("gateway.example/audit", bytes(range(32)))
ROOT = bytes(range(32, 64))
NOTE = KEY.sign(7, ROOT)

# The example of Go's note package (golang.org/x/mod/sumdb/note), the origin of the C2SP format.
GO_SIGNER = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
GO_VERIFIER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"


def test_keys_are_those_of_the_note_package() -> None:
    key = read_signing_key(GO_SIGNER)
    assert key.verification_key.line() == GO_VERIFIER
    assert key.line() == GO_SIGNER
    assert read_verification_key(GO_VERIFIER) == key.verification_key


def test_a_note_holds_origin_size_and_root_in_three_lines() -> None:
    text, _, signature = NOTE.partition("\n\n")
    assert text.split("\n") == ["gateway.example/audit", "7", b64encode(ROOT).decode()]
    assert signature.startswith("— gateway.example/audit ")


@given(size=st.integers(min_value=0, max_value=2**53 - 1), root=st.binary(min_size=32, max_size=32))
def test_what_was_signed_is_what_is_read(size: int, root: bytes) -> None:
    assert open_note(KEY.sign(size, root), KEY.verification_key) == Checkpoint("gateway.example/audit", size, root)


def test_signatures_of_witnesses_are_ignored() -> None:
    witness = SigningKey("witness.example/w1", bytes(32)).sign(7, ROOT).partition("\n\n")[2]
    text, _, own = NOTE.partition("\n\n")
    assert isinstance(open_note(f"{text}\n\n{witness}{own}", KEY.verification_key), Checkpoint)
    assert open_note(f"{text}\n\n{witness}", KEY.verification_key) == Unverified("this key did not sign it")


@given(st.integers(min_value=0, max_value=len(NOTE.encode()) - 1), st.integers(min_value=1, max_value=255))
def test_no_changed_byte_passes(position: int, flip: int) -> None:
    raw = bytearray(NOTE.encode())
    raw[position] ^= flip
    opened = open_note(raw.decode(errors="replace"), KEY.verification_key)
    assert isinstance(opened, Unverified)


def test_no_single_changed_bit_passes() -> None:
    whole = NOTE.encode()
    for bit in range(8 * len(whole)):
        raw = bytearray(whole)
        raw[bit // 8] ^= 1 << bit % 8
        assert isinstance(open_note(raw.decode(errors="replace"), KEY.verification_key), Unverified), bit


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n\n",
        "gateway.example/audit\n7\n",
        NOTE.rstrip("\n"),
        NOTE.replace("\n7\n", "\n07\n"),
        NOTE.replace("\n7\n", "\n-7\n"),
        NOTE.replace("\n7\n", "\n8\n"),
        NOTE.replace("gateway.example", "other.example"),
        NOTE.replace("— ", "- "),
        NOTE.partition("\n\n")[0] + "\n\n— gateway.example/audit !!!\n",
    ],
)
def test_a_malformed_or_foreign_note_proves_nothing(note: str) -> None:
    assert isinstance(open_note(note, KEY.verification_key), Unverified)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "name",
        "name+00000000+AAAA",
        "na me+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+Bhpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+not base64",
        GO_SIGNER,
    ],
)
def test_a_damaged_verification_key_is_refused(line: str) -> None:
    with pytest.raises(Misconfigured):
        read_verification_key(line)


@pytest.mark.parametrize("line", ["", GO_VERIFIER, GO_SIGNER.replace("c74f", "c74e"), "PRIVATE+KEY+x"])
def test_a_damaged_signing_key_is_refused_without_being_repeated(line: str) -> None:
    with pytest.raises(Misconfigured) as refusal:
        read_signing_key(line)
    assert "AYEKFAL" not in refusal.value.message


def test_a_key_of_another_name_is_another_key() -> None:
    twin = VerificationKey("other.example/audit", KEY.verification_key.public)
    assert twin.id != KEY.verification_key.id
    assert isinstance(open_note(NOTE, twin), Unverified)


def test_a_name_with_a_space_or_plus_is_refused() -> None:
    for name in ("a b", "a+b", ""):
        with pytest.raises(Misconfigured):
            SigningKey(name, bytes(32))
