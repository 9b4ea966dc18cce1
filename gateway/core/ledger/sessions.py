"""Sessions: a person signs in on the console, and the console issues an agent session to a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gateway.core.audit import Leaf, header
from gateway.core.model import Session

__all__ = [
    "AgentSessionEnded",
    "AgentSessionLabelRaised",
    "AgentSessionStarted",
    "ConsoleSessionEnded",
    "ConsoleSessionRenewed",
    "ConsoleSessionStarted",
    "SessionQuestionsAllowed",
]


@dataclass(frozen=True, slots=True)
class ConsoleSessionStarted:
    """Someone signed in on the console. `id` is public; the cookie's secret is kept only as `secret_hash`. `terminal`: nobody
    did; the owner of the state folder started an agent at its terminal."""

    EVENT: ClassVar[str] = "console-session:started"

    at: int
    id: str
    secret_hash: str
    principal_id: str
    expires_at: int
    terminal: bool = False

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.principal_id),
                "consoleSessionId": self.id,
                "expiresAt": self.expires_at,
                # Absent for browsers, as in every log written before there was another way.
                **({"via": "terminal"} if self.terminal else {}),
            }
        )


@dataclass(frozen=True, slots=True)
class ConsoleSessionRenewed:
    """The same person answered with their passkey again: a new cookie secret replaces the old one, and the agent sessions
    that it issued stay. So a step-up does not end the person's running agent."""

    EVENT: ClassVar[str] = "console-session:renewed"

    at: int
    id: str
    secret_hash: str
    principal_id: str
    expires_at: int

    def leaf(self) -> Leaf:
        body = {"consoleSessionId": self.id, "expiresAt": self.expires_at}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


@dataclass(frozen=True, slots=True)
class ConsoleSessionEnded:
    """Signed out, expired or revoked."""

    EVENT: ClassVar[str] = "console-session:ended"

    at: int
    id: str
    principal_id: str
    reason: str

    def leaf(self) -> Leaf:
        body = {"consoleSessionId": self.id, "reason": self.reason}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


@dataclass(frozen=True, slots=True)
class AgentSessionStarted:
    """A console session issued an agent session to a browser."""

    EVENT: ClassVar[str] = "agent-session:started"

    at: int
    session: Session
    secret_hash: str

    def leaf(self) -> Leaf:
        session = self.session
        return Leaf(
            {
                **header(self.EVENT, self.at, session.principal.id),
                "sessionId": session.id,
                "consoleSessionId": session.console_session_id,
                "label": int(session.label),
                "expiresAt": session.expires_at,
            }
        )


@dataclass(frozen=True, slots=True)
class AgentSessionLabelRaised:
    """The session has been given labelled content, out of that conversation where one is named. `label` only rises."""

    EVENT: ClassVar[str] = "agent-session:label-raised"

    at: int
    id: str
    principal_id: str
    label: int
    conversation_id: str | None

    def leaf(self) -> Leaf:
        body = {"sessionId": self.id, "conversationId": self.conversation_id, "label": self.label}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


@dataclass(frozen=True, slots=True)
class SessionQuestionsAllowed:
    """A person who had turned down so much in a row that they were asked nothing more lets the session ask again."""

    EVENT: ClassVar[str] = "agent-session:questions-allowed"

    at: int
    id: str
    principal_id: str

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "sessionId": self.id})


@dataclass(frozen=True, slots=True)
class AgentSessionEnded:
    """The agent session ended; none of its calls runs any more."""

    EVENT: ClassVar[str] = "agent-session:ended"

    at: int
    id: str
    principal_id: str
    reason: str

    def leaf(self) -> Leaf:
        body = {"sessionId": self.id, "reason": self.reason}
        return Leaf({**header(self.EVENT, self.at, self.principal_id), **body})


SessionEntry = (
    ConsoleSessionStarted
    | ConsoleSessionRenewed
    | ConsoleSessionEnded
    | AgentSessionStarted
    | AgentSessionLabelRaised
    | SessionQuestionsAllowed
    | AgentSessionEnded
)
