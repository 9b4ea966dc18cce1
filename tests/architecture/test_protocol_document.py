"""docs/PROTOCOL.md says what the code does: its shapes, methods, notifications, errors, close codes and the rows of section 7."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.core import errors
from gateway.core.vocabulary import Outcome, Reason
from gateway.protocol import codec
from gateway.protocol.closing import CloseCause
from gateway.protocol.schema import schema_bytes

TEXT = (Path(__file__).parents[2] / "docs" / "PROTOCOL.md").read_text(encoding="utf-8")
GATEWAY = Path(__file__).parents[2] / "gateway"
SCHEMA: dict[str, Any] = orjson.loads(schema_bytes())
SHAPES: dict[str, Any] = SCHEMA["$defs"]

Members = dict[str, bool]
"""Names, and whether each may be absent."""


def section(number: int) -> str:
    found = re.search(rf"^## {number}\. .*?(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found.group(0)


def rows(text: str, first_cell: str) -> Iterator[list[str]]:
    """The cells of every table row whose first cell matches."""
    for line in text.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and re.fullmatch(first_cell, cells[0]):
            yield cells


def read_members(braces: str) -> Members:
    """`{a, b?: [T]}` as names. Types are for the reader; the schema holds them."""
    depth, parts = 0, [""]
    for character in braces.strip()[1:-1]:
        depth += (character in "{[") - (character in "}]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    names = [part.partition(":")[0].strip() for part in parts if part.strip()]
    return {name.rstrip("?"): name.endswith("?") for name in names}


def schema_members(reference: Mapping[str, Any]) -> Members:
    shape = SHAPES[reference["$ref"].removeprefix("#/$defs/")]
    return {name: name not in shape.get("required", []) for name in shape.get("properties", {})}


def documented_shapes() -> dict[str, str]:
    fences = "\n".join(re.findall(r"^```\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
    fences = re.sub(r"#.*", "", fences)
    return dict(re.findall(r"^(\w+)\s+(\{.*?\})$", fences, re.MULTILINE | re.DOTALL))


def documented_words() -> dict[str, set[str]]:
    fences = "\n".join(re.findall(r"^```\n(.*?)^```", section(4), re.MULTILINE | re.DOTALL))
    found = re.findall(r"^(\w+)\s+= ((?:.|\n(?= ))*)", fences, re.MULTILINE)
    return {name: set(re.findall(r'"([\w/-]+)"', words)) for name, words in found}


@pytest.mark.parametrize("name", documented_shapes())
def test_a_shape_has_the_members_that_the_schema_gives_it(name: str) -> None:
    assert read_members(documented_shapes()[name]) == schema_members({"$ref": f"#/$defs/{name}"})


@pytest.mark.parametrize("name", documented_words())
def test_a_closed_set_has_the_words_that_the_schema_gives_it(name: str) -> None:
    assert documented_words()[name] == set(SHAPES[name]["enum"])


@pytest.mark.parametrize(("number", "origin"), [(5, "agent"), (6, "console")])
def test_the_methods_of_an_origin_are_those_of_the_schema(number: int, origin: str) -> None:
    spoken = SCHEMA["properties"][origin]["properties"]["methods"]["properties"]
    table = section(number).partition("| notification |")[0]
    documented = {cells[0].strip("`"): cells[1:] for cells in rows(table, r"`[a-z]+/[a-z-]+`")}
    assert set(documented) == set(spoken)
    for method, cells in documented.items():
        for cell, member in zip(cells, ("params", "result"), strict=True):
            expected = schema_members(spoken[method]["properties"][member])
            assert read_cell(cell) == expected, f"{method} {member}"


@pytest.mark.parametrize(("number", "origin"), [(5, "agent"), (6, "console")])
def test_the_notifications_of_an_origin_are_those_of_the_schema(number: int, origin: str) -> None:
    spoken = SCHEMA["properties"][origin]["properties"]["notifications"]["properties"]
    table = section(number).partition("| notification |")[2]
    documented = {cells[0].strip("`"): read_cell(cells[1]) for cells in rows(table, r"`[a-z]+/[a-z-]+`")}
    assert documented == {name: schema_members(reference) for name, reference in spoken.items()}


def read_cell(cell: str) -> Members:
    """The members that a cell begins with: braces, the name of a shape, or a dash for none."""
    found = re.match(r"`([^`]*)`", cell)
    if found is None:
        assert cell == "—", cell
        return {}
    code = found.group(1)
    return read_members(code) if code.startswith("{") else schema_members({"$ref": f"#/$defs/{code}"})


def test_the_errors_are_those_of_the_error_tree() -> None:
    documented = {int(cells[0]): set(re.findall(r"`(\w+)`", cells[1])) for cells in rows(section(5), r"-32\d{3}")}
    known = {each.rpc_code: {each.code} for each in errors.ProtocolError.__subclasses__()}
    known[codec.INTERNAL] = {"internal"}
    known[codec.REFUSED] = set()
    unavailable = (errors.LedgerUnavailable, errors.ModelUnavailable, errors.GatewayStopping)
    known[codec.UNAVAILABLE] = {each.code for each in unavailable}
    assert documented == known


def test_every_close_code_is_documented() -> None:
    documented = {int(code) for cells in rows(section(5), r"[\d ·]{4,}") for code in re.findall(r"\d{4}", cells[0])}
    assert documented == {closing.code for closing in CloseCause}


def rows_of_section_seven() -> list[list[str]]:
    return list(rows(section(7), r"\d+"))


def test_section_seven_has_seventeen_rows_in_order() -> None:
    assert [int(cells[0]) for cells in rows_of_section_seven()] == list(range(1, 18))


@pytest.mark.parametrize("cells", rows_of_section_seven(), ids=lambda cells: f"row-{cells[0]}")
def test_a_row_names_a_function_that_exists(cells: list[str]) -> None:
    module, _, name = cells[-1].strip("`").partition(":")
    assert callable(reduce(getattr, name.split("."), import_module(module)))


def test_section_seven_names_every_outcome_and_reason_and_no_other() -> None:
    words = {word for cells in rows_of_section_seven() for word in re.findall(r"`([a-z][A-Za-z]+)`", cells[2])}
    assert words == {str(outcome) for outcome in Outcome} | {str(reason) for reason in Reason}


# `revoked` ends the session of an MCP client, which has no socket of this contract.
ENDINGS = re.compile(r"\b_?end_(?:all|agent|console)\([^()]*(?:\([^()]*\)[^()]*)*?, \"(?!revoked)(\w+)\"")
REVOCATIONS = re.compile(r"\b(?:revoke_snapshots|void_what_was_allowed)\(\"(\w+)\"|SnapshotRevokedNotice\([^()]*\"(\w+)\"")


@pytest.mark.parametrize(("notification", "told"), [("session/ended", ENDINGS), ("snapshot/revoked", REVOCATIONS)])
def test_every_reason_of_an_end_is_written_down(notification: str, told: re.Pattern[str]) -> None:
    folders = [GATEWAY / "runtime", GATEWAY / "server"]
    sources = [path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.rglob("*.py"))]
    given = {word for source in sources for found in told.finditer(source) for word in found.groups() if word}
    [row] = rows(section(5), f"`{notification}`")
    written = set(re.findall(r"`(\w+)`", row[-1]))
    assert given == written
