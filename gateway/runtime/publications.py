"""What may be called by whom: each tool with the mode that the policy gives it, judged once as long as nothing changes.

Everything that a publication depends on is in the key under which it is kept: the person and their profile, the labels of session
and conversation, taint, and the version of the policy. The tools are those of one list that the toolbox replaces whenever
anything about them changes (a definition, a category, a quarantine, a source that is away), so that a new list is judged anew.
A publication only announces; each call is judged again when it is made.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from gateway.core.labels import Exposure
from gateway.core.local_tools import RESPOND, with_local_tools
from gateway.core.model import PublishedTool, PublishedTools, ToolSpec
from gateway.core.vocabulary import PermissionMode
from gateway.runtime.ports import PolicyEngine, PolicySubject, Toolbox

MOST_KEPT: Final = 8
"""Different publications kept. One of 2,000 tools takes some 2 MB, most of it their canonical bytes."""

MOST_REMEMBERED: Final = 256
"""Circumstances for which it is remembered which publication they lead to: many people share one."""

_Modes: TypeAlias = tuple[PermissionMode | None, ...]
"""Of each tool in order; None where it is left out."""


class _Circumstances(NamedTuple):
    policy_version: str
    subject: PolicySubject
    exposure: Exposure


class Publications:
    """Publishes tools."""

    def __init__(self, *, policy: PolicyEngine, toolbox: Toolbox) -> None:
        self._policy = policy
        self._toolbox = toolbox
        self._specs: Sequence[ToolSpec] | None = None
        self._kept: OrderedDict[tuple[_Modes, bool], PublishedTools] = OrderedDict()
        self._known: OrderedDict[_Circumstances, PublishedTools] = OrderedDict()

    def publish(self, subject: PolicySubject, exposure: Exposure) -> PublishedTools:
        """The tools as they are offered now; the same object as before where nothing changed."""
        specs = self._toolbox.specs()
        if specs is not self._specs:
            self._kept.clear()
            self._known.clear()
            self._specs = specs
        circumstances = _Circumstances(self._policy.version, subject, exposure)
        published = self._known.get(circumstances)
        if published is None:
            published = self._known[circumstances] = self._publish(specs, subject, exposure)
            if len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(circumstances)
        return published

    def _publish(self, specs: Sequence[ToolSpec], subject: PolicySubject, exposure: Exposure) -> PublishedTools:
        suppressed = self._policy.limits(subject.principal.profile).suppressed_tools
        modes = tuple(self._judge(spec, subject, exposure) for spec in specs)
        # The pseudo-tools depend on one more thing than the modes.
        same = (modes, RESPOND.name in suppressed)
        published = self._kept.get(same)
        if published is None:
            offered = [PublishedTool(spec, mode) for spec, mode in zip(specs, modes, strict=True) if mode is not None]
            published = self._kept[same] = PublishedTools(with_local_tools(offered, suppressed))
            if len(self._kept) > MOST_KEPT:
                _, dropped = self._kept.popitem(last=False)
                self._known = OrderedDict((known, tools) for known, tools in self._known.items() if tools is not dropped)
        self._kept.move_to_end(same)
        return published

    def _judge(self, spec: ToolSpec, subject: PolicySubject, exposure: Exposure) -> PermissionMode | None:
        limits = self._policy.limits(subject.principal.profile)
        if spec.name in limits.suppressed_tools:
            return None
        verdict = self._policy.judge(subject, spec, None, taint=exposure.taint, label=exposure.label)
        mode = verdict.mode if spec.unavailable is None else PermissionMode.FORBIDDEN
        return None if mode is PermissionMode.FORBIDDEN and not limits.shows_forbidden else mode
