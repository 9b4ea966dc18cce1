"""What a model meant, against the vectors that the browser's tests read too, and against a scanner too simple to be wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.agent.parse import (
    MAX_REPLY,
    AnswerChoice,
    AnswerReader,
    ObjectScanner,
    ParseFailure,
    ThoughtFilter,
    ToolChoice,
    find_object,
    parse_envelope,
    read_object,
)
from gateway.core.canonical import canonical_bytes, parse
from gateway.core.errors import MalformedJson
from tests.agent.vectors import name_of, read_vectors

VECTORS = read_vectors("parse")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)
BROKEN = st.lists(
    st.sampled_from([*'{}"\\[]:,x 1\n', "<think>", "</think>", '{"', '"}', "\\u", "d83d", "NaN", "\ud83d", "\ude00"]), max_size=40
).map("".join)


def read(text: str) -> dict[str, Any]:
    match parse_envelope(text):
        case ToolChoice(tool, arguments):
            return {"kind": "call", "tool": tool, "arguments": arguments}
        case AnswerChoice(words):
            return {"kind": "answer", "text": words}
        case ParseFailure(reason):
            return {"kind": "malformed", "reason": reason}


def scan(pieces: Sequence[str]) -> list[str | None]:
    scanner = ObjectScanner()
    return [scanner.feed(piece) for piece in pieces]


def plainly_found(text: str) -> str | None:
    """The reference: each beginning in turn, and each end of it by counting."""
    said = text.lstrip(" \t\r\n")
    if said.startswith("<think>"):
        text = said.partition("</think>")[2]
    for start, char in enumerate(text):
        if char != "{" or not text[start + 1 :].lstrip(" \t\r\n").startswith(("}", '"', "'")):
            continue
        depth, quoted, escaped = 0, False, False
        for end in range(start, len(text)):
            if escaped:
                escaped = False
            elif text[end] == "\\" and quoted:
                escaped = True
            elif text[end] == '"':
                quoted = not quoted
            elif not quoted:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                if depth == 0:
                    return text[start : end + 1]
        return None
    return None


@pytest.mark.requirement("001-10", "fences and prose are passed over, and each reply is a call, an answer or a reason")
@pytest.mark.requirement("000-08", "an object inside an answer and text after the object are tolerated")
@pytest.mark.requirement("000-04", "of a call and an answer in one object the call counts")
@pytest.mark.parametrize("case", VECTORS["envelopes"], ids=name_of)
def test_a_reply_is_a_call_an_answer_or_has_a_reason(case: dict[str, Any]) -> None:
    made = read(case["text"])
    assert made == case["read"]
    # Whole numbers are whole: `1.0 == 1`, so their spelling is compared too.
    assert json.dumps(made) == json.dumps(case["read"])


@pytest.mark.requirement("000-05", "the scanner has the object with the piece that ends it")
@pytest.mark.parametrize("case", VECTORS["scans"], ids=name_of)
def test_the_object_is_there_with_the_piece_that_ends_it(case: dict[str, Any]) -> None:
    assert scan(case["pieces"]) == case["found"]


@pytest.mark.parametrize("case", VECTORS["partials"], ids=name_of)
def test_an_answer_is_shown_as_far_as_it_is_written(case: dict[str, Any]) -> None:
    assert AnswerReader().read(case["text"]) == case["answer"]


@pytest.mark.requirement("000-05", "braces inside strings and escapes do not count")
@given(BROKEN)
def test_the_scanner_finds_what_plain_counting_finds(text: str) -> None:
    assert find_object(text) == plainly_found(text)


@given(BROKEN, st.lists(st.integers(0, 60)))
def test_it_does_not_matter_how_a_reply_is_cut_into_pieces(text: str, places: list[int]) -> None:
    cuts = [0, *sorted(places), len(text)]
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    scanner, thoughts = ObjectScanner(), ThoughtFilter()
    found = [scanner.feed(piece) for piece in pieces][-1]
    parted = [*(thoughts.feed(piece) for piece in pieces), thoughts.finish()]
    assert found == find_object(text)
    whole = ThoughtFilter()
    assert ["".join(part) for part in zip(*parted, strict=True)] == [
        "".join(part) for part in zip(whole.feed(text), whole.finish(), strict=True)
    ]


@pytest.mark.requirement("000-08", "any object is read whole whatever follows it")
@given(OBJECTS, st.text())
def test_any_object_is_found_and_read_whole_whatever_follows(value: dict[str, Any], after: str) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert find_object(text + after) == text
    assert read_object(text) == value


@given(BROKEN)
def test_any_text_gives_a_value_or_a_reason_and_every_value_is_canonical(text: str) -> None:
    made = read_object(text)
    if not isinstance(made, ParseFailure):
        assert parse(canonical_bytes(made)) == made
    assert read(text)["kind"] in {"call", "answer", "malformed"}
    AnswerReader().read('{"answer": "' + text)


@given(OBJECTS)
def test_what_the_gateway_would_refuse_is_refused_here(value: dict[str, Any]) -> None:
    text = json.dumps(value).replace("0", "1e9")
    try:
        accepted = parse(text.encode())
    except MalformedJson:
        assert isinstance(read_object(text), ParseFailure)
    else:
        assert read_object(text) == accepted


def test_pieces_that_part_a_character_make_it_whole_again() -> None:
    assert parse_envelope('{"answer": "\ud83d' + '\ude00"}') == AnswerChoice("😀")
    assert AnswerReader().read('{"answer": "a\ud83d') == "a"


def test_half_of_a_character_is_refused() -> None:
    for half in ("\ud83d", "\ude00"):
        assert parse_envelope(f'{{"answer": "{half}"}}') == ParseFailure("it has half of a character")


def test_a_list_is_no_object() -> None:
    assert read_object("[1]") == ParseFailure("it is not a JSON object")


LONG = 2**18
HOSTILE = {
    "a megabyte of an answer": '{"answer": "' + "x" * 2**20 + '"}',
    "a megabyte of prose": "I will, I think, " * 2**16,
    "a megabyte of space": " " * 2**20,
    "a megabyte of openings": "{" * 2**20,
    "objects in objects": '{"a":' * (LONG // 5),
    "objects in objects, closed": '{"a":' * 40_000 + "1" + "}" * 40_000,
    "lists in lists": '{"a":' + "[" * (LONG // 2 - 8) + "]" * (LONG // 2 - 8) + "}",
    "openings and space": "{ " * (LONG // 2),
    "escapes only": '{"answer": "' + "\\\\" * (LONG // 2),
    "quotes only": '{"' * (LONG // 2),
    "tags that never close": "<think>" + "</thin" * (LONG // 6),
    "control characters": '{"answer": "' + "\n" * (MAX_REPLY - 20) + '"}',
    "members": "{" + ",".join(f'"{number}":{number}' for number in range(20_000)) + "}",
    "digits": '{"a":' + "9" * (MAX_REPLY - 10) + "}",
    "a fraction of many digits": '{"a":0.' + "9" * (MAX_REPLY - 10) + "}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_hostile_reply_is_answered_in_time_linear_in_its_length(text: str) -> None:
    """Ten seconds are many times what each takes, even while coverage is measured; what is quadratic takes minutes."""
    began = time.process_time()
    made = parse_envelope(text)
    scanner = ObjectScanner()
    for at in range(0, len(text), 64):
        scanner.feed(text[at : at + 64])
    AnswerReader().read(text)
    assert isinstance(made, (AnswerChoice, ParseFailure))
    assert time.process_time() - began < 10


def test_an_answer_is_read_once_while_it_is_written() -> None:
    text = '{"answer": "' + '\\"' * 100_000
    reader = AnswerReader()
    began = time.process_time()
    assert "".join(reader.read(text[:at]) or "" for at in range(0, len(text) + 50, 50)) == '"' * 100_000
    assert time.process_time() - began < 10


def test_an_answer_that_breaks_is_read_no_further() -> None:
    reader = AnswerReader()
    assert [reader.read(text) for text in ('{"answer": "a', '{"answer": "ab', '{"answer": "ab\\xc', '{"answer": "ab\\xcd')] == [
        "a",
        "b",
        None,
        None,
    ]


def test_a_reply_is_measured_as_the_browser_measures_it() -> None:
    assert read_object(f'{{"a":"{"😀" * (MAX_REPLY // 2 - 4)}"}}') == {"a": "😀" * (MAX_REPLY // 2 - 4)}
    assert read_object(f'{{"a":"{"😀" * (MAX_REPLY // 2 - 3)}"}}') == ParseFailure("it is too long")
