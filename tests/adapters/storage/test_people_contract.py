"""What every ledger keeps of people who may not work here for a while, over the fake and the real one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core import ledger as steps
from gateway.core.errors import IllegalStep
from gateway.core.ledger import Entry
from tests.adapters.storage.conftest import Kept
from tests.fakes.history import OPERATOR, PASSKEY, History


async def refused(kept: Kept, entry: Entry) -> None:
    """The entry is refused, and nothing was written."""
    before = await kept.records.audit_size()
    with pytest.raises(IllegalStep):
        await kept.ledger.append(entry)
    assert await kept.records.audit_size() == before


async def test_a_suspended_persons_passkey_answers_nothing_until_they_are_resumed(kept: Kept) -> None:
    history = History()
    await kept.ledger.append(*history.beginning())
    use = steps.PasskeyUsed(history.tick(), OPERATOR.id, PASSKEY.id, 9, True)
    suspended = steps.PrincipalSuspended(history.tick(), OPERATOR.id)
    resumed = steps.PrincipalResumed(history.tick(), OPERATOR.id, OPERATOR.profile)
    await refused(kept, resumed)
    await kept.ledger.append(suspended)
    assert await kept.records.principals() == (replace(OPERATOR, suspended=True),)
    await refused(kept, use)
    await refused(kept, suspended)
    await kept.ledger.append(resumed)
    assert await kept.records.principals() == (OPERATOR,)
    await kept.ledger.append(use)
