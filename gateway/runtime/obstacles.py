"""Why tools of a list cannot be called now, in words: for the person who reads the list, never for the decision about a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gateway.core.model import PublishedTool, ToolSpec
from gateway.core.vocabulary import PermissionMode, Reason
from gateway.runtime.ports import PolicyVerdict

_NO_RULE = "no rule of the policy permits it in this conversation"


@dataclass(frozen=True, slots=True)
class ToolObstacle:
    """What keeps these tools from being called. A source that is away takes all of its tools with it."""

    reason: Reason
    why: str
    tools: tuple[str, ...]


def find_obstacles(tools: Iterable[PublishedTool], judge: Callable[[ToolSpec], PolicyVerdict]) -> Sequence[ToolObstacle]:
    """Those of the tools that nobody can call now. `judge` is the policy's verdict before there are arguments."""
    named: dict[tuple[Reason, str], list[str]] = {}
    for tool in tools:
        if tool.permission is PermissionMode.FORBIDDEN:
            named.setdefault(_explain(tool.spec, judge), []).append(tool.spec.name)
    return [ToolObstacle(reason, why, tuple(names)) for (reason, why), names in named.items()]


def _explain(spec: ToolSpec, judge: Callable[[ToolSpec], PolicyVerdict]) -> tuple[Reason, str]:
    if spec.unavailable is not None:
        return spec.unavailable_because, spec.unavailable
    said = dict.fromkeys(rule.why for rule in judge(spec).because)
    return Reason.FORBIDDEN, "; ".join(said) or _NO_RULE
