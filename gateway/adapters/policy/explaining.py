"""The rules of a policy one by one, as somebody reads them who asks why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.adapters.policy.breaks import place_of, split_statements
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import PROFILES, SCHEMA
from gateway.adapters.policy.domain import constants_of
from gateway.core.canonical import Json
from gateway.runtime.ports import RuleSource

_PLAIN: Final = frozenset({"id", "why"})
"""Annotations that oblige to nothing."""

_WITHIN: Final = {"weekday": range(1, 8), "minuteOfDay": range(24 * 60)}
"""Beside a constant its neighbours are tried, and these have ends."""


class CedarReading:
    """The RuleReading of one policy. Made when somebody asks: it reads all of its texts."""

    def __init__(self, policy: CedarPolicy) -> None:
        self._policy = policy
        self._sources = dict(self._read_sources())

    def find_rule(self, rule_id: str) -> RuleSource | None:
        """Where it stands."""
        return self._sources.get(rule_id)

    def compared_values(self) -> Mapping[str, Sequence[Json]]:
        """Hosts of profiles first, then what rules name, in the order of their files."""
        hosts = [host for rules in self._policy.profiles.values() for host in rules.network_auto_hosts]
        found: dict[str, dict[Any, None]] = {"host": dict.fromkeys(hosts)}
        for rule in self._policy.rule_set.parsed.values():
            for name, values in constants_of(rule).items():
                kept = [value for value in values if name not in _WITHIN or value in _WITHIN[name]]
                found.setdefault(name, {}).update(dict.fromkeys(kept))
        return {name: tuple(values) for name, values in found.items()}

    def _read_sources(self) -> list[tuple[str, RuleSource]]:
        # The engine's rules are those of the files in their order, and its ids are positions.
        files = [(name, text) for name, text in self._policy.documents.items() if name not in (SCHEMA, PROFILES)]
        written = [(name, text, each) for name, text in files for each in split_statements(text)]
        rules = self._policy.rule_set.parsed
        found: list[tuple[str, RuleSource]] = []
        for number, (name, text, each) in enumerate(written):
            annotations = rules[f"policy{number}"].annotations
            obliges = {key: str(value) for key, value in annotations.items() if key not in _PLAIN}
            place = place_of(text, each.start)
            found.append((str(annotations["id"]), RuleSource(name, place.line, each.text, obliges)))
        return found
