"""Changes: what a person is shown before, what is kept, and what never is."""

from __future__ import annotations

import pytest

from gateway.adapters.tools.sql.settings import SqlDialect
from gateway.core.errors import ToolFailed
from gateway.core.preview import LineMark, Preview, PreviewChange
from gateway.core.vocabulary import Category, Recovery
from tests.adapters.tools.sql.conftest import Shop


def lines_of(preview: Preview, mark: LineMark) -> list[str]:
    return [line.text for line in preview.lines if line.mark is mark]


async def test_a_change_is_offered_as_a_write_that_nothing_repeats(shop: Shop) -> None:
    opened = await shop.open(role="change")
    assert (opened.tool("change").proposed, opened.tool("change").recovery) == (Category.WRITE, Recovery.UNSAFE)
    assert (opened.tool("query").proposed, opened.tool("describe").proposed) == (Category.READ, Category.READ)


async def test_the_preview_counts_the_rows_and_shows_old_and_new_values_and_changes_nothing(shop: Shop) -> None:
    opened = await shop.open(role="change")
    before = shop.fingerprint()
    preview = await opened.preview(sql="UPDATE orders SET paid = :yes WHERE person = :who", parameters={"yes": True, "who": 1})
    assert (preview.change, preview.target) == (PreviewChange.REPLACE, "2 rows of orders")
    assert lines_of(preview, LineMark.REMOVED)[1] in ("id = 2, paid = false", "id = 2, paid = 0")
    assert lines_of(preview, LineMark.ADDED)[1] in ("id = 2, paid = true", "id = 2, paid = 1")
    assert "WHERE" in lines_of(preview, LineMark.SAME)[0]
    assert shop.fingerprint() == before


async def test_the_preview_says_that_every_row_is_meant(shop: Shop) -> None:
    opened = await shop.open(role="change")
    preview = await opened.preview(sql="DELETE FROM lines")
    assert (preview.change, preview.target) == (PreviewChange.DELETE, "4 rows of lines")
    assert "It has no WHERE: every row of the table is meant" in lines_of(preview, LineMark.SAME)


async def test_the_preview_counts_what_foreign_keys_take_along(shop: Shop) -> None:
    opened = await shop.open(role="change")
    preview = await opened.preview(sql="DELETE FROM orders WHERE id = 1")
    assert preview.target == "1 row of orders"
    told = [line for line in lines_of(preview, LineMark.SAME) if "foreign keys" in line]
    # SQLite counts what foreign keys delete with the rest only in its total.
    where = "of this or other tables" if shop.dialect is SqlDialect.SQLITE else "of lines"
    assert told == [f"and 2 rows {where}, by triggers or foreign keys"]


async def test_a_change_that_must_fail_is_not_asked_about(shop: Shop) -> None:
    opened = await shop.open(role="change")
    for sql in ("INSERT INTO orders (id) VALUES (1)", "DELETE FROM people WHERE id = 1", "UPDATE people SET name = NULL"):
        with pytest.raises(ToolFailed, match="the database says"):
            await opened.preview(sql=sql)


async def test_a_change_is_kept_once_and_says_how_many_rows(shop: Shop) -> None:
    opened = await shop.open(role="change")
    try:
        output = await opened.call(
            "change",
            sql="INSERT INTO orders (id, person, total, paid) VALUES (:id, 2, 1.5, :paid)",
            parameters={"id": 9, "paid": False},
        )
        assert output.text == "1 row inserted into orders"
        assert output.structured == {"table": "orders", "rows": 1}
        assert await opened.rows("SELECT person FROM orders WHERE id = 9") == [[2]]
    finally:
        shop.run("DELETE FROM orders WHERE id = 9")


async def test_with_another_number_of_rows_than_foretold_nothing_is_kept(shop: Shop) -> None:
    opened = await shop.open(role="change")
    before = shop.fingerprint()
    with pytest.raises(ToolFailed, match="nothing was changed: 3 rows"):
        await opened.call("change", sql="UPDATE orders SET total = 0", expected_rows=2)
    with pytest.raises(ToolFailed, match="nothing was changed: 3 rows"):
        await opened.preview(sql="UPDATE orders SET total = 0", expected_rows=2)
    assert shop.fingerprint() == before


async def test_more_rows_than_may_change_at_once_do_not_change(shop: Shop) -> None:
    opened = await shop.open(role="change", max_changed_rows=2)
    before = shop.fingerprint()
    with pytest.raises(ToolFailed, match="at most 2"):
        await opened.call("change", sql="UPDATE orders SET total = 0")
    assert shop.fingerprint() == before


REFUSED = (
    "SELECT 1",
    "UPDATE secrets SET word = 'x'",
    "UPDATE people SET pin = '0'",
    "UPDATE people SET name = pin",
    "UPDATE people SET name = 'x' WHERE pin LIKE '1%'",
    "UPDATE people SET name = (SELECT word FROM secrets)",
    "INSERT INTO people VALUES (3, 'x', 'x', 'x')",
    "INSERT INTO people (id, name, pin) VALUES (3, 'x', 'x')",
    "INSERT INTO people (id, name) SELECT id, word FROM secrets",
    "DELETE FROM people WHERE EXISTS (SELECT 1 FROM secrets)",
    "DELETE FROM orders; DELETE FROM lines",
    "DELETE FROM orders -- WHERE id = 1",
    "DELETE FROM orders /* only a test */ WHERE id = 1",
    "DELETE FROM orders WHERE id = 1 RETURNING *",
    "INSERT INTO orders (id) VALUES (1) ON CONFLICT DO NOTHING",
    "INSERT OR REPLACE INTO orders (id) VALUES (1)",
    "REPLACE INTO orders (id) VALUES (1)",
    "MERGE INTO orders USING people ON TRUE WHEN MATCHED THEN DELETE",
    "WITH x AS (SELECT 1) DELETE FROM orders",
    "TRUNCATE orders",
    "DROP TABLE orders",
    "UPDATE sqlite_master SET sql = ''",
    "INSERT INTO pg_catalog.pg_authid (rolname) VALUES ('x')",
    "UPDATE orders SET total = pg_sleep(5)",
    "UPDATE orders SET total = load_extension('x')",
    "DELETE FROM people WHERE rowid = 1",
    "DELETE FROM people WHERE ctid IS NOT NULL",
    "UPDATE people SET name = people WHERE id = 1",
    "UPDATE people SET name = (SELECT p.pin FROM people AS p WHERE p.id = 2)",
)


async def test_no_change_reaches_what_may_not_be_reached(shop: Shop) -> None:
    opened = await shop.open(role="change")
    before = shop.fingerprint()
    for sql in REFUSED:
        with pytest.raises(ToolFailed):
            await opened.preview(sql=sql)
        with pytest.raises(ToolFailed):
            await opened.call("change", sql=sql)
    assert shop.fingerprint() == before


async def test_a_source_for_reading_runs_no_change(shop: Shop) -> None:
    reading = await shop.open()
    changing = await shop.open(role="change")
    before = shop.fingerprint()
    with pytest.raises(ToolFailed, match="reading alone"):
        await reading.driver.call(changing.tool("change"), {"sql": "DELETE FROM lines"}, reading.context())
    assert shop.fingerprint() == before


async def test_a_locked_table_is_said_and_the_question_still_asked(sqlite_shop: Shop) -> None:
    opened = await sqlite_shop.open(role="change")
    with sqlite_shop.locked():
        preview = await opened.preview(sql="DELETE FROM lines WHERE id = 1")
        assert preview.target == "rows of lines, not counted"
        assert not preview.complete
        with pytest.raises(ToolFailed, match="locked"):
            await opened.call("change", sql="DELETE FROM lines WHERE id = 1")


async def test_triggers_of_the_database_run_and_are_counted(sqlite_shop: Shop) -> None:
    sqlite_shop.run("CREATE TRIGGER copy AFTER INSERT ON lines BEGIN INSERT INTO secrets (word) VALUES (NEW.what); END")
    opened = await sqlite_shop.open(role="change")
    preview = await opened.preview(sql="INSERT INTO lines (id, orders, what) VALUES (9, 1, 'x')")
    assert "and 1 row of this or other tables, by triggers or foreign keys" in lines_of(preview, LineMark.SAME)
    await opened.call("change", sql="INSERT INTO lines (id, orders, what) VALUES (9, 1, 'x')")
    assert sqlite_shop.run("SELECT word FROM secrets WHERE id > 1") == [("x",)]
