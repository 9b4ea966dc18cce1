"""A policy folder of one's own, and short ways to ask."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.vocabulary import Category, Label, Profile
from gateway.runtime.ports import PolicySubject, PolicyVerdict

SHIPPED = Path(__file__).parents[3] / "policy"

Asking = Callable[..., PolicyVerdict]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped documents, to be spoilt."""
    target = tmp_path / "policy"
    shutil.copytree(SHIPPED, target)
    return target


@pytest.fixture
def ask() -> Asking:
    """Judge a call; everything that is not said is harmless."""

    def judge(
        policy: CedarPolicy,
        category: Category = Category.READ,
        facts: CallFacts | None = None,
        *,
        profile: Profile = Profile.OPERATOR,
        person: str = "prn_ada",
        tool: str = "tool",
        taint: int = 0,
        label: int = Label.PUBLIC,
        session_label: int = Label.PUBLIC,
    ) -> PolicyVerdict:
        spec = ToolSpec(
            name=tool,
            description="",
            interface_id="workspace",
            method_name=tool,
            param_schema={},
            category=category,
            source="builtin",
        )
        return policy.judge(
            PolicySubject(Principal(person, person, profile), session_label), spec, facts, taint=taint, label=label
        )

    return judge
