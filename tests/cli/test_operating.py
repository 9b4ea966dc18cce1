"""Commands that do without a gateway what they would ask one for."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.adapters.tools.sql.settings import read_url
from gateway.cli import countersign
from gateway.cli.operating import operate
from gateway.cli.source_files import sqlite_url
from gateway.core.errors import Misconfigured
from gateway.settings import Settings
from tests.harness import preloaded
from tests.harness.process import PATIENCE

ABOUT_A_STATE = (
    "people list",
    "people profile ada guest",
    "people suspend ada",
    "people resume ada",
    "people remove ada",
    "sources list",
    "sources test time",
    "sources enable time",
    "sources disable time",
    "sources remove time",
    "sources sign-in time",
    "sources sign-out time",
    "sources export",
    "secrets list",
    "secrets remove token",
    "session list",
    "session downgrade s1 internal",
    "session allow-questions s1",
    "settings list",
    "settings set retain_days 30",
    "settings reset retain_days",
    "mcp clients list",
    "mcp clients revoke c1",
    "policy freeze why",
    "policy thaw",
    "policy status",
    "policy shadow status",
    "policy shadow stop",
    "audit show",
    "audit verify",
)
"""What reads or changes what is in a state folder."""


async def test_a_command_without_a_gateway_makes_no_workspace_where_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings.model_validate({"model": "none"})
    await operate(settings, "secret-set", name="token", value="a1b2")
    assert await operate(settings, "sources") == []
    assert os.listdir(tmp_path) == ["state"]
    assert "workspace" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ABOUT_A_STATE)
def test_a_state_folder_that_does_not_exist_is_named_and_not_made(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERSIGN_STATE", "misspelt")
    with pytest.raises(
        Misconfigured, match=r"^there is no `ledger.db` in `misspelt`; name the gateway's state folder with --state$"
    ):
        countersign.main(command.split(), standalone_mode=False)
    assert os.listdir(tmp_path) == []


def test_an_empty_folder_is_no_state_folder_and_stays_empty(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"there is no `ledger.db` in"):
        countersign.main(["sources", "list", "--state", str(tmp_path)], standalone_mode=False)
    assert os.listdir(tmp_path) == []


def test_a_source_is_imported_and_replaced_before_a_gateway_was_ever_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"time": {"command": "time-server"}}}')
    for _ in range(2):
        countersign.main(["sources", "import", str(file), "--replace"], standalone_mode=False)
    countersign.main(["sources", "list"], standalone_mode=False)
    assert "time  mcp" in capsys.readouterr().out


MAY_BEGIN_A_STATE = (
    "serve --tools junk",
    "serve --tools-module no.such.module",
    "serve --policy .",
    "serve --model nosuch",
    "agent http://127.0.0.1:1/v1 --single hello",
    "agent http://127.0.0.1:1/v1 --single hello --as nobody",
    "agent http://127.0.0.1:1/v1 --single hello --tools junk",
    "agent http://127.0.0.1:1/v1 --single hello --output-schema junk",
    "enrol a\tb",
    "sources add Bad_Name -- true",
    "sources add x --url ftp://x",
    "sources add x --sql nosuch://x",
    "sources add x --openapi junk --base-url https://x",
    "sources add x --label nolabel -- true",
    "sources add x --env A=${secret:nosuch} -- true",
    "sources import junk",
    "sources import servers.json",
    "secrets set bad+name",
    "restore junk --yes",
)
"""What may be done where there is no state folder yet, in a way that fails."""


@pytest.mark.parametrize("command", MAY_BEGIN_A_STATE)
async def test_a_command_that_fails_leaves_no_folder_that_it_began(command: str, tmp_path: Path) -> None:
    (tmp_path / "junk").write_text("not what was asked for")
    (tmp_path / "servers.json").write_text('{"mcpServers": {"x": {"command": 5}, "y": {}}}')
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(preloaded.ROOT),
        "COUNTERSIGN_MODEL": "none",
        "COUNTERSIGN_PORT": "0",
        "COUNTERSIGN_STATE": "new/within/state",
    }
    process = await preloaded.start(command.split(" "), cwd=tmp_path, env=environment)
    async with asyncio.timeout(PATIENCE):
        output, _ = await process.communicate()
    assert process.returncode in (1, 2), output
    assert b"Traceback" not in output
    assert sorted(os.listdir(tmp_path)) == ["junk", "servers.json"]


@pytest.mark.parametrize("name", ["a?b.db", "C#.db", "100%41.db", "a b.db"])
def test_a_database_file_is_the_one_of_exactly_that_name(name: str, tmp_path: Path) -> None:
    assert read_url(sqlite_url(tmp_path / name)).database == str(tmp_path.resolve() / name)


@pytest.mark.parametrize(
    "command",
    ["audit explain @", "audit show --tool @", "audit erase --call @ --yes", "audit export x --format csv --text @", "enrol @"],
)
def test_what_is_no_utf_8_is_refused_in_one_sentence(tmp_path: Path, command: str) -> None:
    arguments = [*command.replace("@", "\udcff").split(), "--state", str(tmp_path)]
    refused = CliRunner().invoke(countersign, arguments)
    assert refused.exit_code == 2, refused.output
    assert refused.output.rstrip().endswith("this is not valid UTF-8")


def test_a_path_may_have_any_bytes(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "\udcff.jsonl"
    assert CliRunner().invoke(countersign, ["audit", "export", str(file), "--state", str(state)]).exit_code == 0
    assert file.stat().st_size > 0
