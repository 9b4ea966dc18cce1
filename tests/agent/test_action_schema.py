"""What a constrained model may write."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.agent.action_schema import action_schema
from gateway.agent.browser import as_json
from gateway.agent.copied import choices_for, copyable_strings
from gateway.agent.messages import UserMessage
from tests.agent.scripted import WORDS
from tests.agent.vectors import name_of, read_vectors


@pytest.mark.requirement("000-04", "decoding is held to a call of an offered tool or an answer")
@pytest.mark.parametrize("case", read_vectors("schema")["schemas"], ids=name_of)
def test_both_languages_hold_a_model_to_the_same_bytes(case: dict[str, Any]) -> None:
    said = copyable_strings([UserMessage("t", content) for content in case["says"]], case.get("wish", ""))
    assert as_json(action_schema(case["tools"], said, WORDS)) == as_json(case["schema"])


def arguments_of(schema: dict[str, Any], said: str = "x") -> Any:
    tool = {"name": "made_up", "description": "d", "paramSchema": schema}
    options: Any = action_schema([tool], copyable_strings([UserMessage("t", said)]), WORDS)["oneOf"]
    return options[0]["properties"]["arguments"]["properties"]


def test_only_what_shapes_a_value_is_left_of_a_schema_all_the_way_down() -> None:
    item = {"type": "object", "title": "no", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
    either = [{"type": "string", "pattern": "no"}, {"$ref": "#/no"}, True]
    schema = {
        "type": "object",
        "required": ["list", "either", "anything", 7],
        "properties": {"list": {"type": "array", "items": item, "minItems": 1}, "either": {"anyOf": either}},
    }
    shaped = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert arguments_of(schema) == {
        "list": {"type": "array", "minItems": 1, "items": shaped},
        "either": {"anyOf": [{"type": "string"}, {}, {}]},
        "anything": {},
    }


def test_a_schema_without_properties_or_needs_asks_for_nothing() -> None:
    assert arguments_of({"type": "object"}) == {}
    assert arguments_of({"required": "path", "properties": []}) == {}


def test_a_tool_whose_argument_nobody_named_cannot_be_picked() -> None:
    schema: dict[str, Any] = {"required": ["url"], "properties": {"url": {}}}
    tool: dict[str, Any] = {"name": "http_get", "description": "d", "paramSchema": schema}
    options: Any = action_schema([tool], copyable_strings([UserMessage("t", "fetch the news")]), WORDS)["oneOf"]
    assert [list(option["properties"]) for option in options] == [["answer"]]


def test_names_files_and_addresses_are_told_apart() -> None:
    said = copyable_strings([UserMessage("t", 'save "a b" in (notes/x.md), see https://example.org/a?b. or `reports/`')])
    assert list(said.urls) == ["https://example.org/a?b"]
    assert "notes/x.md" in said.files
    assert "reports/" not in said.files
    assert "a b" in said.names
    assert choices_for("list_directory", "path", said, WORDS) == ["save", "reports/", "."]
    assert choices_for("read_file", "path", said, WORDS) == said.files
    assert choices_for("http_get", "url", said, WORDS) == said.urls
    assert choices_for("made_up", "path", said, WORDS) is None


def test_files_and_words_of_any_sentence_are_no_folders() -> None:
    says = 'show me what is in this folder, I mean Photos, "here", files/, .config, v1.2, README, a.txt or it'
    said = copyable_strings([UserMessage("t", says)])
    assert choices_for("list_directory", "path", said, WORDS) == ["mean", "Photos", "files/", ".config", "v1.2", "."]
