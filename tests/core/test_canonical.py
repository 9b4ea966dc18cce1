"""Canonical JSON: two readers never see two calls in the same bytes (docs/PROTOCOL.md sections 2 and 3)."""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import json
from pathlib import Path

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.canonical import MAX_DEPTH, MAX_INTEGER, Json, canonical_bytes, canonical_text, digest, own_bytes, parse
from gateway.core.errors import MalformedJson

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "canonical.json").read_text("utf-8"))

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
integers = st.integers(-MAX_INTEGER, MAX_INTEGER)
floats = st.floats(-float(MAX_INTEGER), float(MAX_INTEGER))
names = st.one_of(texts, st.sampled_from(["\U0001f600", "\uffff", "\ue000", "z", "é", "__proto__", "1", "10", "2"]))


def trees(leaves: st.SearchStrategy[Json], members: st.SearchStrategy[str]) -> st.SearchStrategy[Json]:
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(members, inner, max_size=4), max_leaves=20
    )


values = trees(st.none() | st.booleans() | integers | floats | texts, names)
own_values = trees(
    st.none() | st.booleans() | integers | texts, st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=8)
)


@given(values)
def test_canonical_bytes_are_those_of_the_reference_implementation(value: Json) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_string_alone_has_the_same_form_as_within_a_value(text: str) -> None:
    assert canonical_text(text) == rfc8785.dumps(text)
    assert canonical_bytes([text]) == b"[%b]" % canonical_text(text)


def test_every_character_is_written_as_the_reference_implementation_writes_it() -> None:
    every = [chr(code) for code in range(0x11_0000) if not 0xD800 <= code <= 0xDFFF]
    assert canonical_text("".join(every)) == rfc8785.dumps("".join(every))
    assert canonical_bytes(dict.fromkeys(every[:0x80], 0)) == rfc8785.dumps(dict.fromkeys(every[:0x80], 0))


def test_an_unpaired_surrogate_alone_has_no_canonical_form() -> None:
    with pytest.raises(MalformedJson):
        canonical_text("\ud800")


@given(values)
def test_what_is_written_reads_back_as_the_same_value(value: Json) -> None:
    raw = canonical_bytes(value)
    assert parse(raw) == value
    assert canonical_bytes(parse(raw)) == raw


@given(values)
def test_every_spelling_of_a_value_has_one_canonical_form(value: Json) -> None:
    spelt = json.dumps(value, ensure_ascii=True, indent=3).encode()
    assert canonical_bytes(parse(spelt)) == canonical_bytes(value)


@given(own_values)
def test_own_bytes_are_canonical_for_objects_of_the_gateway_itself(value: Json) -> None:
    assert own_bytes(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [1.0, {"\U0001f600": 1, "\uffff": 2}])
def test_own_bytes_are_not_canonical_outside_their_restrictions(value: Json) -> None:
    assert own_bytes(value) != rfc8785.dumps(value)


@dataclasses.dataclass
class NotJson:
    member: int = 1


@pytest.mark.parametrize(
    "value",
    [
        MAX_INTEGER + 1,
        -MAX_INTEGER - 1,
        2**70,
        float("nan"),
        {"deep": [float("inf")]},
        (1, -float("inf")),
        1e16,
        [{"n": 1e300}],
        "\ud800",
        {"\udfff": 1},
        {1: 2},
        b"bytes",
        {1, 2},
        object(),
        NotJson(),
        dt.date(2026, 11, 21),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_without_a_canonical_form_are_refused(value: Json) -> None:
    with pytest.raises(MalformedJson):
        canonical_bytes(value)


@given(st.integers(min_value=MAX_INTEGER + 1) | st.integers(max_value=-MAX_INTEGER - 1))
def test_no_integer_beyond_the_safe_range_is_read_or_written(number: int) -> None:
    with pytest.raises(MalformedJson):
        canonical_bytes({"n": number})
    with pytest.raises(MalformedJson):
        parse(str(number).encode())


@given(st.floats(min_value=float(MAX_INTEGER) + 1, allow_infinity=False))
def test_no_float_is_read_that_would_be_written_as_such_an_integer(number: float) -> None:
    for spelt in (repr(number).encode(), orjson.dumps(number), orjson.dumps({"a": ["text", number]})):
        with pytest.raises(MalformedJson):
            parse(spelt)


def _read(raw: bytes) -> str:
    """The value as Python writes it, which tells 1 from 1.0 and from true; or the refusal."""
    try:
        return repr(parse(raw))
    except MalformedJson as error:
        return type(error).__name__


@given(
    values.map(orjson.dumps)
    | st.text('[]{}",:\\ue1d8Na-.0 ', max_size=60).map(str.encode)
    | st.lists(
        st.sampled_from(['"a":', '"b":', "1", "-0", "0.0", "1e16", '"\\u00e9"', '"é"', "9007199254740993", "[", "]", ","])
    ).map(lambda parts: ("{" + "".join(parts) + "}").encode())
)
def test_how_a_text_is_spaced_changes_nothing_about_how_it_is_read(raw: bytes) -> None:
    """A text without spaces is read by another reader than one with spaces."""
    assert _read(raw) == _read(b" " + raw)


@pytest.mark.parametrize("raw", [b'{"a":1,"a":1}', b'{"a":1,"b":{"c":[],"c":[]}}', b'{"a":1,"\\u0061":2}'])
def test_a_name_that_comes_twice_is_refused_however_it_is_spelt(raw: bytes) -> None:
    with pytest.raises(MalformedJson):
        parse(raw)


@pytest.mark.requirement("002-33", "what is signed has the bytes and digests of vectors written by hand")
@pytest.mark.parametrize("vector", VECTORS["accepted"], ids=lambda vector: vector["name"])
def test_golden_texts_have_their_golden_bytes(vector: dict[str, str]) -> None:
    raw = canonical_bytes(parse(vector["input"].encode()))
    assert raw.decode() == vector["canonical"]
    assert hashlib.sha256(raw).hexdigest() == vector["sha256"] == digest(parse(vector["input"].encode()))


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda vector: vector["name"])
def test_texts_that_two_readers_could_read_differently_are_refused(vector: dict[str, str]) -> None:
    with pytest.raises(MalformedJson):
        parse(vector["input"].encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("raw", [b"\xff", b'"\xed\xa0\x80"', b'"\xc0\xaf"', b"\xfe\xff\x00{\x00}"])
def test_bytes_that_are_not_utf_8_are_refused(raw: bytes) -> None:
    with pytest.raises(MalformedJson):
        parse(raw)


@given(st.binary(max_size=200) | st.text('[]{}",:\\ue1d8Na-.0', max_size=60).map(str.encode))
def test_no_bytes_get_anything_but_a_value_or_the_one_error(raw: bytes) -> None:
    try:
        value = parse(raw)
    except MalformedJson:
        return
    assert canonical_bytes(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("opener", ["[", '{"a":'])
def test_nesting_counts_arrays_and_objects_alike(opener: str) -> None:
    closer = {"[": "]", '{"a":': "}"}[opener]
    assert parse(f"{opener * MAX_DEPTH}1{closer * MAX_DEPTH}".encode()) is not None
    with pytest.raises(MalformedJson):
        parse(f"{opener * (MAX_DEPTH + 1)}1{closer * (MAX_DEPTH + 1)}".encode())


def test_brackets_inside_strings_are_no_nesting() -> None:
    assert parse(b'"' + b"[{" * 200 + b'"') == "[{" * 200


def test_absurd_nesting_is_an_error_and_not_a_crash() -> None:
    with pytest.raises(MalformedJson):
        parse(b"[" * 200_000)
