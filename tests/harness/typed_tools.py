"""A tool whose types read more than one form of a value, and one that tries to end the process that it runs in."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator

from gateway.adapters.tools import tool
from gateway.core.canonical import Json
from gateway.core.model import CallFacts


@tool(category="write", summary="Transfer {amount} to {to}")
def transfer(amount: Decimal, at: datetime, to: UUID, *, urgent: bool = False) -> str:
    """Say what arrived; needs a consent."""
    return f"{amount} at {at.isoformat()} to {to}, urgent: {urgent}"


def _leave_at(place: str, word: str) -> str:
    if word == place:
        sys.exit(2)
    return word


def _find_facts(arguments: Mapping[str, Json]) -> CallFacts:
    _leave_at("facts", str(arguments["at"]))
    return CallFacts()


def _preview(arguments: Mapping[str, Json]) -> None:
    _leave_at("preview", str(arguments["at"]))


def _check(word: str) -> str:
    return _leave_at("check", word)


@tool(category="write", summary="Leave at {at}", facts=_find_facts, preview=_preview)
def leave(at: Annotated[str, AfterValidator(_check)]) -> str:
    """End the process in one of the parts of a tool that run before it; needs a consent."""
    return at
