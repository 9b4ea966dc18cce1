"""Reading a database: what is offered, what comes back, what is cut."""

from __future__ import annotations

from tests.adapters.tools.sql.conftest import Shop


async def test_a_reading_source_offers_no_change(shop: Shop) -> None:
    assert [tool.name for tool in (await shop.open()).offer.tools] == ["describe", "query"]
    assert [tool.name for tool in (await shop.open(role="change")).offer.tools] == ["describe", "query", "change"]


async def test_describe_lists_what_may_be_reached_with_the_operators_labels(shop: Shop) -> None:
    opened = await shop.open(table_labels={"people": ("pii",), "people.email": ("label:confidential",)})
    output = await opened.call("describe")
    assert "secrets" not in output.text
    assert "pin" not in output.text
    assert "people [pii]" in output.text
    assert "[label:confidential]" in output.text
    assert {table["table"] for table in output.structured["tables"]} == {"people", "orders", "lines", "owing"}


async def test_rows_come_as_json_and_as_text(shop: Shop) -> None:
    opened = await shop.open()
    output = await opened.call("query", sql="SELECT id, name FROM people WHERE name = :who", parameters={"who": "Ada"})
    assert output.structured == {"columns": ["id", "name"], "rows": [[1, "Ada"]], "truncated": False}
    assert output.text == "1 row\nid | name\n1 | Ada"
