"""A model on this machine, from its name or file to its state; and what the doctor says about it."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from gateway.adapters.inference.absent import AbsentModel
from gateway.adapters.inference.diagnosis import Finding, diagnose_model
from gateway.adapters.inference.engine import find_engine
from gateway.adapters.inference.factory import ManagedBackend, ModelChoice, build_backend, profiles_of
from gateway.adapters.inference.local import ContextWish, LocalBackend, identify
from gateway.adapters.inference.machine_memory import available_memory
from gateway.adapters.inference.remote import RemoteBackend
from gateway.core.errors import Misconfigured, ModelUnavailable, NotFound
from gateway.runtime.ports import ModelPhase
from gateway.sandbox.job import SandboxPreference
from tests.fakes.clock import FakeClock

from .conftest import gguf, half_billion_head

FAKE_SERVER = Path(__file__).with_name("fake_server.py")
CHAT = "/v1/chat/completions"


@pytest.fixture
def choice(tmp_path: Path) -> ModelChoice:
    """A model file of one's own, and a binary of one's own that runs it."""
    weights = tmp_path / "mine.gguf"
    weights.write_bytes(gguf(name="Mine", license="mit"))
    server = tmp_path / "llama-server"
    server.write_text(f"#!{sys.executable} -I\n" + FAKE_SERVER.read_text(encoding="utf-8"))
    server.chmod(0o755)
    return ModelChoice(str(weights), models=tmp_path / "models", state=tmp_path / "s", llama_server=str(server), sandbox=None)


@pytest.fixture
async def backend(choice: ModelChoice) -> AsyncIterator[LocalBackend]:
    built = build_backend(choice, FakeClock())
    assert isinstance(built, LocalBackend)
    yield built
    await built.stop()


@pytest.mark.requirement("002-47", "a model's id is the SHA-256 of its file and its architecture")
def test_a_file_is_known_by_its_digest_and_architecture(choice: ModelChoice, tmp_path: Path) -> None:
    weights = identify(choice.model, models=choice.models, state=choice.state, context=ContextWish(4096))
    sha256 = hashlib.sha256((tmp_path / "mine.gguf").read_bytes()).hexdigest()
    info = weights.info
    assert info.id == f"{sha256}:qwen2"
    assert (info.display_name, info.licence, info.quantisation, info.local) == ("Mine", "mit", "Q4_K_M", True)
    # It was trained for less than is configured.
    assert info.context_tokens == 2048
    assert info.output_tokens == 1024


def test_a_file_is_read_whole_only_once(choice: ModelChoice, monkeypatch: pytest.MonkeyPatch) -> None:
    first = identify(choice.model, models=choice.models, state=choice.state, context=ContextWish(4096))

    def refuse(path: Path) -> str:
        raise AssertionError("the file was read")

    monkeypatch.setattr("gateway.adapters.inference.weights.digest_of", refuse)
    assert identify(choice.model, models=choice.models, state=choice.state, context=ContextWish(4096)) == first


def test_for_a_missing_catalogue_model_the_error_says_how_to_fetch_it(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"countersign models fetch qwen2.5-coder-0.5b") as caught:
        identify("default", models=tmp_path, state=tmp_path, context=ContextWish(4096))
    assert caught.value.state == "absent"


@pytest.mark.requirement("002-61", "a file is identified, served and asked, and its server stopped")
async def test_a_file_of_ones_own_runs_on_a_server_of_ones_own(backend: LocalBackend) -> None:
    async with asyncio.timeout(30):
        await backend.start()
        assert backend.state().phase is ModelPhase.STARTING
        (model,) = await backend.models()
        assert model.display_name == "Mine"
        assert (await backend.settle()).phase is ModelPhase.READY
        async with backend.ask(CHAT, b'{"max_tokens": 1}') as answer:
            assert b"[DONE]" in b"".join([chunk async for chunk in answer.chunks()])
        await backend.warm([{"role": "system", "content": "be brief"}])
        await backend.stop()
    assert backend.state().phase is ModelPhase.STOPPED


async def test_only_known_paths_reach_the_sidecar(backend: LocalBackend) -> None:
    async with asyncio.timeout(30):
        await backend.start()
        await backend.settle()
        for path in ("/slots/0?action=erase", "/props", "/v1/models"):
            with pytest.raises(NotFound):
                async with backend.ask(path, b"{}"):
                    pass


@pytest.mark.requirement("004-17", "template switches are sent to the family that has them and to no other")
@pytest.mark.parametrize(("flags", "told"), [("{enable_thinking = false}", ['template {"enable_thinking": false}']), ("{}", [])])
async def test_a_template_gets_the_switches_that_its_own_family_has(
    choice: ModelChoice, tmp_path: Path, flags: str, told: list[str]
) -> None:
    choice.models.mkdir()
    weights = (tmp_path / "mine.gguf").rename(choice.models / "mine.gguf")
    entry = {
        "name": '"mine"',
        "title": '"Mine"',
        "file": '"mine.gguf"',
        "bytes": weights.stat().st_size,
        "sha256": f'"{hashlib.sha256(weights.read_bytes()).hexdigest()}"',
        "licence": '"MIT"',
        "arch": '"qwen3"',
        "quantisation": '"Q4_K_M"',
        "context_tokens": 4096,
        "output_tokens": 1024,
        "tier": '"single"',
        "template_flags": flags,
    }
    (choice.models / "catalog.toml").write_text("[[models]]\n" + "".join(f"{name} = {value}\n" for name, value in entry.items()))
    backend = build_backend(replace(choice, model="mine"), FakeClock())
    assert isinstance(backend, LocalBackend)
    async with asyncio.timeout(30):
        await backend.start()
        assert (await backend.settle()).phase is ModelPhase.READY
        async with backend.ask(CHAT, b'{"max_tokens": 1, "messages": []}') as answer:
            assert b"[DONE]" in b"".join([chunk async for chunk in answer.chunks()])
        await backend.stop()
    journal = (choice.state / "inference" / "journal").read_text().splitlines()
    assert [line for line in journal if line.startswith("template")] == told


@pytest.fixture
def with_template(choice: ModelChoice, tmp_path: Path) -> ModelChoice:
    """The same with a chat template of one's own."""
    (tmp_path / "own.jinja").write_text("{% if tools %}mine{% endif %}")
    return replace(choice, template=tmp_path / "own.jinja")


async def test_a_chat_template_of_ones_own_takes_the_place_of_the_one_in_the_weights(with_template: ModelChoice) -> None:
    backend = build_backend(with_template, FakeClock())
    assert isinstance(backend, LocalBackend)
    async with asyncio.timeout(30):
        await backend.start()
        assert (await backend.settle()).phase is ModelPhase.READY
        # The file itself has none.
        assert await backend.takes_tools()
        await backend.stop()
    journal = (with_template.state / "inference" / "journal").read_text().splitlines()
    assert journal[:2] == ["own template {% if tools %}mine{% endif %}", "started"]


async def test_with_another_chat_template_it_is_another_model_to_what_was_measured(with_template: ModelChoice) -> None:
    with_one, without = profiles_of(with_template), profiles_of(replace(with_template, template=None))
    assert with_one.path("m") != without.path("m")
    # No server behind a URL, and no further model, is given the template.
    assert profiles_of(replace(with_template, url="http://127.0.0.1:1/v1")).path("m") == without.path("m")
    (other,) = replace(with_template, other_models=("default",)).others()
    assert other.template is None


def make_older(server: Path) -> None:
    server.write_text(server.read_text().replace(" --jinja --chat-template-file", ""))


async def test_a_server_that_takes_no_chat_template_is_not_started_without_it(with_template: ModelChoice) -> None:
    make_older(Path(with_template.llama_server))
    backend = build_backend(with_template, FakeClock())
    assert isinstance(backend, LocalBackend)
    async with asyncio.timeout(30):
        await backend.start()
        state = await backend.settle()
        await backend.stop()
    assert state.phase is ModelPhase.ABSENT
    assert "takes no chat template" in state.detail


async def test_a_chat_template_that_is_gone_is_said_before_anything_starts(with_template: ModelChoice, tmp_path: Path) -> None:
    (tmp_path / "own.jinja").unlink()
    with pytest.raises(Misconfigured, match=r"`own\.jinja` cannot be read"):
        build_backend(with_template, FakeClock())
    assert not (await findings(with_template))["chat template"].ok


async def test_doctor_says_which_chat_template_is_used_and_whether_it_takes_tools(with_template: ModelChoice) -> None:
    found = await findings(with_template)
    assert found["chat template"].sentence == "own.jinja, in place of the weights' own; has a place for declared tools"
    assert with_template.template is not None
    with_template.template.write_text("plain")
    assert "has no place for declared tools" in (await findings(with_template))["chat template"].sentence


async def test_before_the_start_and_without_weights_there_is_a_state_with_words(choice: ModelChoice) -> None:
    backend = build_backend(replace(choice, model="default"), FakeClock())
    with pytest.raises(ModelUnavailable, match="has not been started"):
        async with backend.ask(CHAT, b"{}"):
            pass
    await backend.start()
    assert isinstance(backend, LocalBackend)
    async with asyncio.timeout(30):
        state = await backend.settle()
    assert (state.phase, "models fetch" in state.detail) == (ModelPhase.ABSENT, True)
    # It is on offer all the same, so that a page can say which model is missing.
    assert [model.arch for model in await backend.models()] == ["qwen2"]
    with pytest.raises(ModelUnavailable, match="models fetch"):
        async with backend.ask(CHAT, b"{}"):
            pass
    await backend.stop()


async def test_a_server_that_cannot_be_used_is_a_state_with_words(choice: ModelChoice, tmp_path: Path) -> None:
    backend = build_backend(replace(choice, llama_server=str(tmp_path / "gone")), FakeClock())
    assert isinstance(backend, LocalBackend)
    async with asyncio.timeout(30):
        await backend.start()
        state = await backend.settle()
        await backend.stop()
    assert state.phase is ModelPhase.ABSENT
    assert "`gone` does not start" in state.detail


@pytest.mark.requirement("002-61", "a file that is no model is not served")
async def test_a_damaged_file_is_a_state_with_words(choice: ModelChoice, tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"not a model")
    backend = build_backend(choice, FakeClock())
    assert isinstance(backend, LocalBackend)
    async with asyncio.timeout(30):
        await backend.start()
        state = await backend.settle()
        assert await backend.models() == ()
        await backend.stop()
    assert "`mine.gguf` is not a GGUF model file" in state.detail


async def test_an_unknown_model_name_stops_the_start(choice: ModelChoice) -> None:
    with pytest.raises(Misconfigured, match="no model `gpt`"):
        await build_backend(replace(choice, model="gpt"), FakeClock()).start()


@pytest.mark.parametrize("name", ["~nobody-at-all/m.gguf", "nul\0.gguf", "/nowhere/M.GGUF"])
def test_a_path_that_leads_nowhere_is_said(choice: ModelChoice, name: str) -> None:
    with pytest.raises(Misconfigured):
        identify(name, models=choice.models, state=choice.state, context=ContextWish(4096))


@pytest.mark.parametrize("binary", ["~nobody-at-all/llama-server", "nul\0"])
def test_a_binary_that_leads_nowhere_is_said(binary: str) -> None:
    with pytest.raises(Misconfigured):
        find_engine(binary)


@pytest.mark.requirement("000-01", "a catalogue name gives the local backend, a URL the remote one")
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"model": "none"}, AbsentModel),
        ({"model": "default"}, LocalBackend),
        ({"url": "http://localhost:11434/v1"}, RemoteBackend),
        ({"url": "http://localhost:11434/v1", "model": "none"}, RemoteBackend),
    ],
)
def test_the_choice_decides_the_backend(choice: ModelChoice, change: dict[str, str], kind: type[ManagedBackend]) -> None:
    assert isinstance(build_backend(replace(choice, **change), FakeClock()), kind)


def test_a_choice_does_not_show_its_key(choice: ModelChoice) -> None:
    assert "sk-secret" not in repr(replace(choice, url="http://x", url_key="sk-secret"))


# ── the doctor ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def findings(choice: ModelChoice) -> dict[str, Finding]:
    async with asyncio.timeout(30):
        return {finding.name: finding for finding in await diagnose_model(choice, FakeClock())}


@pytest.mark.requirement("002-62", "where no sandbox works, no model server is started, and it is said what to do")
async def test_a_model_server_that_cannot_be_confined_is_not_started(
    choice: ModelChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    backend = build_backend(replace(choice, sandbox=SandboxPreference.AUTO), FakeClock())
    assert isinstance(backend, LocalBackend)
    await backend.start()
    state = await backend.settle()
    assert state.phase is ModelPhase.ABSENT
    assert "cannot be confined here: programs can be sandboxed on Linux on x86-64 or ARM64 only" in state.detail
    assert "COUNTERSIGN_MODEL_SANDBOX=off" in state.detail
    await backend.stop()
    assert not (tmp_path / "s" / "inference" / "journal").exists()


async def test_a_machine_with_everything_is_well(choice: ModelChoice) -> None:
    found = await findings(choice)
    assert set(found) == {"model server", "model sandbox", "model", "context", "memory"}
    assert all(finding.ok for finding in found.values())
    assert found["context"].sentence == "2,048 tokens"
    assert "Mine" in found["model"].sentence


@pytest.mark.parametrize(
    ("wanted", "memory", "sentence"),
    [
        (None, 8 << 30, "32,768 tokens; begins with 4,096 and grows with the conversation, by 336 MiB at most"),
        (None, 1 << 29, "10,240 tokens of the 32,768 that it was trained for, as memory allows; begins with 4,096"),
        (
            8192,
            0,
            "8,192 tokens of the 32,768 that it was trained for, as set; begins with 4,096 and grows with the conversation",
        ),
    ],
)
async def test_it_is_said_how_long_the_context_may_become_and_why_not_longer(
    choice: ModelChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: int | None, memory: int, sentence: str
) -> None:
    (tmp_path / "mine.gguf").write_bytes(half_billion_head())
    monkeypatch.setattr("gateway.adapters.inference.diagnosis.left_memory", lambda: memory)
    found = await findings(replace(choice, context_tokens=wanted))
    assert found["context"].sentence.startswith(sentence)


async def test_the_server_is_started_with_a_short_context_and_again_when_a_request_needs_more(
    choice: ModelChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.gguf").write_bytes(half_billion_head())
    monkeypatch.setattr("gateway.adapters.inference.local.left_memory", lambda: 8 << 30)
    backend = build_backend(choice, FakeClock())
    journal = choice.state / "inference" / "journal"
    async with asyncio.timeout(30):
        await backend.start()
        assert isinstance(backend, LocalBackend)
        await backend.settle()
        (model,) = await backend.models()
        assert model.context_tokens == 32768
        assert journal.read_text().splitlines() == ["started"]
        for content, starts in (("x", 1), ("x" * 15_000, 2), ("x" * 15_000, 2)):
            body = orjson.dumps({"max_tokens": 1, "messages": [{"role": "user", "content": content}]})
            async with backend.ask(CHAT, body) as answer:
                assert b"[DONE]" in b"".join([chunk async for chunk in answer.chunks()])
            assert journal.read_text().splitlines().count("started") == starts
        await backend.stop()


async def test_a_missing_model_is_found_with_the_space_it_needs(choice: ModelChoice) -> None:
    found = await findings(replace(choice, model="default"))
    assert not found["model"].ok
    assert "countersign models fetch" in found["model"].sentence
    assert "MiB needed to fetch" in found["disk"].sentence


async def test_a_missing_server_is_found(choice: ModelChoice, tmp_path: Path) -> None:
    found = await findings(replace(choice, llama_server=str(tmp_path / "gone")))
    assert not found["model server"].ok


async def test_a_missing_file_is_found(choice: ModelChoice) -> None:
    found = await findings(replace(choice, model="/nowhere/x.gguf"))
    assert not found["model"].ok
    assert "disk" not in found


async def test_an_unknown_name_is_found(choice: ModelChoice) -> None:
    assert "no model `gpt`" in (await findings(replace(choice, model="gpt")))["model"].sentence


async def test_too_little_memory_is_found(choice: ModelChoice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.adapters.inference.diagnosis.available_memory", lambda: 10)
    found = await findings(choice)
    assert not found["memory"].ok
    assert "smaller model" in found["memory"].sentence


async def test_no_model_on_purpose_is_well(choice: ModelChoice) -> None:
    assert (await findings(replace(choice, model="none")))["model"].ok


async def test_a_remote_server_that_is_away_is_found(choice: ModelChoice) -> None:
    found = await findings(replace(choice, url="http://127.0.0.1:1/v1"))
    assert not found["model"].ok
    assert "does not answer" in found["model"].sentence
    assert not (await findings(replace(choice, url="nonsense")))["model"].ok


def test_available_memory_is_some() -> None:
    memory = available_memory()
    assert memory is not None
    assert memory > 1 << 20
