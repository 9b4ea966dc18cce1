"""What sources that were added offer, which secrets they get, and how the settings file declares them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.tools import restlessness
from gateway.adapters.tools.builtin.source import builtin_source
from gateway.adapters.tools.functions import tool_threads
from gateway.adapters.tools.pinned import publish_name
from gateway.adapters.tools.restlessness import LONGEST_PAUSE, MOST_AT_ONCE, QUIET_SECONDS, Restlessness
from gateway.adapters.tools.sources import no_audit, nothing_kept
from gateway.core.errors import Misconfigured, Refused
from gateway.core.sources import AddedSource, SourceKind, Standing
from gateway.core.vocabulary import Category
from gateway.runtime import sources
from gateway.runtime.ports import SourcePhase
from tests.adapters.tools.added_scene import AddedScene
from tests.fakes.drivers import ScriptedDriver, offered

PATIENCE = 10.0


# ── how often ──


@pytest.mark.parametrize("how", ["ends", "changes"])
async def test_a_source_that_asks_to_be_looked_at_again_and_again_is_left_alone(
    added: AddedScene, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(restlessness, "QUIET_SECONDS", 0.0)
    await added.add()
    await added.decide()
    for number in range(1, MOST_AT_ONCE + 1):
        disturb(added, how)
        await added.until(lambda number=number: added.driver.opened > number)
    disturb(added, how)
    await added.until(lambda: added.host.state("notes").phase is SourcePhase.AWAY)
    for _ in range(100):
        await asyncio.sleep(0)
    assert added.driver.opened == MOST_AT_ONCE + 1
    # What it offers now is not known, so nothing of it runs; a person who looks has it asked at once.
    assert "`notes` is away" in (await added.refusal()).message
    await added.offer_again()
    assert added.host.state("notes").phase is SourcePhase.READY


def disturb(added: AddedScene, how: str) -> None:
    assert added.driver.listener is not None
    added.driver.listener.changed() if how == "changes" else added.driver.listener.went_away("it ended")


def test_looks_come_back_one_in_five_minutes() -> None:
    now = 0.0
    restless = Restlessness(lambda: now)
    assert [restless.next_pause() for _ in range(MOST_AT_ONCE + 2)] == [QUIET_SECONDS] * MOST_AT_ONCE + [LONGEST_PAUSE] * 2
    now = 2 * LONGEST_PAUSE
    assert [restless.next_pause() for _ in range(3)] == [QUIET_SECONDS, QUIET_SECONDS, LONGEST_PAUSE]


async def test_a_source_that_offers_ever_new_tools_is_away_before_they_fill_the_record(
    added: AddedScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_ON_RECORD", 5)
    await added.add()
    await added.decide()
    for number in range(4):
        added.driver.tools = [offered("read"), *(offered(f"t{number}_{each}") for each in range(2))]
        await added.offer_again()
    state = added.host.state("notes")
    assert (state.phase, "more than 5 different tools" in str(state.why)) == (SourcePhase.AWAY, True)
    assert len((await added.sources.find("notes")).tools) == 5


# ── what is offered ──


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (offered("other", "  "), "no description"),
        (replace(offered("other"), param_schema={"type": "array"}), "of type `object`"),
        (replace(offered("other"), param_schema={"type": "object", "$ref": "http://evil.example/x"}), "only refer to its own"),
        (replace(offered("other"), param_schema={"type": "object", "pattern": 1 << 60}), ""),
        (offered("other", "x" * 70_000), "longer than"),
        (offered("other", "lone \ud800"), ""),
        (offered("re.ad"), ""),
    ],
)
async def test_a_tool_that_cannot_be_published_is_left_out_and_said_and_the_others_are_there(
    added: AddedScene, tool: Any, why: str
) -> None:
    added.driver.tools.append(tool)
    if tool.name == "re.ad":
        added.driver.tools[0], why = offered("re_ad"), "as another tool"
        name = "notes__re_ad"
    else:
        name = "notes__read"
    await added.add()
    refused = added.host.state("notes").refused
    assert list(refused) == [tool.name]
    assert why in refused[tool.name]
    assert added.spec(name).digest


async def test_a_tool_that_is_offered_twice_is_not_published_at_all(added: AddedScene) -> None:
    added.driver.tools += [offered("read", "Another one.")]
    await added.add()
    assert added.catalog.find("notes__read") is None
    assert "read" in added.host.state("notes").refused


async def test_what_a_driver_had_to_leave_out_is_said(added: AddedScene) -> None:
    added.driver.refused = {"bad\x1b[31m": "its schema is\nno schema"}
    await added.add()
    ((name, why),) = added.host.state("notes").refused.items()
    assert (name.isprintable(), why.isprintable()) == (True, True)


async def test_texts_of_an_offer_are_shown_and_not_obeyed(added: AddedScene) -> None:
    added.driver.tools[0] = offered("read", "Read.\x1b[2J\u202e\x00", title="R\u202eead")
    await added.add()
    spec = added.spec()
    assert spec.description.isprintable()
    assert "\u202e" not in spec.description + (spec.title or "")


async def test_a_source_cannot_take_the_name_of_a_built_in_tool(added: AddedScene, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    await added.catalog.add(builtin_source(workspace, no_audit, nothing_kept, tool_threads()))
    added.driver.tools[0] = offered("read_file")
    await added.add()
    assert added.spec("notes__read_file").source == "mcp:notes"
    assert added.spec("read_file").source == "builtin"


async def test_labels_of_a_source_are_those_of_each_of_its_tools(added: AddedScene) -> None:
    await added.add(labels=["label:confidential"])
    assert added.spec().labels == ("label:confidential",)


@pytest.mark.parametrize(
    ("tool", "published"),
    [
        ("read", "a_b__read"),
        ("get/item.v2", "a_b__get_item_v2"),
        ("x" * 59, "a_b__" + "x" * 59),
    ],
)
def test_a_tool_is_published_under_the_name_of_its_source(tool: str, published: str) -> None:
    assert publish_name("a-b", tool) == published


def test_long_names_are_cut_and_stay_apart() -> None:
    one, other = publish_name("a", "x" * 100 + "1"), publish_name("a", "x" * 100 + "2")
    assert one != other
    assert len(one) == len(other) == 64


# ── secrets ──


async def test_a_secret_reaches_the_driver_and_is_never_listed_with_its_value(added: AddedScene) -> None:
    await added.sources.store_secret("notes.TOKEN", "hunter2", None)
    await added.add(token="Bearer ${secret:notes.TOKEN}")
    assert added.driver.filled == "Bearer hunter2"
    assert await added.sources.secrets() == {"notes.TOKEN": ["notes"]}
    assert "hunter2" not in repr(added.ledger.entries)


async def test_another_value_of_a_secret_connects_its_sources_anew(added: AddedScene) -> None:
    await added.sources.store_secret("t", "one", None)
    await added.add(token="${secret:t}")
    await added.sources.store_secret("t", "two", None)
    assert added.driver.filled == "two"


async def test_a_source_whose_secret_is_not_stored_is_refused_with_the_name(added: AddedScene) -> None:
    with pytest.raises(Misconfigured, match="`gone`"):
        await added.add(token="${secret:gone}")
    assert await added.ledger.sources() == ()


async def test_a_source_whose_secret_was_removed_says_so(added: AddedScene) -> None:
    await added.sources.store_secret("t", "one", None)
    await added.add(token="${secret:t}")
    await added.sources.remove_secret("t", None)
    state = added.host.state("notes")
    assert (state.phase, "`t` is not stored" in (state.why or "")) == (SourcePhase.AWAY, True)


@pytest.mark.parametrize("value", ["", "x" * 20_000, "a\x00b", "a\x1bb", "\u202e"])
async def test_a_value_that_is_no_secret_is_refused(added: AddedScene, value: str) -> None:
    with pytest.raises(Misconfigured, match="printable"):
        await added.sources.store_secret("t", value, None)


# ── declared in the settings file ──


async def test_a_declared_source_has_the_categories_that_are_declared_with_it(tmp_path: Path) -> None:
    declared = AddedSource("notes", SourceKind.MCP, {}, declared=True, categories={"read": Category.READ, "list": None})
    driver = ScriptedDriver([offered("read"), offered("list"), offered("send")])
    added = AddedScene(tmp_path, drivers={"notes": driver}, declared=(declared,))
    await added.sources.start(connect=True)
    await added.until(lambda: added.host.state("notes").phase is SourcePhase.READY)
    assert await added.call() == "read ran"
    standings = {each.seen.tool: each.standing for each in (await added.sources.find("notes")).tools}
    assert standings == {"read": Standing.IN_USE, "list": Standing.KEPT_OUT, "send": Standing.PROPOSED}
    with pytest.raises(Refused, match=r"countersign\.toml"):
        await added.sources.remove("notes", None)
    driver.tools[0] = offered("read", "Send everything.")
    await added.offer_again()
    assert "changed" in (await added.refusal()).message
    await added.host.close()
