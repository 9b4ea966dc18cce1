"""`profiles.toml`: what each profile may use up, and the attributes that rules see of it."""

from __future__ import annotations

import re
import tomllib
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gateway.adapters.policy.documents import PROFILES
from gateway.adapters.policy.toml_places import describe_errors
from gateway.core.budget import Allowance, Quota, QuotaMeter
from gateway.core.errors import PolicyUnusable
from gateway.core.vocabulary import Profile
from gateway.runtime.ports import ProfileLimits

_Calls = Annotated[int, Field(ge=1, le=100_000_000)]
_Host = Annotated[str, Field(pattern=r"^[a-z0-9:.-]{1,253}$")]
_ToolName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]


_QUOTA = re.compile(r"(?P<most>[1-9][0-9]{0,14}) (?P<meter>[a-z_]+) per (?P<window>[a-z]+)")


def _read_quota(text: str) -> Allowance:
    """`60 calls per minute`."""
    found = _QUOTA.fullmatch(text)
    if found is None or found["meter"] not in tuple(QuotaMeter) or found["window"] not in tuple(Quota):
        meters, windows = ", ".join(QuotaMeter), ", ".join(Quota)
        raise ValueError(f"should be like `60 calls per minute`: a whole number of {meters}, per {windows}")
    return Allowance(QuotaMeter(found["meter"]), Quota(found["window"]), int(found["most"]))


class ProfileRules(BaseModel):
    """One table of `profiles.toml`; the file itself says what each key means."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    calls_per_turn: _Calls
    calls_per_session: _Calls
    calls_per_principal_per_day: _Calls
    pending_approvals: Annotated[int, Field(ge=1, le=1000)]
    stored_megabytes_per_session: Annotated[int, Field(ge=1, le=100_000_000)]
    tokens_per_session: Annotated[int, Field(ge=1, le=10**15)]
    session_seconds: Annotated[int, Field(ge=60, le=30 * 24 * 3600)]
    shows_forbidden: bool
    suppressed_tools: list[_ToolName]
    network_auto_hosts: list[_Host]
    remote_models: bool
    quotas: list[str] = []

    @field_validator("quotas")
    @classmethod
    def _check_quotas(cls, quotas: list[str]) -> list[str]:
        named = [(each.meter, each.window) for each in map(_read_quota, quotas)]
        if len(set(named)) < len(named):
            raise ValueError("two of them count the same")
        return quotas

    def limits(self) -> ProfileLimits:
        """The part that the runtime enforces."""
        return ProfileLimits(
            calls_per_turn=self.calls_per_turn,
            calls_per_session=self.calls_per_session,
            calls_per_principal_per_day=self.calls_per_principal_per_day,
            pending_approvals=self.pending_approvals,
            shows_forbidden=self.shows_forbidden,
            suppressed_tools=tuple(self.suppressed_tools),
            session_seconds=float(self.session_seconds),
            stored_bytes_per_session=self.stored_megabytes_per_session * 1_000_000,
            tokens_per_session=self.tokens_per_session,
            quotas=tuple(_read_quota(each) for each in self.quotas),
            network_auto_hosts=tuple(self.network_auto_hosts),
        )


class ProfileTable(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    operator: ProfileRules
    guest: ProfileRules
    anonymous: ProfileRules


def read_profiles(text: str) -> dict[Profile, ProfileRules]:
    """Every profile of the vocabulary. Raises PolicyUnusable, naming the key that is wrong."""
    try:
        table = ProfileTable.model_validate(tomllib.loads(text))
    except RecursionError:
        raise PolicyUnusable(f"`{PROFILES}`: its values are nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise PolicyUnusable(f"`{PROFILES}` is not TOML: {error}") from None
    except ValidationError as error:
        place, message = next(describe_errors(text, error))
        raise PolicyUnusable(f"`{PROFILES}` line {place.line}, column {place.column}: {message}") from None
    return {
        Profile.OPERATOR: table.operator,
        Profile.GUEST: table.guest,
        Profile.ANONYMOUS: table.anonymous,
        # Calls nothing and asks no model; of all limits only the length of a session is asked for.
        Profile.AUDITOR: table.guest,
    }
