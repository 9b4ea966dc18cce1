"""A passkey for somebody who works at the terminal and has none, as soon as a call needs one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from gateway.agent.ports import GatewayLink, StopSignal
from gateway.cli.terminal.gateway_link import until_stopped
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.styling import Tone
from gateway.core.errors import ToolFailed
from gateway.core.vocabulary import PermissionMode, Reason
from gateway.runtime.ports import PasskeyRecords, Toolbox

_LOOKED_AT: Final = ("builtin", "workspace")
"""Source and interface of the tools whose preview only looks at a file of the workspace."""

_LOOK_SECONDS: Final = 0.5
"""How often the ledger is asked whether the person has enrolled meanwhile."""


async def can_work(toolbox: Toolbox, call: Mapping[str, Any]) -> bool:
    """Whether a call of a tool over the workspace can work as things are. Of others nothing is known before the gateway has
    decided: what they would change may cost something to find out."""
    spec, arguments = toolbox.find(call["name"]), call["arguments"]
    if spec is None or (spec.source, spec.interface_id) != _LOOKED_AT or toolbox.find_faults(spec, arguments):
        return True
    try:
        await toolbox.preview(spec, arguments)
    except ToolFailed:
        return False
    return True


class Enrolment:
    """Offers the link. `waits`: somebody is there who could follow it before the call is sent. `over_ssh`: what to say to
    somebody whose browser is on another machine. `can_work` says of a call whether it can work as things are: for one that
    cannot, such as the deletion of a file that is not there, nobody registers a passkey. The gateway refuses it with its
    reason."""

    def __init__(
        self,
        records: PasskeyRecords,
        principal_id: str,
        screen: Screen,
        offer_link: Callable[[], Awaitable[str]],
        *,
        waits: bool,
        over_ssh: Sequence[str] = (),
        can_work: Callable[[Mapping[str, Any]], Awaitable[bool]],
    ) -> None:
        self._records = records
        self._principal_id = principal_id
        self._screen = screen
        self._offer_link = offer_link
        self._waits = waits
        self._over_ssh = over_ssh
        self.can_work = can_work
        self._is_told = False
        self._held: set[str] = set()
        """Calls that were not sent yet when the person stopped them."""

    def holds(self, call_id: str) -> bool:
        """Whether the call waited for a passkey when it was stopped, and so never began."""
        return call_id in self._held

    def before_step_up(self, link: GatewayLink) -> GatewayLink:
        """The same gateway, with the person enrolled before a call is sent that needs their passkey."""
        return _EnrollingLink(self, link)

    async def hold(self, call_id: str, stop: StopSignal) -> None:
        """Keep a call back until there is a passkey. Raises the halt when it is stopped before."""
        self._held.add(call_id)
        await until_stopped(stop, self.need())
        self._held.discard(call_id)

    async def need(self) -> None:
        """Offer a link unless there is a passkey, and wait until it was used.

        Where nobody waits the link is of no use: its console ends with this process, and it would stay in somebody's log.
        """
        if self._waits:
            # Once: the console is far away for everything that follows, too.
            self._screen.say(*self._over_ssh)
            self._over_ssh = ()
        if await self._records.passkeys(self._principal_id):
            return
        if not self._waits:
            if not self._is_told:
                self._screen.say(
                    "This needs a passkey, and you have none yet, so it does not run. Register one in a terminal: run the agent"
                    " there, or `countersign enrol` and `countersign serve`."
                )
            self._is_told = True
            return
        self._screen.say(
            "This needs a passkey, and you have none yet. Open this link to register one; it works once:", tone=Tone.GRAVE
        )
        self._screen.say("", f"  {await self._offer_link()}", "")
        while not await self._records.passkeys(self._principal_id):
            self._screen.progress("waiting for your passkey; Ctrl-C cancels")
            await asyncio.sleep(_LOOK_SECONDS)
        self._screen.settle()


class _EnrollingLink:
    """The GatewayLink port over another."""

    def __init__(self, enrolment: Enrolment, link: GatewayLink) -> None:
        self._enrolment = enrolment
        self._link = link
        self._needing: frozenset[str] = frozenset()

    async def call(self, method: str, params: Mapping[str, Any], stop: StopSignal | None = None) -> Mapping[str, Any]:
        """As the gateway answers."""
        is_step_up = method == "tools/invoke" and params["call"]["name"] in self._needing
        if is_step_up and stop is not None and await self._enrolment.can_work(params["call"]):
            await self._enrolment.hold(str(params["call"]["id"]), stop)
        answer = await self._link.call(method, params, stop)
        if "snapshot" in answer:
            tools = answer["snapshot"]["tools"]
            self._needing = frozenset(tool["name"] for tool in tools if tool["permission"] == PermissionMode.STEP_UP)
        if answer.get("reason") == Reason.NO_CREDENTIAL and stop is not None:
            # The policy asked for more than the snapshot said. The call is spent; the next one finds the passkey.
            await until_stopped(stop, self._enrolment.need())
        return answer
