"""The bytes that came with results, for the shell that shows them."""

from __future__ import annotations

from gateway.core.attachments import KeptAttachment
from gateway.core.errors import NotFound, Refused
from gateway.core.labels import Exposure, expose
from gateway.core.model import Session
from gateway.runtime.exposures import Exposures
from gateway.runtime.ports import AttachmentRecords


class Attachments:
    """What a session may fetch: bytes of its own person's results, of no higher label than the session has.

    The conversation's label counts as well as the result's. A page chooses the bytes of what it attaches, and could carry in them
    what its session has read.
    """

    def __init__(self, *, records: AttachmentRecords, exposures: Exposures) -> None:
        self._records = records
        self._exposures = exposures

    async def fetch(self, session: Session, attachment_id: str, *, conversation_id: str | None = None) -> KeptAttachment:
        """The bytes of that id, of one conversation where it is named. Raises NotFound for what this person has not, and Refused
        `label` for what would have to raise the session first: that is done by opening the conversation, not by a request that a
        page makes for a picture."""
        stored = await self._records.attachment(session.principal.id, attachment_id)
        if stored is None or conversation_id not in (None, stored.conversation_id):
            raise NotFound("there are no such bytes")
        label = expose(Exposure(0, stored.conversation_label), stored.trust, stored.labels).label
        if label > self._exposures.subject(session).label:
            raise Refused("label", "open the conversation first: what came with this result has a higher label than this session")
        return stored.attachment
