"""Looking through long results."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from gateway.core.model import ToolOutput
from gateway.core.results import RedactedOutput


class Redactor(Protocol):
    """Takes out of long outputs what must not leave, as `redact_output` does, while everybody else is served."""

    async def redact(self, output: ToolOutput, classes: Collection[str], owner: str) -> RedactedOutput:
        """`owner` is whose call it is: one person's outputs wait for one another. Raises ToolFailed where it cannot be done."""
        ...
