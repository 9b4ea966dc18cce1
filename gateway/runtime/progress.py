"""What a running tool says of its progress: a tool's words, so they leave as its results do, redacted, capped and labelled."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection

from gateway.core.errors import GatewayError, LedgerUnavailable
from gateway.core.ledger import Entry
from gateway.core.model import ToolRequest, ToolSpec
from gateway.core.redaction import redact_text
from gateway.runtime.connections import MISSED_NOTICES, ConnectionRegistry
from gateway.runtime.conversation import Conversation
from gateway.runtime.exposures import Exposures
from gateway.runtime.notices import ToolProgressNotice
from gateway.runtime.ports import Ledger
from gateway.runtime.tasks import Tasks

PROGRESS_CHARACTERS = 500
"""docs/PROTOCOL.md section 5."""

LINE_CHARACTERS = 4096
"""A longer line is told by its length alone: looking through it would take time that everybody else waits."""

LINES_KEPT = 32
"""Of what a tool says before the event loop hears of it, the newest."""

RETRY_SECONDS = 1.0
"""Between attempts to record what a line let in; it is not sent before."""

_log = logging.getLogger(__name__)


class SaidLines:
    """What a tool says, in whatever thread it runs, for the event loop: however much that is, few lines of it at a time, so that
    nobody else has to wait."""

    def __init__(self, report: Callable[[str, float | None], None]) -> None:
        """`report` takes a line on the running loop."""
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._lines: deque[tuple[str, float | None]] = deque(maxlen=LINES_KEPT)
        self._is_due = False

    def add(self, message: str, fraction: float | None) -> None:
        """One more; what is wrong with it is the tool's own fault, raised where the tool runs."""
        said = str(message)
        line = said if len(said) <= LINE_CHARACTERS else f"(a line of {len(said)} characters)"
        self._lines.append((line, None if fraction is None else min(1.0, max(0.0, fraction))))
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon_threadsafe(self._pass_on)

    def _pass_on(self) -> None:
        # Before the lines are looked at: one that is added from here on is passed on by the next call.
        self._is_due = False
        for _ in range(len(self._lines)):
            self._report(*self._lines.popleft())


class Progress:
    """The lines of one running call. The first one raises labels and taint as the result would, on record before it is sent;
    those that come meanwhile wait behind it, the oldest giving way."""

    def __init__(
        self,
        request: ToolRequest,
        spec: ToolSpec,
        conversation: Conversation,
        redact: Collection[str],
        *,
        exposures: Exposures,
        ledger: Ledger,
        connections: ConnectionRegistry,
        tasks: Tasks,
    ) -> None:
        self._request = request
        self._spec = spec
        self._conversation = conversation
        self._redact = redact
        self._exposures = exposures
        self._ledger = ledger
        self._connections = connections
        self._tasks = tasks
        self._waiting: deque[ToolProgressNotice] = deque(maxlen=MISSED_NOTICES)
        self._begun = self._let_in = False

    def report(self, message: str, fraction: float | None) -> None:
        """One line, and a fraction from 0 to 1. For the event loop's thread."""
        encodable = message.encode(errors="replace").decode()
        text = redact_text(encodable, self._redact).text[:PROGRESS_CHARACTERS]
        self._waiting.append(ToolProgressNotice(self._request.call_id, text, fraction))
        if self._let_in:
            self._send()
        elif not self._begun:
            self._begun = True
            self._tasks.spawn(self._admit())

    async def _admit(self) -> None:
        request, spec = self._request, self._spec
        entries = await self._exposures.let_in(self._conversation, request.session_id, spec.trust, spec.labels, request.call_id)
        if entries and not await self._record(entries):
            return
        self._let_in = True
        self._send()

    async def _record(self, entries: Collection[Entry]) -> bool:
        while True:
            try:
                await self._ledger.append(*entries)
            except LedgerUnavailable:
                await asyncio.sleep(RETRY_SECONDS)
            except GatewayError:
                _log.exception("what the progress of call %s let in could not be recorded", self._request.call_id)
                return False
            else:
                return True

    def _send(self) -> None:
        while self._waiting:
            self._connections.notify(self._request.session_id, self._waiting.popleft())
