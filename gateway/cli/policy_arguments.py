"""Which policy a command means: a folder, or a version that was in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.adapters.policy.cedar import CedarPolicy
from gateway.adapters.policy.documents import from_texts, read_documents
from gateway.adapters.storage.inspection import StoredLog
from gateway.core.errors import Misconfigured, PolicyUnusable
from gateway.runtime.ports import LoadedPolicy
from gateway.runtime.rehearsal import Unjudged, Version

SHORT = 12
"""Digits of a version that are printed: enough to tell apart all that one gateway will ever have."""

_FEWEST = 6


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
                self._known[version] = CedarPolicy(from_texts(self.texts(version)))
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


def resolve(named: str | None, default: Path, recorded: RecordedPolicies) -> CedarPolicy:
    """The policy that a person named by a folder or by digits of its version; the one in the settings for None.

    Raises Misconfigured or PolicyUnusable.
    """
    if named is None:
        return CedarPolicy(default)
    if Path(named).is_dir():
        return CedarPolicy(read_documents(Path(named)))
    return CedarPolicy(from_texts(recorded.texts(recorded.find(named))))
