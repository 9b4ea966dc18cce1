"""Signed values: what was signed comes back, nothing else does, and the key is nobody else's to read."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.identity.cookies import ItsdangerousSigner, read_key
from gateway.core.errors import Misconfigured

KEY = bytes(32)


def test_what_was_signed_comes_back() -> None:
    signer = ItsdangerousSigner(KEY)
    assert signer.unsign(signer.sign("value", purpose="console"), purpose="console") == "value"


def test_a_value_signed_for_one_purpose_proves_nothing_for_another() -> None:
    signer = ItsdangerousSigner(KEY)
    assert signer.unsign(signer.sign("value", purpose="agent"), purpose="console") is None


def test_a_value_signed_with_another_key_is_nothing() -> None:
    signed = ItsdangerousSigner(bytes([1]) * 32).sign("value", purpose="console")
    assert ItsdangerousSigner(KEY).unsign(signed, purpose="console") is None


def test_a_value_older_than_its_age_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    signer = ItsdangerousSigner(KEY)
    signed = signer.sign("value", purpose="login")
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: 4_000_000_000.0)
    assert signer.unsign(signed, purpose="login", max_age=60) is None
    assert signer.unsign(signed, purpose="login") == "value"


@given(st.text(max_size=200))
def test_no_text_passes_for_a_signed_value(text: str) -> None:
    assert ItsdangerousSigner(KEY).unsign(text, purpose="console") is None


def test_a_very_long_value_is_not_even_hashed() -> None:
    signer = ItsdangerousSigner(KEY)
    assert signer.unsign(signer.sign("x" * 100_000, purpose="console"), purpose="console") is None


def test_the_key_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "cookie.key"
    key = read_key(path)
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(path) == key


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cookie.key"
    read_key(path)
    path.chmod(0o644)
    with pytest.raises(Misconfigured, match="chmod 600"):
        read_key(path)


def test_a_key_that_is_too_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cookie.key"
    path.touch(mode=0o600)
    with pytest.raises(Misconfigured, match="no signing key"):
        read_key(path)


def test_a_place_where_no_key_can_be_made_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="cannot be read or made"):
        read_key(tmp_path / "file" / "cookie.key")
