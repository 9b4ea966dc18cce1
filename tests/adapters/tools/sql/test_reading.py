"""Whatever is accepted for reading changes nothing, and gives what the database gives for the text as it was written."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.core.errors import ToolFailed
from tests.adapters.tools.sql.attacks import ANYWHERE, POSTGRESQL, SQLITE
from tests.adapters.tools.sql.conftest import Shop

SAME = (
    "SELECT id, name FROM people ORDER BY id",
    "SELECT p.name, sum(o.total) AS total FROM people AS p JOIN orders AS o ON o.person = p.id GROUP BY p.name ORDER BY 2 DESC",
    "SELECT name FROM people WHERE name LIKE 'A%' OR name LIKE '%e' ORDER BY 1",
    "SELECT coalesce(email, 'none'), upper(name), length(name), replace(name, 'a', 'b') FROM people ORDER BY id",
    "SELECT CASE WHEN total > 10 THEN 'much' ELSE 'little' END AS x, count(*) FROM orders GROUP BY 1 ORDER BY 1",
    "SELECT person, total, rank() OVER (PARTITION BY person ORDER BY total DESC) AS r FROM orders ORDER BY 1, 2",
    "WITH big AS (SELECT * FROM orders WHERE total > 8) SELECT count(*) FROM big",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
    "SELECT o.id FROM orders AS o WHERE NOT EXISTS (SELECT 1 FROM lines AS l WHERE l.orders = o.id) OR o.id IN (1, 3) ORDER BY 1",
    "SELECT id FROM orders WHERE total BETWEEN 7 AND 11 UNION SELECT id FROM people EXCEPT SELECT 2 ORDER BY 1",
    "SELECT 'it''s; -- no comment' AS a, 'back\\slash' AS b, 7 % 4 AS c, 2 + 3 * 4 AS d, -(-1) AS e",
    "SELECT person FROM owing ORDER BY total LIMIT 1 OFFSET 1",
    "SELECT a.id FROM (SELECT id FROM orders ORDER BY id LIMIT 2) AS a LEFT JOIN lines AS l ON l.id = a.id ORDER BY 1",
    "VALUES (1, 'x'), (2, 'y')",
)


@pytest.mark.parametrize("sql", SAME)
async def test_what_is_sent_means_what_was_written(sqlite_shop: Shop, pg_shop: Shop, sql: str) -> None:
    for shop in (sqlite_shop, pg_shop):
        opened = await shop.open()
        expected = [[str(value) if isinstance(value, object) else value for value in row] for row in shop.run(sql)]
        assert [[str(value) for value in row] for row in await opened.rows(sql)] == expected


WORDS = (
    *(
        "SELECT",
        "*",
        "id",
        "FROM",
        "orders",
        "people",
        "secrets",
        "WHERE",
        "1",
        "'x'",
        ";",
        "--",
        "/*",
        "*/",
        "(",
        ")",
        ",",
        "$$",
    ),
    *("DELETE", "UPDATE", "INSERT INTO", "SET", "total = 0", "VALUES", "WITH a AS", "RETURNING", "UNION", "INTO", "FOR UPDATE"),
    *("nextval('counter')", "lo_create(7)", "PRAGMA query_only = OFF", "COMMIT", "BEGIN", "E'", "U&'", '"', "`", "[", "\\"),
)


@given(
    words=st.lists(st.sampled_from(WORDS), max_size=14),
    attack=st.sampled_from((*ANYWHERE, *SQLITE, *POSTGRESQL)),
    cut=st.integers(0, 60),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_nothing_that_is_accepted_for_reading_changes_anything(
    sqlite_shop: Shop, pg_shop: Shop, words: list[str], attack: str, cut: int
) -> None:
    texts = (" ".join(["SELECT id FROM orders", *words]), f"{attack[:cut]} {' '.join(words)} {attack[cut:]}", " ".join(words))
    for shop in (sqlite_shop, pg_shop):
        before = shop.fingerprint()
        opened = shop.now or await shop.open(timeout=2)
        shop.now = opened
        accepted = [sql for sql in texts if not opened.faults("query", sql=sql)]
        for sql in accepted:
            with suppress(ToolFailed):
                await opened.call("query", sql=sql)
        assert shop.fingerprint() == before


async def test_parameters_are_values_and_never_sql(shop: Shop) -> None:
    opened = await shop.open()
    evil = "x'; DROP TABLE orders; --"
    assert await opened.rows("SELECT id FROM people WHERE name = :who", {"who": evil}) == []
    assert await opened.rows("SELECT CAST(:text AS TEXT) AS t", {"text": evil}) == [[evil]]
    assert await opened.rows("SELECT id FROM orders WHERE id > :low AND id < :high AND id <> :low", {"low": 1, "high": 3}) == [
        [2]
    ]
    assert "no value" in opened.faults("query", sql="SELECT :a")
    assert "no such parameter" in opened.faults("query", sql="SELECT 1", parameters={"a": 1})
    assert "too large" in opened.faults("query", sql="SELECT :a", parameters={"a": 2**70})


async def test_a_statement_that_makes_a_parser_slow_is_refused_at_once(shop: Shop) -> None:
    opened = await shop.open()
    for sql in (
        "SELECT " + "ARRAY[" * 20 + "1" + "]" * 20,
        "SELECT " + "ARRAY[" * 10 + "1" + "]" * 10,
        "SELECT " + "decimal(" * 24 + "1" + ")" * 24,
        "SELECT " + "(" * 400 + "1" + ")" * 400,
        "SELECT " + "NOT " * 4000 + "1",
        "SELECT '" + "x" * 50_000 + "'",
    ):
        assert opened.faults("query", sql=sql)
