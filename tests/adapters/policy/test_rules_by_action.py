"""Each action is decided over the rules that can have a say about it, and comes out as over all of them."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import cedarpy
import pytest

from gateway.adapters.policy.documents import from_texts, read_documents
from gateway.adapters.policy.rules import ACTIONS, NAMESPACE, compile_rules
from tests.adapters.policy.conftest import SHIPPED

SCOPES = (
    "action",
    *(f'action == {NAMESPACE}::Action::"{action}"' for action in ACTIONS),
    f'action in {NAMESPACE}::Action::"anyMode"',
    f'action in [{NAMESPACE}::Action::"invoke", {NAMESPACE}::Action::"invoke_with_step_up"]',
)
OWN = "\n".join(
    f'@id("own.{effect}-{number}")\n@why("Only for a test of actions")\n{effect} (principal, {scope}, resource)\n'
    f"when {{ context.label == {number} }};"
    for (number, scope), effect in product(enumerate(SCOPES), ("permit", "forbid"))
    # The label is all that a model's question has; of these a rule for one kind of action alone is asked about the other's.
)


def uid(kind: str, name: str) -> dict[str, str]:
    return {"type": f"{NAMESPACE}::{kind}", "id": name}


@pytest.mark.parametrize("action", ACTIONS)
def test_an_action_is_decided_over_its_own_rules_as_over_all_of_them(action: str) -> None:
    shipped = read_documents(SHIPPED)
    documents = from_texts({**shipped.texts(), "own.cedar": OWN})
    rules = compile_rules(documents)
    whole: Any = cedarpy.PolicySet.from_str("\n".join(documents.rules.values()))
    assert 0 < len(rules.policies[action].to_pst().static_policies) < len(whole.to_pst().static_policies)
    resource = _resource(action)
    person: dict[str, Any] = {
        "uid": uid("Principal", ""),
        "attrs": {"autoHosts": [], "remoteModels": True, "suppressedTools": []},
        "parents": [uid("Profile", "operator"), uid("Profile", "enrolled")],
    }
    entities: Any = json.dumps([person, resource])
    for label, taint in product(range(len(SCOPES)), (0, 1)):
        asked: dict[str, Any] = {
            "principal": person["uid"],
            "action": uid("Action", action),
            "resource": resource["uid"],
            "context": _context(action, label, taint),
        }
        one, other = [
            cedarpy.is_authorized(asked, each, entities, rules.schema)  # pyright: ignore[reportUnknownMemberType] - a bare dict
            for each in (rules.policies[action], whole)
        ]
        assert one.decision is other.decision is not cedarpy.Decision.NoDecision
        assert sorted(one.diagnostics.reasons) == sorted(other.diagnostics.reasons)
        assert one.diagnostics.errors == other.diagnostics.errors == []


def _resource(action: str) -> dict[str, Any]:
    if action == "infer":
        return {"uid": uid("Model", "local"), "attrs": {"local": True}, "parents": []}
    attributes = {"name": "note", "source": "own", "interface": "note", "trust": "trusted", "network": False}
    return {"uid": uid("Tool", "note"), "attrs": attributes, "parents": [uid("Category", "write")]}


def _context(action: str, label: int, taint: int) -> dict[str, Any]:
    if action == "infer":
        return {"label": label}
    moment: dict[str, Any] = {"callsInTurn": 1, "callsInSession": 1, "toolsUsed": [], "minuteOfDay": 0, "weekday": 1}
    return {
        "publishing": False,
        "taint": taint,
        "label": label,
        "facts": {"path": "notes/a"},
        "argumentsFromUntrusted": False,
        **moment,
    }
