"""What a filter finds is the same on the page, in its counts and in each format of an export, whatever is combined in it."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from tests.harness.person import Turn
from tests.scenarios.conftest import Scene
from tests.scenarios.staging import finish, stage

# It brings no types.
arrow: Any = import_module("pyarrow")
parquet: Any = import_module("pyarrow.parquet")

TRIES: Final = 25

Call = Mapping[str, Any]

MEMBERS: Final[Mapping[str, Callable[[Call], Any]]] = {
    "principalId": lambda call: call["principalId"],
    "tool": lambda call: call.get("tool"),
    "source": lambda call: call.get("source"),
    "outcome": lambda call: call["outcome"],
    "decision": lambda call: call.get("decision"),
    "modelId": lambda call: call.get("modelId"),
    "label": lambda call: call.get("label"),
    "rule": lambda call: call["rules"][0] if call["rules"] else None,
    "policyVersion": lambda call: call.get("policyVersion"),
    "conversationId": lambda call: call["conversationId"],
    "since": lambda call: call["at"],
    "until": lambda call: call["at"],
    "text": lambda call: call["callId"][:7],
}
"""What can be asked for, with what a call has of it. A text is the beginning of an id."""

PLACES: Final[Mapping[str, Callable[[bytes], list[int]]]] = {
    "jsonl": lambda raw: [json.loads(line)["position"] for line in raw.splitlines()],
    "csv": lambda raw: [int(row["position"]) for row in csv.DictReader(raw.decode().splitlines())],
    "parquet": lambda raw: parquet.read_table(arrow.BufferReader(raw)).column("position").to_pylist(),
    "ocsf": lambda raw: [json.loads(line)["metadata"]["sequence"] for line in raw.splitlines()],
    "cef": lambda raw: [int(found) for found in re.findall(r" cn1=([0-9]+) ", raw.decode())],
}
"""The places in the log of the calls that a file has, in its order."""


def fits(call: Call, wanted: Mapping[str, Any]) -> bool:
    for name, value in wanted.items():
        match name:
            case "since":
                holds = call["at"] >= value
            case "until":
                holds = call["at"] < value
            case "text":
                # The ids of calls here are like nothing else.
                holds = call["callId"].startswith(value)
            case "rule":
                holds = value in call["rules"]
            case _:
                holds = MEMBERS[name](call) == value
        if not holds:
            return False
    return True


def combine(chance: random.Random, calls: Sequence[Call]) -> dict[str, Any]:
    """Some of all that can be asked for, of one call mostly, so that something is found."""
    one = chance.choice(calls)
    names = chance.sample(list(MEMBERS), chance.randint(1, len(MEMBERS)))
    wanted = {name: MEMBERS[name](one if chance.random() < 0.9 else chance.choice(calls)) for name in names}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if "until" in wanted:
        wanted["until"] = max(call["at"] for call in calls)
        # A time of six hours or more is taken in whole hours: only one that begins here is exact.
        if not wanted.get("since") or wanted["since"] >= wanted["until"]:
            del wanted["until"]
    return wanted


async def act(scene: Scene) -> None:
    """Calls of two people in several conversations, decided in every way."""
    gil = await scene.another("Gil", "guest")
    for number, shell in enumerate((scene.shell, await gil.agent(), scene.shell)):
        turn = await Turn.begin(shell)
        for tool, arguments in (
            ("peek", {"what": "milk"}),
            ("peek", {"what": 3}),
            ("no_such_tool", {}),
            ("stumble", {}),
        ):
            await turn.invoke(tool, arguments, f"id{number}-{turn.calls}-{tool}")
        if shell is scene.shell:
            for tool, decision in (("note", "approve"), ("erase", "approve"), ("erase", "deny")):
                call_id = f"id{number}-{decision}-{tool}"
                call = await turn.start(tool, {"what": call_id}, call_id)
                await scene.ada.answer(scene.console, await scene.asked(call_id), decision)
                await finish(call)
        else:
            # What operators are asked about is forbidden to a guest.
            await turn.invoke("administer", {"what": "all"}, f"id{number}-refused")
    await gil.leave()


@pytest.mark.requirement("002-74", "page, counts and every export of a filter are about the same calls")
async def test_every_filter_finds_the_same_calls_on_the_page_in_counts_and_in_each_export(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with stage(home) as scene:
        await act(scene)
        every = (await scene.console.call("audit/calls", {"limit": 200}))["calls"]
        assert len(every) == 19
        chance, sizes = random.Random(12), Counter[int]()
        for _ in range(TRIES):
            wanted = combine(chance, every)
            expected = [call["position"] for call in every if fits(call, wanted)]
            sizes[len(expected)] += 1
            listed = (await scene.console.call("audit/calls", {"filter": wanted, "limit": 200}))["calls"]
            assert [call["position"] for call in listed] == expected, wanted
            counted = await scene.console.call("audit/count", {"filter": wanted})
            outcomes = Counter(call["outcome"] for call in listed)
            assert (counted["total"], {each["outcome"]: each["calls"] for each in counted["outcomes"]}) == (
                len(expected),
                outcomes,
            ), wanted
            charted = Counter[str]()
            for bucket in counted["buckets"]:
                charted.update({each["outcome"]: each["calls"] for each in bucket["outcomes"]})
            assert charted == outcomes, wanted
            for form, read in PLACES.items():
                query = urlencode({"format": form, **wanted})
                file = await scene.ada.browser.get(f"{scene.gateway.console_origin}/export?{query}")
                assert file.status == 200, file.body
                assert read(file.body) == expected, (form, wanted)
        # Filters that find nothing, and all, would show little.
        assert sum(count for size, count in sizes.items() if 0 < size < len(every)) > TRIES // 2
