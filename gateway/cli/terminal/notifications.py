"""The gateway's notifications on the terminal's own connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from gateway.agent.runner import TurnRunner
from gateway.cli.terminal.approval_prompts import ApprovalPrompts
from gateway.cli.terminal.screen import Screen
from gateway.runtime.connections import Connection
from gateway.runtime.notices import (
    ApprovalChangedNotice,
    ApprovalRequestedNotice,
    ApprovalResolvedNotice,
    BreakGlassNotice,
    ElicitationRequestedNotice,
    ElicitationResolvedNotice,
    GrantsChangedNotice,
    Notice,
    PolicyChangedNotice,
    PolicyStateNotice,
    RehearsalProgressNotice,
    SessionEndedNotice,
    SettingsChangedNotice,
    SnapshotRevokedNotice,
    SourcesChangedNotice,
    ToolProgressNotice,
)

_ENDED: Final = "The session has ended; start the agent again."


class NotificationReader:
    """Reads the connection's outbox, as a socket's writer does."""

    def __init__(
        self,
        connection: Connection,
        questions: ApprovalPrompts,
        runner: TurnRunner,
        screen: Screen,
        on_progress: Callable[[str, str, float | None], None],
    ) -> None:
        self._outbox = connection.outbox
        self._questions = questions
        self._runner = runner
        self._screen = screen
        self._on_progress = on_progress
        self._reading: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._reading = asyncio.ensure_future(self._read())

    async def close(self) -> None:
        """Stop listening."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    async def _read(self) -> None:
        while self._outbox.closing is None:
            await self._outbox.wait()
            while (message := self._outbox.take()) is not None:
                # Nothing is asked over this connection's socket, for it has none: what comes is said unasked.
                if not isinstance(message, bytes):
                    self._take(message)

    def _take(self, notice: Notice) -> None:
        match notice:
            case ApprovalRequestedNotice(approval):
                self._questions.requested(approval)
            case ApprovalResolvedNotice(approval_id, _, status, _):
                self._questions.resolved(approval_id, status)
            case ApprovalChangedNotice(approval) if approval.answered:
                self._screen.say(f"`{approval.tool}`: approved, and runs after the call before it")
            case ApprovalChangedNotice(approval):
                self._screen.say(f"`{approval.tool}`: approved by {len(approval.given)} of {approval.needs.approvers} people")
            case ToolProgressNotice(call_id, message, fraction):
                self._on_progress(call_id, message, fraction)
            case SnapshotRevokedNotice(snapshot_id, _):
                self._runner.revoked(snapshot_id)
            case SessionEndedNotice():
                self._screen.say(_ENDED)
                self._runner.over()
            case (
                PolicyChangedNotice()
                | PolicyStateNotice()
                | RehearsalProgressNotice()
                | SettingsChangedNotice()
                | SourcesChangedNotice()
                | GrantsChangedNotice()
                | BreakGlassNotice()
                | ElicitationRequestedNotice()
                | ElicitationResolvedNotice()
            ):
                pass
