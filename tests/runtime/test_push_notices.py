"""Who is told of a question by push: people who could answer it at this moment, and nobody else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.core.approval import Approval
from gateway.core.errors import LedgerUnavailable, Refused
from gateway.core.ledger import PushDevice
from gateway.core.model import Principal
from gateway.core.quorum import Needs
from gateway.core.vocabulary import ApprovalStatus, Profile
from gateway.runtime.ports import PushMessage, PushOutcome, PushRecords, PushSubscription
from gateway.runtime.push_devices import PushDevices
from gateway.runtime.push_notices import PushNotices
from gateway.runtime.push_tests import TESTS, PushTests
from gateway.runtime.tasks import Tasks
from tests.fakes.clock import FakeClock

ADA, BEN = Principal("usr_1", "Ada", Profile.OPERATOR), Principal("usr_2", "Ben", Profile.OPERATOR)
VERA = Principal("usr_3", "Vera", Profile.AUDITOR)


def asked(needs: Needs | None = None, status: ApprovalStatus = ApprovalStatus.PENDING, expires_at: int = 1 << 50) -> Approval:
    told = SimpleNamespace(
        id="apr_1", principal_id=ADA.id, needs=needs or Needs(), status=status, expires_at=expires_at, summary="a secret"
    )
    return cast("Approval", told)


@dataclass
class Told:
    """The records and the devices of three people with a passkey and a device each, and who was told."""

    people: dict[str, Principal] = field(default_factory=lambda: {each.id: each for each in (ADA, BEN, VERA)})
    without_passkey: set[str] = field(default_factory=set[str])
    recorded: Approval | None = field(default_factory=asked)
    is_there: bool = True
    messages: list[tuple[str, PushMessage]] = field(default_factory=list[tuple[str, PushMessage]])
    outcome: PushOutcome = PushOutcome.TAKEN
    forgotten: list[str] = field(default_factory=list[str])

    async def approval(self, _id: str) -> Approval | None:
        return self.recorded

    async def principals(self) -> list[Principal]:
        if not self.is_there:
            raise LedgerUnavailable("the disk is full")
        return list(self.people.values())

    async def principal(self, principal_id: str) -> Principal | None:
        return self.people.get(principal_id)

    async def passkeys(self, principal_id: str) -> list[str]:
        return [] if principal_id in self.without_passkey else ["passkey"]

    async def push_devices(self, principal_id: str) -> list[PushDevice]:
        return [PushDevice(f"dev_{principal_id}", principal_id, "Phone", "push.example", "d" * 64, b"", 1)]

    def subscription_of(self, device: PushDevice) -> PushSubscription:
        return PushSubscription(device.principal_id, "", "")

    async def forget(self, device: PushDevice) -> None:
        self.forgotten.append(device.principal_id)

    @property
    def sender(self) -> Any:
        async def send(subscription: PushSubscription, message: PushMessage) -> PushOutcome:
            self.messages.append((subscription.endpoint, message))
            return self.outcome

        return SimpleNamespace(send=send)

    async def ask(self, approval: Approval | None = None) -> list[str]:
        """The people whose devices are told."""
        devices, records = cast("PushDevices", self), cast("PushRecords", self)
        notices = PushNotices(devices, records, FakeClock(), Tasks(), "console.example")
        notices.asked(approval or self.recorded or asked())
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
        return sorted(person for person, _ in self.messages)


@pytest.fixture
def told() -> Told:
    return Told()


async def test_the_person_whose_call_it_is_hears_of_it(told: Told) -> None:
    assert await told.ask() == [ADA.id]
    assert told.messages[0][1].text == b'{"approval":"apr_1","host":"console.example"}'


async def test_whoever_may_approve_hears_of_what_takes_several_people(told: Told) -> None:
    told.recorded = asked(Needs(approvers=2))
    assert await told.ask() == [ADA.id, BEN.id]


async def test_nobody_who_is_suspended_was_removed_or_is_an_auditor_hears_of_anything(told: Told) -> None:
    told.recorded = asked(Needs(approvers=2))
    told.people[BEN.id] = replace(BEN, suspended=True)
    told.without_passkey = {ADA.id}
    assert await told.ask() == []


@pytest.mark.parametrize("recorded", [None, asked(status=ApprovalStatus.DENIED), asked(expires_at=0)])
async def test_nobody_hears_of_what_waits_no_longer(told: Told, recorded: Approval | None) -> None:
    told.recorded = recorded
    assert await told.ask() == []


async def test_a_device_that_is_gone_is_forgotten_and_one_that_failed_is_not(told: Told) -> None:
    told.outcome = PushOutcome.FAILED
    await told.ask()
    assert told.forgotten == []
    told.outcome = PushOutcome.GONE
    await told.ask()
    assert told.forgotten == [ADA.id]


async def test_a_record_that_cannot_be_read_stops_nothing(told: Told) -> None:
    told.is_there = False
    assert await told.ask(asked()) == []


async def test_after_a_minute_a_device_can_be_tried_again_also_where_the_clock_was_set_back(told: Told) -> None:
    async def list_devices(person: Principal) -> list[PushDevice]:
        return await told.push_devices(person.id)

    devices = SimpleNamespace(list=list_devices, sender=told.sender, subscription_of=told.subscription_of)
    clock = FakeClock()
    tests = PushTests(cast("PushDevices", devices), clock, "console.example")
    for _ in range(TESTS):
        await tests.send(ADA, "dev_usr_1")
    with pytest.raises(Refused):
        await tests.send(ADA, "dev_usr_1")
    clock.set_wall(clock.now() - 86_400_000)
    clock.advance(61)
    await tests.send(ADA, "dev_usr_1")
    assert len(told.messages) == TESTS + 1
