"""The console's methods about the switches of the policy (docs/PROTOCOL.md section 6), for operators. They change nothing: a
turned switch is a draft, which goes the way of every draft."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from gateway.core.policy_switches import takes
from gateway.protocol import policy_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.policies import PolicyPublishing
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.policy_views import require_page_size, view_check, view_documents
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow


class PolicySwitchMethods:
    """The handlers."""

    def __init__(self, publishing: PolicyPublishing) -> None:
        self._publishing = publishing

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        return {
            "policy/switches": MethodRow(self.list, Concurrency.AT_ONCE, MethodPermission.OPERATOR),
            "policy/turn-switch": MethodRow(self.turn, Concurrency.AT_ONCE, MethodPermission.OPERATOR),
        }

    async def list(self, _caller: ConsoleCaller, _params: Nothing) -> wire.PolicySwitches:
        """How each of them stands."""
        workshop = self._publishing.workshop
        version = workshop.active.version
        return wire.PolicySwitches(
            version=version,
            source=self._publishing.source.value,
            switches=tuple(
                wire.SwitchDescription(
                    switch=each.switch,
                    state=each.state,
                    takes=takes(each.switch),
                    file=each.file,
                    arguments=each.arguments,
                    text=each.text,
                )
                for each in await asyncio.to_thread(workshop.switches)
            ),
        )

    async def turn(self, _caller: ConsoleCaller, params: wire.SwitchTurning) -> wire.SwitchDraft:
        """The texts in force with one of them turned."""
        workshop = self._publishing.workshop
        base = workshop.active.version
        turned = await asyncio.to_thread(workshop.turn_switch, params.switch, params.arguments, on=params.on)
        require_page_size({**turned.documents, **turned.cases})
        return wire.SwitchDraft(
            base=base,
            documents=view_documents(turned.documents, turned.cases),
            amended=tuple(
                wire.WireAmendedCase(
                    file=each.file, about=each.about, question=each.question, before=each.before, after=each.after
                )
                for each in turned.amended
            ),
            check=view_check(*await self._publishing.validate(turned.documents, turned.cases)),
        )
