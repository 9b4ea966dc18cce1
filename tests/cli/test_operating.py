"""Commands that do without a gateway what they would ask one for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.cli.operating import operate
from gateway.settings import Settings


async def test_a_command_without_a_gateway_makes_no_workspace_where_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert await operate(Settings.model_validate({"model": "none"}), "sources") == []
    assert os.listdir(tmp_path) == ["state"]
    assert "workspace" not in capsys.readouterr().err
