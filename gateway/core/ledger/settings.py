"""Settings that an operator changes while the gateway runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, base64url, header
from gateway.core.canonical import Json, canonical_bytes

__all__ = ["SettingChangeRefused", "SettingChanged", "SettingSignature"]


@dataclass(frozen=True, slots=True)
class SettingSignature:
    """The statement that an operator's passkey signed, and its whole answer."""

    console_session_id: str
    credential_id: bytes
    statement: bytes
    assertion: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SettingChanged:
    """A setting is another one from here on. `value` None puts it back to what it would be without a choice; `chosen` is every
    choice that holds from then on, so that the newest entry says all. `principal_id` and `signature` are None for somebody at
    the machine's own command line."""

    EVENT: ClassVar[str] = "setting:changed"

    at: int
    principal_id: str | None
    setting: str
    value: int | str | None
    chosen: Mapping[str, int | str]
    signature: SettingSignature | None

    def leaf(self) -> Leaf:
        signed = self.signature
        body: dict[str, Json] = {
            **header(self.EVENT, self.at, self.principal_id),
            "setting": self.setting,
            "value": self.value,
            "chosen": dict(self.chosen),
            "credentialId": None if signed is None else base64url(signed.credential_id),
        }
        if signed is None:
            return Leaf(body)
        payload: dict[str, Json] = {
            "statement": signed.statement.decode(),
            "consoleSessionId": signed.console_session_id,
            "assertion": dict(signed.assertion),
        }
        return Leaf(body, canonical_bytes(payload))


@dataclass(frozen=True, slots=True)
class SettingChangeRefused:
    """A passkey's answer was no signature of the change that it was given for."""

    EVENT: ClassVar[str] = "setting-change:refused"

    at: int
    principal_id: str
    setting: str
    reason: str

    def leaf(self) -> Leaf:
        body = {**header(self.EVENT, self.at, self.principal_id), "setting": self.setting, "reason": self.reason}
        return Leaf(body)


SettingEntry = SettingChanged | SettingChangeRefused
"""What may be written."""
