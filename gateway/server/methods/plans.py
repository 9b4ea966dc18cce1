"""The console's methods about plans: several questions, one answer (docs/PROTOCOL.md section 6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from gateway.core.canonical import Json
from gateway.core.errors import NotFound, Refused
from gateway.protocol import plan_methods as wire
from gateway.protocol.console_methods import ApprovalQuestion, ApprovalRef
from gateway.runtime.gateway import Gateway
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow
from gateway.server.methods.views import view_approval

Ask = Callable[[ConsoleCaller, ApprovalRef], Awaitable[ApprovalQuestion]]
"""How one question is shown: `approvals/get`."""


class PlanMethods:
    """The handlers."""

    def __init__(self, gateway: Gateway, ask: Ask) -> None:
        self._gateway = gateway
        self._ask = ask

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        anybody = MethodPermission.ANY_SESSION
        return {
            "approvals/get-plan": MethodRow(self.get_plan, Concurrency.AT_ONCE, anybody),
            "approvals/decide-plan": MethodRow(self.decide_plan, Concurrency.AT_ONCE, anybody),
        }

    async def get_plan(self, caller: ConsoleCaller, params: ApprovalRef) -> wire.PlanQuestion:
        """Every statement of it that waits, and a challenge for each."""
        parts: list[wire.PlanPartView] = []
        for part in self._gateway.approvals.find_plan(caller.session, params.approval_id):
            try:
                question = await self._ask(caller, ApprovalRef(approval_id=part.approval_id))
            except NotFound:
                continue
            if question.challenge is not None:
                parts.append(wire.PlanPartView(question=question, covered=part.covered))
        covered = [part.question.approval.id for part in parts if part.covered]
        return wire.PlanQuestion(parts=tuple(parts), passkey_options=await self._options(caller, covered))

    async def decide_plan(self, caller: ConsoleCaller, params: wire.PlanAnswerParams) -> wire.PlanDecided:
        """Record a yes to all of it; returns when the first is durable."""
        shown = [(part.approval_id, part.challenge) for part in params.parts]
        approvals = await self._gateway.approvals.decide_plan(caller.session, shown, assertion=params.assertion)
        return wire.PlanDecided(approvals=tuple(map(view_approval, approvals)))

    async def _options(self, caller: ConsoleCaller, covered: Sequence[str]) -> dict[str, Json] | None:
        if len(covered) < 2:
            return None
        try:
            options = await self._gateway.approvals.plan_options(caller.session, covered)
        except (NotFound, Refused):
            # Without a passkey the person cannot approve, and the page shows that; they can still deny each part.
            return None
        return None if options is None else dict(options)
