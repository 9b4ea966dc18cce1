"""Parameters and results of the console's methods about what the servers of tools ask people (docs/PROTOCOL.md section 6)."""

from __future__ import annotations

from typing import Any

from gateway.core.elicitation import ElicitationAction, ElicitationStatus, FieldKind, TextFormat
from gateway.protocol.wire import CallId, Flag, FreeText, Identifier, JsonObject, Timestamp, ToolName, Wire


class WireFormOption(Wire):
    """One of the values of a choice, and what is read for it. Both are the server's words."""

    value: str
    label: str


class WireFormField(Wire):
    """One field. `least` and `most` bound a number itself, the characters of a text, or how many choices are made.

    `name`, `title`, `description` and `options` are the server's words.
    """

    name: str
    kind: FieldKind
    title: str | None = None
    description: str | None = None
    required: Flag
    format: TextFormat | None = None
    least: float | None = None
    most: float | None = None
    options: tuple[WireFormOption, ...] = ()
    default: Any = None


class WireElicitation(Wire):
    """What the server of a running tool asks this person. `source` is the name that an operator gave the server, `message` is
    the server's. `speaksOfSecrets`: the words do, although no field is named so."""

    id: Identifier
    source: str
    tool: ToolName
    conversation_id: Identifier
    call_id: CallId
    message: FreeText
    fields: tuple[WireFormField, ...]
    speaks_of_secrets: Flag
    asked_at: Timestamp
    expires_at: Timestamp


class WireElicitations(Wire):
    """What waits for this person, the oldest first."""

    elicitations: tuple[WireElicitation, ...]


class WireElicitationAnswer(Wire):
    """What the person does with a form. `values` go to the server that asked, and only with `accept`."""

    elicitation_id: Identifier
    action: ElicitationAction
    values: JsonObject | None = None


class ElicitationRequestedParams(Wire):
    """The server of a running tool asks this person something."""

    elicitation: WireElicitation


class ElicitationResolvedParams(Wire):
    """It waits no longer."""

    elicitation_id: Identifier
    status: ElicitationStatus
