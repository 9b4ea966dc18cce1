"""The search by meaning through the running gateway, with the real sentence model in its own server."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from gateway.adapters.inference.catalog import models_folder
from gateway.adapters.inference.sentence_file import find_sentence_model
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.terminal import agent_command

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOWNLOAD_SECONDS = 600
"""For some 80 MB over a slow line, once per machine."""

NOTES = {
    "lund.txt": "Physician: Lund, Elm Road 3. To make an appointment, ring 555-0190.\n",
    "wheels.txt": "The automobile goes to the garage for its yearly check on 14 May.\n",
    "tomatoes.txt": "Tomatoes want sun, water in the evening and a stick to climb.\n",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def models() -> Path:
    """The folder with the sentence model, fetched as an operator would if it is not there."""
    folder = models_folder(os.environ)
    if find_sentence_model(folder) is None:
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "gateway", "models", "fetch", "embeddings")
        async with asyncio.timeout(DOWNLOAD_SECONDS):
            assert await process.wait() == 0, "`countersign models fetch embeddings` failed; what it said is above"
    return folder


@pytest.mark.requirement("002-46", "a note in other words than the question is found by its meaning, and on record")
async def test_a_note_in_other_words_than_the_question_is_shown_and_no_model_answers(models: Path, tmp_path: Path) -> None:
    for name, text in NOTES.items():
        (tmp_path / "workspace").mkdir(exist_ok=True)
        (tmp_path / "workspace" / name).write_text(text)
    small = {"COUNTERSIGN_MODEL_TIER": "single", "COUNTERSIGN_TOOLS_MODULES": "[]", "COUNTERSIGN_MODELS": str(models)}
    async with agent_command(tmp_path) as command:
        at = replace(command, extra=small)
        code, out, err = await at.run("--single", "what is the phone number of my doctor?", "--transcript", "log.jsonl")
    assert code == 0, err
    assert "I found nothing that mentions `doctor`." in out
    assert "lund.txt:1-1: Physician: Lund, Elm Road 3. To make an appointment, ring 555-0190." in out
    assert "Tomatoes" not in out
    assert at.backend.asked == []
    lines = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    calls = [(line["tool"], line["outcome"], line["auditSeq"] > 0) for line in lines if line["type"] == "tool_result"]
    assert calls == [("search_files", "ok", True), ("semantic_search", "ok", True)]


async def test_case_215_no_search_by_meaning_tells_how_near_a_guess_at_a_credential_comes(models: Path, tmp_path: Path) -> None:
    gateway = GatewayProcess(tmp_path, settings={"COUNTERSIGN_MODELS": str(models)})
    gateway.workspace.mkdir()
    (gateway.workspace / "wifi.txt").write_text("Cafe router settings\nwifi password: tulip4477\nowner: Bea\n")
    await gateway.start()
    try:
        ada = await Person.at(gateway).arrive()
        turn = await Turn.begin(await ada.agent())

        async def likeness(guess: str) -> int:
            found = await turn.invoke("semantic_search", {"query": f"wifi password: {guess}"})
            assert "[redacted:password]" in found["content"]
            assert "tulip" not in str(found["structured"])
            return next(each["likeness"] for each in found["structured"]["matches"] if each["path"] == "wifi.txt")

        # It was 80, with 77 for the half and 60 to 72 for the others.
        right = await likeness("tulip4477")
        others = [await likeness(guess) for guess in ("tulip1234", "zebra4477", "orange9911", "rose", "lion")]
        assert right <= max(others)
        await ada.leave()
    finally:
        await gateway.stop()
