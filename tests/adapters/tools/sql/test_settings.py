"""What an operator may say of a database, and what is refused with a sentence that says what would be right."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.adapters.tools.sql.settings import SqlSettings
from gateway.core.errors import Misconfigured
from tests.adapters.tools.sql.conftest import Shop, Silent

PASSWORD = "correct-horse"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"postgresql+pg8000://reader:{PASSWORD}@db.example/shop", "${secret:NAME}"),
        (f"postgresql://reader:x${{secret:A}}{PASSWORD}@db.example/shop", "${secret:NAME}"),
        ("postgresql://reader:${secret:A}@db.example/shop${secret:A}", "in the place of the password alone"),
        (f"postgresql://reader@db.example/shop?password={PASSWORD}", "no option `password`"),
        ("postgresql://db.example/shop", "a user and a database"),
        ("postgresql://reader@/shop", "a host"),
        ("postgresql://reader@db.example/shop?sslmode=prefer", "sslmode"),
        ("postgresql+psycopg://reader@db.example/shop", "begin with"),
        (f"mysql://reader:{PASSWORD}@db.example/shop", "begin with"),
        ("sqlite://", "whole path"),
        ("sqlite:///:memory:", "whole path"),
        ("sqlite:///shop.db", "four slashes"),
        ("sqlite:////srv/shop.db?mode=rwc", "nothing else"),
        (f"no url at all {PASSWORD}", "a URL like"),
    ],
)
def test_a_url_that_cannot_be_used_says_what_would_be_right_and_no_password(url: str, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        SqlSettings(url=url)
    (fault,) = refused.value.errors(include_input=False, include_url=False)
    assert said in fault["msg"]
    assert PASSWORD not in fault["msg"]


@pytest.mark.parametrize(
    "given",
    [
        {"role": "admin"},
        {"functions": ["pg_sleep; DROP"]},
        {"max_rows": 0},
        {"max_rows": 10_000_000},
        {"timeout": 0},
        {"timeout": 10_000},
        {"table_labels": {"people": ["label:secret"]}},
        {"table_labels": {"people": ["Not A Label"]}},
        {"unknown": True},
    ],
)
def test_other_settings_are_held_to_what_they_mean(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SqlSettings.model_validate({"url": "sqlite:////srv/shop.db", **given})


async def test_names_that_the_database_does_not_have_are_named(shop: Shop) -> None:
    for given, named in (
        ({"tables": {"people": (), "nothing": ()}}, "`nothing`"),
        ({"tables": {"people": ("id", "shoe_size")}}, "`shoe_size`"),
        ({"table_labels": {"people.shoe_size": ("pii",)}}, "`people.shoe_size`"),
        ({"tables": {"pg_catalog.pg_authid": ()}}, "`pg_catalog.pg_authid`"),
        ({"tables": {"sqlite_master": ()}}, "`sqlite_master`"),
    ):
        driver = shop.driver(shop.settings(**given))
        with pytest.raises(Misconfigured, match=named):
            await driver.open(Silent())


async def test_a_result_carries_the_labels_of_what_it_may_show(shop: Shop) -> None:
    opened = await shop.open(table_labels={"people.email": ("label:confidential",), "orders": ("sales",)})
    for sql, labels in (
        ("SELECT name FROM people", ()),
        ("SELECT count(*) FROM people", ()),
        ("SELECT email FROM people", ("label:confidential",)),
        ("SELECT upper(EMAIL) AS x FROM people", ("label:confidential",)),
        ("SELECT name FROM people WHERE email LIKE 'a%'", ("label:confidential",)),
        ("SELECT * FROM people", ("label:confidential",)),
        ("SELECT p.* FROM people AS p", ("label:confidential",)),
        ("WITH x AS (SELECT * FROM people) SELECT name FROM x", ("label:confidential",)),
        ("SELECT o.id FROM orders AS o", ("sales",)),
        ("SELECT p.name FROM people AS p NATURAL JOIN lines AS l", ("label:confidential",)),
    ):
        output = await opened.call("query", sql=sql)
        assert output.labels == labels, sql


async def test_the_number_of_a_row_carries_the_labels_of_its_key(sqlite_shop: Shop) -> None:
    opened = await sqlite_shop.open(tables={}, table_labels={"people.id": ("label:confidential",), "people.pin": ("pii",)})
    for name in ("rowid", "oid", "_ROWID_", "p.rowid"):
        assert (await opened.call("query", sql=f"SELECT {name} FROM people AS p")).labels == ("label:confidential",), name
    assert (await opened.call("query", sql="SELECT name FROM people")).labels == ()


async def test_whole_rows_and_columns_by_other_names_carry_labels_too(pg_shop: Shop) -> None:
    opened = await pg_shop.open(table_labels={"people.email": ("label:confidential",)})
    for sql in (
        "SELECT row_to_json(p) FROM people AS p",
        "SELECT c FROM people AS p(a, b, c)",
        "SELECT to_jsonb(people) FROM people",
    ):
        assert (await opened.call("query", sql=sql)).labels == ("label:confidential",), sql
