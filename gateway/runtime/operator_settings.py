"""Settings that an operator may change while the gateway runs: what each may be, what it is, and who changed it.

Only what neither gives authority nor names a place is among them. What is set in the environment, in a file or on the command
line stays there: the console says so and changes nothing.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.core.canonical import Json, canonical_bytes, digest
from gateway.core.errors import InvalidParams, Refused
from gateway.core.ledger import SettingChanged, SettingChangeRefused, SettingSignature
from gateway.core.times import rfc3339
from gateway.core.vocabulary import SettingPlace
from gateway.runtime.asking import ChangeLock
from gateway.runtime.policies.signatures import PolicySignatures
from gateway.runtime.ports import Clock, ConsoleSession, Entropy, Ledger, SettingRecords

QUESTION_SECONDS: Final = 120.0
"""How long the passkey's question is open."""

Value: TypeAlias = int | str
"""A whole number, or a word."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SettingRange:
    """What a setting may be: a whole number between two, or one of some words."""

    least: int = 0
    most: int = 0
    words: tuple[str, ...] = ()

    def find_fault(self, value: Value) -> str | None:
        """What would be right, where the value is not."""
        right = [f"a whole number from {self.least} to {self.most}"] if self.most else []
        right += [f"`{word}`" for word in self.words]
        known = self.words if isinstance(value, str) else range(self.least, self.most + 1) if self.most else ()
        return None if value in known else f"should be {', '.join(right[:-1])}{' or ' if right[1:] else ''}{right[-1]}"


@dataclass(frozen=True, slots=True)
class ChangeableSetting:
    """One of them. `configured` is what it is without a choice on the console, from `place`; `apply` puts a value in force."""

    name: str
    range: SettingRange
    configured: float | str
    place: SettingPlace
    apply: Callable[[Value], None]
    restore: Callable[[], None]
    """Puts `configured` in force again."""

    @property
    def is_fixed(self) -> bool:
        """Whether it is set where the console changes nothing."""
        return self.place is not SettingPlace.DEFAULT


@dataclass(frozen=True, slots=True)
class SettingState:
    """A setting as it is now."""

    setting: ChangeableSetting
    value: float | str
    place: SettingPlace


@dataclass(frozen=True, slots=True)
class SettingQuestion:
    """What a passkey has to sign for a change."""

    statement: bytes
    options: Mapping[str, Json]

    @property
    def digest(self) -> str:
        """Of the statement."""
        return hashlib.sha256(self.statement).hexdigest()


@dataclass(frozen=True, slots=True)
class _Wish:
    name: str
    value: Value | None
    base: str
    statement: bytes
    until: float


class OperatorSettings:
    """Lists and changes them. A change is on record first, then in force."""

    def __init__(
        self,
        settings: Sequence[ChangeableSetting],
        *,
        signatures: PolicySignatures,
        ledger: Ledger,
        records: SettingRecords,
        clock: Clock,
        entropy: Entropy,
        on_changed: Callable[[], None],
    ) -> None:
        self._settings = {each.name: each for each in settings}
        self._signatures = signatures
        self._ledger = ledger
        self._records = records
        self._clock = clock
        self._entropy = entropy
        self._on_changed = on_changed
        self._chosen: Mapping[str, Value] = {}
        self._asked: dict[str, _Wish] = {}
        self._changing = ChangeLock()

    async def restore(self) -> None:
        """Take up what was chosen before. What could not be chosen now is left as it is configured."""
        self._chosen = await self._records.chosen_settings()
        for name, value in self._chosen.items():
            setting = self._settings.get(name)
            if setting is None or setting.is_fixed:
                continue
            if setting.range.find_fault(value) is None:
                setting.apply(value)
            else:
                _log.warning("`%s` was set on the console to what it may no longer be; it is %s", name, setting.configured)

    @property
    def version(self) -> str:
        """Of all choices: whoever changes one says which version they saw."""
        return digest(dict(self._chosen))

    def list(self) -> Sequence[SettingState]:
        """Every one, as it is now."""
        return [self._look(each) for each in self._settings.values()]

    async def ask(self, console: ConsoleSession, name: str, value: Value | None, base: str) -> SettingQuestion:
        """What a passkey has to sign to set it to `value`; None puts it back. Raises InvalidParams for a name or a value that is
        none, Refused `settingFixed` and `conflict`."""
        self._require(name, value)
        self._require_version(base)
        statement = canonical_bytes(
            {
                "v": 1,
                "type": "countersign.setting-change",
                "setting": name,
                "value": value,
                "base": base,
                "nonce": self._entropy.secret(),
                "principal": console.principal.id,
                "consoleSessionId": console.id,
                "issuedAt": rfc3339(self._clock.now()),
            }
        )
        options = await self._signatures.options(console, statement)
        now = self._clock.monotonic()
        self._asked = {id_: each for id_, each in self._asked.items() if each.until > now}
        self._asked[console.id] = _Wish(name, value, base, statement, now + QUESTION_SECONDS)
        return SettingQuestion(statement, options)

    async def sign(self, console: ConsoleSession, assertion: Mapping[str, Json]) -> None:
        """Change what this console was asked about last. Raises Refused `challengeExpired`, `assertionInvalid` or `conflict`."""
        wish = self._asked.pop(console.id, None)
        if wish is None or self._clock.monotonic() >= wish.until:
            raise Refused("challengeExpired", "this question was answered already or has run out; start again", 410)
        signed = await self._signatures.verify_for(
            console,
            wish.statement,
            assertion,
            lambda at, reason: SettingChangeRefused(at, console.principal.id, wish.name, reason),
        )
        signature = SettingSignature(console.id, signed.signature.credential_id, wish.statement, assertion)
        async with self._changing:
            self._require_version(wish.base)
            chosen = self._with(wish.name, wish.value)
            changed = SettingChanged(self._clock.now(), console.principal.id, wish.name, wish.value, chosen, signature)
            await self._ledger.append(changed, signed.used)
            self._enact(wish.name, chosen)

    async def change_here(self, name: str, value: Value | None) -> None:
        """Change it for somebody at the machine's own command line, who could write it into the file as well. Raises
        InvalidParams and Refused `settingFixed`."""
        self._require(name, value)
        async with self._changing:
            chosen = self._with(name, value)
            await self._ledger.append(SettingChanged(self._clock.now(), None, name, value, chosen, None))
            self._enact(name, chosen)

    # ── private ──

    def _require(self, name: str, value: Value | None) -> None:
        setting = self._settings.get(name)
        if setting is None:
            raise InvalidParams(f"no setting of that name can be changed here; there are {', '.join(self._settings)}")
        if setting.is_fixed:
            raise Refused("settingFixed", f"`{name}` is set {_WHERE[setting.place]}; change it there", 409)
        fault = None if value is None else setting.range.find_fault(value)
        if fault is not None:
            raise InvalidParams(f"`{name}` {fault}")

    def _require_version(self, base: str) -> None:
        if base != self.version:
            raise Refused("conflict", "somebody has changed a setting meanwhile; look at what they are now", 409)

    def _with(self, name: str, value: Value | None) -> Mapping[str, Value]:
        others = {each: chosen for each, chosen in self._chosen.items() if each != name}
        return others if value is None else {**others, name: value}

    def _enact(self, name: str, chosen: Mapping[str, Value]) -> None:
        self._chosen = chosen
        setting = self._settings[name]
        if name in chosen:
            setting.apply(chosen[name])
        else:
            setting.restore()
        self._on_changed()

    def _look(self, setting: ChangeableSetting) -> SettingState:
        value = None if setting.is_fixed else self._chosen.get(setting.name)
        if value is None or setting.range.find_fault(value) is not None:
            return SettingState(setting, setting.configured, setting.place)
        return SettingState(setting, value, SettingPlace.CONSOLE)


_WHERE: Final = {
    SettingPlace.FILE: "in `countersign.toml`",
    SettingPlace.ENVIRONMENT: "in the environment",
    SettingPlace.COMMAND_LINE: "by an option of the command",
}
