"""The browser's copy of the contract is generated from the gateway's models."""

from __future__ import annotations

from pathlib import Path

import jsonschema_rs
import orjson
import pytest

from gateway.core.canonical import Json
from gateway.protocol.frames import AGENT, CONSOLE
from gateway.protocol.schema import SCHEMA_PATH, schema_bytes

CHECKOUT = Path(__file__).parents[2]


def test_committed_schema_equals_the_generated_one() -> None:
    assert (CHECKOUT / SCHEMA_PATH).read_bytes() == schema_bytes(), "run `python -m gateway.protocol.schema` and commit"


def test_schema_is_the_same_every_time() -> None:
    assert schema_bytes() == schema_bytes()


def test_schema_is_a_schema() -> None:
    jsonschema_rs.validator_for(orjson.loads(schema_bytes()))


@pytest.mark.requirement("002-26", "the published schema names every method and notification")
def test_every_method_and_notification_of_both_origins_is_named() -> None:
    document: dict[str, Json] = orjson.loads(schema_bytes())["properties"]
    for origin, dialect in (("agent", AGENT), ("console", CONSOLE)):
        spoken = document[origin]["properties"]
        assert set(spoken["methods"]["properties"]) == set(dialect.methods)
        assert set(spoken["notifications"]["properties"]) == set(dialect.notifications)


def test_optional_members_are_absent_and_never_null() -> None:
    definitions: dict[str, Json] = orjson.loads(schema_bytes())["$defs"]
    result = definitions["ToolResult"]
    assert "reason" not in result["required"]
    assert result["properties"]["reason"] == {"$ref": "#/$defs/Reason"}
    assert result["properties"]["error"]["type"] == "string"


def test_no_type_differs_between_sending_and_receiving() -> None:
    """Two TypeScript types for one object could be confused in a page."""
    names = set(orjson.loads(schema_bytes())["$defs"])
    assert not [name for name in names if name.endswith(("-Input", "-Output")) or "__" in name]
