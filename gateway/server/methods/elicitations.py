"""The console's methods about what the servers of tools ask people (docs/PROTOCOL.md section 6): one's own alone."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.core.times import rfc3339
from gateway.protocol import elicitation_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.gateway import Gateway
from gateway.runtime.notices import Elicitation
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow


class ElicitationMethods:
    """The handlers."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        anybody = MethodPermission.ANY_SESSION
        return {
            "elicitations/list": MethodRow(self.list, Concurrency.AT_ONCE, anybody),
            "elicitations/answer": MethodRow(self.answer, Concurrency.AT_ONCE, anybody, ("elicitation:resolved",)),
        }

    async def list(self, caller: ConsoleCaller, _params: Nothing) -> wire.WireElicitations:
        """What waits for this person."""
        return wire.WireElicitations(
            elicitations=tuple(map(view_elicitation, self._gateway.elicitations.list(caller.principal.id)))
        )

    async def answer(self, caller: ConsoleCaller, params: wire.WireElicitationAnswer) -> Nothing:
        """Send the person's answer to the server that asked."""
        await self._gateway.elicitations.answer(caller.session, params.elicitation_id, params.action, params.values or {})
        return Nothing()


def view_elicitation(elicitation: Elicitation) -> wire.WireElicitation:
    """A form that waits."""
    form, request = elicitation.form, elicitation.request
    return wire.WireElicitation(
        id=elicitation.id,
        source=elicitation.source,
        tool=request.tool,
        conversation_id=request.conversation_id,
        call_id=request.call_id,
        message=form.message,
        fields=tuple(
            wire.WireFormField(
                name=each.name,
                kind=each.kind,
                title=each.title,
                description=each.description,
                required=each.required,
                format=each.format,
                least=each.least,
                most=each.most,
                options=tuple(wire.WireFormOption(value=option.value, label=option.label) for option in each.options),
                default=each.default,
            )
            for each in form.fields
        ),
        speaks_of_secrets=form.speaks_of_secrets,
        asked_at=rfc3339(elicitation.asked_at),
        expires_at=rfc3339(elicitation.expires_at),
    )
