"""One-time links with which a person registers a further device, such as a phone, without carrying a passkey to it.

A link lives in memory for five minutes, one of each console session. The browser that shows it first has it: what is on a screen
can be photographed, so whoever comes second finds it used, and the person who made it sees that it was opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gateway.core.errors import Refused
from gateway.runtime.ports import Clock, ConsoleSession, Entropy
from gateway.runtime.sessions import hash_secret

DEVICE_LINK_SECONDS = 300.0
"""As long as the answer of a passkey covers changes of the account."""


class DeviceOfferState(StrEnum):
    """What has become of a link."""

    WAITING = "waiting"
    """Nobody has opened it."""
    OPENED = "opened"
    """One browser has, and may register a passkey."""
    REGISTERED = "registered"
    """That browser did."""
    GONE = "gone"
    """It ran out, or there never was one."""


@dataclass(slots=True)
class DeviceOffer:
    """An open link. `browser`: whoever showed it first."""

    console: ConsoleSession
    deadline: float
    browser: str | None = None
    registered: bool = False


class DeviceOffers:
    """The open links of this process."""

    def __init__(self, *, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy
        self._by_hash: dict[str, DeviceOffer] = {}

    def make(self, console: ConsoleSession) -> str:
        """The token of a link; an older one of the same console session is void."""
        now = self._clock.monotonic()
        self._by_hash = {
            token_hash: offer
            for token_hash, offer in self._by_hash.items()
            if now < offer.deadline and offer.console.id != console.id
        }
        token = self._entropy.secret()
        self._by_hash[hash_secret(token)] = DeviceOffer(console, now + DEVICE_LINK_SECONDS)
        return token

    def claim(self, token: str, browser: str) -> DeviceOffer:
        """The offer, for the first browser that shows its link. Raises Refused `deviceLink` for every other."""
        offer = self._by_hash.get(hash_secret(token))
        if offer is None or self._clock.monotonic() >= offer.deadline or offer.registered or offer.browser not in (None, browser):
            raise device_link_gone()
        offer.browser = browser
        return offer

    def state(self, console: ConsoleSession) -> DeviceOfferState:
        """What has become of the newest link of a console session."""
        offer = next((each for each in self._by_hash.values() if each.console.id == console.id), None)
        if offer is not None and offer.registered:
            return DeviceOfferState.REGISTERED
        if offer is None or self._clock.monotonic() >= offer.deadline:
            return DeviceOfferState.GONE
        return DeviceOfferState.WAITING if offer.browser is None else DeviceOfferState.OPENED


def device_link_gone() -> Refused:
    """Whatever is wrong with a link, who shows it learns the same."""
    return Refused("deviceLink", "this link was opened already or has run out; make another on the console", 410)
