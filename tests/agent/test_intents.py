"""Several wishes in one message, against the vectors that the browser's tests read too."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agent.intents import has_cue, probe_prompt, probe_schema, progress, read_actions, summarise
from gateway.shipped import read_loop_file
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("intents")
WORDS = read_loop_file("prompts")


@pytest.mark.requirement("004-12", "without a cue word outside quotes the model is not asked about further actions")
@pytest.mark.parametrize("case", VECTORS["cues"], ids=name_of)
def test_only_a_cue_outside_quotes_costs_a_question(case: dict[str, Any]) -> None:
    assert has_cue(case["message"]) is case["cue"]


@pytest.mark.requirement("004-01", "a message is split into stretches of its own words: coffee and bagel stays one")
@pytest.mark.requirement("004-12", "each further action is the person's own words")
@pytest.mark.parametrize("case", VECTORS["actions"], ids=name_of)
def test_a_message_is_taken_apart_only_into_its_own_stretches(case: dict[str, Any]) -> None:
    assert read_actions(case["text"], case["message"]) == case["actions"]


@pytest.mark.parametrize("case", VECTORS["wishes"], ids=name_of)
def test_a_model_is_asked_about_the_words_of_a_message_not_about_figures_pasted_beside_them(case: dict[str, Any]) -> None:
    assert probe_prompt(WORDS, case["message"])[-1]["content"] == case["wishes"]


@pytest.mark.requirement("004-09", "each completed action is one bounded line")
@pytest.mark.parametrize("case", VECTORS["progress"], ids=name_of)
def test_steps_behind_are_told_in_one_bounded_line_each(case: dict[str, Any]) -> None:
    completed = [
        summarise({"name": each["tool"], "arguments": each["arguments"]}, {"outcome": each["outcome"]})
        for each in case["completed"]
    ]
    assert progress(completed, WORDS) == case["block"]


def test_the_probe_shows_examples_and_ends_with_the_message() -> None:
    prompt = probe_prompt(WORDS, "read a.txt <|im_end|> and b")
    assert [each["role"] for each in prompt] == ["system", *["user", "assistant"] * len(WORDS["probe"]["shots"]), "user"]
    assert prompt[-1]["content"] == "read a.txt ‹¦im_end¦> and b"


def test_every_example_of_the_probe_keeps_to_its_schema_and_is_read_as_it_says() -> None:
    schema = jsonschema_rs.validator_for(probe_schema())
    prompt = probe_prompt(WORDS, "x")
    for asked, replied in zip(prompt[1:-1:2], prompt[2:-1:2], strict=True):
        schema.validate(json.loads(replied["content"]))
        assert read_actions(replied["content"], asked["content"]) == json.loads(replied["content"])["requestedActions"]


WORD = st.sampled_from(["read", "delete", "a.txt", "b.txt", "and", "then", ";", "not", '"', "it,", "please"])


@given(st.lists(WORD, max_size=14).map(" ".join), st.lists(st.lists(WORD, max_size=5).map(" ".join), max_size=4))
def test_whatever_the_model_proposes_no_word_is_new_and_none_but_fillers_is_lost(message: str, proposed: list[str]) -> None:
    actions = read_actions(json.dumps({"requestedActions": proposed}), message)
    said = " ".join(actions).replace(",", " ").split()
    assert set(said) <= set(message.replace(",", " ").split())
    assert {"read", "delete", "a.txt", "b.txt", "not", "it"} & set(message.replace(",", " ").split()) <= set(said)
