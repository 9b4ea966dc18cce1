"""What is imported counts as recorded, and what there is no room for leaves nothing."""

from __future__ import annotations

import pytest

from gateway.core.errors import InvalidParams, TooManyRequests
from gateway.core.vocabulary import Label, Role
from gateway.runtime.imports import SaidElsewhere
from tests.runtime.conftest import Stage

SAID = (SaidElsewhere(Role.USER, "hello"), SaidElsewhere(Role.ASSISTANT, "good day"))


async def test_a_session_has_only_so_much_recorded(stage: Stage) -> None:
    await stage.begin()
    live = stage.gateway.connections.live(stage.session)
    live.stored = stage.gateway.ports.policy.limits(stage.session.principal.profile).stored_bytes_per_session - 10
    before = list(stage.ledger.entries)
    with pytest.raises(TooManyRequests):
        await stage.gateway.imports.take_over(stage.session, "claude", "Hello", SAID)
    assert stage.ledger.entries == before


async def test_only_words_of_two_are_imported(stage: Stage) -> None:
    await stage.begin()
    with pytest.raises(InvalidParams):
        await stage.gateway.imports.take_over(stage.session, "claude", "Hello", [SaidElsewhere(Role.TOOL, "deleted")])


async def test_it_has_the_label_of_the_session_that_takes_it_over(stage: Stage) -> None:
    await stage.begin()
    await stage.gateway.exposures.downgrade(stage.session, Label.CONFIDENTIAL)
    imported = await stage.gateway.imports.take_over(stage.session, "claude", "\u200b", SAID, Label.INTERNAL)
    record = await stage.ledger.conversation(imported)
    assert record is not None
    assert (record.label, record.taint, record.title) == (Label.CONFIDENTIAL, 1, "Imported conversation")
