"""Policies of the record: the one that a start takes from there, and rehearsals over what was decided."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gateway.adapters.policy.cases import read_case_texts
from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.clauses import find_long_rule
from gateway.adapters.policy.documents import read_documents
from gateway.adapters.policy.rules import MOST_RULES, find_excess
from gateway.adapters.policy.workshop import CedarWorkshop
from gateway.adapters.storage.sqlite import DATABASE
from gateway.adapters.system.clock import SystemClock
from gateway.core.canonical import Json, digest
from gateway.core.errors import Misconfigured, PolicyUnusable
from gateway.core.ledger import PolicyPublished
from gateway.runtime.gateway import Gateway
from gateway.runtime.policies import Policies, PolicySource, assemble_policies
from gateway.runtime.ports import (
    AuditQuery,
    DamagedPolicy,
    LoadedPolicy,
    PasskeyVerifier,
    PolicyDraft,
    RecordedDecision,
    StartedShadow,
)
from gateway.runtime.rehearsal import DAY_MS, Rehearsal, Unjudged, Version, rehearse
from gateway.settings import Settings

if TYPE_CHECKING:
    from gateway.adapters.storage.decisions import DecisionReader
    from gateway.adapters.storage.inspection import StoredLog

_FEWEST = 6

_log = logging.getLogger(__name__)

STRETCH: Final = 500
"""Records that a candidate in shadow is put to in one go: for some tens of milliseconds it shares the interpreter with calls."""


@dataclass(frozen=True, slots=True)
class OpenedPolicy:
    """The policy to begin with. `complaint` says why it is not the newest one on record, if it is not."""

    policy: CedarPolicy
    workshop: CedarWorkshop
    source: PolicySource
    state: Path
    complaint: str | None = None

    def assemble(self, gateway: Gateway, verifier: PasskeyVerifier) -> Policies:
        """What changes it while the gateway runs."""
        read = partial(StoredShadowReading, self.state)
        return assemble_policies(gateway, self.workshop, self.source, verifier, read, self.complaint)


def open_policy(settings: Settings) -> OpenedPolicy:
    """The policy that the settings mean; a warning where it has more rules than a new one may have. Raises PolicyUnusable."""
    opened = _find_policy(settings)
    if (excess := describe_excess(opened.policy)) is not None:
        _log.warning("policy %s: %s", opened.policy.version[:12], excess)
    return opened


def _find_policy(settings: Settings) -> OpenedPolicy:
    """The policy that the settings mean: the folder's, or the newest usable one on record. A record without any begins with the
    folder's. Raises PolicyUnusable."""
    if settings.policy_source == "files" or not (settings.state / DATABASE).is_file():
        return _open_folder(settings)
    # Loaded where it is needed: a gateway whose policy is a folder does without the reader of the whole log.
    from gateway.adapters.storage.inspection import open_stored_log

    complaint: str | None = None
    with open_stored_log(settings.state) as stored:
        for recorded in stored.policy_versions():
            try:
                policy = _load(recorded)
            except PolicyUnusable as error:
                complaint = complaint or f"policy {recorded.version[:12]} on record cannot be used: {error.message}"
                continue
            cases = _cases_of(stored, recorded)
            table = read_case_texts(settings.policy_folder) if cases is None else cases
            if complaint is not None:
                complaint = f"{complaint}; policy {policy.version[:12]} is in its place, and may allow more"
            return OpenedPolicy(policy, CedarWorkshop(policy, table), PolicySource.DATABASE, settings.state, complaint)
    if complaint is not None:
        raise PolicyUnusable(f"{complaint}, and no earlier one can; with `policy_source` set to `files` a folder is used")
    return _open_folder(settings)


def rehearse_stored(state: Path, draft: PolicyDraft, days: int, tell: Callable[[int], None]) -> Rehearsal:
    """Put a draft to the calls of the last days that are on record, and `tell` after each how many it was."""
    from gateway.adapters.storage.inspection import open_stored_log

    def told(decisions: Iterator[RecordedDecision]) -> Iterator[RecordedDecision]:
        for number, decision in enumerate(decisions, start=1):
            tell(number)
            yield decision

    with open_stored_log(state) as stored:
        since = SystemClock().now() - days * DAY_MS
        return rehearse(told(stored.decisions(since)), RecordedPolicies.of(stored), draft)


class StoredShadowReading:
    """Puts a candidate in shadow to the calls of a state folder, in the order of the log."""

    def __init__(self, state: Path, shadow: StartedShadow) -> None:
        self.result = Rehearsal()
        self._state = state
        self._shadow = shadow
        self._reader: DecisionReader | None = None
        self._candidate: CedarPolicy | None = None
        self._recorded = RecordedPolicies({})

    def read_on(self) -> bool:
        """Put it to the calls of the next records. Whether there may be more of them."""
        # Loaded by the first candidate: a gateway without one does without the reader of the whole log.
        from gateway.adapters.storage.decisions import DecisionReader
        from gateway.adapters.storage.inspection import open_stored_log

        try:
            with open_stored_log(self._state) as stored:
                reader = self._reader = self._reader or DecisionReader(self._shadow.index)
                candidate = self._candidate = self._candidate or self._load(stored)
                place = reader.place
                decisions = list(stored.decisions_after(reader, STRETCH))
                if not {each.version for each in decisions} <= {None, *self._recorded.loaded}:
                    self._recorded = RecordedPolicies.of(stored)
            rehearse(decisions, self._recorded, candidate, self.result)
        except BaseException:
            # What was counted may be ahead of the place now: it is counted anew.
            self._reader, self.result = None, Rehearsal()
            raise
        return reader.place - place == STRETCH

    def _load(self, stored: StoredLog) -> CedarPolicy:
        payload = stored.payload_at(self._shadow.index)
        documents: Json = None if payload is None else payload.get("documents")
        if digest(documents) != self._shadow.version:
            raise PolicyUnusable("its texts are not on record as they were")
        return CedarPolicy.of_record(documents)


@dataclass(slots=True)
class RecordedPolicies:
    """The policies of a log. Each is loaded once, when it is first asked for."""

    loaded: Mapping[str, LoadedPolicy]
    _known: dict[str, Version] = field(default_factory=dict[str, Version])

    @classmethod
    def of(cls, stored: StoredLog) -> RecordedPolicies:
        """Those of a log that was opened; of a version that was in force twice, the first time that has its texts."""
        return cls({policy.version: policy for policy in stored.policies() if policy.documents is not None})

    def __call__(self, version: str | None, /) -> Version:
        """The policy of a version, or why there is none."""
        if version is None or version not in self.loaded:
            return Unjudged.NO_DOCUMENTS
        if version not in self._known:
            try:
                self._known[version] = CedarPolicy.of_record(self.texts(version))
            except PolicyUnusable:
                self._known[version] = Unjudged.UNUSABLE
        return self._known[version]

    def texts(self, version: str) -> Mapping[str, str]:
        """The documents of a version, by file name."""
        return self.loaded[version].documents or {}

    def find(self, named: str) -> str:
        """The one version that begins so. Raises Misconfigured for none, or several."""
        if len(named) < _FEWEST:
            raise Misconfigured(f"`{named}` is neither a folder nor {_FEWEST} or more digits of a policy version")
        found = [version for version in self.loaded if version.startswith(named.lower())]
        if len(found) != 1:
            told = "no policy on record" if not found else "more than one policy on record"
            raise Misconfigured(f"{told} begins with `{named}`; `countersign policy history` lists them")
        return found[0]


def load_folder(settings: Settings) -> CedarPolicy:
    """The folder's policy. One that was in force before may have more rules than a new one: the gateway started under it, and
    starts under it again. Raises PolicyUnusable."""
    folder, exempt = settings.policy_folder, frozenset[str]()
    if find_excess(read_documents(folder).rules) is not None and (settings.state / DATABASE).is_file():
        from gateway.adapters.storage.inspection import open_stored_log

        with open_stored_log(settings.state) as stored:
            exempt = frozenset(each.version for each in stored.policy_versions())
    return CedarPolicy(folder, exempt)


def describe_excess(policy: PolicyDraft) -> str | None:
    """What to say of a policy with more rules than a new version may have."""
    count, kept = len(policy.rules()), "it stays in force, the next must be smaller"
    if count > MOST_RULES:
        return f"it has {count:,} rules, of which a new version may have {MOST_RULES:,}; {kept}"
    long_rule = find_long_rule({name: text for name, text in policy.documents.items() if name.endswith(".cedar")})
    return f"{long_rule.message}; {kept}" if long_rule else None


def _open_folder(settings: Settings) -> OpenedPolicy:
    policy = load_folder(settings)
    workshop = CedarWorkshop(policy, settings.policy_folder)
    return OpenedPolicy(policy, workshop, PolicySource(settings.policy_source), settings.state)


def _load(recorded: LoadedPolicy | DamagedPolicy) -> CedarPolicy:
    if isinstance(recorded, DamagedPolicy):
        raise PolicyUnusable(recorded.message)
    if recorded.documents is None:
        raise PolicyUnusable("its texts were erased")
    if digest(dict(recorded.documents)) != recorded.version:
        raise PolicyUnusable("its texts are not those of which it is the digest")
    return CedarPolicy.of_record(recorded.documents)


def _cases_of(stored: StoredLog, recorded: LoadedPolicy | DamagedPolicy) -> Mapping[str, str] | None:
    """The decision table that a version was published with; None where it came from a folder."""
    found = stored.rows(AuditQuery(event=PolicyPublished.EVENT, before=recorded.index, limit=1))
    if not found or found[0].body["policyVersion"] != recorded.version or found[0].payload is None:
        return None
    return found[0].payload.get("cases")
