"""Parameters and results of the console's method that says why the policy decides as it does. For operators."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, Strict

from gateway.core.vocabulary import Category, PermissionMode, Profile
from gateway.protocol.shapes import LabelName
from gateway.protocol.wire import Count, Flag, FreeText, Identifier, JsonObject, Wire


class RecordedCallRef(Wire):
    """A call that was made."""

    conversation_id: Identifier
    call_id: Identifier


class ImaginedCall(Wire):
    """A call that nobody made, of a tool that exists. Its facts are those that the tool reports about the arguments; `person`
    is for rules that name one. It is the first call of its session unless a count says otherwise."""

    tool: Annotated[str, Field(max_length=128)]
    arguments: JsonObject
    profile: Profile
    person: Annotated[str, Field(max_length=128)] = "somebody"
    label: LabelName = "public"
    tainted: Flag = False
    minute_of_day: Annotated[int, Strict(), Field(ge=0, le=1439)] = 720
    weekday: Annotated[int, Strict(), Field(ge=1, le=7)] = 1


class CallExplaining(Wire):
    """Either a call that was made or one that is imagined."""

    call: RecordedCallRef | None = None
    imagined: ImaginedCall | None = None


class WireExplainedRule(Wire):
    """A rule that takes part. `file`, `line`, `text` and `obliges` are absent for what no rule says, such as that one failed."""

    id: str
    why: FreeText
    file: str | None = None
    line: Count | None = None
    text: FreeText | None = None
    obliges: JsonObject | None = None


class WireExplainedChange(Wire):
    """What would be decided with one thing changed: `what` is `profile`, `taint`, `label`, a fact or a part of the moment."""

    what: str
    value: Any
    mode: PermissionMode
    rules: tuple[str, ...]


class CallExplanation(Wire):
    """The verdict of the policy `version` over a call, why, and what would change it. Of a call that was made `version` is the
    one that judged it, and `now` what the policy in force says where that is another one."""

    version: str
    tool: FreeText
    category: Category
    profile: Profile
    person: FreeText
    facts: JsonObject
    tainted: Flag
    label: LabelName
    mode: PermissionMode
    rules: tuple[WireExplainedRule, ...]
    changes: tuple[WireExplainedChange, ...]
    now: PermissionMode | None = None
