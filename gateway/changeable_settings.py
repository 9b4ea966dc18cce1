"""Which settings an operator may change while the gateway runs, between which bounds, and what each of them reaches.

None of them gives anybody authority, names a file, a program or an address, or holds a secret: times, counts, how long content is
kept, and how much is logged. What a profile may spend is the policy's and is signed there. A bound is narrower than what a file
may say, so that nobody locks everybody out with one wrong number.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from gateway.runtime.gateway import Gateway
from gateway.runtime.notices import SettingsChangedNotice
from gateway.runtime.operator_settings import ChangeableSetting, OperatorSettings, SettingRange
from gateway.runtime.policies.signatures import PolicySignatures
from gateway.runtime.timing import Timing
from gateway.settings import Settings

DAY: Final = 24 * 3600

NEVER: Final = "never"
"""The word for content that is kept for good."""

LEVELS: Final = ("debug", "info", "warning", "error")

RANGES: Final = {
    "approval_seconds": SettingRange(10, DAY),
    "snapshot_seconds": SettingRange(60, DAY),
    "grace_seconds": SettingRange(1, 3600),
    "sockets_per_session": SettingRange(4, 4096),
    "enrolment_minutes": SettingRange(1, DAY // 60),
    "retain_days": SettingRange(0, 36_500, (NEVER,)),
    "drain_seconds": SettingRange(0, 600),
    "log_level": SettingRange(words=LEVELS),
}
"""Each by its name in `Settings`."""


def operator_settings(settings: Settings, gateway: Gateway) -> OperatorSettings:
    """The settings of a gateway that can be changed while it runs. Changes nothing yet."""
    ports = gateway.ports
    return OperatorSettings(
        changeable(settings, gateway.timing),
        signatures=PolicySignatures(verifier=ports.passkeys, ledger=ports.ledger, records=ports.records, clock=ports.clock),
        ledger=ports.ledger,
        records=ports.records,
        clock=ports.clock,
        entropy=ports.entropy,
        on_changed=lambda: gateway.connections.notify_operators(SettingsChangedNotice()),
    )


def changeable(settings: Settings, timing: Timing) -> Sequence[ChangeableSetting]:
    """Each of them, as the settings have it."""
    listed: list[ChangeableSetting] = []
    for name, range_ in RANGES.items():
        configured = getattr(settings, name)
        put = _setter(name, timing)
        listed.append(
            ChangeableSetting(
                name,
                range_,
                NEVER if configured is None else configured,
                settings.place_of(name),
                apply=put,
                restore=partial(put, NEVER if configured is None else configured),
            )
        )
    return listed


def _setter(name: str, timing: Timing) -> Callable[[float | str], None]:
    def approval(value: float | str) -> None:
        timing.approval = float(value)

    def snapshot(value: float | str) -> None:
        timing.snapshot = float(value)

    def grace(value: float | str) -> None:
        timing.grace = float(value)

    def sockets(value: float | str) -> None:
        timing.sockets = int(value)

    def enrolment(value: float | str) -> None:
        timing.enrolment = float(value) * 60

    def retention(value: float | str) -> None:
        timing.retention = replace(timing.retention, days=None if value == NEVER else int(value))

    def drain(value: float | str) -> None:
        timing.drain = float(value)

    def level(value: float | str) -> None:
        logging.getLogger().setLevel(str(value).upper())

    return {
        "approval_seconds": approval,
        "snapshot_seconds": snapshot,
        "grace_seconds": grace,
        "sockets_per_session": sockets,
        "enrolment_minutes": enrolment,
        "retain_days": retention,
        "drain_seconds": drain,
        "log_level": level,
    }[name]
