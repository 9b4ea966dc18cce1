"""The policy engine: Cedar decides, and only a decision without errors counts as a permission.

A tool's mode is the cheapest of three actions that is allowed, and forbidden if none is. Any error in the diagnostics
makes it forbidden, whatever the decision says: Cedar skips a `forbid` that fails, and would then allow. The same holds for
`NoDecision`, which is what Cedar answers to a request that it cannot build.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import cedarpy

from gateway.adapters.policy.annotations import PolicyRule
from gateway.adapters.policy.documents import SCHEMA, PolicyDocuments, from_texts, read_documents
from gateway.adapters.policy.failing import FailingRules
from gateway.adapters.policy.generations import GENERATIONS, SchemaGeneration
from gateway.adapters.policy.likeness import Likeness
from gateway.adapters.policy.profiles import ProfileRules, read_profiles
from gateway.adapters.policy.reading import MomentReading
from gateway.adapters.policy.rules import NAMESPACE, RuleSet, compile_rules
from gateway.core.approval import RuleReason
from gateway.core.canonical import Json
from gateway.core.errors import PolicyUnusable
from gateway.core.model import CallFacts, Principal, ToolSpec
from gateway.core.moment import UNTOLD, Moment, MomentFact
from gateway.core.obligations import merge
from gateway.core.vocabulary import Category, Label, PermissionMode, Profile, Trust
from gateway.runtime.ports import PolicySubject, PolicyVerdict, ProfileLimits

_CHEAPEST_FIRST = (
    ("invoke", PermissionMode.AUTO),
    ("invoke_with_consent", PermissionMode.CONSENT),
    ("invoke_with_step_up", PermissionMode.STEP_UP),
)

_REMEMBERED = 8192
"""Verdicts kept. A question is under 2 KB (see `_LONGEST_FACT`), so all of them stay under some 20 MB."""

_ENTITIES = 512
"""Pairs of a person and a tool that are kept as Cedar reads them. Those of a call were read when its turn's tools were judged."""

_LONGEST_FACT = 512
"""Characters of a path or host that a remembered question may hold; a client must not fill memory with long ones."""

_UNNAMED = ""
"""Represents every person that no rule names, so that they share verdicts. No rule can name it (see `rules`)."""

PROFILE_GROUPS: Final[Mapping[Profile, tuple[str, ...]]] = {
    Profile.OPERATOR: ("operator", "enrolled"),
    Profile.GUEST: ("guest", "enrolled"),
    Profile.ANONYMOUS: ("anonymous",),
    # Never acts, so no policy speaks of it. A rule for everybody would: sessions that can call are refused before that.
    Profile.AUDITOR: (),
}
"""What rules know the people of a profile as."""


class CedarPolicy:
    """The PolicyEngine over a folder of documents, or over documents that lie in none, such as those of an earlier version.
    Raises PolicyUnusable when they do not load. `exempt` are versions that may have more rules than a new one."""

    def __init__(self, source: Path | PolicyDocuments, exempt: Container[str] = ()) -> None:
        self._source = source
        self._exempt = exempt
        self._in_force = self._load()

    @property
    def version(self) -> str:
        """Hex digest of the documents in force."""
        return self._in_force.version

    @property
    def reads(self) -> frozenset[MomentFact]:
        """What of a moment the rules in force look at."""
        return self._in_force.reading.facts

    @property
    def documents(self) -> Mapping[str, str]:
        """The texts in force by file name."""
        return self._in_force.documents

    @property
    def rule_ids(self) -> frozenset[str]:
        """The ids of all rules in force."""
        return self._in_force.rule_ids

    @property
    def rule_set(self) -> RuleSet:
        """The rules in force, parsed."""
        return self._in_force.rule_set

    @property
    def profiles(self) -> Mapping[Profile, ProfileRules]:
        """What `profiles.toml` says, by profile."""
        return self._in_force.profiles

    @property
    def generation(self) -> SchemaGeneration:
        """What the schema in force is told."""
        return self._in_force.generation

    def judge(self, subject: PolicySubject, spec: ToolSpec, facts: CallFacts | None, *, taint: int, label: int) -> PolicyVerdict:
        """The verdict for one call; with None for facts, the mode to publish."""
        return self._in_force.judge(subject.principal, spec, facts, taint, max(subject.label, label), subject.moment)

    def may_infer(self, subject: PolicySubject, *, local: bool, label: int) -> PolicyVerdict:
        """Whether prompts of this subject may go to that kind of model; auto or forbidden."""
        return self._in_force.may_infer(subject.principal, local, max(subject.label, label))

    def limits(self, profile: Profile) -> ProfileLimits:
        """What the profile may use up and see."""
        return self._in_force.limits[profile]

    def rules(self) -> Sequence[RuleReason]:
        """Every rule in force with its author's sentence, by id."""
        return self._in_force.reasons

    @classmethod
    def of_record(cls, documents: Mapping[str, str]) -> CedarPolicy:
        """A version that was in force, whose rules may be more than a new one may have. Raises PolicyUnusable."""
        read = from_texts(documents)
        return cls(read, exempt=(read.version,))

    def reload(self) -> None:
        """Put the folder's documents in force, whole, or raise PolicyUnusable and change nothing."""
        self._in_force = self._load()

    def snapshot(self) -> CedarPolicy:
        """What is in force now, as a policy that stays so."""
        same = copy.copy(self)
        same.enact(self)
        return same

    def enact(self, other: CedarPolicy) -> None:
        """Put in force what the other one has in force, and read no folder any more."""
        self._source, self._in_force = from_texts(other.documents), other._in_force

    def _load(self) -> _PolicyInForce:
        documents = read_documents(self._source) if isinstance(self._source, Path) else self._source
        limited = documents.version not in self._exempt
        try:
            return _enact(documents, limited=limited)
        except PolicyUnusable as error:
            # Loaded where it is needed: reading texts rule by rule is for telling what is wrong with them.
            from gateway.adapters.policy.faults import find_first_error

            if (fault := find_first_error(documents.texts(), limited=limited)) is None:
                raise
            raise PolicyUnusable(f"`{fault.file}` line {fault.line}, column {fault.column}: {fault.message}") from error


class _ToolQuestion(NamedTuple):
    """All that a verdict over a tool can depend on, and therefore the key under which it is remembered.

    `tool`, `source` and `interface` are those of the tool that stands for all that no rule tells apart from the one in question.
    """

    profile: Profile
    person: str
    tool: str
    category: Category
    network: bool
    source: str
    interface: str
    trust: Trust
    facts: CallFacts | None
    taint: int
    label: int
    moment: Moment


class _ModelQuestion(NamedTuple):
    """All that a verdict over a model can depend on."""

    profile: Profile
    person: str
    local: bool
    label: int


class _PolicyInForce:
    """One version of the policy, immutable but for the verdicts that it remembers."""

    def __init__(self, documents: PolicyDocuments, rule_set: RuleSet, profiles: Mapping[Profile, ProfileRules]) -> None:
        self.version = documents.version
        self.documents = documents.texts()
        self.limits = {profile: rules.limits() for profile, rules in profiles.items()}
        self.reasons = tuple(sorted((rule.reason for rule in rule_set.rules.values()), key=lambda reason: reason.id))
        self.rule_ids = frozenset(reason.id for reason in self.reasons)
        self.rule_set = rule_set
        self.profiles = profiles
        self._likeness = Likeness(
            rule_set.parsed, [texts for each in profiles.values() for texts in (each.suppressed_tools, each.network_auto_hosts)]
        )
        self.reading = MomentReading(rule_set.parsed.values())
        self._failing = FailingRules(rule_set.rules, self.documents)
        self.generation = GENERATIONS[0]
        self._remember_tool = lru_cache(_REMEMBERED)(self._judge_tool)
        self._remember_model = lru_cache(_REMEMBERED)(self._judge_model)
        self._remember_entities = lru_cache(_ENTITIES)(self._read_entities)

    def judge(
        self, principal: Principal, spec: ToolSpec, facts: CallFacts | None, taint: int, label: int, moment: Moment = UNTOLD
    ) -> PolicyVerdict:
        if facts is not None and facts.second_path is not None:
            first = replace(facts, second_path=None)
            second = replace(first, path=facts.second_path)
            return _stricter(*(self.judge(principal, spec, each, taint, label, moment) for each in (first, second)))
        tool, source, interface = self._likeness.representative((spec.name, spec.source, spec.interface_id))
        is_kept = facts is None or len(facts.path or "") + len(facts.host or "") <= _LONGEST_FACT
        question = _ToolQuestion(
            principal.profile,
            self._person(principal),
            tool,
            spec.category,
            spec.network or spec.category is Category.NETWORK,
            source,
            interface,
            spec.trust,
            self._likeness.representative_facts(facts) if facts is not None and is_kept else facts,
            taint,
            label,
            self.reading.reduce(moment),
        )
        return self._remember_tool(question) if is_kept else self._judge_tool(question)

    def ask_as(self, generation: SchemaGeneration) -> None:
        """Ask as an earlier version did."""
        self.generation = generation
        self._remember_tool.cache_clear()

    def may_infer(self, principal: Principal, local: bool, label: int) -> PolicyVerdict:
        return self._remember_model(_ModelQuestion(principal.profile, self._person(principal), local, label))

    def _person(self, principal: Principal) -> str:
        return principal.id if principal.id in self.rule_set.named else _UNNAMED

    def _judge_tool(self, question: _ToolQuestion) -> PolicyVerdict:
        generation = self.generation
        told = {name: value for name, value in {**_UNREAD, **question.moment.told()}.items() if name in generation.moment}
        trust = {"trust": question.trust.value} if generation.trust else {}
        tool: Json = {
            "uid": _uid("Tool", question.tool),
            "attrs": {
                "name": question.tool,
                "source": question.source,
                "interface": question.interface,
                "network": question.network,
                **trust,
            },
            "parents": [_uid("Category", question.category.value)],
        }
        context: Json = {
            "publishing": question.facts is None,
            "taint": question.taint,
            "label": question.label,
            "facts": _reported(question.facts),
            **told,
        }
        return self._judge(self._describe_person(question.profile, question.person), _CHEAPEST_FIRST, tool, context)

    def _judge_model(self, question: _ModelQuestion) -> PolicyVerdict:
        model: Json = {
            "uid": _uid("Model", "local" if question.local else "remote"),
            "attrs": {"local": question.local},
            "parents": [],
        }
        actions = (("infer", PermissionMode.AUTO),)
        return self._judge(self._describe_person(question.profile, question.person), actions, model, {"label": question.label})

    def _describe_person(self, profile: Profile, person: str) -> Json:
        rules = self.profiles[profile]
        return {
            "uid": _uid("Principal", person),
            "attrs": {
                "autoHosts": rules.network_auto_hosts,
                "remoteModels": rules.remote_models,
                "suppressedTools": rules.suppressed_tools,
            },
            "parents": [_uid("Profile", name) for name in PROFILE_GROUPS[profile]],
        }

    def _judge(self, person: Json, actions: Iterable[tuple[str, PermissionMode]], resource: Json, context: Json) -> PolicyVerdict:
        """The mode of the first action that is allowed."""
        schema = self.rule_set.schema
        # As text, which Cedar reads: otherwise its binding would write it anew for each action.
        request = {"principal": person["uid"], "resource": resource["uid"], "context": json.dumps(context)}
        blocked: list[PolicyRule] = []
        try:
            entities = self._remember_entities(json.dumps([person, resource]))
            for action, mode in actions:
                asked = {**request, "action": _uid("Action", action)}
                result = cedarpy.is_authorized(asked, self.rule_set.policies[action], entities, schema)  # pyright: ignore[reportUnknownMemberType] - cedarpy has no types
                if result.decision is cedarpy.Decision.NoDecision:
                    return _forbidden([_UNANSWERED])
                if result.diagnostics.errors:
                    return _forbidden(self._failing.name(result.diagnostics.errors) or [_UNANSWERED])
                rules = [self.rule_set.rules[position] for position in result.diagnostics.reasons]
                if result.allowed:
                    return _permitted(mode, rules, blocked)
                blocked += rules
        except ValueError:
            return _forbidden([_UNANSWERED])
        return _forbidden(_reasons(blocked))

    def _read_entities(self, text: str) -> cedarpy.Entities:
        """A person and what they ask for, checked against the schema. Raises ValueError."""
        return cedarpy.Entities.from_json_str(text, self.rule_set.schema)  # pyright: ignore[reportUnknownMemberType] - a bare dict


_UNREAD: Final[Mapping[str, Json]] = {
    MomentFact.CALLS_IN_TURN: 0,
    MomentFact.CALLS_IN_SESSION: 0,
    MomentFact.TOOLS_USED: [],
    MomentFact.MINUTE_OF_DAY: 0,
    MomentFact.WEEKDAY: 1,
    MomentFact.ARGUMENTS_FROM_UNTRUSTED: False,
}
"""Stands for what a subject does not tell because no rule looks at it: the schema asks for a value of each."""

_UNANSWERED = RuleReason("policy.unanswered", "The policy could not judge this call, so it is not allowed")


def _enact(documents: PolicyDocuments, *, limited: bool) -> _PolicyInForce:
    in_force = _PolicyInForce(documents, compile_rules(documents, limited=limited), read_profiles(documents.profiles))
    # A schema that no longer describes what is asked would forbid everything, call by call; better said at once.
    someone = Principal("", "", Profile.OPERATOR)
    tool = ToolSpec("probe", "", "", "", {}, Category.READ, "")
    facts = CallFacts(path=".", host="localhost", bytes=0, recursive=False)
    for generation in GENERATIONS:
        in_force.ask_as(generation)
        if _UNANSWERED not in in_force.judge(someone, tool, facts, 0, Label.PUBLIC).because:
            break
    for verdict in (
        in_force.judge(someone, tool, facts, 0, Label.PUBLIC),
        in_force.may_infer(someone, True, Label.PUBLIC),
    ):
        if _UNANSWERED in verdict.because:
            raise PolicyUnusable(f"`{SCHEMA}` does not describe what the gateway asks; start from the one that came with it")
    return in_force


def _permitted(mode: PermissionMode, permits: list[PolicyRule], blocked: list[PolicyRule]) -> PolicyVerdict:
    """The mode with the strictest of what its permits oblige to."""
    obligations = merge(rule.obligations for rule in permits)
    if not obligations.can_be_met:
        return _forbidden((*_reasons(permits), _NOBODY_LEFT))
    return PolicyVerdict(mode, (*_reasons(permits), *_reasons(blocked)), obligations)


def _stricter(one: PolicyVerdict, other: PolicyVerdict) -> PolicyVerdict:
    """What both of two verdicts over one call ask for."""
    mode = max(one.mode, other.mode, key=lambda mode: mode.strictness)
    asking = [each for each in (one, other) if each.mode is mode]
    reasons = {reason for each in asking for reason in each.because}
    because = tuple(sorted(reasons, key=lambda reason: reason.id)) if len(asking) > 1 else asking[0].because
    obligations = merge((one.obligations, other.obligations))
    if mode is not PermissionMode.FORBIDDEN and not obligations.can_be_met:
        return _forbidden((*because, _NOBODY_LEFT))
    return PolicyVerdict(mode, because, obligations)


_NOBODY_LEFT = RuleReason("policy.approvers", "The rules that permit this name different approvers, and too few are named by all")


def _forbidden(because: Iterable[RuleReason]) -> PolicyVerdict:
    return PolicyVerdict(PermissionMode.FORBIDDEN, tuple(because))


def _reasons(rules: Iterable[PolicyRule]) -> list[RuleReason]:
    """Each once, in the order of their ids: the order in the files must not show."""
    return sorted({rule.reason for rule in rules}, key=lambda reason: reason.id)


def _reported(facts: CallFacts | None) -> dict[str, Json]:
    if facts is None:
        return {}
    members = {"path": facts.path, "host": facts.host, "bytes": facts.bytes, "recursive": facts.recursive}
    return {name: value for name, value in members.items() if value is not None}


def _uid(kind: str, identifier: str) -> dict[str, str]:
    """An entity's name as a value. Built into text, an id with a quote in it could become part of a rule's language."""
    return {"type": f"{NAMESPACE}::{kind}", "id": identifier}
