"""`countersign models`: what a person types to see and bring models."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.adapters.inference.profiles import ModelProfile, ProfileStore
from gateway.cli.models import models
from gateway.core.errors import Misconfigured, ModelUnavailable
from gateway.core.vocabulary import Tier

from .conftest import SHA256, WEIGHTS

OWN = f"""
[[models]]
name = "tiny"
title = "Tiny"
file = "tiny.gguf"
bytes = {len(WEIGHTS)}
sha256 = "{SHA256}"
licence = "Apache-2.0"
arch = "qwen2"
quantisation = "Q4_K_M"
context_tokens = 32768
output_tokens = 1024
tier = "native"

[[models.sources]]
kind = "publisher"
url = "http://127.0.0.1:1/tiny.gguf"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models folder with a catalogue of one's own."""
    (tmp_path / "catalog.toml").write_text(OWN)
    monkeypatch.setenv("COUNTERSIGN_MODELS", str(tmp_path))
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(models, list(arguments), catch_exceptions=False)
    return result.exit_code, result.output


@pytest.mark.requirement("002-48", "the catalogue lists its models and which are here")
def test_list_shows_the_default_and_what_is_here(folder: Path) -> None:
    (folder / "tiny.gguf").write_bytes(WEIGHTS)
    code, output = run("list")
    default, *_, tiny = output.splitlines()
    assert code == 0
    assert default.startswith("* qwen2.5-coder-0.5b")
    assert "here" not in default
    assert "here" in tiny


def test_show_prints_everything_about_a_model(folder: Path) -> None:
    _, output = run("show", "tiny")
    for part in (SHA256, "Apache-2.0", "native", "not measured", "http://127.0.0.1:1/tiny.gguf"):
        assert part in output
    assert "6 wheels" in run("show")[1]


def test_path_prints_only_a_file_that_is_right(folder: Path) -> None:
    assert run("path", "tiny")[0] == 1
    (folder / "tiny.gguf").write_bytes(WEIGHTS)
    assert run("path", "tiny") == (0, f"{folder / 'tiny.gguf'}\n")


@pytest.mark.requirement("002-57", "fetching a model that is here needs no network")
def test_fetch_of_a_model_that_is_here_needs_no_network(folder: Path) -> None:
    (folder / "tiny.gguf").write_bytes(WEIGHTS)
    code, output = run("fetch", "tiny")
    assert code == 0
    assert output.splitlines()[-1] == str(folder / "tiny.gguf")


def test_fetch_into_a_log_reports_every_tenth_once(folder: Path) -> None:
    (folder / "tiny.gguf.part").write_bytes(WEIGHTS)
    _, output = run("fetch", "tiny")
    assert output.splitlines()[0] == "Tiny: 100 % (checking the digest)"


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_done_is_an_error_of_the_tree() -> None:
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        run("fetch", "tiny")
    with pytest.raises(Misconfigured, match="no model `gpt`"):
        run("show", "gpt")


def on_a_machine(monkeypatch: pytest.MonkeyPatch, *, memory: int, disk: int) -> None:
    def free_disk(_folder: Path) -> int:
        return disk

    monkeypatch.setattr("gateway.cli.models.total_memory", lambda: memory)
    monkeypatch.setattr("gateway.cli.models.free_disk", free_disk)


def test_recommend_says_why_and_why_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch, memory=2_000_000_000, disk=10_000_000_000)
    code, output = run("recommend")
    lines = output.splitlines()
    assert code == 0
    assert lines[0] == "qwen2.5-coder-0.5b: Qwen2.5-Coder 0.5B Instruct"
    assert "  licence Apache-2.0, commercial use allowed" in lines
    assert any(line.startswith("not qwen2.5-coder-1.5b: it wants a machine with") for line in lines)
    assert "not tiny: its licence is Apache-2.0, commercial use unknown" in lines
    assert lines[-2:] == ["fetch it: countersign models fetch qwen2.5-coder-0.5b", "use it: COUNTERSIGN_MODEL=qwen2.5-coder-0.5b"]


@pytest.mark.usefixtures("folder")
def test_recommend_fails_where_nothing_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch, memory=1_000_000, disk=10_000_000_000)
    code, output = run("recommend", "--private-use")
    assert code == 1
    assert "not tiny: nobody has measured how well it calls tools" in output
    assert "no model of the catalogue will do here" in output


@pytest.mark.usefixtures("folder")
def test_recommend_reports_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch, memory=32_000_000_000, disk=1_000_000_000)
    code, output = run("recommend")
    assert code == 0
    assert "not qwen2.5-coder-1.5b: it needs 1321 MiB of disk, 953 MiB are free" in output


def test_recommend_goes_by_what_was_measured_here_with_all_cases(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch, memory=8_000_000_000, disk=10_000_000_000)
    store = ProfileStore(folder / "state")
    asked = ("recommend", "--private-use", "--state", str(folder / "state"))
    profile = ModelProfile(
        id=f"{SHA256}:qwen2", title="Tiny", tier=Tier.NATIVE, requests=5, on="2026-03-10", rank=99, memory=300_000_000, sample=2
    )
    store.write(profile)
    assert "not tiny: nobody has measured how well it calls tools" in run(*asked)[1]
    store.write(profile.model_copy(update={"sample": None}))
    code, output = run(*asked)
    assert (code, output.splitlines()[0]) == (0, "tiny: Tiny")
    assert "99 % of the measured cases complete" in output
