"""A source as it is looked at, and what somebody decides about a tool of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.core.sources import AddedSource, SourceTool
from gateway.core.vocabulary import Category
from gateway.runtime.ports import SourceState
from gateway.runtime.sign_ins import SignInView


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source as it is described, as it is now, and its tools."""

    source: AddedSource
    state: SourceState
    tools: Sequence[SourceTool]
    sign_in: SignInView | None = None
    takes_sign_in: bool = False


@dataclass(frozen=True, slots=True)
class ToolDecision:
    """What somebody decides about a tool: the category, None for nobody calls it. `pin` is the definition that they saw."""

    tool: str
    pin: str
    category: Category | None
