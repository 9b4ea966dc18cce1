"""Telling the devices of people that a question waits for them, beside the way of the question itself.

A question is put before people's open consoles first, and nothing here can hold it up: what is told runs in a task of its own,
one for each person. While a device is being told, later questions of the same person are kept as one, the newest: a message says
that something waits, and the page that it leads to lists everything.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from gateway.core.approval import Approval
from gateway.core.canonical import own_bytes
from gateway.core.errors import GatewayError
from gateway.core.ledger import PushDevice
from gateway.core.model import Principal
from gateway.core.vocabulary import ACTING, ApprovalStatus
from gateway.runtime.approvals.audience import is_for, is_operator
from gateway.runtime.ports import Clock, PushMessage, PushOutcome, PushRecords
from gateway.runtime.push_devices import PushDevices
from gateway.runtime.tasks import Tasks

SENT_AT_ONCE: Final = 32
"""Messages under way to all people together. A service that never answers holds one of them for some seconds."""

_log = logging.getLogger(__name__)


class PushNotices:
    """Tells devices. `host` is the console's, which a message names."""

    def __init__(self, devices: PushDevices, records: PushRecords, clock: Clock, tasks: Tasks, host: str) -> None:
        self._devices = devices
        self._records = records
        self._clock = clock
        self._tasks = tasks
        self._host = host
        self._sending = asyncio.Semaphore(SENT_AT_ONCE)
        self._next: dict[str, Approval | None] = {}

    def asked(self, approval: Approval) -> None:
        """A question waits. Only takes note of it."""
        self._tasks.spawn(self._spread(approval))

    async def _spread(self, approval: Approval) -> None:
        try:
            people = await self._find_people(approval)
        except GatewayError as error:
            _log.warning("no device could be told of a question: %s", error.message)
            return
        for person in people:
            if person.id in self._next:
                self._next[person.id] = approval
            else:
                self._next[person.id] = None
                self._tasks.spawn(self._tell(person.id, approval))

    async def _find_people(self, approval: Approval) -> Sequence[Principal]:
        """Who may answer it, as its consoles are found; an auditor answers nothing."""
        people = await self._records.principals()
        if not approval.needs.shared:
            return [each for each in people if each.id == approval.principal_id and each.profile in ACTING]
        return [each for each in people if each.profile in ACTING and is_for(approval, each.id, operator=is_operator(each))]

    async def _tell(self, person_id: str, first: Approval) -> None:
        approval: Approval | None = first
        try:
            while approval is not None:
                devices = await self._find_devices(person_id, approval)
                await asyncio.gather(*(self._send(device, approval) for device in devices))
                approval, self._next[person_id] = self._next[person_id], None
        except GatewayError as error:
            _log.warning("a person's devices could not be told of a question: %s", error.message)
        finally:
            del self._next[person_id]

    async def _find_devices(self, person_id: str, approval: Approval) -> Sequence[PushDevice]:
        """None for a question that was answered meanwhile, and for somebody who is suspended or was removed."""
        waiting, person = await self._records.approval(approval.id), await self._records.principal(person_id)
        if waiting is None or waiting.status is not ApprovalStatus.PENDING or person is None or person.suspended:
            return ()
        return await self._records.push_devices(person_id) if await self._records.passkeys(person_id) else ()

    async def _send(self, device: PushDevice, approval: Approval) -> None:
        try:
            async with self._sending:
                seconds = (approval.expires_at - self._clock.now()) // 1000
                if seconds <= 0:
                    return
                subscription = self._devices.subscription_of(device)
                message = PushMessage(self._compose(approval), seconds, approval.id)
                outcome = await self._devices.sender.send(subscription, message)
            if outcome is PushOutcome.GONE:
                await self._devices.forget(device)
            elif outcome is PushOutcome.FAILED:
                _log.info("device %s was not told of a question: %s did not take the message", device.id, device.service)
        except GatewayError as error:
            _log.warning("device %s was not told of a question: %s", device.id, error.message)

    def _compose(self, approval: Approval) -> bytes:
        """All that is ever sent: where, and which. Nothing of the call, and no word of anybody's."""
        return own_bytes({"host": self._host, "approval": approval.id})
