"""Sources of tools in the record: what was added, offered and decided comes back exactly, over the fake and the real one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.storage.secret_box import SECRETS_KEY, SecretBox
from gateway.core import ledger as steps
from gateway.core.errors import IllegalStep, Misconfigured
from gateway.core.sources import AddedSource, SeenTool, SourceKind, SourceTool
from gateway.core.vocabulary import Category, SignInEnd
from gateway.runtime.ports import StoredSignIn
from tests.adapters.storage.conftest import Kept

SOURCE = AddedSource("notes", SourceKind.MCP, {"command": ["serve"], "env": {"ä": "${secret:x}"}}, added_at=5)
SEEN = SeenTool("read note", "notes__read_note", "a" * 64, {"name": "read note", "paramSchema": {"ü": 1.5}})
CHANGED = replace(SEEN, pin="b" * 64)


async def test_a_source_until_it_is_removed(kept: Kept) -> None:
    await kept.ledger.append(steps.SourceAdded(5, "prn_1", SOURCE))
    assert await kept.records.sources() == (SOURCE,)
    await kept.ledger.append(steps.SourceSwitched(6, None, "notes", False))
    assert await kept.records.sources() == (replace(SOURCE, enabled=False),)
    changed = replace(SOURCE, settings={"command": ["serve", "ü"]}, enabled=False)
    await kept.ledger.append(steps.SourceChanged(7, "prn_1", replace(changed, enabled=True, added_at=7)))
    assert await kept.records.sources() == (changed,)
    await kept.ledger.append(steps.SourceRemoved(7, None, "notes"))
    assert await kept.records.sources() == ()


async def test_removing_a_source_forgets_every_decision_about_its_tools(kept: Kept) -> None:
    await kept.ledger.append(steps.SourceAdded(5, None, SOURCE), steps.SourceToolsSeen(6, "notes", (SEEN,), ()))
    await kept.ledger.append(steps.SourceToolDecided(7, None, "notes", SEEN, Category.READ))
    await kept.ledger.append(steps.SourceRemoved(8, None, "notes"))
    assert await kept.records.source_tools("notes") == ()


async def test_changing_a_source_forgets_no_decision_and_needs_one_that_is_there(kept: Kept) -> None:
    await kept.ledger.append(steps.SourceAdded(5, None, SOURCE), steps.SourceToolsSeen(6, "notes", (SEEN,), ()))
    await kept.ledger.append(steps.SourceToolDecided(7, None, "notes", SEEN, Category.READ))
    await kept.ledger.append(steps.SourceChanged(8, None, SOURCE))
    assert await kept.records.source_tools("notes") == (SourceTool("notes", SEEN, Category.READ, 7),)
    with pytest.raises(IllegalStep):
        await kept.ledger.append(steps.SourceChanged(9, None, replace(SOURCE, name="other")))


async def test_a_tool_from_first_sight_to_quarantine_and_back(kept: Kept) -> None:
    async def tool() -> SourceTool:
        (only,) = await kept.records.source_tools("notes")
        return only

    await kept.ledger.append(steps.SourceToolsSeen(6, "notes", (SEEN,), ()))
    assert await tool() == SourceTool("notes", SEEN)
    await kept.ledger.append(steps.SourceToolsSeen(7, "notes", (CHANGED,), ()))
    assert await tool() == SourceTool("notes", CHANGED)
    await kept.ledger.append(steps.SourceToolDecided(8, "prn_1", "notes", CHANGED, Category.WRITE))
    assert await tool() == SourceTool("notes", CHANGED, Category.WRITE, 8)
    await kept.ledger.append(steps.SourceToolsSeen(9, "notes", (), (SEEN,)))
    assert await tool() == SourceTool("notes", CHANGED, Category.WRITE, 8, SEEN)
    await kept.ledger.append(steps.SourceToolDecided(10, None, "notes", SEEN, None))
    assert await tool() == SourceTool("notes", SEEN, None, 10)


async def test_a_decided_tool_never_becomes_a_new_one(kept: Kept) -> None:
    await kept.ledger.append(steps.SourceToolsSeen(6, "notes", (SEEN,), ()))
    await kept.ledger.append(steps.SourceToolDecided(7, None, "notes", SEEN, Category.READ))
    with pytest.raises(IllegalStep):
        await kept.ledger.append(steps.SourceToolsSeen(8, "notes", (CHANGED,), ()))


async def test_a_tool_that_nobody_saw_cannot_be_decided_about(kept: Kept) -> None:
    with pytest.raises(IllegalStep):
        await kept.ledger.append(steps.SourceToolDecided(7, None, "notes", SEEN, Category.READ))


async def test_a_secret_is_replaced_and_removed(kept: Kept) -> None:
    await kept.ledger.append(steps.SecretStored(5, None, "a", b"one"), steps.SecretStored(6, None, "b", b"two"))
    await kept.ledger.append(steps.SecretStored(7, None, "a", b"three"))
    assert await kept.records.sealed_secrets() == {"a": b"three", "b": b"two"}
    await kept.ledger.append(steps.SecretRemoved(8, None, "a"))
    assert await kept.records.sealed_secrets() == {"b": b"two"}


def test_a_sealed_secret_is_unreadable_and_opens_again(tmp_path: Path) -> None:
    sealed = SecretBox(tmp_path).seal("token", "hunter2 hunter2")
    assert b"hunter2" not in sealed
    assert SecretBox(tmp_path).unseal("token", sealed) == "hunter2 hunter2"
    assert (tmp_path / SECRETS_KEY).stat().st_mode & 0o777 == 0o600


def test_two_secrets_of_the_same_value_look_different(tmp_path: Path) -> None:
    box = SecretBox(tmp_path)
    assert box.seal("token", "same") != box.seal("token", "same")


@pytest.mark.parametrize("damage", ["name", "bytes", "short", "key", "open", "gone", "halved"])
def test_a_secret_that_cannot_be_opened_is_said_and_nothing_else_comes_out(tmp_path: Path, damage: str) -> None:
    sealed, name, key = SecretBox(tmp_path).seal("token", "hunter2"), "token", tmp_path / SECRETS_KEY
    match damage:
        case "name":
            name = "other"
        case "bytes":
            sealed = sealed[:-1] + bytes([sealed[-1] ^ 1])
        case "short":
            sealed = sealed[:5]
        case "key":
            key.write_text("ab" * 32)
        case "open":
            key.chmod(0o644)
        case "gone":
            key.unlink()
        case _:
            key.write_text("ab" * 16)
    with pytest.raises(Misconfigured, match=r"secrets?\.key|stored|read"):
        SecretBox(tmp_path).unseal(name, sealed)


async def test_a_sign_in_is_kept_renewed_and_ended(kept: Kept) -> None:
    await kept.ledger.append(steps.SourceSignInStarted(4, "prn_1", "notes"), steps.SourceSignInFailed(5, "prn_1", "notes", "no"))
    assert await kept.records.source_sign_ins() == {}
    await kept.ledger.append(steps.SourceSignedIn(6, "prn_1", "notes", "https://login.example", b"one"))
    assert await kept.records.source_sign_ins() == {"notes": StoredSignIn(b"one", "https://login.example", "prn_1", 6)}
    await kept.ledger.append(steps.SourceTokensRenewed(7, "notes", b"two"))
    assert await kept.records.source_sign_ins() == {"notes": StoredSignIn(b"two", "https://login.example", "prn_1", 6)}
    await kept.ledger.append(steps.SourceSignedIn(8, "prn_2", "notes", "https://other.example", b"three"))
    assert await kept.records.source_sign_ins() == {"notes": StoredSignIn(b"three", "https://other.example", "prn_2", 8)}
    await kept.ledger.append(steps.SourceSignedOut(9, None, "notes", SignInEnd.REFUSED))
    assert await kept.records.source_sign_ins() == {}


async def test_tokens_are_not_renewed_for_somebody_who_signed_out(kept: Kept) -> None:
    with pytest.raises(IllegalStep):
        await kept.ledger.append(steps.SourceTokensRenewed(7, "notes", b"two"))


async def test_removing_a_source_forgets_its_sign_in(kept: Kept) -> None:
    await kept.ledger.append(
        steps.SourceAdded(5, None, SOURCE), steps.SourceSignedIn(6, None, "notes", "https://login.example", b"one")
    )
    await kept.ledger.append(steps.SourceRemoved(8, None, "notes"))
    assert await kept.records.source_sign_ins() == {}
