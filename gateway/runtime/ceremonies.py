"""Open questions to a passkey, each bound to the browser that asked for it.

A challenge lives in memory only, for two minutes by the monotonic clock, and is gone before its answer is looked at. The
browser is known by a cookie of its own, made before anyone has signed in, so that a challenge carried to another browser
is worth nothing there. Failures are counted per browser and never per account: a flood locks nobody else out.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum

from gateway.core.errors import Refused
from gateway.runtime.ports import Clock, Entropy

CHALLENGE_OCTETS = 32
"""WebAuthn L3 section 13.4.3 asks for at least 16."""

CHALLENGE_SECONDS = 120.0
FAILURES = 5
"""Wrong answers of one browser before it starts anew; PSD2 RTS article 4 draws the line at the same number."""

BROWSERS = 4096
"""Browsers remembered, about 2 MB; beyond that the one that asked longest ago asks again."""


class Purpose(StrEnum):
    """What an answer is for. An answer given for one purpose is none for another."""

    ENROL = "enrol"
    SIGN_IN = "signIn"
    ADD_PASSKEY = "addPasskey"
    ADD_DEVICE = "addDevice"


@dataclass(frozen=True, slots=True)
class Ceremony:
    """One open question. `subject` is what it is about: an enrolment's token hash, a console session's id, or nothing."""

    challenge: bytes
    subject: str
    user_handle: bytes
    deadline: float


@dataclass(slots=True)
class _Browser:
    open: dict[Purpose, Ceremony] = field(default_factory=dict[Purpose, Ceremony])
    failures: int = 0


class OpenCeremonies:
    """The open questions of this process."""

    def __init__(self, *, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy
        self._browsers: OrderedDict[str, _Browser] = OrderedDict()

    def open(self, browser: str, purpose: Purpose, *, subject: str = "", user_handle: bytes = b"") -> Ceremony:
        """Ask. A newer question of the same purpose replaces the older one."""
        ceremony = Ceremony(
            self._entropy.octets(CHALLENGE_OCTETS), subject, user_handle, self._clock.monotonic() + CHALLENGE_SECONDS
        )
        known = self._browsers.setdefault(browser, _Browser())
        known.open[purpose] = ceremony
        self._browsers.move_to_end(browser)
        while len(self._browsers) > BROWSERS:
            self._browsers.popitem(last=False)
        return ceremony

    def take(self, browser: str, purpose: Purpose, *, subject: str = "") -> Ceremony:
        """The question that an answer belongs to, closed by being taken. Raises Refused `challenge`."""
        known = self._browsers.get(browser)
        ceremony = None if known is None else known.open.pop(purpose, None)
        if ceremony is None or self._clock.monotonic() >= ceremony.deadline:
            raise Refused("challenge", "this question was answered already or has run out; start again")
        if not hmac.compare_digest(ceremony.subject, subject):
            raise Refused("challenge", "this question was asked about something else; start again")
        return ceremony

    def failed(self, browser: str) -> None:
        """Count a wrong answer. Raises Refused `tooManyFailures` when it was one too many; the browser is forgotten then."""
        known = self._browsers.get(browser)
        if known is None:
            return
        known.failures += 1
        if known.failures >= FAILURES:
            self.forget(browser)
            raise Refused("tooManyFailures", "too many wrong answers; start again", 429)

    def forget(self, browser: str) -> None:
        """Drop a browser's questions and failures: it has signed in, or starts anew."""
        self._browsers.pop(browser, None)
