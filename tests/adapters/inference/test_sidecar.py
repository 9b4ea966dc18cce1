"""The supervisor over real processes that play the model server: it comes up, comes back, gives up, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from gateway.adapters.inference.engine import Threads, WheelEngine
from gateway.adapters.inference.sidecar import Sidecar
from gateway.adapters.inference.sidecar_plan import SidecarPlan, SupervisionTimeouts
from gateway.core.errors import ModelUnavailable
from gateway.runtime.ports import ModelPhase

from .conftest import read_journal, read_seen
from .sidecar_stage import CHAT, FAKE_SERVER, PATIENT, Stage, drain, is_up, settled, stream


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = Stage(tmp_path / "s")
    async with stage.stack:
        yield stage


async def test_it_comes_up_and_answers(stage: Stage) -> None:
    sidecar = stage.build()
    assert sidecar.state().phase is ModelPhase.STOPPED
    await sidecar.start()
    assert sidecar.state().phase is ModelPhase.STARTING
    assert (await settled(sidecar)).phase is ModelPhase.READY
    assert (await stream(sidecar, max_tokens=3)).count(b"data:") == 4


async def test_before_it_is_ready_a_question_is_refused_with_the_state(stage: Stage) -> None:
    stage.behave("hang")
    sidecar = stage.build()
    await sidecar.start()
    with pytest.raises(ModelUnavailable, match="being loaded") as caught:
        await stream(sidecar)
    assert caught.value.state == "starting"


@pytest.mark.requirement("002-01", "the model server gets three variables and none of the gateway's secrets")
async def test_its_environment_is_scrubbed_and_its_key_is_nowhere_to_be_seen(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_ARG_TOOLS", "all")
    monkeypatch.setenv("COUNTERSIGN_MODEL_KEY", "secret")
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    seen = read_seen(stage.folder)
    # LC_CTYPE is what CPython sets for itself when there is no locale.
    assert set(seen.environment) - {"LC_CTYPE"} == {"PATH", "HOME", "OMP_WAIT_POLICY"}
    assert seen.environment["HOME"].startswith(str(stage.folder))
    assert seen.arguments == [str(FAKE_SERVER)]


@pytest.mark.requirement("002-62", "the model server is reached by a socket in a folder of its owner's")
async def test_its_socket_lies_in_a_private_folder(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    assert stat.S_IMODE(stage.folder.stat().st_mode) == 0o700
    assert stat.S_ISSOCK((stage.folder / "sidecar.sock").stat().st_mode)


async def test_a_folder_too_deep_for_a_socket_means_loopback(stage: Stage) -> None:
    stage.folder = stage.folder / ("deep" * 30)
    sidecar = stage.build()
    await sidecar.start()
    assert (await settled(sidecar)).phase is ModelPhase.READY
    assert b"DONE" in await stream(sidecar, max_tokens=1)
    assert not (stage.folder / "sidecar.sock").exists()


@pytest.mark.parametrize(("behaviour", "why"), [("keyless", "does not ask for its key"), ("otherkey", "does not take its key")])
async def test_a_server_that_is_careless_with_keys_is_not_used(stage: Stage, behaviour: str, why: str) -> None:
    stage.behave(behaviour)
    sidecar = stage.build()
    await sidecar.start()
    state = await settled(sidecar)
    assert state.phase is ModelPhase.CRASHED
    assert why in state.detail


async def test_leaving_an_answer_ends_it_at_the_server(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    async with sidecar.ask(CHAT, b"{}") as answer:
        chunks = answer.chunks()
        assert await anext(chunks)
    await stage.until(lambda: "given up" in read_journal(stage.folder))


async def test_a_killed_server_is_started_again(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    first = read_seen(stage.folder)
    first.kill()
    await stage.until(partial(is_up, stage, sidecar, 2))
    assert stage.pauses == [1.0]
    assert read_seen(stage.folder).pid != first.pid
    assert b"DONE" in await stream(sidecar, max_tokens=1)


async def test_a_crash_in_the_middle_of_an_answer_is_said(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    async with sidecar.ask(CHAT, b"{}") as answer:
        chunks = answer.chunks()
        assert await anext(chunks)
        read_seen(stage.folder).kill()
        with pytest.raises(ModelUnavailable, match="broke off") as caught:
            await drain(chunks)
    assert caught.value.state == "crashed"


async def test_a_server_that_keeps_crashing_is_given_up_after_growing_pauses(stage: Stage) -> None:
    stage.behave("crash")
    sidecar = stage.build()
    await sidecar.start()
    state = await settled(sidecar)
    assert state.phase is ModelPhase.CRASHED
    assert "ended with exit code 3 while it was loading the model, 5 times in a row" in state.detail
    assert "countersign doctor" in state.detail
    assert stage.pauses == [1.0, 2.0, 4.0, 8.0]
    assert read_journal(stage.folder) == ["started"] * 5
    with pytest.raises(ModelUnavailable, match="5 times in a row") as caught:
        await stream(sidecar)
    assert caught.value.state == "crashed"


async def test_a_long_run_makes_the_count_of_failures_start_anew(stage: Stage) -> None:
    sidecar = stage.build(timeouts=SupervisionTimeouts(start=20, poll=0.02, probe=5, watch=0.02, attempts=2))
    await sidecar.start()
    for starts in (1, 2, 3):
        await stage.until(partial(is_up, stage, sidecar, starts))
        stage.clock.advance(61)
        read_seen(stage.folder).kill()
        await stage.until(lambda: sidecar.state().phase is not ModelPhase.READY)
    assert stage.pauses == [1.0, 1.0, 1.0]


async def test_a_server_that_never_gets_ready_is_given_up(stage: Stage) -> None:
    stage.behave("hang")
    sidecar = stage.build(timeouts=SupervisionTimeouts(start=0.3, poll=0.02, probe=5, attempts=2))
    await sidecar.start()
    state = await settled(sidecar)
    assert "was not ready after 0.3 s" in state.detail
    assert not read_seen(stage.folder).is_alive


async def test_a_server_that_stops_answering_is_replaced(stage: Stage) -> None:
    stage.behave("mute")
    sidecar = stage.build(timeouts=SupervisionTimeouts(start=20, poll=0.02, probe=0.1, watch=0.02, misses=2))
    await sidecar.start()
    await settled(sidecar)
    stage.behave("")
    first = read_seen(stage.folder)
    # The one that plays mute had read its part before it was rewritten.
    await stream(sidecar, max_tokens=1)
    await stage.until(lambda: read_journal(stage.folder).count("started") >= 2)
    await stage.until(lambda: not first.is_alive)


async def test_stopping_ends_the_process_and_removes_socket_and_key(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.stop()
    assert sidecar.state().phase is ModelPhase.STOPPED
    assert not read_seen(stage.folder).is_alive
    assert not {"sidecar.sock", "api-key"} & set(os.listdir(stage.folder))
    with pytest.raises(ModelUnavailable) as caught:
        await stream(sidecar)
    assert caught.value.state == "stopped"
    await sidecar.stop()


async def test_a_server_that_does_not_want_to_end_is_killed(stage: Stage) -> None:
    stage.behave("stubborn")
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.stop()
    assert read_journal(stage.folder) == ["started", "asked to end"]
    assert not read_seen(stage.folder).is_alive


async def test_stopping_at_once_leaves_nothing_behind(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await asyncio.sleep(0)
    await sidecar.stop()
    assert not (stage.folder / "seen.json").exists() or not read_seen(stage.folder).is_alive


async def test_a_supervisor_that_broke_does_not_look_like_one_that_is_trying(stage: Stage) -> None:
    async def break_down(seconds: float) -> None:
        raise RuntimeError("a bug")

    stage.behave("crash")
    stage.pause = break_down
    sidecar = stage.build()
    await sidecar.start()
    state = await settled(sidecar)
    assert (state.phase, "no longer supervised" in state.detail) == (ModelPhase.CRASHED, True)


async def test_a_launcher_that_does_not_exist_is_a_crash_with_words(stage: Stage) -> None:
    plan = SidecarPlan(stage.folder / "m", "a:b", stage.folder, 4096, Threads(1, 1), repack=True, origins=())
    sidecar = Sidecar(
        plan,
        WheelEngine(),
        clock=stage.clock,
        timeouts=SupervisionTimeouts(attempts=1),
        pause=stage.pause,
        launcher=("/nonexistent",),
    )
    await sidecar.start()
    assert "exit code 127" in (await settled(sidecar)).detail


async def test_a_folder_that_cannot_be_used_is_a_crash_with_words(stage: Stage) -> None:
    stage.folder.write_text("in the way")
    sidecar = stage.build(timeouts=SupervisionTimeouts(attempts=1))
    await sidecar.start()
    assert "cannot be started" in (await settled(sidecar)).detail


async def test_it_reports_the_ids_of_a_prompt(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    assert await sidecar.tokenise("hé") == (104, 195, 169)


async def test_a_server_that_reports_no_ids_is_an_error_with_a_message(stage: Stage) -> None:
    stage.behave("wordless")
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    with pytest.raises(ModelUnavailable, match="does not report token ids"):
        await sidecar.tokenise("x")


# ── warmth ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

BEGINNING: list[dict[str, str]] = [{"role": "system", "content": "be brief"}]


async def test_a_beginning_is_evaluated_once_and_restored_by_the_next_run(stage: Stage) -> None:
    for expected in (["started", "asked", "save"], ["started", "restore"]):
        sidecar = stage.build()
        (stage.folder / "journal").unlink(missing_ok=True)
        await sidecar.start()
        await settled(sidecar)
        await sidecar.warm(BEGINNING)
        assert read_journal(stage.folder) == expected
        await sidecar.stop()


async def test_another_beginning_replaces_the_saved_one(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.warm(BEGINNING)
    await sidecar.warm([*BEGINNING, {"role": "user", "content": "hello"}])
    assert len(os.listdir(stage.folder / "slots")) == 1


async def test_after_its_sleep_the_beginning_is_put_back_before_the_question(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.warm(BEGINNING)
    await stream(sidecar, max_tokens=1)
    stage.clock.advance(301)
    await stream(sidecar, max_tokens=1)
    assert read_journal(stage.folder)[3:] == ["asked", "restore", "asked"]


async def test_after_a_crash_the_beginning_is_put_back(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    await sidecar.warm(BEGINNING)
    read_seen(stage.folder).kill()
    await stage.until(lambda: read_journal(stage.folder)[3:] == ["started", "restore"])


# ── a longer context ──


async def test_a_longer_context_is_another_start_that_what_was_evaluated_survives(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    async with asyncio.timeout(PATIENT):
        await sidecar.warm([{"role": "system", "content": "be brief"}])
        assert await sidecar.grow(8192)
    assert (sidecar.state().phase, sidecar.context_tokens) == (ModelPhase.READY, 8192)
    # The beginning is not put back: in the one slot it would take the place of the conversation.
    assert read_journal(stage.folder)[-4:] == ["save", "save", "started", "restore"]
    assert not (stage.folder / "slots" / "carried.state").exists()
    assert b"DONE" in await stream(sidecar, max_tokens=1)


async def test_a_server_that_does_not_start_with_more_context_runs_on_with_what_it_had(stage: Stage) -> None:
    stage.behave("small")
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    async with asyncio.timeout(PATIENT):
        assert not await sidecar.grow(8192)
    assert (sidecar.state().phase, sidecar.context_tokens) == (ModelPhase.READY, 4096)
    assert b"DONE" in await stream(sidecar, max_tokens=1)


async def test_stopping_while_the_context_grows_leaves_nothing_behind(stage: Stage) -> None:
    sidecar = stage.build()
    await sidecar.start()
    await settled(sidecar)
    first = read_seen(stage.folder)
    stage.behave("hang")
    growing = asyncio.create_task(sidecar.grow(8192))
    await stage.until(lambda: read_journal(stage.folder).count("started") == 2)
    growing.cancel()
    await asyncio.wait({growing})
    await sidecar.stop()
    assert not first.is_alive
    assert not read_seen(stage.folder).is_alive
