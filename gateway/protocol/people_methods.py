"""Parameters and results of the console's methods about people and their agent sessions, for operators."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.core.vocabulary import Profile
from gateway.protocol.shapes import LabelName
from gateway.protocol.wire import Count, Flag, Identifier, Timestamp, Wire


class WirePerson(Wire):
    """Somebody who was ever enrolled. Without a passkey they were removed, or worked only at the terminal; `suspended` people
    keep theirs and can sign in with none. `sessions` counts the agent sessions of theirs that are alive."""

    id: Identifier
    name: str
    profile: Profile
    suspended: Flag
    passkeys: Count
    last_used_at: Timestamp | None = None
    sessions: Count


class PersonList(Wire):
    """Everybody, oldest first."""

    people: tuple[WirePerson, ...]


class PersonRef(Wire):
    """Which person."""

    principal: Identifier


class ProfileChoice(Wire):
    """Which person, and what they are from now on."""

    principal: Identifier
    profile: Profile


class Invitation(Wire):
    """Who may enrol, and as what."""

    name: Annotated[str, Field(max_length=400)]
    profile: Profile


class InvitationLink(Wire):
    """A link that enrols one person, once, for so many seconds. It is told this one time.

    `qr` is its QR code: a string of `0` and `1` (dark) for each row of modules, without the quiet zone.
    """

    link: str
    seconds: Count
    qr: tuple[str, ...]


class AliveSession(Wire):
    """An agent session that is alive, and the highest label of what it has seen."""

    id: Identifier
    principal: Identifier
    principal_name: str
    label: LabelName
    expires_at: Timestamp


class SessionList(Wire):
    """Everybody's."""

    sessions: tuple[AliveSession, ...]


class SessionRef(Wire):
    """Which session."""

    session_id: Identifier


class SessionLabelChoice(Wire):
    """Which session, and the label that it has at least from now on."""

    session_id: Identifier
    label: LabelName
