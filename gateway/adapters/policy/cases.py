"""The decision table: what the policy is meant to say, case by case, in `cases/*.toml` beside the documents."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gateway.adapters.policy.breaks import read_toml_place
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import decode, read_document
from gateway.adapters.policy.toml_places import describe_errors
from gateway.core.errors import PolicyUnusable
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import Moment
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile, Trust
from gateway.runtime.ports import PolicySubject, PolicyVerdict

FOLDER = "cases"

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class _Strict(BaseModel):
    # Built by the first case that is read.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class CaseTool(_Strict):
    """The tool that is asked for, as far as rules can see it."""

    name: str = "tool"
    category: Category
    network: bool = False
    source: str = "builtin"
    interface: str = "workspace"
    trust: Trust = Trust.TRUSTED


class CaseFacts(_Strict):
    """What the tool reports about the call."""

    path: str | None = None
    host: str | None = None
    bytes: int | None = None
    recursive: bool | None = None
    second_path: str | None = None


class PolicyCase(_Strict):
    """One row: a question and the verdict it must get.

    Either `tool` or `infer` is given. Without `facts` it is the mode published in a snapshot, with `facts = {}` a call about
    which the tool says nothing. `because`, where given, is exactly the set of rules that must have taken part.
    """

    about: Annotated[str, Field(min_length=1)]
    profile: Profile
    person: str = "prn_case"
    tool: CaseTool | None = None
    infer: Literal["local", "remote"] | None = None
    facts: CaseFacts | None = None
    taint: Annotated[int, Field(ge=0, le=1)] = 0
    label: Literal["public", "internal", "confidential", "high"] = "public"
    calls_in_turn: Annotated[int, Field(ge=0)] = 1
    calls_in_session: Annotated[int, Field(ge=0)] = 1
    tools_used: tuple[str, ...] = ()
    arguments_from_untrusted: bool = False
    time: Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")] = "12:00"
    weekday: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] = "monday"
    expect: PermissionMode
    because: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _ask_one_thing(self) -> PolicyCase:
        if (self.tool is None) == (self.infer is None):
            raise ValueError("a case asks about either `tool` or `infer`")
        if self.infer is not None and (self.facts is not None or self.taint or self.arguments_from_untrusted):
            raise ValueError("`facts`, `taint` and `arguments_from_untrusted` say something about a tool call only")
        return self

    @property
    def moment(self) -> Moment:
        """What was true when the call was made."""
        hour, _, minute = self.time.partition(":")
        return Moment(
            calls_in_turn=self.calls_in_turn,
            calls_in_session=self.calls_in_session,
            tools_used=frozenset(self.tools_used),
            minute_of_day=int(hour) * 60 + int(minute),
            weekday=_WEEKDAYS.index(self.weekday) + 1,
            arguments_from_untrusted=self.arguments_from_untrusted,
        )

    @property
    def question(self) -> str:
        """What is asked, in one line for the table."""
        reach = " with network" if self.tool is not None and self.tool.network else ""
        asked = f"{self.tool.name} ({self.tool.category}{reach})" if self.tool else f"{self.infer} model"
        marks = [self.label] * (self.label != "public") + ["tainted"] * self.taint
        marks += ["arguments from untrusted"] * self.arguments_from_untrusted
        return " ".join([self.profile, asked, *marks])


class CaseFile(_Strict):
    """A file of the decision table."""

    case: tuple[PolicyCase, ...]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case and the policy's verdict on it."""

    case: PolicyCase
    verdict: PolicyVerdict

    @property
    def passed(self) -> bool:
        """Whether mode and, where the case names them, rules are as expected."""
        if self.verdict.mode is not self.case.expect:
            return False
        return self.case.because is None or set(self.case.because) == set(self.rule_ids)

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """The rules that took part, determining ones first."""
        return tuple(reason.id for reason in self.verdict.because)


def read_cases(folder: Path) -> list[PolicyCase]:
    """All cases of a policy folder, in the order of file names. Raises PolicyUnusable, naming file and row."""
    return parse_cases(read_case_texts(folder))


def read_case_texts(folder: Path) -> dict[str, str]:
    """The texts of a policy folder's cases by file name, `cases/NAME.toml`. Raises PolicyUnusable."""
    texts: dict[str, str] = {}
    for path in sorted((folder / FOLDER).glob("*.toml")):
        name = f"{FOLDER}/{path.name}"
        texts[name] = decode(name, read_document(path, name))
    return texts


def parse_cases(texts: Mapping[str, str]) -> list[PolicyCase]:
    """The cases that these texts are, by file name. Raises PolicyUnusable, naming file and row."""
    cases: list[PolicyCase] = []
    for name, text in sorted(texts.items()):
        try:
            cases += CaseFile.model_validate(tomllib.loads(text)).case
        except RecursionError:
            raise PolicyUnusable(f"`{name}` line 1, column 1: its values are nested too deeply") from None
        except tomllib.TOMLDecodeError as error:
            message, place = read_toml_place(str(error))
            raise PolicyUnusable(f"`{name}` line {place.line}, column {place.column}: not TOML: {message}") from None
        except ValidationError as error:
            place, message = next(describe_errors(text, error))
            raise PolicyUnusable(f"`{name}` line {place.line}, column {place.column}: {message}") from None
    return cases


def run_cases(policy: CedarPolicy, cases: Iterable[PolicyCase]) -> list[CaseResult]:
    """Put every case to the policy."""
    return [CaseResult(case, _judge(policy, case)) for case in cases]


def _judge(policy: CedarPolicy, case: PolicyCase) -> PolicyVerdict:
    label = Label[case.label.upper()]
    subject = PolicySubject(Principal(case.person, case.person, case.profile), Label.PUBLIC, case.moment)
    if case.tool is None:
        return policy.may_infer(subject, local=case.infer == "local", label=label)
    spec = ToolSpec(
        name=case.tool.name,
        description="",
        interface_id=case.tool.interface,
        method_name=case.tool.name,
        param_schema={},
        category=case.tool.category,
        source=case.tool.source,
        network=case.tool.network,
        trust=case.tool.trust,
    )
    facts = None if case.facts is None else CallFacts(**case.facts.model_dump())
    return policy.judge(subject, spec, facts, taint=case.taint, label=label)
