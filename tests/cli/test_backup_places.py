"""Where `countersign backup` writes, and where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.adapters.storage.store import open_store
from gateway.cli import countersign
from gateway.core.errors import Misconfigured


async def test_case_308_no_backup_is_written_where_tools_would_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, workspace, elsewhere = tmp_path / "state", tmp_path / "workspace", tmp_path / "elsewhere"
    async with open_store(state, origin="gateway.example/audit"):
        (workspace / "notes").mkdir(parents=True)
    elsewhere.symlink_to(workspace / "notes")
    monkeypatch.setenv("COUNTERSIGN_WORKSPACE", str(workspace))

    for folder in (workspace, workspace / "notes", elsewhere, tmp_path / "notes" / ".." / "workspace"):
        result = CliRunner().invoke(countersign, ["backup", str(folder / "kept"), "--state", str(state)])
        assert isinstance(result.exception, Misconfigured), result.output
        assert "where tools would read the log's key" in result.exception.message
    assert not [*workspace.rglob("kept")]

    beside = CliRunner().invoke(countersign, ["backup", str(tmp_path / "kept"), "--state", str(state)])
    assert (beside.exit_code, (tmp_path / "kept").is_file()) == (0, True)
