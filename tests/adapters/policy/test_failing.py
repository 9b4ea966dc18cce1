"""Rules that Cedar could not evaluate are named as people know them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.core.vocabulary import Category
from tests.adapters.policy.test_cedar import GHOST, add, rule_ids


def test_every_rule_that_fails_is_named_by_its_id_and_logged_once(
    folder: Path, ask: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ghost = GHOST.replace("EFFECT", "forbid")
    policy = add(folder, ghost + ghost.replace("x.ghost", "x.other"))
    for category in (Category.READ, Category.WRITE):
        verdict = ask(policy, category)
        assert rule_ids(verdict) == ["policy.failed", "x.ghost", "x.other"]
        assert not any("policy2" in reason.why for reason in verdict.because)
    assert [record.getMessage().split(" could not")[0] for record in caplog.records] == [
        "the rule `x.ghost` in extra.cedar, line 2",
        "the rule `x.other` in extra.cedar, line 7",
    ]
