"""The key of web push: made once, for its owner alone, and read only from such a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gateway.adapters.push.vapid import make_key_file, read_key_file
from gateway.core.errors import Misconfigured
from tests.authenticator import encode
from tests.harness.process import GatewayProcess
from tests.harness.push_service import Pushed, claims_of

ENDPOINT = "https://push.example:8443/send/secret-of-the-browser"


def test_a_made_key_signs_for_one_service_and_half_a_day(tmp_path: Path) -> None:
    public = make_key_file(tmp_path / "push.key")
    assert (tmp_path / "push.key").stat().st_mode & 0o777 == 0o600
    key = read_key_file(tmp_path / "push.key", "mailto:ada@example.org")
    assert encode(key.public) == public
    signed = key.authorization(ENDPOINT, 1_000)
    assert "secret-of-the-browser" not in signed
    assert claims_of(Pushed("/", {"Authorization": signed}, b""), public) == {
        "aud": "https://push.example:8443",
        "exp": 1_000 + 12 * 3600,
        "sub": "mailto:ada@example.org",
    }


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    make_key_file(tmp_path / "push.key")
    before = (tmp_path / "push.key").read_bytes()
    with pytest.raises(Misconfigured, match="is there already"):
        make_key_file(tmp_path / "push.key")
    assert (tmp_path / "push.key").read_bytes() == before
    with pytest.raises(Misconfigured, match="cannot be written"):
        make_key_file(tmp_path / "nowhere" / "push.key")


def test_only_such_a_key_is_read(tmp_path: Path) -> None:
    path = tmp_path / "push.key"

    def write(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> None:
        path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        path.chmod(0o600)

    with pytest.raises(Misconfigured, match="cannot be read"):
        read_key_file(path, "")
    write(ec.generate_private_key(ec.SECP384R1()))
    with pytest.raises(Misconfigured, match="another kind"):
        read_key_file(path, "")
    write(ed25519.Ed25519PrivateKey.generate())
    with pytest.raises(Misconfigured, match="another kind"):
        read_key_file(path, "")
    path.write_text("something else")
    with pytest.raises(Misconfigured, match="holds no key"):
        read_key_file(path, "")
    path.chmod(0o644)
    with pytest.raises(Misconfigured, match="can be read by others"):
        read_key_file(path, "")


def test_the_command_makes_one_and_says_what_to_do_with_it(tmp_path: Path) -> None:
    code, output = asyncio.run(GatewayProcess(tmp_path).run("push-key", "my.key"))
    assert code == 0, output
    assert 'push_key = "my.key"' in output
    assert (tmp_path / "my.key").exists()
    code, output = asyncio.run(GatewayProcess(tmp_path).run("push-key", "my.key"))
    assert (code, "is there already" in output) == (2, True), output
