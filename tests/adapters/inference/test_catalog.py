"""The shipped catalogue holds what fetching relies on; an operator's additions are checked like anything from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.inference.catalog import ModelEntry, PublisherSource, WheelsSource, load_catalog, models_folder
from gateway.core.errors import Misconfigured
from gateway.core.vocabulary import Tier

QWEN_05B = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
QWEN_15B = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"

OWN = """
[[models]]
name = "mine"
title = "Mine"
file = "mine.gguf"
bytes = 10
sha256 = "{digest}"
licence = "Apache-2.0"
arch = "qwen3"
quantisation = "Q8_0"
context_tokens = 8192
output_tokens = 1024
tier = "native"
"""

UNMEASURED = {"qwen3-1.7b": 1_834_426_016, "qwen3-4b": 2_497_280_256, "qwen3-8b": 5_027_783_488}
"""Bytes of the models that nobody could fetch here."""


def measured() -> list[ModelEntry]:
    return [entry for entry in load_catalog().models if entry.name not in UNMEASURED]


def test_the_default_is_the_small_coder_with_its_publishers_digest() -> None:
    entry = load_catalog().find("default")
    assert (entry.name, entry.sha256, entry.bytes) == ("qwen2.5-coder-0.5b", QWEN_05B, 491_400_064)
    assert entry.licence == "Apache-2.0"
    assert entry.tier is Tier.SINGLE


def test_the_better_model_has_a_name_too() -> None:
    entry = load_catalog().find("qwen2.5-coder-1.5b")
    assert (entry.sha256, entry.bytes) == (QWEN_15B, 1_117_320_768)


def test_every_model_can_be_had_from_its_publisher_first_and_from_wheels_second() -> None:
    for entry in measured():
        publisher, wheels = entry.sources
        assert isinstance(publisher, PublisherSource)
        assert isinstance(wheels, WheelsSource)
        assert publisher.url.startswith("https://")
        assert publisher.url.endswith(entry.file)
        assert sum(part.bytes for part in wheels.parts) == entry.bytes


def test_every_model_says_what_it_may_be_used_for_and_what_it_wants() -> None:
    assert all(entry.commercial_use is True for entry in load_catalog().models)
    for entry in measured():
        assert None not in (entry.tool_call_rank, entry.approx_peak_ram_bytes, entry.min_machine_bytes)
        # Neither family has a switch for thinking, and one that is not known must not be given one.
        assert entry.template_flags == {}


@pytest.mark.requirement("002-59", "models that were trained for tools are in the catalogue, unranked until they are measured")
@pytest.mark.parametrize(
    ("name", "size"), [("qwen3-1.7b", 1_834_426_016), ("qwen3-4b", 2_497_280_256), ("qwen3-8b", 5_027_783_488)]
)
def test_models_that_were_not_measured_here_have_a_digest_and_no_rank(name: str, size: int) -> None:
    entry = load_catalog().find(name)
    assert (entry.bytes, entry.licence, entry.tool_call_rank, entry.tier) == (size, "Apache-2.0", None, None)
    assert [source.kind for source in entry.sources] == ["publisher"]
    assert entry.template_flags == {"enable_thinking": False}


@pytest.mark.requirement("002-47", "the id of a catalogue entry is its digest and architecture")
def test_the_id_is_the_digest_of_the_weights_and_the_architecture() -> None:
    assert load_catalog().find("default").id == f"{QWEN_05B}:qwen2"


def test_for_an_unknown_name_the_error_lists_the_known_ones() -> None:
    with pytest.raises(Misconfigured, match=r"`gpt` .* qwen2.5-coder-0.5b, qwen2.5-coder-1.5b"):
        load_catalog().find("gpt")


def test_an_operators_entry_joins_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "catalog.toml").write_text(OWN.format(digest="a" * 64))
    catalog = load_catalog(tmp_path)
    assert catalog.find("mine").tier is Tier.NATIVE
    assert catalog.find("default").sha256 == QWEN_05B


def test_an_operators_entry_wins_over_a_shipped_one_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "catalog.toml").write_text(OWN.replace('"mine"', '"qwen2.5-coder-1.5b"').format(digest="a" * 64))
    assert load_catalog(tmp_path).find("qwen2.5-coder-1.5b").sha256 == "a" * 64


@pytest.mark.parametrize(
    "text",
    [
        "models = 3",
        "[[models]]\nname = 'half'",
        OWN.format(digest="not hex"),
        OWN.format(digest="a" * 64).replace("mine.gguf", "../mine.gguf"),
        OWN.format(digest="a" * 64) + "surprise = 1\n",
        OWN.format(digest="a" * 64) * 2,
        OWN.format(digest="a" * 64) + 'template_flags = {"Not a name" = true}\n',
        OWN.format(digest="a" * 64) + 'template_flags = {enable_thinking = "yes, please"}\n',
        "this is = = no toml",
        "\x00",
    ],
)
def test_an_operators_catalogue_that_is_wrong_is_named_as_such(tmp_path: Path, text: str) -> None:
    (tmp_path / "catalog.toml").write_text(text)
    with pytest.raises(Misconfigured, match="catalogue in the models folder"):
        load_catalog(tmp_path)


def test_a_catalogue_that_is_not_text_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "catalog.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(Misconfigured, match="catalogue in the models folder"):
        load_catalog(tmp_path)


def test_parts_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    parts = f'parts = [{{package = "p", bytes = 9, sha256 = "{"a" * 64}"}}]'
    text = OWN.format(digest="a" * 64) + f'[[models.sources]]\nkind = "wheels"\nversion = "1"\n{parts}\n'
    (tmp_path / "catalog.toml").write_text(text)
    with pytest.raises(Misconfigured, match="do not add up"):
        load_catalog(tmp_path)


def test_models_are_kept_where_the_operator_says(tmp_path: Path) -> None:
    assert models_folder({"COUNTERSIGN_MODELS": str(tmp_path), "XDG_DATA_HOME": "/elsewhere"}) == tmp_path


def test_models_are_kept_in_the_xdg_data_home_else() -> None:
    assert models_folder({"XDG_DATA_HOME": "/data"}) == Path("/data/countersign/models")
    assert models_folder({"XDG_DATA_HOME": "relative"}) == Path.home() / ".local/share/countersign/models"
    assert models_folder({}) == Path.home() / ".local/share/countersign/models"
