"""Who is given the bytes that came with a result."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.attachments import KeptAttachment
from gateway.core.errors import NotFound, Refused
from gateway.core.model import Session
from gateway.core.vocabulary import Label, Trust
from gateway.runtime.attachments import Attachments
from gateway.runtime.ports import PolicySubject, StoredAttachment
from tests.fakes.history import History

IMAGE = KeptAttachment("res_1", b"\x89PNG\r\n\x1a\n")


@dataclass
class OneImage:
    """Records with one image, of a result with these labels in a conversation with that one."""

    labels: tuple[str, ...] = ("label:high",)
    conversation: Label = Label.PUBLIC

    async def attachment(self, principal_id: str, attachment_id: str) -> StoredAttachment | None:
        stored = StoredAttachment("cnv_1", IMAGE, Trust.UNTRUSTED, self.labels, int(self.conversation))
        return stored if attachment_id == IMAGE.id else None


def attachments_at(label: Label, records: OneImage | None = None) -> Attachments:
    def subject(_session: Session) -> PolicySubject:
        return PolicySubject(History().session.principal, int(label))

    exposures: Any = SimpleNamespace(subject=subject)
    return Attachments(records=records or OneImage(), exposures=exposures)


async def test_a_session_of_the_results_label_is_given_its_bytes() -> None:
    assert await attachments_at(Label.HIGH).fetch(History().session, "res_1") == IMAGE


async def test_a_session_of_a_lower_label_is_told_to_open_the_conversation() -> None:
    with pytest.raises(Refused, match="open the conversation first"):
        await attachments_at(Label.CONFIDENTIAL).fetch(History().session, "res_1")


async def test_what_a_session_of_a_higher_label_put_into_a_conversation_has_that_label() -> None:
    attached = OneImage((), Label.HIGH)
    with pytest.raises(Refused, match="open the conversation first"):
        await attachments_at(Label.CONFIDENTIAL, attached).fetch(History().session, "res_1")
    assert await attachments_at(Label.HIGH, attached).fetch(History().session, "res_1") == IMAGE


async def test_what_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        await attachments_at(Label.HIGH).fetch(History().session, "res_2")
