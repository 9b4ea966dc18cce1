"""A folder at a second place, as a mount shows it: no link to follow, and no common path."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.process import PATIENCE, GatewayProcess


def examine(home: Path, workspace: str, mounts: Mapping[str, str], tools: Sequence[Mapping[str, object]]) -> str:
    """What `doctor` says where `mounts` are shown a second time, by where that is."""
    gateway = GatewayProcess(home, settings={"COUNTERSIGN_WORKSPACE": workspace})
    for folder in ("state/inside", "inner/between/workspace", "elsewhere", *mounts):
        (home / folder).mkdir(parents=True)
    entries = [{"name": f"act_{number}", "description": "Act.", "_exec": "true", **tool} for number, tool in enumerate(tools)]
    (home / "tools.json").write_text(json.dumps(entries))
    bound = [word for second, first in mounts.items() for word in ("--bind", str(home / first), str(home / second))]
    told = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", *bound, sys.executable, "-m", "gateway", "doctor", "--tools", "tools.json"],
        cwd=home,
        env=gateway.environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return told.stdout + told.stderr


def test_case_281_a_mount_shows_no_tool_the_state_or_what_the_workspace_lies_in(tmp_path: Path) -> None:
    mounts = {"second_state": "state", "second_inner": "inner", "second_other": "elsewhere"}
    tools = (
        {"_folder": "second_state"},
        {"_folder": "second_state/inside"},
        {"_readable": ["second_state"]},
        {"_folder": "second_inner"},
        {"_folder": "second_inner/between"},
        {"_folder": "second_other"},
        {"_folder": "second_inner/between/workspace"},
    )
    said = examine(tmp_path.resolve(), "inner/between/workspace", mounts, tools)
    assert "tool 1 `act_0`: would work in a folder with `state` in it" in said, said
    assert "tool 2 `act_1`: would work in a folder with `state` in it" in said
    assert "tool 3 `act_2`: `_readable` names a folder with `state` in it, which no tool may read" in said
    assert "tool 4 `act_3`: would work in a folder that the workspace lies in" in said
    assert "tool 5 `act_4`: would work in a folder that the workspace lies in" in said
    assert "tool 6" not in said
    assert "tool 7" not in said


def test_case_281_the_state_at_a_second_place_is_no_workspace(tmp_path: Path) -> None:
    said = examine(tmp_path.resolve(), "second/inside", {"second": "state"}, ())
    assert "`state` and `workspace` must be two folders, neither within the other" in said, said


def test_case_285_a_folder_with_the_state_mounted_below_it_is_none_for_a_tool(tmp_path: Path) -> None:
    mounts = {"box/deep/state": "state", "shelf/inner": "inner", "open/other": "elsewhere"}
    tools = ({"_folder": "box"}, {"_readable": ["box/deep"]}, {"_folder": "shelf"}, {"_folder": "open"})
    said = examine(tmp_path.resolve(), "inner/between/workspace", mounts, tools)
    assert "tool 1 `act_0`: would work in a folder with `state` in it" in said, said
    assert "tool 2 `act_1`: `_readable` names a folder with `state` in it, which no tool may read" in said
    assert "tool 3 `act_2`: would work in a folder that the workspace lies in" in said
    assert "tool 4" not in said
