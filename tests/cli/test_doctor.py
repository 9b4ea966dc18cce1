"""What `countersign doctor` says of the cage."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.tools.sandbox import choice
from gateway.core.errors import Misconfigured
from gateway.settings import Settings
from gateway.toolbox import describe_cage


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without either mechanism."""
    monkeypatch.setattr(choice, "find_parts", lambda: "bwrap")
    monkeypatch.setattr(choice, "landlock_version", lambda: 0)


@pytest.mark.parametrize("mechanism", ["bubblewrap", "landlock"])
def test_doctor_names_the_mechanism_that_it_tried(tmp_path: Path, mechanism: str) -> None:
    settings = Settings.model_validate({"state": tmp_path, "sandbox": mechanism})

    assert describe_cage(settings).startswith(f"{mechanism} works here; programs run ")


def test_a_machine_without_a_cage_is_fine_until_there_are_programs(tmp_path: Path, bare: None) -> None:
    assert "bwrap" in describe_cage(Settings.model_validate({"state": tmp_path}))
    with pytest.raises(Misconfigured, match="apt-get install bubblewrap"):
        describe_cage(Settings.model_validate({"state": tmp_path, "tool_files": (tmp_path / "tools.json",)}))
