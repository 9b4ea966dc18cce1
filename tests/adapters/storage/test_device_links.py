"""What the record demands of a passkey that was registered by a link, over the fake and the real ledger."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core import ledger as steps
from gateway.core.errors import IllegalStep
from tests.adapters.storage.conftest import Kept
from tests.fakes.history import OPERATOR, PASSKEY, History


async def test_a_device_is_added_by_a_link_only_while_its_session_and_its_person_are_there(kept: Kept) -> None:
    history = History()
    await kept.ledger.append(*history.beginning())
    at = history.tick()
    added = steps.PasskeyAdded(at, replace(PASSKEY, id=b"phone"), "cse_1")
    further = replace(added, passkey=replace(PASSKEY, id=b"tablet"))

    async def refused(entry: steps.PasskeyAdded) -> None:
        with pytest.raises(IllegalStep):
            await kept.ledger.append(entry)

    await refused(replace(added, offered_by="cse_2"))
    await refused(replace(added, passkey=replace(added.passkey, principal_id="prn_other")))
    await kept.ledger.append(added)
    await kept.ledger.append(steps.PrincipalSuspended(at, OPERATOR.id))
    await refused(further)
    await kept.ledger.append(steps.PrincipalResumed(at, OPERATOR.id, OPERATOR.profile))
    await kept.ledger.append(steps.ConsoleSessionEnded(at, "cse_1", OPERATOR.id, "signedOut"))
    await refused(further)
    assert {passkey.id for passkey in await kept.records.passkeys(OPERATOR.id)} == {PASSKEY.id, b"phone"}
