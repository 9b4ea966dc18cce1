"""What "it" is, against the vectors that the browser's tests read too."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.focus import NOTHING, Focus, update_focus
from gateway.agent.names import Slot, parts_of, slot_of
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("focus")


@pytest.mark.parametrize("case", VECTORS["names"], ids=name_of)
def test_a_name_tells_what_it_points_at(case: dict[str, Any]) -> None:
    slot = slot_of(case["name"])
    assert (parts_of(case["name"]), slot and slot.value) == (case["parts"], case["slot"])


@pytest.mark.requirement("004-07", "after each call the focus is what it made, by kind")
@pytest.mark.parametrize("case", VECTORS["after"], ids=name_of)
def test_the_focus_follows_what_was_done(case: dict[str, Any]) -> None:
    assert update_focus(case["call"], case["result"], Focus(**case["focus"])) == Focus(**case["becomes"])


def test_a_text_is_no_name_of_a_thing() -> None:
    call = {"name": "x", "arguments": {"path": "p" * 1025}}
    assert update_focus(call, {"outcome": "ok", "content": "", "trust": "untrusted"}, NOTHING) == NOTHING
    assert update_focus(call, {"outcome": "ok", "content": f'{{"id": 1}}{" " * 8192}', "trust": "trusted"}, NOTHING) == NOTHING


def test_half_a_character_is_no_name_of_a_thing() -> None:
    call = {"name": "x", "arguments": {"path": "a\ud800"}}
    assert update_focus(call, {"outcome": "ok", "content": "\ud800", "trust": "trusted"}, NOTHING) == NOTHING


def test_every_kind_of_thing_has_its_place() -> None:
    assert {slot.value for slot in Slot} == set(Focus.__slots__)
