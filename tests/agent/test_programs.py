"""What a setting is, and what a program says of a name in it, by the vectors that the browser's tests read too."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from gateway.agent.code_asked import answer_code, code_asked, defining_files, told_places
from gateway.agent.copy import Copy
from gateway.agent.fields import fields_in
from gateway.agent.figures import ResultSource
from gateway.agent.switched import answer_switch
from gateway.shipped import read_loop_file
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("programs")
COPY = Copy(read_loop_file("copy"))


def source_of(name: str, *, whole: bool = True) -> ResultSource:
    return ResultSource(name, VECTORS["files"][name], whole=whole, has_lines=True)


@pytest.mark.parametrize("case", VECTORS["fields"], ids=lambda case: case["file"])
def test_a_text_has_named_values(case: dict[str, Any]) -> None:
    assert [asdict(each) for each in fields_in(VECTORS["files"][case["file"]], case["file"])] == case["fields"]


@pytest.mark.parametrize("case", VECTORS["asked"], ids=lambda case: case["asked"])
def test_a_question_may_be_about_a_name_of_a_program(case: dict[str, Any]) -> None:
    asked = code_asked(case["asked"])
    assert ("" if asked is None else asked.name) == case["name"]


@pytest.mark.parametrize("case", VECTORS["switches"], ids=name_of)
def test_whether_something_is_on_is_read_from_its_setting(case: dict[str, Any]) -> None:
    assert answer_switch(case["asked"], source_of(case["file"]), COPY) == case["answer"]
    assert answer_switch(case["asked"], source_of(case["file"], whole=False), COPY) is None


@pytest.mark.parametrize("case", VECTORS["code"], ids=name_of)
def test_what_a_name_is_stands_in_the_lines_of_the_program(case: dict[str, Any]) -> None:
    assert answer_code(case["asked"], source_of(case["file"]), COPY) == case["answer"]


@pytest.mark.parametrize("case", VECTORS["places"], ids=name_of)
def test_a_search_tells_where_a_name_is_defined_or_used(case: dict[str, Any]) -> None:
    asked = code_asked(case["asked"])
    assert (defining_files(asked.name, case["found"]) if asked else []) == case["files"]
    assert told_places(case["asked"], case["found"], COPY) == case["answer"]
