"""Every `countersign audit` command over a state that is damaged, or of another version: one line, and what to do about it."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from click.testing import CliRunner, Result

from gateway.adapters.storage.backup import back_up
from gateway.adapters.storage.sqlite import DATABASE
from gateway.adapters.storage.store import open_store
from gateway.cli import countersign
from gateway.core.errors import GatewayError
from tests.fakes.signed_history import append_signed_history
from tests.harness.record_texts import unpack_records

Harm = Callable[[Path], object]


def sql(*changes: str, unpacked: bool = True) -> Harm:
    def harm(database: Path) -> None:
        with closing(sqlite3.connect(database)) as connection, connection:
            if unpacked:
                unpack_records(connection)
            for change in changes:
                assert connection.execute(change).rowcount != 0

    return harm


def packed(change: Callable[[bytes], bytes]) -> Harm:
    """Of what is kept of a record of a call about which a person was asked."""

    def harm(database: Path) -> None:
        with closing(sqlite3.connect(database)) as connection, connection:
            (kept,) = connection.execute("SELECT body FROM leaves WHERE position = 14").fetchone()
            assert isinstance(kept, bytes)
            assert change(kept) != kept
            connection.execute("UPDATE leaves SET body = ? WHERE position = 14", (change(kept),))

    return harm


def as_packed(text: bytes) -> bytes:
    """That text, packed as it is."""
    deflating = zlib.compressobj(9, wbits=-15)
    return b"\x2f\x00" + deflating.compress(text) + deflating.flush()


def cut(database: Path) -> None:
    raw = database.read_bytes()
    database.write_bytes(raw[: len(raw) // 2])


def exchange(database: Path) -> None:
    database.unlink()
    sql("CREATE TABLE other (a)", unpacked=False)(database)


RECOVER = "see what is lost with `countersign recover`"
VERIFY = "`countersign audit verify` "

WHOLE: dict[str, tuple[Harm, str]] = {
    "newer": (sql("UPDATE alembic_version SET version_num = '9999'"), "use a newer version"),
    "empty": (lambda database: database.write_bytes(b""), "`ledger.db` is empty"),
    "halved": (cut, RECOVER),
    "text": (lambda database: database.write_text("a text\n" * 2_000), RECOVER),
    "one word": (lambda database: database.write_text("a"), RECOVER),
    "of another program": (exchange, RECOVER),
    "without a table": (sql("DROP TABLE principals"), RECOVER),
}
"""What no command can read anything of."""

CHANGED: dict[str, Harm] = {
    "deleted": sql("DELETE FROM leaves WHERE position = 14"),
    "doubled": sql("INSERT INTO leaves SELECT 34, hash, body, salt, payload FROM leaves WHERE position = 14"),
    "a megabyte": sql("UPDATE leaves SET body = replace(body, 'write_file', hex(zeroblob(524288))) WHERE position = 14"),
    "a megabyte of payload": sql("UPDATE leaves SET payload = zeroblob(1048576) WHERE position = 14"),
    "a text for a payload": sql("UPDATE leaves SET payload = replace(payload, ':', ': ') WHERE position = 14"),
    "a text for a salt": sql("UPDATE leaves SET salt = 'salt' WHERE position = 14"),
    "a text for a hash": sql("UPDATE leaves SET hash = 'hash' WHERE position = 14"),
    "no UTF-8": sql("UPDATE leaves SET body = CAST(x'ff1b5b' || body || hex(zeroblob(9999)) AS TEXT) WHERE position = 14"),
    "an earlier time": sql("UPDATE leaves SET body = replace(body, '\"at\":1', '\"at\":0') WHERE position = 14"),
    "no JSON": sql("UPDATE leaves SET body = '{' WHERE position = 14"),
    "no record": sql("UPDATE leaves SET body = '{}' WHERE position = 14"),
    "a list": sql("UPDATE leaves SET body = '[1]' WHERE position = 14"),
    "bytes": sql("UPDATE leaves SET body = x'00ff' WHERE position = 14"),
    "a bit of what is packed": packed(lambda kept: kept[:40] + bytes([kept[40] ^ 4]) + kept[41:]),
    "half of what is packed": packed(lambda kept: kept[: len(kept) // 2]),
    "more than is packed": packed(lambda kept: kept + b"\0"),
    "packed with a dictionary that nobody has": packed(lambda kept: b"\x3f" + kept[1:]),
    "packed with a record that is no question": packed(lambda kept: b"\x2f\x01" + kept[2:]),
    "packed JSON": packed(lambda _kept: as_packed(b"{}")),
    "packed bytes": packed(lambda _kept: as_packed(b"\xff")),
    "a gigabyte, packed": packed(lambda _kept: as_packed(bytes(1 << 30))),
    "a tool definition": sql("UPDATE descriptors SET body = '{'"),
}
"""What some commands can still read something of."""

OF_NO_BODY = ("a megabyte of payload", "a text for a payload", "a text for a salt", "a tool definition")

READING = [
    ("verify",),
    ("checkpoint",),
    ("show",),
    ("show", "--json"),
    ("keys",),
    ("explain", "call-write"),
    ("replay", "cnv_1"),
    ("compare", "cnv_1", "cnv_1"),
    ("receipt", "call-write", "-o", "OUT"),
    ("export", "OUT"),
    ("export", "OUT", "--format", "csv"),
    ("erase", "--call", "call-write", "--yes"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("whole") / "state"
    async with open_store(directory, origin="gateway.example/audit") as store:
        await append_signed_history(store)
    return directory


def harmed(whole: Path, tmp_path: Path, harm: Harm) -> Path:
    state = tmp_path / "state"
    shutil.copytree(whole, state)
    harm(state / DATABASE)
    return state


def audit(state: Path, tmp_path: Path, command: tuple[str, ...]) -> Result:
    named = [str(tmp_path / "out") if word == "OUT" else word for word in command]
    return CliRunner().invoke(countersign, ["audit", *named, "--state", str(state)])


@pytest.mark.parametrize("damage", WHOLE)
def test_what_cannot_be_read_is_one_line_that_says_what_to_do(whole: Path, tmp_path: Path, damage: str) -> None:
    harm, advice = WHOLE[damage]
    state = harmed(whole, tmp_path, harm)
    before = (state / DATABASE).read_bytes()
    for command in (*READING, ("rotate-key", "--yes")):
        refused = audit(state, tmp_path, command)
        assert isinstance(refused.exception, GatewayError), (command, refused.exception)
        assert advice in refused.exception.message, command
        assert "\n" not in refused.exception.message
        assert "no such table" not in refused.exception.message
    with pytest.raises(GatewayError) as told:
        back_up(state, tmp_path / "backup", lambda _done, _all: None)
    assert "\n" not in told.value.message
    assert (state / DATABASE).read_bytes() == before


@pytest.mark.parametrize("damage", CHANGED)
def test_no_command_ends_in_a_traceback_over_a_changed_record(whole: Path, tmp_path: Path, damage: str) -> None:
    state = harmed(whole, tmp_path, CHANGED[damage])
    for command in READING[:-1]:
        result = audit(state, tmp_path, command)
        assert result.exception is None or isinstance(result.exception, GatewayError | SystemExit), (command, result.exception)
        if isinstance(result.exception, GatewayError):
            assert RECOVER in result.exception.message or VERIFY in result.exception.message, (command, result.exception)
            assert "\n" not in result.exception.message
            # Nor is what was put in their place said to a terminal.
            assert len(result.exception.message) < 400
    told = audit(state, tmp_path, ("explain", "call-write"))
    assert isinstance(told.exception, GatewayError), told.output


@pytest.mark.parametrize("damage", [each for each in CHANGED if each not in OF_NO_BODY])
def test_a_log_that_was_changed_gets_no_new_key(whole: Path, tmp_path: Path, damage: str) -> None:
    state = harmed(whole, tmp_path, CHANGED[damage])
    refused = audit(state, tmp_path, ("rotate-key", "--yes"))
    assert isinstance(refused.exception, GatewayError)
    assert VERIFY in refused.exception.message or RECOVER in refused.exception.message
