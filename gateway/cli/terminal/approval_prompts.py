"""Approval prompts: questions of the gate, put to the person at the terminal.

An approval goes through the same `Approvals` as on the console, in the person's own console session and against one of its
challenges. For a step-up only the console's link is shown: a terminal cannot use a passkey.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from gateway.cli.terminal.approval_rows import describe_approval
from gateway.cli.terminal.keyboard import Keyboard
from gateway.cli.terminal.screen import MARGIN, Screen
from gateway.cli.terminal.styling import Tone
from gateway.core.approval import Approval
from gateway.core.errors import GatewayError
from gateway.core.preview import Preview
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, GrantScope
from gateway.runtime.approvals import Approvals, CallObstacle, order_arguments, preview_call
from gateway.runtime.approvals.slots import step_of
from gateway.runtime.ports import Clock, ConsoleSession, Toolbox

_NO: Final = frozenset({"", "n", "no"})
_YES: Final[Mapping[str, GrantScope]] = {
    "y": GrantScope.ONCE,
    "yes": GrantScope.ONCE,
    "t": GrantScope.TURN,
    "turn": GrantScope.TURN,
    "s": GrantScope.SESSION,
    "session": GrantScope.SESSION,
}
_CHOICES: Final = {GrantScope.ONCE: "y", GrantScope.TURN: "t(urn)", GrantScope.SESSION: "s(ession)"}

_ARMED_AFTER: Final = 0.6
"""Seconds, as on the console: keys that were typed before the call appeared do not answer it."""

_TOGETHER: Final = 0.6
"""Seconds within which the questions of calls that were asked for together come."""

_PAGE: Final = 24
"""Rows that are shown at once, as on the console: about what a terminal holds."""

_TICK: Final = 1.0
"""Seconds between two updates of the waiting line."""


class ApprovalPrompts:
    """Asks, one question at a time. `keyboard` is None where there is nobody to ask; `only_once` offers no grant.

    `withdraw` cancels a call: where nobody answered, the record must not say that somebody denied it.
    """

    def __init__(
        self,
        approvals: Approvals,
        toolbox: Toolbox,
        console: ConsoleSession,
        screen: Screen,
        keyboard: Keyboard | None,
        clock: Clock,
        withdraw: Callable[[Approval], Awaitable[None]],
        *,
        console_origin: str,
        only_once: bool = False,
    ) -> None:
        self._approvals = approvals
        self._toolbox = toolbox
        self._console = console
        self._screen = screen
        self._keyboard = keyboard
        self._clock = clock
        self._withdraw = withdraw
        self._console_origin = console_origin
        self._only_once = only_once
        self._open: dict[str, asyncio.Task[None]] = {}
        self._undecided: dict[str, str] = {}
        """The call of each approval that nobody is known to have given."""
        self._asking = asyncio.Lock()
        """Calls that follow one another ask at once; here each is read and answered before the next one is shown."""
        self._in_line: dict[str, asyncio.Event] = {}
        """For each call, set once its question stands in line."""

    def requested(self, approval: Approval) -> None:
        """A call needs an approval."""
        task = self._open[approval.id] = asyncio.ensure_future(self._put(approval))
        task.add_done_callback(lambda _: self._open.pop(approval.id, None))

    def is_undecided(self, call_id: str) -> bool:
        """Whether the call was asked about, and nobody here has allowed it or heard that somebody did."""
        return call_id in self._undecided.values()

    def resolved(self, approval_id: str, status: str) -> None:
        """The approval was answered, here or on the console, or can no longer be answered."""
        if status == ApprovalStatus.APPROVED:
            self._undecided.pop(approval_id, None)
        task = self._open.pop(approval_id, None)
        if task is None:
            return
        task.cancel()
        if status in (ApprovalStatus.EXPIRED, ApprovalStatus.CANCELLED):
            self._screen.say(f"The question is closed: {status}.")
        else:
            self._screen.say(f"Answered: {status}.")

    async def close(self) -> None:
        """Ask no more."""
        tasks = tuple(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _put(self, approval: Approval) -> None:
        await self._stand_in_line(approval)
        async with self._asking:
            await self._put_alone(approval.id)

    async def _stand_in_line(self, approval: Approval) -> None:
        """Let the questions of calls that run before this one come first: those that are asked at once arrive in any order. One
        that has not come by now asks nobody."""
        place = approval.plan
        if place is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TOGETHER * (step_of(approval) - 1)):
                    await self._line(place["after"]).wait()
        self._line(approval.call_id).set()

    def _line(self, call_id: object) -> asyncio.Event:
        return self._in_line.setdefault(str(call_id), asyncio.Event())

    async def _put_alone(self, approval_id: str) -> None:
        try:
            approval, _, challenge = await self._approvals.get(self._console, approval_id)
            if challenge is None:
                return
            self._undecided[approval_id] = approval.call_id
            if approval.needs_passkey:
                await self._show_beginning(approval)
                await self._wait_for_console(approval)
            elif self._keyboard is None:
                self._screen.say(
                    f"`{approval.tool}` needs an approval, and there is no terminal to ask at, so it does not run. Run this in"
                    " a terminal, or have the policy allow it."
                )
                await self._take_back(approval)
            else:
                try:
                    scope = await self._ask_about_what_is_shown(approval, self._keyboard)
                except EOFError:
                    await self._take_back(approval)
                else:
                    await self._decide(approval, scope)
        except GatewayError as error:
            self._screen.say(f"That answer was not taken: {error.message}")

    async def _ask_about_what_is_shown(self, approval: Approval, keyboard: Keyboard) -> GrantScope | None:
        """Show all of it and ask, once more whenever what it would change is not what was shown any more.

        Raises EOFError as `_ask` does.
        """
        preview = await preview_call(self._toolbox, approval)
        while True:
            if not await self._turn_pages(self._pages_of(approval, preview), keyboard):
                return None
            scope = await self._ask(approval, keyboard)
            shown, preview = preview, await preview_call(self._toolbox, approval)
            if scope is None or preview == shown:
                return scope
            self._screen.say("", "What it would change is different by now. Please read it again.")

    async def _turn_pages(self, pages: Sequence[Sequence[str]], keyboard: Keyboard) -> bool:
        """Show page after page, each once the one before was left by the return key. False when the person denies on the way."""
        for number, page in enumerate(pages, start=1):
            self._screen.put(page)
            if number < len(pages) and not await self._may_turn(f"Page {number} of {len(pages)}", keyboard):
                return False
        return True

    async def _may_turn(self, place: str, keyboard: Keyboard) -> bool:
        while True:
            line = await self._read_answer(f"{place}. Return shows the next one, n denies: ", keyboard)
            if line is None:
                raise EOFError
            typed = line.strip().lower()
            if typed in _NO:
                return not typed
            self._screen.say("Nothing can be allowed before all of it was shown.")

    async def _show_beginning(self, approval: Approval) -> None:
        """The first page; the console, where the answer is given, shows all."""
        first, *others = self._pages_of(approval, await preview_call(self._toolbox, approval))
        self._screen.put(first)
        if others:
            self._screen.say(f"  ... {sum(map(len, others))} more rows; the console shows all of it")

    def _pages_of(self, approval: Approval, preview: Preview | CallObstacle | None) -> Sequence[Sequence[str]]:
        """What is asked, then everything about it in the rows of this terminal."""
        asked_for, tone = ("passkey", Tone.GRAVE) if approval.kind is ApprovalKind.STEP_UP else ("approval", Tone.CAREFUL)
        self._screen.say("", f"`{approval.tool}` needs your {asked_for}:", tone=tone)
        described = describe_approval(approval, order_arguments(self._toolbox, approval.tool, approval.parsed_arguments), preview)
        rows = [piece for row in described for piece in self._screen.cut(row.text, f"{MARGIN}{row.indent}", row.tone)]
        return [rows[start : start + _PAGE] for start in range(0, len(rows), _PAGE)]

    async def _ask(self, approval: Approval, keyboard: Keyboard) -> GrantScope | None:
        """The scope of an approval, None for a denial. Anything typed before the question was shown is discarded.

        Raises EOFError when the terminal is gone, or the person leaves by Ctrl-D.
        """
        offered = [scope for scope in approval.offers if scope is GrantScope.ONCE or not self._only_once]
        await asyncio.sleep(_ARMED_AFTER)
        while True:
            choices = "/".join([*(_CHOICES[scope] for scope in offered), "N"])
            line = await self._read_answer(f"Allow it? [{choices}] ", keyboard)
            if line is None:
                raise EOFError
            typed = line.strip().lower()
            if typed in _NO:
                return None
            if _YES.get(typed) in offered:
                return _YES[typed]
            self._screen.say("Please answer with one of the letters; an empty line denies.")

    async def _read_answer(self, question: str, keyboard: Keyboard) -> str | None:
        """What is typed after the question, and nothing typed before; None when the terminal is gone."""
        with keyboard.echoing():
            # Each time: the second line of a paste must not be taken for a second answer.
            keyboard.forget()
            self._screen.ask(question)
            return await keyboard.read_line()

    async def _take_back(self, approval: Approval) -> None:
        # The notification that follows concerns this answer, and must not interrupt it.
        self._open.pop(approval.id, None)
        await self._withdraw(approval)

    async def _decide(self, approval: Approval, scope: GrantScope | None) -> None:
        # A challenge lasts a minute and a person may read for longer; the approval itself never changes.
        _, _, challenge = await self._approvals.get(self._console, approval.id)
        if challenge is None:
            return
        self._undecided.pop(approval.id, None)
        # From here the result of `answer` counts, and the notification about it must not interrupt it.
        self._open.pop(approval.id, None)
        await self._approvals.decide(
            self._console, approval.id, challenge=challenge, approve=scope is not None, scope=scope or GrantScope.ONCE
        )

    async def _wait_for_console(self, approval: Approval) -> None:
        link = f"{self._console_origin}/approvals/{approval.id}"
        self._screen.say(_ask_for_passkeys(approval), "", f"  {link}", "")
        while (left := approval.expires_at - self._clock.now()) > 0:
            self._screen.progress(f"waiting for the console, {left // 1000} s left; Ctrl-C cancels")
            await asyncio.sleep(_TICK)


def _ask_for_passkeys(approval: Approval) -> str:
    needs = approval.needs
    if not needs.shared:
        return "Confirm it with your passkey here:"
    people = "Somebody else has" if needs.approvers == 1 else f"{needs.approvers} people have"
    return f"{people} to approve it with a passkey, here:"
