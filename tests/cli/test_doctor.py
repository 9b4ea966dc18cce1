"""What `countersign doctor` says of the sandbox, and of a gateway that is running already."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.anchoring.places import AnchorFile, AnchorPlace
from gateway.adapters.shipping.places import PlaceFile, SinkPlace
from gateway.adapters.storage.inspection import open_stored_log
from gateway.adapters.storage.store import open_store
from gateway.adapters.tools.sources import ToolsConfig, describe_sandbox
from gateway.cli.audit_anchors import UNANCHORED_TAIL
from gateway.cli.doctor import check_anchors, check_sinks
from gateway.core.errors import Misconfigured
from gateway.sandbox import choice
from gateway.settings import Settings
from tests.cli.audit_command import edit
from tests.fakes.history import History
from tests.harness.process import GatewayProcess


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without either mechanism."""
    monkeypatch.setattr(choice, "find_programs", lambda: "bwrap")
    monkeypatch.setattr(choice, "landlock_version", lambda: 0)


@pytest.mark.parametrize("mechanism", ["bubblewrap", "landlock"])
def test_doctor_names_the_mechanism_that_it_tried(tmp_path: Path, mechanism: str) -> None:
    config = ToolsConfig(tmp_path / "workspace", tmp_path / "state", sandbox=mechanism)

    assert describe_sandbox(config).startswith(f"{mechanism} works here; programs run ")


def test_a_machine_without_a_sandbox_is_fine_until_there_are_programs(tmp_path: Path, bare: None) -> None:
    assert "bwrap" in describe_sandbox(ToolsConfig(tmp_path / "workspace", tmp_path / "state"))
    with pytest.raises(Misconfigured, match="apt-get install bubblewrap"):
        describe_sandbox(ToolsConfig(tmp_path / "workspace", tmp_path / "state", files=(tmp_path / "tools.json",)))


async def test_doctor_knows_the_gateway_of_its_own_state_folder_and_no_other(tmp_path: Path) -> None:
    gateway = GatewayProcess(tmp_path)
    stranger = GatewayProcess(tmp_path, port=gateway.port, settings={"COUNTERSIGN_STATE": str(tmp_path / "another")})
    place = f"port: 127.0.0.1:{gateway.port}"
    _, before = await gateway.run("doctor")
    assert f"ok    {place} is free" in before
    await gateway.start()
    try:
        _, beside = await gateway.run("doctor")
        _, elsewhere = await stranger.run("doctor")
    finally:
        assert await gateway.stop() == 0

    assert f"ok    {place} is served by this state folder's own gateway, which is running" in beside
    assert f"FIX   port: cannot listen on 127.0.0.1:{gateway.port}" in elsewhere


async def test_doctor_says_how_far_each_sink_is_and_that_one_takes_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with open_store(state, origin="gateway.example/audit") as store:
        for submission in History().whole():
            await store.ledger.append(*submission)
    with open_stored_log(state) as stored:
        (last,) = stored.leaves_after(28, 1)
    PlaceFile(state, "copy").write(SinkPlace(30, last.hash.hex(), 1_795_000_000_000))
    PlaceFile(state, "siem").write(SinkPlace(fault="connection refused"))
    sinks = {"copy": {"kind": "file", "path": str(tmp_path / "copy")}, "siem": SIEM}
    settings = Settings.model_validate({"state": state, "sinks": sinks})
    copy, siem = check_sinks(settings)
    assert (copy.name, copy.ok, siem.name, siem.ok) == ("sink copy", True, "sink siem", False)
    assert copy.sentence == "file, 30 records sent, 4 behind; last sent 2026-11-18T11:06:40.000Z"
    assert siem.sentence.startswith(
        "syslog, 0 records sent, 34 behind; nothing was sent yet; it takes nothing now: connection refused"
    )
    # The log was put back, and went on otherwise: all of it is sent again.
    PlaceFile(state, "copy").write(SinkPlace(30, "a" * 64, 1_795_000_000_000))
    assert check_sinks(settings)[0].sentence.startswith("file, 30 records sent, 34 behind; ")
    (wrong,) = check_sinks(Settings.model_validate({"state": state, "sinks": {"copy": {"kind": "nonesuch"}}}))
    assert (wrong.name, wrong.ok) == ("sinks", False)


async def test_doctor_says_what_is_anchored_and_what_it_means_that_nothing_is(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with open_store(state, origin="gateway.example/audit") as store:
        for submission in History().whole():
            await store.ledger.append(*submission)
    (none,) = check_anchors(Settings.model_validate({"state": state}))
    assert (none.ok, none.sentence) == (True, f"none. {UNANCHORED_TAIL}")
    AnchorFile(state, "copy").write(AnchorPlace(30, "note", "proof", 1_795_000_000_000, "no room"))
    anchors = {"copy": {"kind": "file", "path": str(tmp_path / "copy")}}
    (copy,) = check_anchors(Settings.model_validate({"state": state, "anchors": anchors}))
    assert (copy.name, copy.ok) == ("anchor copy", False)
    assert copy.sentence.startswith("file, 30 records anchored, 34 not yet; last anchored 2026-11-18T11:06:40")
    assert copy.sentence.endswith("it takes nothing now: no room")


async def test_an_anchor_of_a_log_that_was_cut_off_since_is_told_without_a_gateway(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with open_store(state, origin="gateway.example/audit") as store:
        for submission in History().whole():
            await store.ledger.append(*submission)
    with open_stored_log(state) as stored:
        note = stored.newest_note()
    assert note is not None
    AnchorFile(state, "copy").write(AnchorPlace(34, note, "", 1_795_000_000_000))
    settings = Settings.model_validate({"state": state, "anchors": {"copy": {"kind": "file", "path": str(tmp_path / "copy")}}})
    (copy,) = check_anchors(settings)
    assert copy.ok
    assert copy.sentence.startswith("file, 34 records anchored, 0 not yet; ")
    edit(state, "DELETE FROM leaves WHERE position >= 30")
    edit(state, "DELETE FROM checkpoints WHERE size > 30")
    (copy,) = check_anchors(settings)
    assert not copy.ok
    assert copy.sentence.startswith("file, 34 records anchored, 30 not yet; ")
    assert copy.sentence.endswith("the log was cut off, written anew or put back")


SIEM = {"kind": "syslog", "host": "siem.example"}


ECHO = """{"tools": [{"name": "read_file", "description": "Read it.", "parameters": {"type": "object", "properties": {}},
  "_exec": "nonesuch | tail -3"}]}"""


async def test_a_tool_file_that_is_named_is_judged_as_the_agent_takes_it_with_hints_for_its_author(
    tmp_path: Path,
) -> None:
    (tmp_path / "tools.json").write_text(ECHO)
    gateway = GatewayProcess(tmp_path)
    _, named = await gateway.run("doctor", "--tools", "tools.json")
    _, beside = await gateway.run("doctor", "--tools", "tools.json", "--builtin-tools")
    assert "ok    tools: 1, of which 1 are programs" in named
    assert "read_file: there is no program `nonesuch` in " in named
    assert "read_file: its exit code is that of the last program in the pipe" in named
    assert "beside the built-in tools, as `serve` has them, not so: the tool file `tools.json` is wrong" in named
    assert "FIX   tools: the tool file `tools.json` is wrong" in beside
