"""A turn with declared tools and real weights: with a chat template of one's own, the default model calls them."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import orjson
import pytest

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[3]
TEMPLATE = ROOT / "docs" / "examples" / "qwen2.5-coder-tools.jinja"
SECONDS = 300
"""For the model to load and to read some 1,500 tokens of declared tools, beside everything else on two cores."""


async def run(home: Path, models: Path, *arguments: str) -> tuple[int, bytes, bytes]:
    settings = {"COUNTERSIGN_MODELS": str(models), "COUNTERSIGN_MODEL_TIER": "native", "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *arguments),
        cwd=home,
        env={**os.environ, **settings},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(SECONDS):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    assert process.returncode is not None
    return process.returncode, out, err


async def test_a_declared_tool_is_called_by_the_default_model_run_by_the_gateway_and_on_record(
    real_models: Path, tmp_path: Path
) -> None:
    asked = ("--single", "search the files for the word March", "--json-out", "--max-steps", "1", "--port", "0")
    _, out, err = await run(tmp_path, real_models, "agent", "default", "--chat-template", str(TEMPLATE), *asked)
    events = [orjson.loads(line) for line in out.splitlines()]
    calls = [event for event in events if event["type"] == "tool_call"]
    assert [(call["tool"], call["arguments"]["query"], call["exit_code"]) for call in calls] == [("search_files", "March", 0)], (
        err
    )
    assert "send the March report" in calls[0]["stdout"]
    # Not read out of text: nothing of it came as words.
    assert orjson.loads(next(event["raw"] for event in events if event["type"] == "assistant"))["name"] == "search_files"
    code, shown, _ = await run(tmp_path, real_models, "audit", "show", "--event", "call:closed")
    assert (code, shown.count(b"search_files"), shown.count(b" ok")) == (0, 1, 1), shown
    assert (await run(tmp_path, real_models, "audit", "verify"))[0] == 0
