"""Results of the console's methods that say in words what the policy in force allows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.protocol.shapes import LabelName, WireRuleReason
from gateway.protocol.wire import Count, Flag, Wire


class CircumstanceChange(Wire):
    """How the same action would be treated otherwise: after untrusted content, in a conversation of another label, or with
    arguments that were taken from untrusted content."""

    taint: Annotated[int, Field(ge=0, le=1)] | None = None
    label: LabelName | None = None
    arguments_from_untrusted: Flag | None = None
    mode: PermissionMode
    because: tuple[WireRuleReason, ...]


class ToolException(Wire):
    """A tool that is treated otherwise than its kind."""

    tool: str
    mode: PermissionMode
    because: tuple[WireRuleReason, ...]


class PolicyCell(Wire):
    """What one profile needs for one kind of action. `because` is empty where no rule permits it.

    `host` narrows the category `network` to one host. `exceptions` holds the first of `exceptionCount`, by name.
    """

    category: Category
    host: str | None = None
    mode: PermissionMode
    because: tuple[WireRuleReason, ...]
    changes: tuple[CircumstanceChange, ...]
    exceptions: tuple[ToolException, ...]
    exception_count: Count


class PolicyRow(Wire):
    """One profile. The cells of all rows are of the same kinds, in the same order."""

    profile: Profile
    cells: tuple[PolicyCell, ...]


class PolicyOverview(Wire):
    """What the policy in force makes of each kind of action. `scope` is `own` for a person who sees their own row only.

    `assumesMoment` says that a rule looks at the time or at how much was called before; what is shown is then the verdict for
    a first call on a Monday at midnight.
    """

    version: str
    scope: Literal["everybody", "own"]
    rows: tuple[PolicyRow, ...]
    assumes_moment: Flag
