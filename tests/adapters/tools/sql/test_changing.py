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


async def test_the_preview_says_of_the_rows_that_it_does_not_show_that_they_change_too(sqlite_shop: Shop) -> None:
    sqlite_shop.run("INSERT INTO lines (id, orders, what) SELECT id + 100, 1, 'x' FROM lines")
    opened = await sqlite_shop.open(role="change")
    preview = await opened.preview(sql="DELETE FROM lines")
    assert preview.target == "8 rows of lines"
    assert len(lines_of(preview, LineMark.REMOVED)) == 5
    assert preview.lines[-1].text == "and 3 rows more"
    assert not lines_of(preview, LineMark.SKIPPED)


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


async def test_a_change_gives_back_the_columns_that_it_asks_for(shop: Shop) -> None:
    opened = await shop.open(role="change")
    try:
        output = await opened.call(
            "change", sql="UPDATE orders SET total = total + 1 WHERE person = 1 RETURNING id, total * 2 AS double"
        )
        assert output.text.startswith("2 rows changed in orders\nReturned: 2 rows\nid | double\n")
        returned = output.structured["returned"]
        assert (output.structured["rows"], returned["columns"], returned["truncated"]) == (2, ["id", "double"], False)
        assert sorted((row[0], float(row[1])) for row in returned["rows"]) == [(1, 23.0), (2, 42.0)]
    finally:
        shop.run("UPDATE orders SET total = total - 1 WHERE person = 1")
    before = shop.fingerprint()
    preview = await opened.preview(sql="DELETE FROM lines WHERE orders = 1 RETURNING *")
    assert (preview.change, preview.target) == (PreviewChange.DELETE, "2 rows of lines")
    with pytest.raises(ToolFailed, match="nothing was changed: 2 rows"):
        await opened.call("change", sql="DELETE FROM lines WHERE orders = 1 RETURNING *", expected_rows=3)
    assert shop.fingerprint() == before


async def test_what_a_change_gives_back_is_labelled_and_cut_like_a_querys(shop: Shop) -> None:
    opened = await shop.open(role="change", max_bytes=1024, table_labels={"people.email": ["label:internal"]})
    try:
        for sql in (
            "UPDATE people SET name = name WHERE id = 1 RETURNING email AS e",
            "INSERT INTO people (id, name) VALUES (1, 'Ada') ON CONFLICT (id) DO UPDATE SET name = people.email",
        ):
            assert (await opened.call("change", sql=sql)).labels == ("label:internal",), sql
        assert (await opened.call("change", sql="UPDATE people SET name = 'Ada' WHERE id = 1 RETURNING name")).labels == ()
        long = {"what": "x" * 300}
        output = await opened.call("change", sql="UPDATE lines SET what = :what RETURNING what", parameters=long)
        returned = output.structured["returned"]
        assert (output.structured["rows"], returned["truncated"], len(returned["rows"]) < 4) == (4, True, True)
    finally:
        shop.run("UPDATE people SET name = 'Ada' WHERE id = 1")
        for number, what in enumerate(("nuts", "bolts", "tape", "glue"), start=1):
            shop.run(f"UPDATE lines SET what = '{what}' WHERE id = {number}")


async def test_an_insert_that_meets_a_row_changes_it_or_leaves_it(shop: Shop) -> None:
    opened = await shop.open(role="change")
    before = shop.fingerprint()
    rows = "INSERT INTO lines (id, orders, what) VALUES (1, 1, 'nuts'), (9, 1, 'nails')"
    leaving = await opened.preview(sql=f"{rows} ON CONFLICT (id) DO NOTHING")
    assert (leaving.change, leaving.target) == (PreviewChange.CREATE, "1 row of lines")
    changing = await opened.preview(sql=f"{rows} ON CONFLICT (id) DO UPDATE SET what = excluded.what || lines.what RETURNING *")
    assert (changing.change, changing.target) == (PreviewChange.REPLACE, "2 rows of lines")
    assert shop.fingerprint() == before
    try:
        output = await opened.call(
            "change", sql=f"{rows} ON CONFLICT (id) DO UPDATE SET what = excluded.what || lines.what RETURNING id, what"
        )
        assert output.text.startswith("2 rows inserted into or changed in lines\nReturned: 2 rows")
        assert sorted(output.structured["returned"]["rows"]) == [[1, "nutsnuts"], [9, "nails"]]
        chosen = await opened.call(
            "change",
            sql=f"{rows} ON CONFLICT (id) DO UPDATE SET what = excluded.what WHERE lines.id > :least",
            parameters={"least": 5},
        )
        assert chosen.structured == {"table": "lines", "rows": 1}
        shown = await opened.rows("SELECT id, what FROM lines WHERE orders = 1 ORDER BY id")
        assert shown == [[1, "nutsnuts"], [2, "bolts"], [9, "nails"]]
    finally:
        shop.run("DELETE FROM lines WHERE id = 9")
        shop.run("UPDATE lines SET what = 'nuts' WHERE id = 1")


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
    "UPDATE people SET name = name RETURNING *",
    "UPDATE people SET name = name RETURNING people.*",
    "UPDATE people SET name = name RETURNING pin",
    "UPDATE people SET name = name RETURNING people",
    "UPDATE people SET name = name RETURNING people.pin AS name",
    "UPDATE people SET name = name RETURNING (SELECT p.pin FROM people AS p WHERE p.id = 1)",
    "UPDATE people SET name = name RETURNING (SELECT word FROM secrets)",
    "UPDATE people SET name = name RETURNING old.pin",
    "UPDATE people SET name = name RETURNING old",
    "UPDATE people SET name = name RETURNING rowid",
    "UPDATE people SET name = name RETURNING ctid",
    "DELETE FROM orders RETURNING (SELECT word FROM secrets)",
    "DELETE FROM orders RETURNING total INTO stolen",
    "DELETE FROM orders RETURNING pg_read_file('/etc/passwd')",
    "DELETE FROM orders RETURNING load_extension('x')",
    "DELETE FROM orders WHERE EXISTS (DELETE FROM lines RETURNING id)",
    "WITH gone AS (DELETE FROM orders RETURNING *) INSERT INTO lines (id) SELECT id FROM gone",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET pin = '0'",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = people.pin",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = excluded.pin",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = excluded",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'x' WHERE people.pin LIKE '1%'",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (pin) DO NOTHING",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) WHERE pin > '1' DO NOTHING",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET (name, pin) = ('x', 'y')",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = (SELECT word FROM secrets)",
    "INSERT INTO people (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'x' RETURNING pin",
    "INSERT INTO secrets (id, word) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET word = 'x'",
    "INSERT INTO orders (id) VALUES (1) ON CONFLICT ON CONSTRAINT orders_pkey DO UPDATE SET total = 0",
    "INSERT INTO orders (id) VALUES (1) ON CONFLICT (pg_sleep(5)) DO NOTHING",
    "INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET total = pg_sleep(5)",
    "INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO DELETE",
    "INSERT INTO orders (id) VALUES (1) ON DUPLICATE KEY UPDATE total = 0",
    "INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO NOTHING; DELETE FROM lines",
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
