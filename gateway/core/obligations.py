"""What a permission obliges to: the closed set of obligations that a rule may name, and the strictest of several.

A permission may come from more than one rule. Each obligation has one direction that is stricter, and of all that take part the
strictest counts, so adding a rule never takes an obligation away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from gateway.core.redaction import RedactionClass
from gateway.core.vocabulary import Label


class Presence(StrEnum):
    """How a person who consents shows that they are there, weakest first."""

    CLICK = "click"
    PASSKEY = "passkey"
    """A tap of the passkey."""
    PASSKEY_UV = "passkey-uv"
    """A tap of the passkey with verification: the person's fingerprint, face or PIN."""


class Recipient(StrEnum):
    """Where a result may go."""

    BROWSER = "browser"
    LOCAL_MODEL = "local-model"
    REMOTE_MODEL = "remote-model"


@dataclass(frozen=True, slots=True)
class Release:
    """The highest label of results that may go to each recipient; a recipient that is not named has no bound."""

    bounds: tuple[tuple[Recipient, Label], ...] = ()

    def allows(self, recipient: Recipient, label: int) -> bool:
        """Whether a result of that label may go there."""
        return all(label <= highest for bounded, highest in self.bounds if bounded is recipient)


@dataclass(frozen=True, slots=True)
class Obligations:
    """What one rule, or several together, oblige to. None and empty oblige to nothing.

    `approvers` is how many people must approve, `pool` the ids of those whose approval counts (None: whoever may approve
    anyway), `requester_excluded` whether the person who asks may be one of them, `alone_forbidden` whether several must approve
    even where an operator would act alone for a reason that cannot wait. `timeout`, `approval_ttl` and `lease` are in
    seconds: how long the tool may run, the question may wait, a lasting approval may last. `retain_days` is how long the content
    may be kept.
    """

    presence: Presence = Presence.CLICK
    approvers: int = 1
    pool: frozenset[str] | None = None
    requester_excluded: bool = False
    alone_forbidden: bool = False
    redact: frozenset[RedactionClass] = frozenset()
    max_result_bytes: int | None = None
    timeout: float | None = None
    approval_ttl: int | None = None
    lease: int | None = None
    release: Release = Release()
    retain_days: int | None = None

    @property
    def can_be_met(self) -> bool:
        """Whether there are people enough who may approve."""
        return self.pool is None or len(self.pool) >= self.approvers

    @property
    def asks_others(self) -> bool:
        """Whether others than the requester alone have to approve, or may have to."""
        return self.approvers > 1 or self.requester_excluded or self.pool is not None


NOTHING = Obligations()

_PRESENCE = tuple(Presence)


def merge(obligations: Iterable[Obligations]) -> Obligations:
    """The strictest of each: the surest presence, the most approvers of those who count for every rule, everything that any rule
    takes out, and the least size, time and retention."""
    strictest = NOTHING
    for each in obligations:
        strictest = Obligations(
            presence=max(strictest.presence, each.presence, key=_PRESENCE.index),
            approvers=max(strictest.approvers, each.approvers),
            pool=_common(strictest.pool, each.pool),
            requester_excluded=strictest.requester_excluded or each.requester_excluded,
            alone_forbidden=strictest.alone_forbidden or each.alone_forbidden,
            redact=strictest.redact | each.redact,
            max_result_bytes=_least(strictest.max_result_bytes, each.max_result_bytes),
            timeout=_least(strictest.timeout, each.timeout),
            approval_ttl=_least(strictest.approval_ttl, each.approval_ttl),
            lease=_least(strictest.lease, each.lease),
            release=_narrower(strictest.release, each.release),
            retain_days=_least(strictest.retain_days, each.retain_days),
        )
    return strictest


def _common(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return one if other is None else other
    return one & other


_Number = TypeVar("_Number", int, float)


def _least(one: _Number | None, other: _Number | None) -> _Number | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _narrower(one: Release, other: Release) -> Release:
    bounds: dict[Recipient, Label] = {}
    for recipient, highest in (*one.bounds, *other.bounds):
        bounds[recipient] = min(highest, bounds.get(recipient, highest))
    return Release(tuple(sorted(bounds.items())))
