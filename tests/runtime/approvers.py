"""Further people of a stage, each with a passkey and a console of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from gateway.core.canonical import Json
from gateway.core.ledger import ConsoleSessionStarted, EnrolmentOffered, Passkey, PrincipalEnrolled
from gateway.core.model import Principal
from gateway.core.obligations import Obligations
from gateway.core.quorum import compose_break_glass
from gateway.core.vocabulary import GrantScope, Profile
from gateway.runtime.approvals import Decided
from gateway.runtime.calls import CallAnswer
from gateway.runtime.connections import ConsoleConnection
from gateway.runtime.ports import ConsoleSession
from gateway.server.notifications import encode_notice
from tests.authenticator import HONEST, Forgery, encode
from tests.fakes.passkeys import PlainAuthenticator
from tests.runtime.conftest import PATIENCE, Stage

TWO = Obligations(approvers=2, alone_forbidden=True)


@dataclass
class Approver:
    """Somebody who may answer, at their own console."""

    stage: Stage
    person: Principal
    console: ConsoleSession
    authenticator: PlainAuthenticator
    socket: ConsoleConnection

    async def sign(self, approval_id: str, forgery: Forgery = HONEST, *, reason: str | None = None) -> tuple[str, dict[str, Any]]:
        """A challenge for one answer, and the passkey's answer to the question."""
        approvals = self.stage.gateway.approvals
        approval, _, challenge = await approvals.get(self.console, approval_id)
        assert challenge is not None
        options = dict(await approvals.assertion_options(self.console, approval_id))
        if reason is not None:
            signed = compose_break_glass(approval.statement, self.person.id, reason)
            options["challenge"] = encode(sha256(signed).digest())
        return challenge, self.authenticator.get(options, forgery)

    async def approve(self, approval_id: str, forgery: Forgery = HONEST) -> Decided:
        """Say yes with the passkey."""
        challenge, assertion = await self.sign(approval_id, forgery)
        return await self.send(approval_id, challenge, assertion)

    async def deny(self, approval_id: str) -> Decided:
        """Say no."""
        _, _, challenge = await self.stage.gateway.approvals.get(self.console, approval_id)
        assert challenge is not None
        return await self.stage.gateway.approvals.decide(
            self.console, approval_id, challenge=challenge, approve=False, scope=GrantScope.ONCE
        )

    async def send(
        self, approval_id: str, challenge: str, assertion: Mapping[str, Json] | None, *, break_glass: str | None = None
    ) -> Decided:
        """Answer with exactly this."""
        return await self.stage.gateway.approvals.decide(
            self.console,
            approval_id,
            challenge=challenge,
            approve=True,
            scope=GrantScope.ONCE,
            assertion=assertion,
            break_glass=break_glass,
        )

    def heard(self) -> list[bytes]:
        """What this person's console was told since it was last asked."""
        frames: list[bytes] = []
        while (message := self.socket.outbox.take()) is not None:
            frames.append(message if isinstance(message, bytes) else encode_notice(message))
        return frames


async def arrive(stage: Stage, name: str, profile: Profile = Profile.OPERATOR) -> Approver:
    """Somebody else, enrolled and signed in."""
    now = stage.clock.now()
    hours = now + 8 * 3_600_000
    person = Principal(f"prn_{name.lower()}", name, profile)
    verifier = stage.gateway.ports.passkeys
    authenticator = PlainAuthenticator(origin=stage.authenticator.origin)
    options = verifier.registration_options(challenge=b"c" * 32, user_handle=name.encode(), user_name=name, exclude=())
    new = verifier.verify_registration(authenticator.create(options), challenge=b"c" * 32)
    passkey = Passkey(new.credential_id, person.id, new.public_key, 0, False, False, name.encode(), (), "key", now)
    console = ConsoleSession(f"cse_{name.lower()}", person, now, hours)
    await stage.ledger.append(
        EnrolmentOffered(now, f"offer {name}", name, profile, hours),
        PrincipalEnrolled(now, f"offer {name}", person, passkey),
        ConsoleSessionStarted(now, console.id, f"secret {name}", person.id, hours),
    )
    socket = stage.gateway.connections.attach_console(
        person.id, console.id, f"socket {name}", is_operator=profile is Profile.OPERATOR
    )
    return Approver(stage, person, console, authenticator, socket)


def ada(stage: Stage) -> Approver:
    """The person of the stage, who asks."""
    socket = stage.gateway.connections.attach_console(stage.ada.id, stage.console.id, "socket Ada", is_operator=True)
    return Approver(stage, stage.ada, stage.console, stage.authenticator, socket)


async def ask(stage: Stage, obligations: Obligations = TWO, tool: str = "write") -> tuple[asyncio.Task[CallAnswer], str]:
    """A call that waits for people, and the id of its question."""
    stage.policy.obligations = obligations
    await stage.begin()
    call = stage.start(stage.propose(tool))
    return call, str((await stage.asked())["id"])


async def finish(call: asyncio.Task[CallAnswer]) -> CallAnswer:
    """What came of it, within the time that a test may take."""
    async with asyncio.timeout(PATIENCE):
        return await call


def recorded(stage: Stage, kind: type[Any]) -> list[Any]:
    """The records of that kind, oldest first."""
    return [entry for entry in stage.ledger.entries if isinstance(entry, kind)]


def is_sound(stage: Stage) -> bool:
    """The log verifies; fails with the first fault where it does not."""
    report = stage.ledger.check()
    assert report.sound, report.fault
    return True
