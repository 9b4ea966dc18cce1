"""What the rules that come with the gateway say to people is there in German, word for word of what they say in English."""

from __future__ import annotations

import json
import re
from pathlib import Path

import gateway.adapters.policy.cedar as cedar
import gateway.adapters.policy.switches as switches
import gateway.runtime.obstacles as obstacles
from gateway.core.approval import RULE_FAILED_WHY

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "web" / "src" / "language" / "de" / "reasons.json"

_AUTHORED = re.compile(r'^@why\("([^"\n]+)"\)$', re.MULTILINE)
_BUILT_IN = re.compile(r'RuleReason\("policy\.[a-z-]+", "([^"]+)"\)')
_NO_RULE = re.compile(r'^_NO_RULE = "([^"]+)"$', re.MULTILINE)


def test_every_sentence_of_a_rule_of_the_gateways_own_has_a_german_one_and_none_is_left_over() -> None:
    german: dict[str, str] = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    sources = {
        _AUTHORED: ((ROOT / "policy" / "default.cedar"), Path(switches.__file__)),
        _BUILT_IN: (Path(cedar.__file__),),
        _NO_RULE: (Path(obstacles.__file__),),
    }
    said = {
        sentence
        for pattern, files in sources.items()
        for file in files
        for sentence in pattern.findall(file.read_text(encoding="utf-8"))
    }
    assert said | {RULE_FAILED_WHY} == set(german)
    assert all(english != other for english, other in german.items())
