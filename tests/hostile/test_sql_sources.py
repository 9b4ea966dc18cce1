"""SQL that tries to get around the gate, sent to the running gateway over a real SQLite file and a real PostgreSQL server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.adapters.tools.sql import attacks, more_attacks
from tests.adapters.tools.sql.conftest import SHOP_TABLES, database, make_sqlite_shop
from tests.adapters.tools.sql.postgres_server import Database
from tests.harness.person import Turn
from tests.scenarios.conftest import Scene, text_of
from tests.scenarios.staging import finish

__all__ = ["database"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

PER_TURN = 35
"""Calls; a turn may make forty."""

AT_ONCE = 4

HARMLESS = (
    # In PostgreSQL, where comments nest, this is `SELECT 1`.
    ("SELECT 1 /* /* */ ; DELETE FROM orders -- */", [[1]]),
    # Another name for the first column that may be reached.
    ("SELECT pin FROM people AS p(pin)", [[1], [2]]),
)

HIDDEN = ("abracadabra", "1815", "1906")
"""What the shop's `secrets` and `pin` hold."""


@dataclass
class Shop:
    """One shop as a source of the running gateway."""

    source: str
    run: Callable[[str], list[Any]]
    attacks: tuple[str, ...]

    def fingerprint(self) -> str:
        found = [self.run(f"SELECT * FROM {table} ORDER BY id") for table in ("people", "orders", "lines", "secrets")]
        if self.source == "postgres":
            found.append(self.run("SELECT last_value, is_called FROM counter"))
            found.append(self.run("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"))
            found.append(self.run("SELECT count(*) FROM pg_largeobject_metadata"))
            found.append(self.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
        else:
            found.append(self.run("SELECT type, name, sql FROM sqlite_master ORDER BY name"))
        return repr(found)


async def add(scene: Scene, name: str, settings: dict[str, Any], **categories: str) -> None:
    await scene.console.call("sources/add", {"name": name, "kind": "sql", "settings": settings})
    added = await scene.console.call("sources/test", {"name": name})
    assert added["state"] == "ready", added
    listed = (await scene.console.call("sources/list-tools", {"name": name}))["tools"]
    pins = {tool["tool"]: tool["pin"] for tool in listed}
    decisions = [{"tool": tool, "pin": pins[tool], "category": category} for tool, category in categories.items()]
    await scene.console.call("sources/decide", {"name": name, "decisions": decisions})


@pytest_asyncio.fixture(loop_scope="module")
async def sqlite_shop(scene: Scene, tmp_path: Path) -> AsyncIterator[Shop]:
    made = make_sqlite_shop(tmp_path)
    settings: dict[str, Any] = {"url": made.url, "tables": SHOP_TABLES, "role": "change", "timeout": 1}
    await add(scene, "sqlite", settings, query="read", change="write")
    yield Shop("sqlite", made.run, attacks.ANYWHERE + attacks.SQLITE + more_attacks.SQLITE)
    await scene.console.call("sources/remove", {"name": "sqlite"})


@pytest_asyncio.fixture(loop_scope="module")
async def pg_shop(scene: Scene, database: Database) -> AsyncIterator[Shop]:
    # The user may write, as far as rights go: only the transaction and the syntax tree keep it from that.
    settings: dict[str, Any] = {"url": database.url(database.writer), "tables": SHOP_TABLES, "role": "change", "timeout": 1}
    await add(scene, "postgres", settings, query="read", change="write")
    yield Shop("postgres", database.run, attacks.ANYWHERE + attacks.POSTGRESQL + more_attacks.POSTGRESQL)
    await scene.console.call("sources/remove", {"name": "postgres"})


@pytest.fixture(params=["sqlite", "postgres"])
def shop(request: pytest.FixtureRequest) -> Shop:
    return request.getfixturevalue("sqlite_shop" if request.param == "sqlite" else "pg_shop")


async def send_all(scene: Scene, tool: str, statements: tuple[str, ...]) -> list[dict[str, Any]]:
    """Each as a call of its own, a few at once."""
    results: list[dict[str, Any]] = []
    for start in range(0, len(statements), PER_TURN):
        turn = await scene.begin()
        batch = statements[start : start + PER_TURN]
        for first in range(0, len(batch), AT_ONCE):
            calls = [await turn.start(tool, {"sql": sql}) for sql in batch[first : first + AT_ONCE]]
            results += await asyncio.gather(*calls)
    return results


LEAKS = {
    # What a function says of its argument, in the words of the database.
    "sqlite": "SELECT json_extract('{}', email) FROM people WHERE id = 1",
    "postgres": "SELECT make_date(id, 99, length(email)) FROM people WHERE id = 1",
}


async def test_case_150_the_words_of_a_failure_carry_the_labels_of_what_they_quote(
    scene: Scene, shop: Shop, database: Database, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'shop.db'}" if shop.source == "sqlite" else database.url(database.writer)
    settings = {
        "url": url,
        "tables": {"people": ["id", "name", "email"]},
        "table_labels": {"people.email": ["label:confidential"]},
    }
    await add(scene, "labelled", {**settings, "role": "change"}, query="read", change="write")
    turn = await scene.begin()
    sql = LEAKS[shop.source]
    # A preview is run before anybody is asked, and what it says when it fails leaves like a result.
    refused = await turn.invoke("labelled__change", {"sql": f"UPDATE people SET name = ({sql}) WHERE id = 1"})
    assert refused["outcome"] == "executionError"
    assert (refused["labels"], refused["trust"]) == (["label:confidential"], "untrusted"), refused
    opened = await scene.shell.call("conversations/open", {"conversationId": turn.conversation_id})
    assert opened["conversation"]["label"] == "confidential"
    assert (await scene.shell.call("session/describe"))["session"]["labels"] == ["label:confidential"]
    result = await turn.invoke("labelled__query", {"sql": sql})
    assert (result["outcome"], result["labels"]) == ("executionError", ["label:confidential"]), result
    await scene.console.call("sources/remove", {"name": "labelled"})


async def test_case_149_no_statement_reads_what_is_hidden_or_leaves_a_trace(scene: Scene, shop: Shop) -> None:
    before = shop.fingerprint()
    results = await send_all(scene, f"{shop.source}__query", shop.attacks)
    for sql, result in zip(shop.attacks, results, strict=True):
        if result["outcome"] == "ok":
            assert (sql, result["structured"]["rows"]) in HARMLESS
        said = text_of(result)
        assert result["outcome"] in ("ok", "invalidArguments", "executionError"), (sql, result)
        assert not any(word in said for word in HIDDEN), (sql, said)
        assert "\n" not in result.get("error", ""), (sql, said)
    assert shop.fingerprint() == before


async def test_case_149_no_such_statement_reaches_a_person_as_a_change(scene: Scene, shop: Shop) -> None:
    before = shop.fingerprint()
    changes = {
        "INSERT INTO orders (id) VALUES (99)",
        "UPDATE orders SET total = 0",
        "DELETE FROM orders",
    }
    statements = tuple(sql for sql in shop.attacks if sql not in changes)
    for sql, result in zip(statements, await send_all(scene, f"{shop.source}__change", statements), strict=True):
        assert result["outcome"] == "invalidArguments", (sql, result)
    assert (await scene.console.call("approvals/list"))["approvals"] == []
    assert shop.fingerprint() == before


async def test_case_149_functions_hidden_in_views_stay_held_to_reading(scene: Scene, pg_shop: Shop, database: Database) -> None:
    """The views are the operator's, and what they call runs; the transaction lets none of it write, nor wait for long."""
    for statement in (
        "CREATE VIEW moving AS SELECT nextval('counter') AS n",
        "CREATE FUNCTION empty_it() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM public.lines; SELECT 1'",
        "CREATE VIEW emptying AS SELECT empty_it() AS n",
        "CREATE FUNCTION undo_it() RETURNS text LANGUAGE sql AS $$SELECT set_config('transaction_read_only', 'off', false)$$",
        "CREATE VIEW unlocking AS SELECT undo_it() || nextval('counter') AS n",
        "CREATE VIEW sleeping AS SELECT pg_sleep(3600)::text AS n",
        f"GRANT SELECT ON moving, emptying, unlocking, sleeping TO {database.writer}",
    ):
        database.run(statement)
    before = pg_shop.fingerprint()
    await add(scene, "views", {"url": database.url(database.writer), "timeout": 1}, query="read")
    turn = await scene.begin()
    outcomes = {
        view: (await turn.invoke("views__query", {"sql": f"SELECT n FROM {view}"}))["outcome"]
        for view in ("moving", "emptying", "unlocking", "sleeping")
    }
    await scene.console.call("sources/remove", {"name": "views"})
    after = pg_shop.fingerprint()
    for statement in ("moving", "emptying", "unlocking", "sleeping"):
        database.run(f"DROP VIEW {statement}")
    database.run("DROP FUNCTION empty_it()")
    database.run("DROP FUNCTION undo_it()")
    assert outcomes == {
        "moving": "executionError",
        "emptying": "executionError",
        "unlocking": "executionError",
        "sleeping": "timedOut",
    }
    assert after == before


ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    "WITH RECURSIVE n(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM n) SELECT max(length(t)) FROM n",
)
HUGE = {
    "sqlite": "SELECT printf('%.*c', 1000000000, 'x') AS t",
    "postgres": "SELECT repeat('x', 1000000000) AS t",
}


async def test_case_151_what_never_ends_or_is_a_gigabyte_is_stopped_and_the_source_stays(scene: Scene, shop: Shop) -> None:
    turn = await scene.begin()
    other = await scene.begin()
    tool = f"{shop.source}__query"
    calls = [await turn.start(tool, {"sql": sql}) for sql in (*ENDLESS, HUGE[shop.source])]
    assert (await other.invoke("system_status", {}))["outcome"] == "ok"
    for result in await asyncio.gather(*calls):
        assert result["outcome"] in ("timedOut", "executionError") or result["truncated"], result
        assert len(text_of(result)) < 100_000
    assert (await turn.invoke(tool, {"sql": "SELECT 1 AS one"}))["structured"]["rows"] == [[1]]


async def test_case_298_slow_statements_of_one_person_keep_nobody_elses_waiting(scene: Scene, tmp_path: Path) -> None:
    await add(scene, "slow", {"url": make_sqlite_shop(tmp_path).url, "timeout": 60}, query="read")
    eve = await scene.another("Eve with questions", "operator")
    theirs = await Turn.begin(await eve.agent())
    calls = {f"q{number}": await theirs.start("slow__query", {"sql": ENDLESS[0]}, f"q{number}") for number in range(8)}
    # Hers are all on record, and as many run as may.
    await theirs.socket.call("session/describe")
    assert (await (await scene.begin()).invoke("slow__query", {"sql": "SELECT 1"}))["structured"]["rows"] == [[1]]
    assert not any(call.done() for call in calls.values())
    for call_id in calls:
        await theirs.socket.call("tools/cancel", {"conversationId": theirs.conversation_id, "callId": call_id})
    assert {(await finish(call))["outcome"] for call in calls.values()} == {"cancelled"}
    await eve.leave()
    await scene.console.call("sources/remove", {"name": "slow"})


async def test_case_309_a_link_that_is_put_in_the_place_of_a_database_leads_to_no_other(scene: Scene, tmp_path: Path) -> None:
    folders = tmp_path / "shown", tmp_path / "hidden"
    for folder in folders:
        folder.mkdir()
    shown, hidden = (make_sqlite_shop(folder) for folder in folders)
    hidden.run("UPDATE people SET name = 'Mallory'")
    await add(scene, "swapped", {"url": shown.url}, query="read")
    asked = {"sql": "SELECT name FROM people"}
    assert "Ada" in text_of(await (await scene.begin()).invoke("swapped__query", asked))
    (folders[0] / "shop.db").rename(folders[0] / "away.db")
    (folders[0] / "shop.db").symlink_to(folders[1] / "shop.db")
    result = await (await scene.begin()).invoke("swapped__query", asked)
    assert (result["outcome"], result["reason"]) == ("executionError", "sourceUnavailable"), result
    # Connected anew it is another database, whose tools nobody has decided about.
    await scene.console.call("sources/test", {"name": "swapped"})
    listed = (await scene.console.call("sources/list-tools", {"name": "swapped", "search": "query"}))["tools"]
    assert [tool["standing"] for tool in listed] == ["quarantined"]
    result = await (await scene.begin()).invoke("swapped__query", asked)
    assert (result["outcome"], "Mallory" in text_of(result)) == ("refusedByPolicy", False), result
    await scene.console.call("sources/remove", {"name": "swapped"})
