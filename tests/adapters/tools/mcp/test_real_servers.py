"""The servers that people use most, really running, each in its sandbox."""

from __future__ import annotations

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from gateway.adapters.tools.schemas import Validator
from gateway.core.attachments import MediaType, media_type_of
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import Category
from tests.adapters.tools.mcp.conftest import Drive
from tests.adapters.tools.mcp.servers import node_server, python_server


def make_repository(path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "trunk", path], check=True)


async def test_the_everything_server_shows_every_kind_of_result_and_none_of_the_gateways_environment(
    drive: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERSIGN_PROBE", "of the gateway")
    driven = drive(node_server("server-everything", env={"MARK": "of the settings"}))
    offer = await driven.open()

    assert offer.identity.startswith("mcp-servers/everything at ")
    assert offer.refused == {}
    for tool in offer.tools:
        Validator(tool.param_schema)
    assert (await driven.call("echo", message="hello")).text == "Echo: hello"
    assert driven.tool("get-sum").proposed is Category.READ
    structured = (await driven.call("get-structured-content", location="New York")).structured
    assert set(structured) == {"temperature", "conditions", "humidity"}
    given = await driven.call("get-tiny-image")
    (image,), picture = given.attached, given.text
    assert media_type_of(image) is MediaType.PNG
    assert sha256(image).hexdigest() in picture
    assert "[image/png, " in picture
    assert "sha256 " in picture
    assert "iVBOR" not in picture
    assert "not followed]" in (await driven.call("get-resource-links", count=2)).text
    environment = json.loads((await driven.call("get-env")).text)
    assert environment["MARK"] == "of the settings"
    assert environment.keys() <= {"PATH", "HOME", "LANG", "MARK", "PWD"}


async def test_the_filesystem_server_changes_what_it_was_granted_and_sees_nothing_else(drive: Drive, here: Path) -> None:
    granted, other = here / "granted", here / "other"
    for folder in (granted, other):
        folder.mkdir()
        (folder / "note").write_text("kept")
    # The server itself would work in both.
    driven = drive(node_server("server-filesystem", str(granted), str(other), writable=[str(granted)]))
    await driven.open()

    await driven.call("write_file", path=str(granted / "new"), content="written")
    assert (granted / "new").read_text() == "written"
    with pytest.raises(ToolFailed, match="denied"):
        await driven.call("read_text_file", path=str(other / "note"))


async def test_a_folder_to_read_cannot_be_written(drive: Drive, here: Path) -> None:
    granted = here / "granted"
    granted.mkdir()
    (granted / "note").write_text("kept")
    granted.chmod(0o777)
    driven = drive(node_server("server-filesystem", str(granted), folders=[str(granted)]))
    await driven.open()

    assert "kept" in (await driven.call("read_text_file", path=str(granted / "note"))).text
    with pytest.raises(ToolFailed):
        await driven.call("write_file", path=str(granted / "new"), content="written")
    assert sorted(path.name for path in granted.iterdir()) == ["note"]


async def test_the_memory_server_keeps_what_it_was_told_in_the_sources_own_folder(drive: Drive, here: Path) -> None:
    kept = here / "source-0/home/memory.jsonl"
    driven = drive(node_server("server-memory", env={"MEMORY_FILE_PATH": str(kept)}))
    await driven.open()
    entity = {"name": "Ada", "entityType": "person", "observations": ["wrote programs"]}

    await driven.call("create_entities", entities=[entity])

    assert (await driven.call("read_graph")).structured["entities"] == [entity]
    assert "Ada" in kept.read_text()


async def test_the_git_server_commits_to_the_repository_it_was_granted(drive: Drive, here: Path) -> None:
    repository = here / "repository"
    make_repository(repository)
    (repository / "new").write_text("x")
    # It may run as another user than the one whose repository this is, and git wants to be told.
    given = {"safe.directory": str(repository), "user.name": "Ada", "user.email": "ada@example.com"}
    env = {"USER": "ada", "GIT_CONFIG_COUNT": str(len(given))}
    for number, (key, value) in enumerate(given.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    driven = drive(python_server("mcp-server-git", env=env, writable=[str(repository)]))
    offer = await driven.open()

    assert (offer.identity.split(" at ")[0], offer.refused) == ("mcp-git", {})
    assert driven.tool("git_reset").proposed is Category.DESTRUCTIVE
    await driven.call("git_add", repo_path=str(repository), files=["new"])
    await driven.call("git_commit", repo_path=str(repository), message="Add what is new")
    assert "Add what is new" in (await driven.call("git_log", repo_path=str(repository))).text


async def test_the_time_server_answers_in_the_newer_era_of_the_protocol(drive: Drive) -> None:
    driven = drive(python_server("mcp-server-time"))
    await driven.open()

    answer = await driven.call("get_current_time", timezone="Europe/Berlin")

    assert answer.structured["timezone"] == "Europe/Berlin"
    with pytest.raises(ToolFailed, match="nowhere"):
        await driven.call("get_current_time", timezone="Atlantis/nowhere")


async def test_the_fetch_server_without_the_network_says_so_and_with_it_still_refuses_this_machine(drive: Drive) -> None:
    driven = drive(python_server("mcp-server-fetch", network=True))
    await driven.open()

    assert driven.tool("fetch").proposed is Category.NETWORK
    assert driven.tool("fetch").network
    with pytest.raises(ToolFailed, match="not a public address"):
        await driven.call("fetch", url="http://127.0.0.1:9/")
