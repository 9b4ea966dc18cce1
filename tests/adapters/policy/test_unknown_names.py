"""Names in rules that nothing has are told with their place and the nearest right one."""

from __future__ import annotations

import pytest

from gateway.adapters.policy.documents import PROFILES, read_documents
from gateway.adapters.policy.faults import find_faults
from gateway.adapters.policy.naming import find_nearest, read_schema_names
from gateway.core.vocabulary import Category, Profile
from gateway.runtime.ports import FaultSeverity
from tests.adapters.policy.conftest import SHIPPED

TOOLS = ("read_file", "write_file", "docs__search")
HEAD = """// "raed_file" in a comment is no name
@id("x.raed-file")
@why("Says raed_file to people")
forbid (principal, action == Countersign::Action::"invoke",
"""


def texts_with(rule: str) -> dict[str, str]:
    return {**read_documents(SHIPPED).texts(), "x.cedar": HEAD + rule}


@pytest.mark.parametrize(
    ("rule", "line", "column", "said"),
    [
        ('resource == Countersign::Tool::"raed_file");', 5, 32, "no tool is called `raed_file` now"),
        ('resource)\nwhen { resource.name == "raed_file" };', 6, 25, "did you mean `read_file`?"),
        ('resource)\nwhen { ["write_file", "raed_file"].contains(resource.name) };', 6, 23, "did you mean `read_file`?"),
        ('resource)\nwhen { context.toolsUsed.contains("raed_file") };', 6, 35, "did you mean `read_file`?"),
        ('resource)\nwhen { context.toolsUsed.containsAny(["raed_file"]) };', 6, 39, "did you mean `read_file`?"),
        ('resource)\nwhen { resource.name like "dosc__*" };', 6, 27, "no tool has a name like `dosc__*` now"),
        ("resource)\nwhen { context.facts has hots };", 6, 26, "`hots`, so `has` is never true; did you mean `host`?"),
    ],
)
def test_a_name_that_nothing_has_is_a_warning_at_its_place(rule: str, line: int, column: int, said: str) -> None:
    (fault,) = find_faults(texts_with(rule), {}, TOOLS)
    assert (fault.severity, fault.file, fault.line, fault.column) == (FaultSeverity.WARNING, "x.cedar", line, column)
    assert said in fault.message


def test_names_that_exist_are_not_told() -> None:
    rule = 'resource)\nwhen { resource.name == "read_file" || resource.name like "docs__*" };'
    assert find_faults(texts_with(rule), {}, TOOLS) == []


@pytest.mark.parametrize(
    ("rule", "line", "column", "nearest"),
    [
        ('resource in Countersign::Category::"reed");', 5, 13, "read"),
        ('resource in Countersign::Categori::"read");', 5, 13, "Category"),
        ("resource)\nwhen { context.tant > 1 };", 6, 16, "taint"),
        ("resource)\nwhen { resource.netwrk };", 6, 17, "network"),
    ],
)
def test_a_name_that_the_schema_lacks_is_an_error_with_the_nearest_one(rule: str, line: int, column: int, nearest: str) -> None:
    (fault,) = find_faults(texts_with(rule), {}, TOOLS)
    assert (fault.severity, fault.line, fault.column) == (FaultSeverity.ERROR, line, column)
    assert fault.message.endswith(f"did you mean `{nearest}`?")
    assert "policy0" not in fault.message


def test_a_misspelt_tool_of_a_profile_is_told_and_one_of_a_source_that_is_not_used_is_not() -> None:
    texts = texts_with('resource == Countersign::Tool::"read_file");')
    assert find_faults(texts, {}, TOOLS) == []
    texts[PROFILES] = texts[PROFILES].replace("suppressed_tools = []", 'suppressed_tools = ["wirte_file"]', 1)
    (fault,) = find_faults(texts, {}, TOOLS)
    line = texts[PROFILES].split("\n").index('suppressed_tools = ["wirte_file"]') + 1
    assert (fault.file, fault.line, fault.column) == (PROFILES, line, 21)
    assert "did you mean `write_file`?" in fault.message


def test_the_names_of_the_schema_are_read_from_its_text() -> None:
    names = read_schema_names(read_documents(SHIPPED).schema)
    assert names.types == {"Profile", "Principal", "Category", "Tool", "Model"}
    assert names.enumerated["Category"] == tuple(category.value for category in Category)
    assert set(names.enumerated["Profile"]) == {"operator", "guest", "anonymous", "enrolled"} <= {*Profile, "enrolled"}
    assert {"anyMode", "invoke", "invoke_with_consent", "invoke_with_step_up", "infer"} <= names.actions
    assert {"autoHosts", "trust", "path", "minuteOfDay", "facts", "label"} <= names.attributes
    assert not names.attributes & {"principal2", "Countersign"}


def test_nothing_is_suggested_for_a_name_that_is_like_none() -> None:
    assert find_nearest("zzzzzz", TOOLS) is None
    assert find_nearest("READ_FILE", TOOLS) == "read_file"
