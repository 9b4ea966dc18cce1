"""`countersign models check`: a model is measured, what was found is kept, and the gateway goes by it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from gateway.adapters.inference.factory import ModelChoice, build_backend, tiered
from gateway.adapters.inference.profiles import CaseOutcome, ModelProfile, ProfileStore
from gateway.adapters.inference.scripted import SCRIPTED, Reply, ScriptedBackend, in_order
from gateway.adapters.inference.tiered import TieredBackend
from gateway.adapters.system.clock import SystemClock
from gateway.cli.evaluation import load_case_player
from gateway.cli.model_check import check_model, describe_profile
from gateway.cli.models import models
from gateway.core.errors import Misconfigured, ModelUnavailable
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import Clock
from gateway.settings import Settings
from tests.adapters.inference.test_tiered import TriableModel
from tests.fakes.clock import FakeClock
from tests.fakes.openai_server import openai_app, serving

ROOT = Path(__file__).parents[2]
GREETING = orjson.dumps({"answer": "Hello!"}).decode()
KINDS = 19


def greets(_asked: Mapping[str, Any]) -> Reply:
    """Carries no loop, and completes the cases where nothing is to be done."""
    return Reply(GREETING)


def settings_for(url: str, state: Path, **more: Any) -> Settings:
    return Settings(model_url=url, state=state / "state", workspace=state / "workspace", **more)


async def test_a_model_behind_a_url_is_tried_measured_and_kept_under_its_name_and_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = ScriptedBackend(greets)
    async with serving(openai_app(backend, model="mine")) as url:
        settings = settings_for(url, tmp_path)
        profile, path = await check_model(settings, 1, again=False)
    assert profile == ProfileStore(tmp_path / "state").read(profile.id)
    assert path.parent == tmp_path / "state" / "models"
    assert (profile.title, profile.tier, profile.cases, profile.sample) == ("mine", Tier.SINGLE, KINDS, 1)
    assert profile.id.startswith("remote:127.0.0.1:")
    assert profile.kinds["no tool at all"] == (1, 1)
    assert profile.rank is not None
    assert profile.rank < 50
    assert sum(cases for _, cases in profile.kinds.values()) == KINDS
    err = capsys.readouterr().err
    assert "trying the loop `native`: 0 of at most 24 requests" in err
    assert f"{KINDS} of {KINDS}, 0 min 00 s left: " in err
    shown = describe_profile(profile)
    assert shown[0] == "mine"
    assert f"of all {KINDS} (1 of every kind)" in shown[2]


async def test_the_same_command_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    asked = itertools.count()

    def goes_away(body: Mapping[str, Any]) -> Reply:
        if next(asked) == 16:
            raise ModelUnavailable("the server was stopped", "crashed")
        return greets(body)

    outcomes, reported = tmp_path / "outcomes.jsonl", list[tuple[int, bool]]()

    async def play() -> list[CaseOutcome]:
        return await load_case_player()(
            ScriptedBackend(goes_away),
            model="m",
            tier=Tier.SINGLE,
            context_tokens=4096,
            is_local=True,
            sample=1,
            outcomes=outcomes,
            report=lambda place, _cases, _outcome, is_new: reported.append((place, is_new)),
        )

    with pytest.raises(ModelUnavailable, match="was stopped"):
        await play()
    played = len(outcomes.read_bytes().splitlines())
    assert 0 < played < KINDS
    assert reported == [(place, True) for place in range(1, played + 1)]
    reported.clear()
    assert len(await play()) == KINDS
    assert reported == [(place, place > played) for place in range(1, KINDS + 1)]


async def test_what_is_known_is_asked_again_only_on_demand(tmp_path: Path) -> None:
    backend = ScriptedBackend(greets)
    async with serving(openai_app(backend, model="mine")) as url:
        settings = settings_for(url, tmp_path)
        first, _ = await check_model(settings, 1, again=False)
        asked = len(backend.asked)
        second, _ = await check_model(settings, 1, again=False)
        # The question that measures the speed.
        assert len(backend.asked) == asked + 1
        third, _ = await check_model(settings, 1, again=True)
    assert len(backend.asked) == asked + 1 + asked
    assert first.kinds == second.kinds == third.kinds


async def test_a_loop_that_is_set_is_the_one_that_is_measured(tmp_path: Path) -> None:
    backend = ScriptedBackend(greets)
    async with serving(openai_app(backend, model="mine")) as url:
        profile, _ = await check_model(settings_for(url, tmp_path, model_tier="chained"), 1, again=False)
    assert (profile.tier, profile.requests) == (Tier.CHAINED, 0)


async def test_a_model_whose_loop_the_catalogue_names_is_measured_in_it_and_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = TriableModel(greets, info=replace(SCRIPTED, tier=Tier.CHAINED))
    inner.may_try.set()

    def give(_choice: ModelChoice, _clock: Clock) -> TriableModel:
        return inner

    monkeypatch.setattr("gateway.adapters.inference.factory.build_backend", give)
    profile, _ = await check_model(settings_for("http://127.0.0.1:9", tmp_path), 1, again=False)
    assert (profile.tier, profile.requests, profile.native) == (Tier.CHAINED, 0, None)


async def test_a_server_that_refuses_is_an_error_in_its_own_words(tmp_path: Path) -> None:
    async with serving(openai_app(ScriptedBackend(greets), model="mine", key="secret")) as url:
        with pytest.raises(ModelUnavailable, match="refuses the key"):
            await check_model(settings_for(url, tmp_path), 1, again=False)
    assert not (tmp_path / "state").exists()


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(models, ["check", *arguments], catch_exceptions=False)
    return result.exit_code, result.output


def test_a_url_that_does_not_answer_is_said_and_ends_with_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, output = run(monkeypatch, tmp_path, "http://127.0.0.1:9/v1", "--quick")
    assert code == 1
    assert "127.0.0.1:9: the model server does not answer; check that it runs, and its URL" in output


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("stub", "nothing to measure"),
        ("none", "needs a model"),
        ("nowhere.gguf", "there is no file"),
        ("gpt", "no model `gpt`"),
    ],
)
def test_what_is_no_model_is_a_mistake_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, why: str
) -> None:
    with pytest.raises(Misconfigured, match=why):
        run(monkeypatch, tmp_path, model)


def test_a_file_that_is_no_model_is_said_and_ends_with_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.gguf").write_bytes(b"not a model")
    code, output = run(monkeypatch, tmp_path, "x.gguf")
    assert code == 1
    assert "`x.gguf` is not a GGUF model file" in output


def test_two_sizes_are_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, output = run(monkeypatch, tmp_path, "default", "--quick", "--sample", "3")
    assert (code, "choose one" in output) == (2, True)


# ── what the gateway makes of it ──


def kept(state: Path, **changes: Any) -> ModelProfile:
    profile = ModelProfile(id=SCRIPTED.id, title="Scripted model", tier=Tier.CHAINED, requests=9, on="2026-03-10", **changes)
    ProfileStore(state).write(profile)
    return profile


def over(state: Path, tier: Tier | None = None) -> TieredBackend:
    inner = TriableModel(in_order(), info=replace(SCRIPTED, tier=Tier.SINGLE))
    return TieredBackend(inner, tier=tier, profiles=ProfileStore(state), clock=FakeClock())


async def test_a_running_gateway_takes_the_loop_that_was_measured_before_the_one_of_the_catalogue(tmp_path: Path) -> None:
    backend = over(tmp_path)
    await backend.start()
    await backend.tried()
    assert (await backend.models())[0].tier is Tier.SINGLE
    kept(tmp_path, rank=71)
    (info,) = await backend.models()
    assert (info.tier, info.tool_call_rank) == (Tier.CHAINED, 71)
    await backend.stop()


async def test_a_trial_that_nobody_asked_for_does_not_outweigh_the_catalogue(tmp_path: Path) -> None:
    kept(tmp_path)
    assert (await over(tmp_path).models())[0].tier is Tier.SINGLE


async def test_what_is_set_outweighs_what_was_measured(tmp_path: Path) -> None:
    kept(tmp_path, rank=71)
    assert (await over(tmp_path, Tier.NATIVE).models())[0].tier is Tier.NATIVE


async def test_the_rank_of_a_sample_is_not_held_beside_those_of_the_catalogue(tmp_path: Path) -> None:
    kept(tmp_path, rank=71, sample=2)
    (info,) = await over(tmp_path).models()
    assert (info.tier, info.tool_call_rank) == (Tier.CHAINED, None)


async def test_the_gateway_over_the_url_gets_the_loop_that_the_check_has_found(tmp_path: Path) -> None:
    async with serving(openai_app(ScriptedBackend(greets), model="mine")) as url:
        settings = settings_for(url, tmp_path)
        await check_model(settings, 1, again=False)
        choice = ModelChoice("default", tmp_path, settings.state, url=url)
        gateway = tiered(build_backend(choice, SystemClock()), choice, SystemClock())
        await gateway.start()
        (info,) = await gateway.models()
        await gateway.stop()
    assert info.tier is Tier.SINGLE


# ── where the evaluation comes from ──


def test_the_evaluation_is_found_beside_the_package_from_any_folder(tmp_path: Path) -> None:
    program = "from gateway.cli.evaluation import load_case_player as load; print(load().__module__, load() is load())"
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(ROOT)!r})\n{program}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stdout.split() == ["eval.one_model", "True"], ran.stderr


def test_the_evaluation_of_a_check_needs_no_package_of_development() -> None:
    program = "import sys; sys.modules['psutil'] = None\nfrom gateway.cli.evaluation import load_case_player; load_case_player()"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
