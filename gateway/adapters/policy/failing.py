"""Rules that Cedar could not evaluate, named as people know them: Cedar itself counts them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gateway.adapters.policy.annotations import PolicyRule
from gateway.adapters.policy.breaks import place_of
from gateway.adapters.policy.documents import PROFILES, SCHEMA
from gateway.adapters.policy.positions import find_positions
from gateway.core.approval import RULE_FAILED, RULE_FAILED_WHY, RuleReason
from gateway.core.effects import escape

_FAILED: Final = re.compile(r"error while evaluating policy `(?P<position>policy\d+)`: ?(?P<what>.*)", re.DOTALL)
_TOLD: Final = 3
"""Failing rules that one verdict names."""

_log = logging.getLogger(__name__)


class FailingRules:
    """Names the failing rules of one policy, and logs each the first time."""

    def __init__(self, rules: Mapping[str, PolicyRule], documents: Mapping[str, str]) -> None:
        """`rules` by Cedar's own ids, in the order in which they stand in the documents."""
        self._rules = rules
        self._documents = documents
        self._logged: set[str] = set()

    def name(self, errors: Iterable[str]) -> tuple[RuleReason, ...]:
        """That rules failed, and which: each by its id, with file and line. Nothing where Cedar names none of these rules."""
        found = [match for error in errors if (match := _FAILED.match(error)) and match["position"] in self._rules][:_TOLD]
        places = dict(zip(self._rules, _places(self._documents), strict=True)) if found else {}
        named: list[RuleReason] = []
        for match in found:
            rule_id, place = self._rules[match["position"]].reason.id, places[match["position"]]
            if rule_id not in self._logged:
                self._logged.add(rule_id)
                _log.warning("the rule `%s` in %s could not be evaluated: %s", rule_id, escape(place), escape(match["what"]))
            named.append(RuleReason(rule_id, f"The rule {rule_id} in {place} could not be evaluated, so nothing is allowed"))
        return (RuleReason(RULE_FAILED, RULE_FAILED_WHY), *named) if named else ()


def _places(documents: Mapping[str, str]) -> Iterator[str]:
    """Where each rule stands, in the order in which they are joined."""
    for name, text in documents.items():
        if name not in (SCHEMA, PROFILES):
            yield from (f"{name}, line {place_of(text, position.start).line}" for position in find_positions(text))
