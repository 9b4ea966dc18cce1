"""Parameters and results of the console's methods about plans: one answer to several questions (docs/PROTOCOL.md section 6)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.protocol.console_methods import ApprovalQuestion
from gateway.protocol.shapes import WireApproval
from gateway.protocol.wire import Flag, Identifier, JsonObject, Wire


class PlanPartView(Wire):
    """A question of the plan, as `approvals/get` gives it. `covered`: an answer to the plan is one to this question too."""

    question: ApprovalQuestion
    covered: Flag


class PlanQuestion(Wire):
    """What still waits of a plan, in the order in which its calls run. Where a covered part needs a passkey, `passkeyOptions` are
    over the list of the covered statements; one that is null all the same says that this person has no passkey."""

    parts: tuple[PlanPartView, ...]
    passkey_options: JsonObject | None = None


class ShownPart(Wire):
    """A question that was shown, and the challenge that it came with."""

    approval_id: Identifier
    challenge: Annotated[str, Field(max_length=512)]


class PlanAnswerParams(Wire):
    """A person's yes to every covered part of a plan, in its order."""

    parts: Annotated[tuple[ShownPart, ...], Field(max_length=64)]
    assertion: JsonObject | None = None


class PlanDecided(Wire):
    """The approvals as they stand. One whose call waits for an earlier one is pending, and `answered`."""

    approvals: tuple[WireApproval, ...]
