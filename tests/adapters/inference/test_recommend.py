"""Which model is recommended, and what is said of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.inference.catalog import ModelEntry
from gateway.adapters.inference.diagnosis import free_disk
from gateway.adapters.inference.machine_memory import total_memory
from gateway.adapters.inference.recommend import Machine, Objection, memory_wanted, recommend
from gateway.core.vocabulary import Tier

GB = 1_000_000_000
LARGE = Machine(memory=32 * GB, disk=100 * GB)


def make(name: str, rank: int | None = 50, **more: Any) -> ModelEntry:
    told: dict[str, Any] = {
        "name": name,
        "title": name.title(),
        "file": f"{name}.gguf",
        "bytes": GB,
        "sha256": "a" * 64,
        "licence": "Apache-2.0",
        "commercial_use": True,
        "arch": "qwen2",
        "quantisation": "Q4_K_M",
        "context_tokens": 4096,
        "output_tokens": 1024,
        "tier": Tier.SINGLE,
        "tool_call_rank": rank,
        "approx_peak_ram_bytes": 2 * GB,
    }
    return ModelEntry.model_validate(told | more)


def objections(*entries: ModelEntry, machine: Machine = LARGE, **how: Any) -> tuple[str | None, dict[str, Objection]]:
    chosen = recommend(entries, machine, **how)
    return chosen.best and chosen.best.name, {entry.name: objection for entry, objection in chosen.others}


@pytest.mark.requirement("004-18", "the highest tool call rank is recommended")
def test_the_best_tool_caller_wins_whatever_its_place_or_size() -> None:
    assert objections(make("a", 40), make("b", 70, bytes=3 * GB), make("c", 60)) == (
        "b",
        {"a": Objection.WORSE, "c": Objection.WORSE},
    )


def test_of_two_that_are_as_good_the_one_with_less_memory_wins() -> None:
    heavy, light = make("heavy", approx_peak_ram_bytes=3 * GB), make("light", approx_peak_ram_bytes=2 * GB)
    assert objections(heavy, light)[0] == "light"


@pytest.mark.requirement("004-18", "licence, measurement, memory and disk rule a better model out")
@pytest.mark.parametrize(
    ("better", "objection"),
    [
        ({"commercial_use": False}, Objection.LICENCE),
        ({"commercial_use": None}, Objection.LICENCE),
        ({"tool_call_rank": None}, Objection.UNMEASURED),
        ({"approx_peak_ram_bytes": 3 * GB}, Objection.MEMORY),
        ({"min_machine_bytes": 5 * GB}, Objection.MEMORY),
        ({"approx_peak_ram_bytes": None}, Objection.MEMORY),
        ({"bytes": 2 * GB}, Objection.DISK),
    ],
)
def test_a_better_one_that_may_not_be_used_or_does_not_fit_is_passed_over(better: dict[str, Any], objection: Objection) -> None:
    machine = Machine(memory=int(3.5 * GB), disk=int(1.5 * GB))
    entries = make("small", 10), make("better", **{"tool_call_rank": 90, **better})
    assert objections(*entries, machine=machine) == ("small", {"better": objection})


def test_private_use_makes_other_licences_do() -> None:
    assert objections(make("a", 90, commercial_use=False), commercial=False)[0] == "a"


def test_what_is_here_needs_no_space_on_the_disk() -> None:
    full = Machine(memory=8 * GB, disk=0)
    assert objections(make("a"), machine=full) == (None, {"a": Objection.DISK})
    assert objections(make("a"), machine=full, here=["a"]) == ("a", {})


def test_on_a_system_that_does_not_report_its_memory_no_model_is_excluded_for_it() -> None:
    assert objections(make("a"), machine=Machine(None, 8 * GB))[0] == "a"


def test_the_smallest_machine_is_what_the_entry_says_or_leaves_memory_for_a_browser() -> None:
    assert memory_wanted(make("a", min_machine_bytes=7)) == 7
    assert memory_wanted(make("a")) == 3 * GB
    assert memory_wanted(make("a", approx_peak_ram_bytes=None)) is None


def test_a_container_has_as_much_memory_as_it_may_use(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("1000000\n")
    assert total_memory(limit) == 1_000_000
    limit.write_text("max\n")
    assert total_memory(limit) == total_memory(tmp_path / "nothing here")


def test_disk_is_looked_at_where_the_folder_will_be(tmp_path: Path) -> None:
    assert free_disk(tmp_path / "not" / "there" / "yet") > 0
