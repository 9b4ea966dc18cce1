"""`countersign agent` keeps rollouts and evaluated prompts where it is told to."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.adapters.inference.catalog import load_catalog, models_folder
from gateway.adapters.inference.fetch import is_present
from gateway.adapters.inference.scripted import Reply, ScriptedBackend
from gateway.adapters.inference.warm_prefix import PrefixState
from gateway.adapters.storage.trajectories import TrajectoryFolder, read_trajectories
from gateway.agent.trajectory import Trajectory, TrajectoryRole, from_json, to_json
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.warm_up import WarmUpReport
from tests.fakes.openai_server import openai_app, serving
from tests.harness import preloaded

PATIENT = 120.0


async def agent(folder: Path, model: str, *options: str | Path, **settings: str) -> tuple[int, str, str]:
    """Run the command with no terminal; exit status, standard output, standard error."""
    places = ("--state", folder / "state", "--workspace", folder / "workspace", "--port", "0")
    process = await preloaded.start(
        ["agent", model, *map(str, (*places, *options))],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            **settings,
        },
        errors_apart=True,
    )
    try:
        async with asyncio.timeout(PATIENT):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode(), err.decode()


def rollouts(folder: Path) -> list[Trajectory]:
    found = [each for _, each in read_trajectories(folder)]
    assert all(isinstance(each, Trajectory) for each in found)
    return [each for each in found if isinstance(each, Trajectory)]


@pytest.mark.requirement("000-36", "a rollout without token ids says so, and reads back to the same bytes")
async def test_a_server_that_reports_no_ids_gives_a_rollout_that_says_so(tmp_path: Path) -> None:
    async with serving(openai_app(ScriptedBackend(lambda _: Reply("It is raining.")))) as url:
        kept = tmp_path / "traj"
        code, out, err = await agent(
            tmp_path,
            url,
            "--single",
            "rain?",
            "--trajectory-dir",
            kept,
            "--trajectory-task",
            "weather",
            COUNTERSIGN_MODEL_TIER="native",
        )
    assert (code, out) == (0, "It is raining.\n"), err
    (rollout,) = rollouts(kept)
    assert (rollout.task, rollout.absent) == ("weather", True)
    assert [(step.role, step.content) for step in rollout.steps][-2:] == [
        (TrajectoryRole.USER, "rain?"),
        (TrajectoryRole.ASSISTANT, "It is raining."),
    ]
    (path,) = kept.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert to_json(from_json(path.read_bytes())) == path.read_bytes()


async def test_a_task_without_a_folder_is_refused(tmp_path: Path) -> None:
    code, _, err = await agent(tmp_path, "default", "--single", "x", "--trajectory-task", "weather")
    assert code == 2
    assert "--trajectory-task needs --trajectory-dir" in err


async def test_folders_that_cannot_be_used_are_said_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, _, err = await agent(tmp_path, "http://127.0.0.1:9/v1", "--single", "x", "--trajectory-dir", tmp_path / "file" / "x")
    assert (code, err) == (2, "countersign: the trajectory folder `x` cannot be made: Not a directory\n")


class Page:
    """What was written to a stream that is no terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


@pytest.mark.requirement("000-12", "a launch says that it loaded or saved the cache, and how many tokens")
@pytest.mark.parametrize(
    ("prefix_state", "words"),
    [
        (PrefixState(restored=True, tokens=192), "agent: loaded system-prompt cache (192 tokens) — skipping prefill\n"),
        (
            PrefixState(restored=False, tokens=192, kept=True),
            "agent: saved system-prompt cache (192 tokens) for the next launch\n",
        ),
        (PrefixState(restored=False, tokens=192), ""),
        (None, "agent: no system-prompt cache: only a local model that answers has one\n"),
    ],
    ids=["loaded", "saved", "not-kept", "no-model"],
)
async def test_where_the_prompt_came_from_is_shown_beside_the_answers(prefix_state: PrefixState | None, words: str) -> None:
    out, err = Page(), Page()
    warming = WarmUpReport()
    shown = asyncio.create_task(warming.report(Screen(out, err)))  # pyright: ignore[reportArgumentType] - as much of a stream as it needs
    await asyncio.sleep(0)
    assert not shown.done()
    warming.warmed(prefix_state)
    warming.warmed(None)
    async with asyncio.timeout(10):
        await shown
    assert (out.text, err.text) == ("", words)


@pytest.mark.requirement("000-12", "with the real model the second launch loads the cache")
@pytest.mark.requirement("000-36", "rollouts of the real model have the ids that were fed")
@pytest.mark.live
async def test_the_second_launch_skips_the_prefill_and_both_keep_the_ids_of_the_real_model(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    assert is_present(load_catalog().find("default"), models_folder(os.environ)), "run `countersign models fetch`"
    options = ("--single", "read README.md", "--prompt-cache-dir", tmp_path / "kv", "--trajectory-dir", tmp_path / "traj")
    loop, shown = asyncio.get_running_loop(), list[str]()
    for launch in range(2):
        began = loop.time()
        code, _, err = await agent(tmp_path, "default", *options, "--state", tmp_path / f"state{launch}")
        record_property(f"seconds of launch {launch}", round(loop.time() - began, 1))
        assert code == 0, err
        shown += [line for line in err.splitlines() if line.startswith("agent:")]
    saved, loaded = shown
    count = saved.partition("(")[2].partition(" tokens)")[0]
    assert int(count) > 300
    assert loaded == f"agent: loaded system-prompt cache ({count} tokens) — skipping prefill"
    for rollout in rollouts(tmp_path / "traj"):
        (_, tokens), *_ = rollout.generations()
        assert not rollout.absent
        assert tokens is not None
        # What was warmed is where the prompt begins, but for the template's last words.
        assert len(tokens.fed) > int(count) - 10
        assert (TrajectoryFolder(tmp_path / "traj").write(rollout)).read_bytes() == to_json(rollout)
