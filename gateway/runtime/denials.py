"""How often a person says no before they are asked nothing more, in a turn and in a session.

A turn's count protects a person from a loop that will not hear. A hostile tab begins turns, conversations and connections at
will, and sends its own messages as if a person had typed them, so that nothing it sends may set a count back. Noes are therefore
counted for the session too: a tab gets another session only from a person at the console. A session's count is kept with the
answers on record, so that a restart sets nothing back either; a turn does not outlive the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.core.errors import NotFound
from gateway.core.gate import Refuse
from gateway.core.ledger import QuestionsAllowed, SessionQuestionsAllowed
from gateway.core.model import Session, ToolRequest
from gateway.core.vocabulary import Outcome, Reason, Runner
from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.conversation import Conversation, Turn
from gateway.runtime.conversations import Conversations
from gateway.runtime.ports import Clock, Ledger

DENIALS_PER_SESSION = 6
"""In a row: two turns in which nothing but noes was heard. Whoever works with an agent says yes now and then."""


@dataclass(frozen=True, slots=True)
class StoppedQuestions:
    """A session that asks its person nothing more, or one open turn of it."""

    session_id: str
    denials: int
    conversation_id: str | None = None
    turn_id: str | None = None


class Denials:
    """Counts noes, says when it is enough, and forgets them when the person allows questions again."""

    def __init__(self, *, conversations: Conversations, connections: ConnectionRegistry, ledger: Ledger, clock: Clock) -> None:
        self._conversations = conversations
        self._connections = connections
        self._ledger = ledger
        self._clock = clock

    # ── for the driver ──

    def may_ask(self, conversation: Conversation, session: Session, request: ToolRequest) -> Refuse | None:
        """Why a person is not asked about this call, if they are not."""
        told = None if conversation.turn is None else conversation.turn.may_ask(request)
        count = self._connections.live(session).denials
        if told is None and count >= DENIALS_PER_SESSION:
            message = (
                f"the person said no {count} times in a row in this session and is asked nothing more, in any turn, "
                "until they allow it on the console"
            )
            return Refuse(Outcome.DENIED_BY_USER, Reason.DENIED, message)
        return told

    def note_denial(self, conversation: Conversation, session: Session, request: ToolRequest) -> None:
        """A person said no to this call."""
        turn = conversation.turn
        if turn is not None and turn.id == request.turn_id:
            turn.note_denial(request)
        # At this machine's terminal a turn begins with a line that its person typed, and the gateway itself read it.
        if request.runner is not Runner.GATEWAY:
            self._connections.live(session).denials += 1

    def note_approval(self, session: Session) -> None:
        """A person said yes to a question of this session. What a grant covers is no answer and counts for nothing."""
        self._connections.live(session).denials = 0

    # ── for people ──

    def stopped(self, principal_id: str) -> Sequence[StoppedQuestions]:
        """Every session of a person that asks nothing more, then every open turn of another one."""
        sessions = {
            session.id: StoppedQuestions(session.id, count)
            for session in self._connections.sessions()
            if session.principal.id == principal_id and (count := self._connections.live(session).denials) >= DENIALS_PER_SESSION
        }
        turns = [
            StoppedQuestions(turn.session_id, turn.denials, conversation.id, turn.id)
            for conversation, turn in self._open_turns(principal_id)
            if turn.asks_nothing and turn.session_id not in sessions
        ]
        return [*sessions.values(), *turns]

    async def allow_turn(self, principal_id: str, turn_id: str) -> None:
        """A person lets an open turn of theirs ask again, and its session with it. Raises NotFound."""
        for conversation, turn in self._open_turns(principal_id):
            if turn.id == turn_id:
                await self._ledger.append(QuestionsAllowed(self._clock.now(), principal_id, conversation.id, turn_id))
                turn.allow_questions()
                for session in self._connections.sessions():
                    if session.id == turn.session_id:
                        self._connections.live(session).denials = 0
                return
        raise NotFound("that turn is not open")

    async def allow_session(self, session_id: str, principal_id: str | None = None) -> None:
        """A session, and each of its open turns, may ask again. Only its own person may allow that where one is named; an
        operator of this machine names none. Raises NotFound."""
        session = next((each for each in self._connections.sessions() if each.id == session_id), None)
        if session is None or principal_id not in (None, session.principal.id):
            raise NotFound("no such session is alive")
        await self._ledger.append(SessionQuestionsAllowed(self._clock.now(), session_id, session.principal.id))
        self._connections.live(session).denials = 0
        for _, turn in self._open_turns(session.principal.id):
            if turn.session_id == session_id:
                turn.allow_questions()

    def _open_turns(self, principal_id: str) -> Sequence[tuple[Conversation, Turn]]:
        mine = [each for each in self._conversations.in_use() if each.principal_id == principal_id]
        return [(conversation, conversation.turn) for conversation in mine if conversation.turn is not None]
