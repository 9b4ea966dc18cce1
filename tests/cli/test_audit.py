"""`countersign audit`, as an operator types it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.storage.sqlite import DATABASE
from gateway.adapters.storage.store import open_store
from gateway.core import ledger as steps
from gateway.core.errors import LedgerDamaged, LedgerUnavailable, Misconfigured
from tests.cli.audit_command import ORIGIN, audit, edit
from tests.fakes.history import History

Edit = Callable[[list[str]], list[str]]
"""What someone may do to the lines of an export."""


def exported(state: Path) -> Path:
    file = state / "export.jsonl"
    assert audit("export", file, "--state", state).exit_code == 0
    return file


def rewrite(file: Path, change: Edit) -> None:
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))


def test_a_sound_log_is_said_to_be_sound_and_what_was_not_ruled_out(state: Path) -> None:
    result = audit("verify", "--state", state)
    assert result.exit_code == 0
    assert "The log is sound: 34 records under 22 checkpoints signed by gateway.example/audit." in result.output
    assert "could have cut records off the end" in result.output


def test_the_report_is_one_json_object_on_request(state: Path) -> None:
    report = json.loads(audit("verify", "--state", state, "--json").output)
    assert (report["sound"], report["size"], report["calls"], report["executed"], report["fault"]) == (True, 34, 8, 5, None)
    assert report["key"].startswith("gateway.example/audit+")


async def test_a_log_is_verified_while_a_gateway_writes_it(state: Path) -> None:
    history = History(now=1_900_000_000_000)
    async with open_store(state, origin=ORIGIN) as store, asyncio.timeout(120):
        stop, wrote = asyncio.Event(), asyncio.Event()

        async def go_on() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                request = history.request(f"later-{number}")
                await store.ledger.append(history.intend(request))
                await store.ledger.append(history.close(request))
                wrote.set()

        writing = asyncio.create_task(go_on())
        reports: list[dict[str, Any]] = []
        for _ in range(3):
            reports.append(json.loads((await asyncio.to_thread(audit, "verify", "--state", state, "--json")).output))
            # Whatever the machine has to do besides, the next look finds a longer log.
            wrote.clear()
            await wrote.wait()
        stop.set()
        await writing
    assert [report["sound"] for report in reports] == [True, True, True]
    assert reports[0]["size"] < reports[1]["size"] < reports[2]["size"]


def test_an_edited_log_is_not_sound_and_says_where(state: Path) -> None:
    edit(state, "UPDATE leaves SET body = replace(body, 'consented', 'auto') WHERE position = 14")
    result = audit("verify", "--state", state)
    assert result.exit_code == 1
    assert "The log is NOT sound: at records[14].hash, record 14 was changed; " in result.output
    report = json.loads(audit("verify", "--state", state, "--json").output)
    assert report["fault"]["flaw"] == "changed"
    assert report["fault"]["index"] == 14


@pytest.mark.parametrize("damage", ["'{'", "CAST(x'7b22ff' AS TEXT)", "replace(body, 'tool', char(27) || '[31m')"])
def test_a_record_that_cannot_be_read_any_more_is_named(state: Path, damage: str) -> None:
    edit(state, f"UPDATE leaves SET body = {damage} WHERE position = 14")
    result = audit("verify", "--state", state)
    assert result.exit_code == 1
    assert result.output.replace("\n", "").isprintable()
    assert "The log is NOT sound: at records[14].hash, record 14 was changed; " in result.output


def test_a_payload_that_was_edited_is_found_though_the_tree_is_whole(state: Path) -> None:
    edit(state, "UPDATE leaves SET payload = CAST(replace(CAST(payload AS TEXT), 'notes', 'other') AS BLOB) WHERE position = 14")
    assert "the payload of record 14 was changed" in audit("verify", "--state", state).output


def test_a_tool_definition_that_was_edited_is_found(state: Path) -> None:
    edit(state, "UPDATE descriptors SET body = replace(body, '\"write\"', '\"read\"')")
    result = audit("verify", "--state", state)
    assert result.exit_code == 1
    assert "snapshot" in result.output


def test_an_end_that_was_cut_off_is_found_with_a_checkpoint_kept_elsewhere(state: Path) -> None:
    note = state / "kept.txt"
    note.write_text(audit("checkpoint", "--state", state).output)
    confirmed = audit("verify", "--state", state, "--checkpoint", note)
    assert confirmed.exit_code == 0
    assert "Its first 34 records are those of the checkpoint that was passed." in confirmed.output
    # A file that an anchor adds to has an empty line behind each, also behind the only one.
    for times in (1, 2):
        added = state / f"added-{times}.txt"
        added.write_text(f"{note.read_text()}\n" * times)
        assert audit("verify", "--state", state, "--checkpoint", added).exit_code == 0
    edit(state, "DELETE FROM leaves WHERE position >= 30")
    edit(state, "DELETE FROM checkpoints WHERE size > 30")
    # Whoever can cut the log can take away the mark beside it.
    (state / "ledger.mark").unlink()
    assert audit("verify", "--state", state).exit_code == 0
    cut = audit("verify", "--state", state, "--checkpoint", note)
    assert cut.exit_code == 1
    assert "34 records were anchored, the log ends after 30: its end was cut off" in cut.output


def test_an_export_is_checked_without_the_database(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.jsonl"
    assert audit("export", file, "--state", state).exit_code == 0
    (state / DATABASE).unlink()
    result = audit("verify", "--export", file, "--json")
    assert result.exit_code == 0
    report = json.loads(result.output)
    assert (report["sound"], report["size"], report["checkpoints"]) == (True, 34, 22)


def test_an_export_holds_everything_on_lines_of_json(state: Path) -> None:
    lines = [json.loads(line) for line in exported(state).read_text().splitlines()]
    kinds = [line["type"] for line in lines]
    assert kinds[0] == "log"
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "log": 1,
        "descriptor": 3,
        "snapshot": 1,
        "leaf": 34,
        "checkpoint": 22,
        "end": 1,
    }
    intended = [line for line in lines if line["type"] == "leaf" and line["body"]["event"] == "call:intended"]
    assert intended[0]["payload"]["arguments"] == {"path": "notes/Ä.txt"}


FINDINGS: list[tuple[Edit, str]] = [
    (lambda lines: [line.replace('"at":1795000000035', '"at":1795000000036') for line in lines], "was changed"),
    (lambda lines: [line for line in lines if '"index":9,' not in line], "record 9 is missing"),
    (lambda lines: [line for line in lines if '"type":"checkpoint"' not in line], "is under no checkpoint"),
    (lambda lines: [line for line in lines if '"index":33,' not in line], "the log ends after 33"),
    (lambda lines: [line.replace("notes/Ä.txt", "notes/B.txt") for line in lines], "the payload of record"),
    # Snapshots only sharpen the check: every call names its own by digest. That they are gone is still noticed.
    (lambda lines: [line for line in lines if '"type":"snapshot"' not in line], "at line 61, the number of lines is not"),
    (lambda lines: lines[:-1], "at line 62, the file was cut off"),
    (lambda lines: [*lines, lines[-1]], "at line 63, a line of type `end` does not stand after `end`"),
    (lambda lines: [*lines[:30], *lines[31:32], lines[30], *lines[32:]], "stands"),
    (lambda lines: [*lines[:20], lines[20][:50]], "at line 21, the file was cut off inside this line"),
    (lambda lines: [*lines[:9], lines[9].replace(":", ": ", 1), *lines[10:]], "at line 10, it does not begin with a type"),
    (lambda lines: [line.replace('"at":1795000000035', '"at":1.795000000035e12') for line in lines], "this is no canonical JSON"),
]


@pytest.mark.parametrize(("change", "told"), FINDINGS)
def test_an_edited_export_is_found_out(state: Path, change: Edit, told: str) -> None:
    file = exported(state)
    rewrite(file, change)
    result = audit("verify", "--export", file)
    assert result.exit_code == 1
    assert told in result.output
    assert result.output.count("\n") == 1


def test_a_damaged_log_is_exported_as_it_is_and_said_not_to_be_sound(state: Path, tmp_path: Path) -> None:
    edit(state, "UPDATE leaves SET body = replace(body, 'consented', 'auto') WHERE position = 14")
    file = tmp_path / "damaged.jsonl"
    done = audit("export", file, "--state", state)
    assert done.exit_code == 1
    told = "The log is NOT sound: at records[14].hash, record 14 was changed; "
    assert done.stderr.splitlines()[1].startswith(told)
    assert told in audit("verify", file).output
    # What the export alone cannot show: that the log once had more.
    edit(state, "DELETE FROM leaves WHERE position >= 10")
    edit(state, "DELETE FROM checkpoints WHERE size > 10")
    cut = audit("export", file, "--state", state)
    assert (cut.exit_code, "`ledger.mark` beside the log says that it had 34" in cut.stderr) == (1, True)
    assert audit("verify", file).exit_code == 0


NO_EXPORTS: list[Edit] = [
    lambda _: [],
    lambda lines: lines[1:],
    lambda lines: [lines[0].replace('"v":3', '"v":1'), *lines[1:]],
    lambda lines: [line.replace('"index":3,', '"index":3,"index":4,') for line in lines],
    lambda lines: [line.replace('"hash":"', '"hash":"zz') for line in lines],
    lambda lines: [line.replace('"salt":', '"sand":') for line in lines],
    lambda lines: [line[:40] + "\n" if '"type":"leaf"' in line else line for line in lines],
    lambda lines: [line.replace('"key":"gateway', '"key":"') for line in lines],
]


@pytest.mark.parametrize("change", NO_EXPORTS)
def test_a_file_that_is_no_export_is_refused_in_one_sentence(state: Path, change: Edit) -> None:
    file = exported(state)
    rewrite(file, change)
    result = audit("verify", "--export", file)
    assert result.exit_code == 1
    assert result.output.startswith("The log is NOT sound: at line ")
    assert result.output.count("\n") == 1


def test_another_key_than_the_pinned_one_does_not_pass(state: Path, tmp_path: Path) -> None:
    key = json.loads(audit("verify", "--state", state, "--json").output)["key"]
    pinned = audit("verify", "--state", state, "--key", key)
    assert pinned.exit_code == 0
    assert "to rule out another signer" not in pinned.output
    other = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    assert audit("verify", "--state", state, "--key", other).exit_code == 1
    assert isinstance(audit("verify", "--state", state, "--key", "nonsense").exception, Misconfigured)


@pytest.mark.requirement("002-74", "countersign audit show lists calls by tool, event, conversation and outcome")
def test_what_happened_is_listed_newest_first_and_filtered(state: Path) -> None:
    lines = audit("show", "--state", state).output.splitlines()
    assert len(lines) == 20
    assert lines[0].split()[0] == "33"
    closed = audit("show", "--state", state, "--tool", "write_file", "--event", "call:closed").output.splitlines()
    assert [line.split()[-2] for line in closed] == ["call-denied", "call-again", "call-write"]
    assert audit("show", "--state", state, "--event", "records:lost").output == "nothing matches\n"
    assert len(audit("show", "--state", state, "--outcome", "executionError", "--limit", "5").output.splitlines()) == 1


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        (("--outcome", "EXECUTION_ERROR"), "nearest: "),
        (("--outcome", "excutionError"), "executionError"),
        (("--event", "call:close"), "call:closed"),
    ],
)
def test_a_word_that_no_record_has_is_refused_rather_than_not_found(state: Path, asked: tuple[str, str], nearest: str) -> None:
    refused = audit("show", "--state", state, *asked)
    assert refused.exit_code == 2
    assert nearest in refused.output
    assert audit("show", "--state", state, "--outcome", "completed").output == "nothing matches\n"


@pytest.mark.parametrize("outcome", ["ok", "executionError", "timedOut", "open"])
def test_calls_are_exported_by_the_outcomes_that_they_are_shown_with(state: Path, outcome: str) -> None:
    done = audit("export", "-", "--format", "jsonl", "--outcome", outcome, "--state", state)
    assert done.exit_code == 0, done.output
    assert {json.loads(line)["outcome"] for line in done.stdout.splitlines()} <= {outcome}


@pytest.mark.requirement("002-74", "an intent is shown with its exact arguments")
def test_whole_records_are_shown_in_ascii_only(state: Path) -> None:
    (line,) = audit("show", "--state", state, "--event", "call:intended", "--limit", "1", "--json").output.splitlines()
    assert line.isascii()
    assert json.loads(line)["payload"]["arguments"] == {"path": "notes/Ä.txt"}


def test_no_receipt_is_written_of_a_call_whose_records_were_changed(state: Path, tmp_path: Path) -> None:
    edit(state, "UPDATE leaves SET body = replace(body, 'write_file', 'erase_file') WHERE body LIKE '%call-write%call:intended%'")
    edit(state, "UPDATE leaves SET body = replace(body, '\"auto\"', '\"consented\"') WHERE body LIKE '%call-write%'")
    edit(state, "UPDATE leaves SET body = replace(body, 'ok', 'no') WHERE body LIKE '%call-write%'")
    refused = audit("receipt", "call-write", "--state", state, "-o", tmp_path / "receipt.json")
    assert isinstance(refused.exception, Misconfigured)
    assert "the receipt would not hold: at records[" in str(refused.exception)
    assert not (tmp_path / "receipt.json").exists()


def test_a_receipt_of_a_payload_that_is_no_json_says_which_record_is_damaged(state: Path, tmp_path: Path) -> None:
    edit(state, "UPDATE leaves SET payload = x'ff00' WHERE body LIKE '%call-write%call:intended%'")
    refused = audit("receipt", "call-write", "--state", state, "-o", tmp_path / "receipt.json")
    assert isinstance(refused.exception, LedgerDamaged)
    assert str(refused.exception).startswith("the stored record `")
    assert list(tmp_path.glob("*receipt*")) == []


@pytest.mark.parametrize("raw", [b"", b"\n", b"hello\n", b"[]", b"PK\x03\x04", b"\xef\xbb\xbf{}", b"\xff\xfe{"])
def test_a_file_of_another_kind_is_called_neither_a_receipt_nor_a_log(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "given").write_bytes(raw)
    told = audit("verify", tmp_path / "given")
    assert told.exit_code == 1
    assert told.output.startswith("This is neither a receipt nor an exported log: ")
    assert len(told.output.splitlines()) == 1


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for arguments in ((tmp_path / "pipe",), ("--export", tmp_path / "pipe")):
        refused = audit("verify", *arguments)
        assert isinstance(refused.exception, Misconfigured)
        assert "is no regular file" in str(refused.exception)


async def test_an_erased_payload_is_counted(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(steps.ConversationDeleted(1, "cnv_1", "prn_1"))
    result = await asyncio.to_thread(audit, "verify", "--state", state)
    assert result.exit_code == 0
    assert "1 payloads erased" in result.output


@pytest.mark.parametrize("command", [["verify"], ["show"], ["checkpoint"], ["export", "-"]])
def test_a_folder_without_a_gateway_is_one_sentence_and_exit_code_2(tmp_path: Path, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gateway", "audit", *command, "--state", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("countersign: there is no `ledger.db`")
    assert len(done.stderr.splitlines()) == 1


def test_nothing_is_written_by_looking(state: Path) -> None:
    before = {path.name: path.read_bytes() for path in state.iterdir() if path.suffix not in ("-wal", "-shm")}
    audit("verify", "--state", state)
    audit("show", "--state", state)
    after = {path.name: path.read_bytes() for path in state.iterdir()}
    assert {name: after[name] for name in before} == before


def test_help_says_what_the_exit_codes_mean() -> None:
    told = audit("verify", "--help").output
    assert "Exit status: 0 when it is sound, 1 when it is not, 2 when it cannot be" in told


def test_a_log_whose_end_was_cut_off_is_found_out_by_the_mark_beside_it(state: Path) -> None:
    edit(state, "DELETE FROM leaves WHERE position >= 20")
    edit(state, "DELETE FROM checkpoints WHERE size > 20")
    told = audit("verify", "--state", state)
    assert told.exit_code == 1
    assert (
        "at records[20], record 20 and what follows is missing: `ledger.mark` beside the log says that it had 34" in told.output
    )
    # Without the mark there is nothing to compare with, and that is said.
    (state / "ledger.mark").unlink()
    told = audit("verify", "--state", state)
    assert told.exit_code == 0
    assert "Checked against nothing but itself" in told.output


def test_calls_are_not_exported_past_a_record_that_is_damaged(state: Path) -> None:
    edit(state, "UPDATE leaves SET body = replace(body, 'call-', char(27)) WHERE position = 9")
    (state / "history.db").unlink()
    told = audit("export", "-", "--format", "csv", "--state", state)
    assert isinstance(told.exception, LedgerUnavailable)
    assert "ends before record 9, which is damaged" in str(told.exception)
