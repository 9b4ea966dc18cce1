"""A tool whose types read more than one form of a value."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from gateway.adapters.tools import tool


@tool(category="write", summary="Transfer {amount} to {to}")
def transfer(amount: Decimal, at: datetime, to: UUID, *, urgent: bool = False) -> str:
    """Say what arrived; needs a consent."""
    return f"{amount} at {at.isoformat()} to {to}, urgent: {urgent}"
