"""The annotations of a rule: its name, its sentence for people, and what it obliges to.

Cedar carries annotations without looking at them, so all of their checking is here. Values arrive as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gateway.adapters.policy.documents import explain
from gateway.core.approval import RuleReason
from gateway.core.obligations import Obligations, Presence, Recipient, Release
from gateway.core.redaction import RedactionClass
from gateway.core.vocabulary import Label

MOST_APPROVERS: Final = 9

_POOL: Final = re.compile(r"(?P<count>[1-9]) of (?P<people>[A-Za-z0-9_-]+(?:\s*,\s*[A-Za-z0-9_-]+)*)")

EARLIER_NAMES: Final = {"result_cap": "max_result_bytes"}
"""Names that annotations had in earlier versions. They still load: calls of that time are judged again under their own texts."""

_LABELS: Final = {label.name.lower(): label for label in Label}

_EARLIER_PRESENCE: Final = "required"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One rule: what it is called, why it exists, what it obliges to."""

    reason: RuleReason
    obligations: Obligations


class AnnotationRefused(Exception):
    """An annotation that does not hold. `name` is its name as it is written, None where the rule as a whole is meant."""

    def __init__(self, name: str | None, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message


def read_annotations(given: Mapping[str, str]) -> PolicyRule:
    """What the annotations of a rule say. Raises AnnotationRefused."""
    annotations = dict(given)
    for earlier, name in EARLIER_NAMES.items():
        if earlier in annotations:
            if name in annotations:
                raise AnnotationRefused(earlier, f"annotation `{earlier}`: it is the earlier name of `{name}`; give one of them")
            annotations[name] = annotations.pop(earlier)
    try:
        read = _Annotations.model_validate(annotations)
    except ValidationError as error:
        name = str(error.errors(include_url=False, include_context=False)[0]["loc"][0])
        written = next((old for old, new in EARLIER_NAMES.items() if new == name and old in given), name)
        unknown = name not in _Annotations.model_fields
        advice = f"; the annotations are {_KNOWN}" if unknown else ""
        raise AnnotationRefused(written, f"annotation {explain(error)}{advice}") from None
    obligations = read.obligations()
    if not obligations.can_be_met:
        raise AnnotationRefused("approvers", "annotation `approvers`: it names fewer people than must approve")
    if read.break_glass and not obligations.asks_others:
        raise AnnotationRefused("break_glass", "annotation `break_glass`: the rule asks nobody else; say who in `approvers`")
    return PolicyRule(RuleReason(read.id, read.why), obligations)


def _number(unit: str, low: int, high: int) -> BeforeValidator:
    """A whole number of a unit, written as digits and nothing else."""

    def read(text: object) -> int:
        if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,12}", text) or not low <= int(text) <= high:
            raise ValueError(f'must be a whole number of {unit} from {low} to {high}, without a unit, such as "{low}"')
        return int(text)

    return BeforeValidator(read)


def _read_redact(text: object) -> list[str]:
    return [part.strip() for part in str(text).split(",")]


def _read_presence(text: object) -> object:
    if text == _EARLIER_PRESENCE:
        return Presence.PASSKEY
    if text not in tuple(Presence):
        raise ValueError(f"must be one of {', '.join(Presence)}")
    return text


def _read_approvers(text: object) -> tuple[int, frozenset[str] | None]:
    """`2`, or `2 of prn_a, prn_b, prn_c`."""
    written = str(text)
    if re.fullmatch("[1-9]", written):
        return int(written), None
    if (named := _POOL.fullmatch(written)) is not None:
        return int(named["count"]), frozenset(re.split(r"\s*,\s*", named["people"]))
    raise ValueError(f'must be a number from 1 to {MOST_APPROVERS}, such as "2", or "2 of" and the ids of people')


def _read_release(text: object) -> Release:
    """`browser=confidential, remote-model=public`."""
    bounds: dict[Recipient, Label] = {}
    for part in str(text).split(","):
        recipient, equals, label = (piece.strip() for piece in part.partition("="))
        if not equals or recipient not in tuple(Recipient) or label.upper() not in Label.__members__ or label != label.lower():
            recipients, labels = ", ".join(Recipient), ", ".join(each.name.lower() for each in Label)
            raise ValueError(f'must be such as "browser=internal": recipients are {recipients}; labels are {labels}')
        if recipient in bounds:
            raise ValueError(f"names `{recipient}` twice")
        bounds[Recipient(recipient)] = _LABELS[label]
    return Release(tuple(sorted(bounds.items())))


def _read_flag(text: object) -> bool:
    if text not in ("true", "false"):
        raise ValueError('must be "true" or "false"')
    return text == "true"


def _read_break_glass(text: object) -> bool:
    if text not in ("allowed", "forbidden"):
        raise ValueError('must be "allowed" or "forbidden"')
    return text == "allowed"


class _Annotations(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$", max_length=64)]
    why: Annotated[str, Field(min_length=8, max_length=200)]
    redact: Annotated[tuple[RedactionClass, ...], BeforeValidator(_read_redact)] = ()
    max_result_bytes: Annotated[int | None, _number("bytes", 256, 1024 * 1024)] = None
    timeout_s: Annotated[int | None, _number("seconds", 1, 600)] = None
    approval_ttl_s: Annotated[int | None, _number("seconds", 10, 3600)] = None
    presence: Annotated[Presence, BeforeValidator(_read_presence)] = Presence.CLICK
    approvers: Annotated[tuple[int, frozenset[str] | None], BeforeValidator(_read_approvers)] = (1, None)
    requester_excluded: Annotated[bool, BeforeValidator(_read_flag)] = False
    break_glass: Annotated[bool, BeforeValidator(_read_break_glass)] = False
    lease_s: Annotated[int | None, _number("seconds", 10, 3600)] = None
    release: Annotated[Any, BeforeValidator(_read_release)] = Release()
    retain_days: Annotated[int | None, _number("days", 1, 3650)] = None
    requester_may_approve: Annotated[bool, BeforeValidator(_read_flag)] = True
    """The earlier name of what `requester_excluded` says the other way round."""

    def obligations(self) -> Obligations:
        approvers, pool = self.approvers
        excluded = self.requester_excluded or not self.requester_may_approve
        return Obligations(
            presence=self.presence,
            approvers=approvers,
            pool=pool,
            requester_excluded=excluded,
            alone_forbidden=(approvers > 1 or pool is not None or excluded) and not self.break_glass,
            redact=frozenset(self.redact),
            max_result_bytes=self.max_result_bytes,
            timeout=self.timeout_s,
            approval_ttl=self.approval_ttl_s,
            lease=self.lease_s,
            release=self.release,
            retain_days=self.retain_days,
        )


_KNOWN: Final = ", ".join(f"`{name}`" for name in _Annotations.model_fields if name != "requester_may_approve")
