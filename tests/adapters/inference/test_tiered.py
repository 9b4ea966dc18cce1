"""A model gets the loop that is set, known, or found out at its first use; what was found out is kept."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.inference import factory
from gateway.adapters.inference.absent import AbsentModel
from gateway.adapters.inference.factory import ManagedBackend, ModelChoice
from gateway.adapters.inference.model_set import ModelSet
from gateway.adapters.inference.profiles import ModelProfile, ProfileStore
from gateway.adapters.inference.scripted import SCRIPTED, Reply, ScriptedBackend
from gateway.adapters.inference.tiered import TieredBackend
from gateway.agent.trial import TRIALS
from gateway.core.errors import ModelUnavailable
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import Clock, InferenceStream, ModelPhase, ModelState
from tests.fakes.clock import FakeClock

ANSWERS = ("It leaks near the gate.", "Pancakes with plums.", "Done.", "First the roof, then the fence.", "Bye.")

NEEDED = {"search_files": "query"}


def act(asked: Mapping[str, Any]) -> Reply:
    """Goes on from results as JSON, and answers declared tools in words."""
    if asked.get("tools"):
        return Reply("Certainly.")
    contents = [message["content"] for message in asked["messages"]]
    place = next(at for at, trial in enumerate(TRIALS) if trial.say in contents)
    said = max(at for at, content in enumerate(contents) if content == TRIALS[place].say)
    made = sum(message["role"] == "assistant" for message in asked["messages"][said:])
    calls = list(TRIALS[place].calls)[made:]
    if not calls:
        return Reply(orjson.dumps({"answer": ANSWERS[place]}).decode())
    name, value = calls[0]
    arguments = {"merchant": value, "amount": "7.20"} if name == "save_expense" else {NEEDED.get(name, "path"): value}
    return Reply(orjson.dumps({"tool": name, "arguments": arguments}).decode())


@dataclass(slots=True)
class TriableModel(ScriptedBackend):
    """A scripted model of weights that can be tried."""

    phase: ModelPhase = ModelPhase.READY
    refuses: int | None = None
    """With this status, whatever it is asked."""

    may_try: asyncio.Event = field(default_factory=asyncio.Event)

    async def settle(self) -> ModelState:
        return self.state()

    def state(self) -> ModelState:
        return ModelState(self.phase, "")

    async def takes_tools(self) -> bool:
        await self.may_try.wait()
        return True

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        if self.refuses is not None:
            self.asked.append({})
            yield Refusal(self.refuses)
            return
        async with super(TriableModel, self).ask(path, body) as answer:
            yield answer


@dataclass(slots=True)
class Refusal:
    """A server's answer that is an error."""

    status: int
    content_type: str = "application/json"

    async def chunks(self) -> AsyncGenerator[bytes]:
        yield b'{"error": {"message": "Rate limit reached"}}'


def model(**changes: Any) -> TriableModel:
    made = TriableModel(act, info=replace(SCRIPTED, **changes))
    made.may_try.set()
    return made


def over(inner: TriableModel, state: Path, tier: Tier | None = None) -> TieredBackend:
    return TieredBackend(inner, tier=tier, profiles=ProfileStore(state), clock=FakeClock())


async def tier_of(backend: TieredBackend) -> Tier | None:
    return (await backend.models())[0].tier


async def test_a_model_that_nobody_knows_is_tried_once_and_its_tier_kept(tmp_path: Path) -> None:
    inner = model()
    backend = over(inner, tmp_path)
    await backend.start()
    await backend.tried()
    assert await tier_of(backend) is Tier.CHAINED
    assert not (await backend.models())[0].supports_tools
    asked = len(inner.asked)
    assert 0 < asked <= 24
    await backend.stop()
    again = over(inner, tmp_path)
    await again.start()
    await again.tried()
    assert await tier_of(again) is Tier.CHAINED
    assert len(inner.asked) == asked
    await again.stop()


async def test_what_is_set_wins_and_costs_no_request(tmp_path: Path) -> None:
    inner = model(tier=Tier.SINGLE)
    backend = over(inner, tmp_path, Tier.NATIVE)
    await backend.start()
    await backend.tried()
    (info,) = await backend.models()
    assert (info.tier, info.supports_tools, inner.asked) == (Tier.NATIVE, True, [])
    await backend.stop()


async def test_what_the_catalogue_says_costs_no_request(tmp_path: Path) -> None:
    inner = model(tier=Tier.SINGLE)
    backend = over(inner, tmp_path)
    await backend.start()
    await backend.tried()
    assert (await tier_of(backend), inner.asked) == (Tier.SINGLE, [])
    await backend.stop()


async def test_while_it_is_tried_a_model_has_no_tier_and_answers_nobody_else(tmp_path: Path) -> None:
    inner, may_go_on = model(), asyncio.Event()
    inner.may_try = may_go_on
    backend = over(inner, tmp_path)
    await backend.start()
    async with asyncio.timeout(5):
        while backend.state().phase is not ModelPhase.STARTING:
            await asyncio.sleep(0)
    assert await tier_of(backend) is None
    with pytest.raises(ModelUnavailable) as refused:
        async with backend.ask("/v1/chat/completions", b"{}"):
            pass
    assert refused.value.state == "starting"
    may_go_on.set()
    await backend.tried()
    assert await tier_of(backend) is Tier.CHAINED
    await backend.stop()


async def test_a_server_that_comes_up_later_is_tried_then(tmp_path: Path) -> None:
    inner = model()
    inner.phase = ModelPhase.CRASHED
    backend = over(inner, tmp_path)
    await backend.start()
    await backend.tried()
    assert (await tier_of(backend), inner.asked) == (None, [])
    inner.phase = ModelPhase.READY
    await backend.models()
    await backend.tried()
    assert await tier_of(backend) is Tier.CHAINED
    await backend.stop()


async def test_a_model_beside_the_first_is_tried_once_it_is_chosen_and_costs_nothing_before(tmp_path: Path) -> None:
    inner = model()
    backend = TieredBackend(inner, tier=None, profiles=ProfileStore(tmp_path), clock=FakeClock(), once_chosen=True)
    await backend.start()
    await backend.tried()
    assert (await tier_of(backend), inner.asked) == (None, [])
    await backend.choose()
    asked = len(inner.asked)
    assert asked > 0
    await backend.choose()
    assert (await tier_of(backend), len(inner.asked)) == (Tier.CHAINED, asked)
    await backend.stop()


async def test_the_first_question_to_a_model_beside_the_first_has_it_tried_before_it_is_answered(tmp_path: Path) -> None:
    inner = model()
    backend = TieredBackend(inner, tier=None, profiles=ProfileStore(tmp_path), clock=FakeClock(), once_chosen=True)
    await backend.start()
    with pytest.raises(ModelUnavailable) as refused:
        async with backend.ask("/v1/chat/completions", b"{}"):
            pass
    assert refused.value.state == "starting"
    await backend.tried()
    assert await tier_of(backend) is Tier.CHAINED
    assert backend.state().phase is ModelPhase.READY
    await backend.stop()


@pytest.mark.parametrize(("first", "others"), [("ollama/a", ("ollama/b",)), ("none", ("ollama/a", "ollama/b"))])
async def test_of_several_models_the_first_alone_is_tried_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, others: tuple[str, ...]
) -> None:
    made = {name: model(id=name) for name in ("ollama/a", "ollama/b")}

    def build(choice: ModelChoice, _clock: Clock) -> ManagedBackend:
        return made.get(choice.model) or AbsentModel()

    monkeypatch.setattr(factory, "build_backend", build)
    models = factory.build_models(ModelChoice(first, tmp_path, tmp_path, other_models=others), FakeClock())
    assert isinstance(models, ModelSet)
    await models.start()
    await models.tried()
    # What runs already would go on while nobody waits for it.
    for _ in range(100):
        await asyncio.sleep(0)
    assert made["ollama/a"].asked
    assert made["ollama/b"].asked == []
    await models.choose("ollama/b")
    assert [each.tier for each in await models.models()] == [Tier.CHAINED, Tier.CHAINED]
    assert made["ollama/b"].asked
    assert await models.missing() == []
    with pytest.raises(ModelUnavailable):
        await models.choose("ollama/c")
    await models.stop()


@pytest.mark.parametrize("status", [429, 500])
async def test_a_server_that_refuses_everything_decides_nothing_and_is_asked_again_later(tmp_path: Path, status: int) -> None:
    inner, clock = model(), FakeClock()
    inner.refuses = status
    backend = TieredBackend(inner, tier=None, profiles=ProfileStore(tmp_path), clock=clock)
    await backend.start()
    await backend.tried()
    asked = len(inner.asked)
    assert await tier_of(backend) is None
    assert ProfileStore(tmp_path).read(inner.info.id) is None
    await backend.tried()
    assert len(inner.asked) == asked
    inner.refuses = None
    clock.advance(60)
    await backend.models()
    await backend.tried()
    assert await tier_of(backend) is Tier.CHAINED
    await backend.stop()


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"\xff", b'{"id": "other", "title": "t", "tier": "native", "requests": 1, "on": "x"}']
)
def test_a_profile_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    store = ProfileStore(tmp_path)
    store.write(ModelProfile(id="m", title="M", tier=Tier.NATIVE, requests=9, on="2026-03-10"))
    (path,) = (tmp_path / "models").iterdir()
    path.write_bytes(content)
    assert store.read("m") is None


def test_another_chat_template_makes_another_model(tmp_path: Path) -> None:
    profile = ModelProfile(id="m", title="M", tier=Tier.NATIVE, requests=9, on="2026-03-10")
    ProfileStore(tmp_path).write(profile)
    assert ProfileStore(tmp_path).read("m") == profile
    assert ProfileStore(tmp_path, "{{ tools }}").read("m") is None
