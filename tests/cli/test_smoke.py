"""`countersign smoke`: the installed gateway, tried once with each decision."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds for a start, four calls and a stop on a busy machine; a bound, not a measurement."""


async def smoke(home: Path, *options: str, **settings: str) -> tuple[int, str, str]:
    temporary = home / "temporary"
    temporary.mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "smoke", *options),
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT), **settings},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    assert process.returncode is not None
    assert not os.listdir(temporary), "the throw-away folder is gone"
    return process.returncode, out.decode(), err.decode()


@pytest.mark.requirement("002-79", "one command tries auto, consent, stepUp and forbidden on a running gateway, and exits 0")
async def test_each_decision_is_tried_on_a_gateway_of_its_own(tmp_path: Path) -> None:
    """Neither the settings of whoever runs it nor their state play a part."""
    code, out, err = await smoke(tmp_path, COUNTERSIGN_MODEL="none", COUNTERSIGN_STATE=str(tmp_path / "own"))
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["ok", each] for each in ("auto", "consent", "stepUp", "forbidden", "record")
    ]
    assert os.listdir(tmp_path) == ["temporary"]


async def test_a_policy_that_asks_less_is_a_difference(tmp_path: Path) -> None:
    policy = tmp_path / "policy"
    shutil.copytree(ROOT / "policy", policy)
    rules = policy / "default.cedar"
    text = rules.read_text()
    wanted = 'action == Countersign::Action::"invoke_with_step_up",\n  resource in Countersign::Category::"destructive"'
    assert wanted in text
    rules.write_text(text.replace(wanted, wanted.replace("invoke_with_step_up", "invoke_with_consent")))
    code, out, err = await smoke(tmp_path, "--policy", str(policy))
    assert code == 1
    assert "DIFF  stepUp" in out
    assert "should be `stepUp`" in out
    assert out.count("ok  ") == 4
    assert err == "countersign: 1 of 5 are not as they should be\n"


async def test_a_gateway_that_does_not_start_is_one_sentence(tmp_path: Path) -> None:
    policy = tmp_path / "policy"
    policy.mkdir()
    code, out, err = await smoke(tmp_path, "--policy", str(policy))
    assert (code, out) == (2, "")
    assert err.startswith("countersign: the gateway did not start; it said: countersign: ")
    assert "Traceback" not in err
