"""A redactor that everybody waits for."""

from __future__ import annotations

from collections.abc import Collection

from gateway.core.model import ToolOutput
from gateway.core.results import RedactedOutput, bound_output, redact_output


class RedactionAtOnce:
    """A Redactor on the event loop."""

    async def redact(self, output: ToolOutput, classes: Collection[str], owner: str) -> RedactedOutput:
        """See Redactor."""
        return redact_output(bound_output(output), classes)
