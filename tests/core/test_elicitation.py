"""Which forms of a server may be shown, and which values fit them."""

from __future__ import annotations

import pytest

from gateway.core.canonical import Json
from gateway.core.elicitation import ElicitationForm, ElicitationRefusal, find_value_fault, read_form


def form_of(**properties: Json) -> ElicitationForm:
    form = read_form("Tell me", {"type": "object", "properties": properties})
    assert isinstance(form, ElicitationForm), form
    return form


WHOLE = form_of(
    name={"type": "string", "minLength": 2, "maxLength": 4, "title": "Name"},
    mail={"type": "string", "format": "email"},
    site={"type": "string", "format": "uri"},
    day={"type": "string", "format": "date"},
    moment={"type": "string", "format": "date-time"},
    count={"type": "integer", "minimum": 1, "maximum": 5, "default": 3},
    share={"type": "number", "maximum": 0.5},
    force={"type": "boolean"},
    size={"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Middle"]},
    colour={"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
    tags={"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2},
    kinds={"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}},
)


def test_each_kind_of_field_is_told_with_its_words() -> None:
    told = {each.name: (each.kind.value, [option.label for option in each.options]) for each in WHOLE.fields}

    assert told == {
        "name": ("text", []),
        "mail": ("text", []),
        "site": ("text", []),
        "day": ("text", []),
        "moment": ("text", []),
        "count": ("integer", []),
        "share": ("number", []),
        "force": ("boolean", []),
        "size": ("choice", ["Small", "Middle"]),
        "colour": ("choice", ["Red", "Green"]),
        "tags": ("choices", ["a", "b", "c"]),
        "kinds": ("choices", ["X"]),
    }


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"name": "Ada", "count": 5, "share": 0.5, "force": False, "size": "m", "tags": ["a", "c"]},
        {"mail": "a@b.example", "site": "https://a.example/", "day": "2026-11-23", "moment": "2026-11-23T12:00:00Z"},
    ],
)
def test_values_that_fit_are_taken(values: dict[str, Json]) -> None:
    assert find_value_fault(WHOLE, values) is None


MISSES: list[tuple[dict[str, Json], str]] = [
    ({"other": 1}, "there is no such field in this form"),
    ({"name": "A"}, "`name`: its characters are fewer than 2"),
    ({"name": "Augusta"}, "`name`: its characters are more than 4"),
    ({"name": 5}, "`name`: it is no text of at most 2000 characters"),
    ({"mail": "nobody"}, "`mail`: it is no email"),
    ({"site": "no address"}, "`site`: it is no uri"),
    ({"day": "2026-13-01"}, "`day`: it is no date"),
    ({"moment": "noon"}, "`moment`: it is no date-time"),
    ({"count": 0}, "`count`: it is less than 1"),
    ({"count": True}, "`count`: it is no whole number"),
    ({"count": 2.5}, "`count`: it is no whole number"),
    ({"share": 0.6}, "`share`: it is more than 0.5"),
    ({"share": "a"}, "`share`: it is no number"),
    ({"force": "yes"}, "`force`: it is yes or no"),
    ({"size": "l"}, "`size`: it is none of the choices"),
    ({"tags": ["a", "a"]}, "`tags`: it is no list of its choices"),
    ({"tags": ["a", {}]}, "`tags`: it is no list of its choices"),
    ({"tags": []}, "`tags`: its choices are fewer than 1"),
    ({"tags": ["a", "b", "c"]}, "`tags`: its choices are more than 2"),
]


@pytest.mark.parametrize(("values", "fault"), MISSES)
def test_values_that_miss_the_form_are_refused_by_their_field(values: dict[str, Json], fault: str) -> None:
    assert find_value_fault(WHOLE, values) == fault


def refusal_of(schema: Json, message: str = "Tell me") -> str:
    refused = read_form(message, schema)
    assert isinstance(refused, ElicitationRefusal), refused
    return refused.why


def nest(depth: int) -> Json:
    return {"a": nest(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"type": "string"},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {}, "$defs": {}},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {}, "required": ["a"]},
        {"type": "object", "properties": {"a b": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://evil.example/"}}},
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
        {"type": "object", "properties": {"a": {"type": "string", "format": "password"}}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": []}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["x", "x"]}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["x", 5]}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["x"] * 51}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["x"], "enumNames": ["X", "Y"]}}},
        {"type": "object", "properties": {"a": {"type": "string", "oneOf": [{"const": "x"}]}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": "1"}}},
        {"type": "object", "properties": {"a": {"type": "integer", "maximum": True}}},
        {"type": "object", "properties": {"a": {"type": "boolean", "default": "yes"}}},
        {"type": "object", "properties": {"a": {"type": "string", "description": 5}}},
        {"type": "object", "properties": {"a": nest(300)}},
    ],
)
def test_what_is_no_flat_form_is_refused_in_one_line(schema: Json) -> None:
    assert len(refusal_of(schema).splitlines()) == 1


@pytest.mark.parametrize(
    "field",
    [
        {"password": {"type": "string"}},
        {"userPassword": {"type": "string"}},
        {"API_KEY": {"type": "string"}},
        {"a": {"type": "string", "title": "Your p\u00e1ssw\u00f6rd"}},
        {"a": {"type": "string", "title": "\uff30\uff29\uff2e"}},
        {"a": {"type": "string", "title": "One-time code"}},
        {"cvv": {"type": "integer"}},
        {"accessToken": {"type": "string"}},
        {"a": {"type": "string", "title": "Card number"}},
        {"a": {"type": "string", "title": "P\u0430ssword"}},
        {"a": {"type": "string", "title": "\u03a4\u039f\u039a\u0395\u039d"}},
        {"a": {"type": "string", "title": "Pas\u200bsword"}},
        {"a": {"type": "string", "title": "P I N"}},
        {"a": {"type": "string", "title": "p@$$w0rd"}},
        {"passw0rd": {"type": "string"}},
        {"a": {"type": "string", "title": "2FA code"}},
        {"a": {"type": "string", "title": "\u041f\u0430\u0440\u043e\u043b\u044c"}},
        {"a": {"type": "string", "title": "\u30d1\u30b9\u30ef\u30fc\u30c9"}},
        {"a": {"type": "string", "title": "\ube44\ubc00\ubc88\ud638"}},
        {"a": {"type": "string", "title": "Has\u0142o"}},
    ],
)
def test_a_form_with_a_field_for_a_secret_is_refused(field: Json) -> None:
    why = refusal_of({"type": "object", "properties": field})

    assert why == "its form asks for a password, a key or another secret, which no form may"


@pytest.mark.parametrize(
    "name", ["issue_key", "tokens", "max_tokens", "compass", "keyboard", "spin", "pinned", "postcode", "page_1_n"]
)
def test_a_word_that_only_holds_another_is_no_secret(name: str) -> None:
    assert not form_of(**{name: {"type": "string"}}).speaks_of_secrets


def test_words_that_speak_of_secrets_are_marked() -> None:
    asked = read_form("Tell me your password", {"type": "object", "properties": {"answer": {"type": "string"}}})

    assert isinstance(asked, ElicitationForm)
    assert asked.speaks_of_secrets
    assert form_of(answer={"type": "string", "description": "the PIN of your card"}).speaks_of_secrets
    assert form_of(answer={"type": "string", "description": "the \u03a1\u0399\u039d of your card"}).speaks_of_secrets


def test_a_message_that_is_too_long_or_is_no_text_of_unicode_is_refused() -> None:
    empty: Json = {"type": "object", "properties": {}}

    assert refusal_of(empty, "x" * 1001)
    assert refusal_of(empty, "\ud800")
