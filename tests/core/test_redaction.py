"""Redaction and caps (docs/SECURITY.md case 54)."""

from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.core.canonical import Json
from gateway.core.redaction import RedactionClass, cap_json, cap_text, redact_json, redact_text

SECRETS = (RedactionClass.SECRETS,)
PII = (RedactionClass.PII,)
BOTH = tuple(RedactionClass)

# Credentials are put together here so that no scanner of this tree takes them for real ones.
GITHUB = "ghp_" + "a1B2" * 9
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl"
KEY_HEAD, KEY_TAIL = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"


def redacted(text: str, classes: tuple[RedactionClass, ...] = SECRETS) -> str:
    return redact_text(text, classes).text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"key: {AWS}.", "key: [redacted:aws-key-id]."),
        (f"use {GITHUB}!", "use [redacted:github-token]!"),
        ("github_pat_" + "A1b2_" * 10, "[redacted:github-token]"),
        ("glpat-" + "abcDEF123-" * 2, "[redacted:gitlab-token]"),
        ("xoxb-" + "123456789012-abcdef", "[redacted:slack-token]"),
        ("https://hooks.slack.com/services/" + "T00/B00/XXXXXXXX", "https://hooks.slack.com/services/[redacted:slack-webhook]"),
        ("sk-proj-" + "abc123DEF456ghi789jkl", "[redacted:api-key]"),
        ("sk_live_" + "abcdefghijklmnop1234", "[redacted:api-key]"),
        ("AIza" + "SyA-1234567890abcdefghijklmnopqrstu", "[redacted:google-key]"),
        ("ya29." + "a0AfH6SMBx-abcdefghijkl", "[redacted:google-token]"),
        ("npm_" + "a1" * 18, "[redacted:package-token]"),
        ("hf_" + "aB3" * 11, "[redacted:model-hub-token]"),
        (f"id {JWT} end", "id [redacted:jwt] end"),
    ],
    ids=lambda text: str(text)[:16],
)
def test_tokens_with_a_known_shape_are_taken_out(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_a_private_key_goes_whole_with_its_frame() -> None:
    text = f"before\n{KEY_HEAD}\nMIIEow\nIBAAKC\n{KEY_TAIL}\nafter"
    assert redact_text(text, SECRETS).text == "before\n[redacted:private-key]\nafter"


def test_a_private_key_that_is_cut_off_goes_to_the_end() -> None:
    assert redacted(f"x {KEY_HEAD}\nMIIEowIBAAKC") == "x [redacted:private-key]"


def test_a_public_key_stays() -> None:
    text = "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----"
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2", "password=[redacted:password]"),
        ("DB_PASSWORD=hunter2\nDEBUG=1", "DB_PASSWORD=[redacted:password]\nDEBUG=1"),
        ("password: hunter2, user: bob", "password: [redacted:password], user: bob"),
        ('passwd = "two words"', 'passwd = "[redacted:password]"'),
        ("'passphrase' => 'it\\'s me'", "'passphrase' => '[redacted:password]'"),
        ('{"password":"hun\\"ter2","next":1}', '{"password":"[redacted:password]","next":1}'),
        ('{\\"apiKey\\":\\"hunter2\\",\\"next\\":1}', '{\\"apiKey\\":\\"[redacted:password]\\",\\"next\\":1}'),
        ("api_key: abc", "api_key: [redacted:password]"),
        ("API key: abc", "API key: [redacted:password]"),
        ("aws_secret_access_key = wJalr/K7MDENG", "aws_secret_access_key = [redacted:password]"),
        ("client-secret=abc;x", "client-secret=[redacted:password];x"),
        ("token = abcdefgh12", "token = [redacted:password]"),
        ("--password=hunter2 --verbose", "--password=[redacted:password] --verbose"),
        ("https://a/?access_token=abc123&x=1", "https://a/?access_token=[redacted:password]&x=1"),
        ("Authorization: Bearer abc.def", "Authorization: [redacted:authorization]"),
        ("authorization: Basic dXNlcjpwYXNz\r\nHost: x", "authorization: [redacted:authorization]\r\nHost: x"),
        ('Authorization: Token token="abc", app="x"', "Authorization: [redacted:authorization]"),
        ("curl -H 'Authorization: Bearer abc' https://a/", "curl -H 'Authorization: [redacted:authorization]' https://a/"),
        ('{"authorization": "Bearer abc", "x": 1}', '{"authorization": "[redacted:authorization]", "x": 1}'),
        ("sent bearer abcdef0123456789xyz on", "sent bearer [redacted:bearer-token] on"),
        ("Cookie: sid=abc; theme=dark\nHost: x", "Cookie: [redacted:cookie]\nHost: x"),
        ('Set-Cookie: sid="abc"; HttpOnly', "Set-Cookie: [redacted:cookie]"),
        ('{"cookie": "sid=abc", "x": 1}', '{"cookie": "[redacted:cookie]", "x": 1}'),
        ("postgres://user:pw@host/db", "postgres://user:[redacted:url-password]@host/db"),
        ("redis://:p@ss@host", "redis://:[redacted:url-password]@host"),
    ],
)
def test_values_that_are_named_as_credentials_are_taken_out(text: str, shown: str) -> None:
    assert redacted(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "def sign_in(password: str, token: Optional[str] = None) -> None:",
        "password = get_password()",
        "password = request.form['password']",
        "secret: ${VAULT_SECRET}",
        "the token: it is short",
        "max_tokens: 256, temperature: 0.1",
        "PWD=/home/ada/notes",
        "bearer authentication-is-required here",
        "cookie: a small sweet biscuit",
        "https://example.com:8443/a@b",
        "see http://localhost:8765 and mail@",
        "class='sk-spinner-container-animation'",
        "commit 9376466abcdef0123456789abcdef0123456789a",
        "eyJust a word",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact_text(text, SECRETS).text == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("write to bob.smith+x@mail.example.com.", "write to [redacted:email]."),
        ("call +49 151 2345-6789 now", "call [redacted:phone] now"),
        ("card 4111 1111 1111 1111 12/28", "card [redacted:card-number] 12/28"),
        ("12 5500-0000-0000-0004", "12 [redacted:card-number]"),
        ("2026 4111111111111111", "2026 [redacted:card-number]"),
        ("pay DE89 3704 0044 0532 0130 00 NOW", "pay [redacted:iban] NOW"),
        ("GB82WEST12345698765432", "[redacted:iban]"),
    ],
)
def test_personal_data_is_taken_out_on_request(text: str, shown: str) -> None:
    assert redact_text(text, PII).text == shown
    assert redact_text(text, SECRETS).text == text


@pytest.mark.parametrize(
    "text",
    ["4111 1111 1111 1112", "1795248000000123", "DE00 3704 0044 0532 0130 00", "a@b", "@example.com", "version 1.2.3", "+12"],
)
def test_numbers_that_fail_their_own_check_stay(text: str) -> None:
    assert redact_text(text, PII).text == text


def test_what_overlaps_is_one_finding() -> None:
    result = redact_text(f"Authorization: Bearer {JWT}", SECRETS)
    assert (result.text, result.count) == ("Authorization: [redacted:authorization]", 1)


def test_every_finding_is_counted() -> None:
    assert redact_text(f"{AWS} {GITHUB} password=x", SECRETS).count == 3


def test_no_class_takes_nothing_out() -> None:
    assert redact_text(f"password={AWS}", ()).count == 0


pieces = st.sampled_from(
    [
        *(AWS, GITHUB, JWT, KEY_HEAD, KEY_TAIL, "password", "token", "Authorization", "cookie", ":", "=", '"', "'", "\\"),
        *(
            "://",
            "@",
            "a",
            "bob@example.com",
            "4111111111111111",
            "+4915123456789",
            "[redacted:jwt]",
            "[",
            "é",
            "\u202e",
            "\ud800",
        ),
    ]
)
messy_texts = st.builds(str.join, st.sampled_from([" ", "\n", ", "]), st.lists(pieces, max_size=14))


@given(messy_texts)
@example("password : Authorization = AKIAIOSFODNN7EXAMPLE")
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact_text(text, BOTH)
    assert redact_text(once.text, BOTH).text == once.text


@given(messy_texts)
def test_the_count_is_zero_exactly_when_the_text_is_unchanged(text: str) -> None:
    result = redact_text(text, BOTH)
    assert (result.count == 0) is (result.text == text)


@pytest.mark.requirement("002-31", "a credential is redacted whatever text surrounds it")
@given(st.text(max_size=20), st.text(max_size=20))
def test_a_token_is_found_whatever_surrounds_it(before: str, after: str) -> None:
    assert GITHUB not in redacted(f"{before} {GITHUB} {after}")


@pytest.mark.parametrize("name", ["p\u0430ssword", "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44", "pass\u200bword"])
def test_a_name_that_only_looks_like_one_of_a_credential_is_read_as_it_looks(name: str) -> None:
    for between in (": ", ":\u00a0", "\uff1a\u3000"):
        assert "hunter2Zx9QvLq" not in redacted(f"{name}{between}hunter2Zx9QvLq"), between
    assert redact_json({name: "hunter2Zx9QvLq"}, BOTH).count == 1


HOSTILE = [
    "a",
    "password=",
    'password="',
    "password='\"\\",
    'password=\\"',
    KEY_HEAD,
    "-----BEGIN ",
    "eyJ",
    "eyJaaaaa.",
    "://",
    "://a:b",
    "authorization: ",
    'cookie: a="',
    "cookie=aaaa",
    "a@",
    "a.a@a.a.",
    "+1",
    "4 ",
    "41 ",
    "DE89 ",
    "DE12",
    "sk-",
    "sk-a",
    "bearer aaaaaaaaaaaaaaaaaaaa",
    "token : ",
    "token ",
    "\\",
    "ghp_",
    "0",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_repetition_is_read_in_one_go(unit: str) -> None:
    """A pattern that started over at every repetition would take hours over 200 kB, and never come to the end."""
    text = unit * (200_000 // len(unit))
    assert redact_text(f"{text}\n\n{GITHUB}", SECRETS).text.endswith(("[redacted:github-token]", "[redacted:private-key]"))
    assert GITHUB not in redact_text(f"{text} {GITHUB}", BOTH).text


# ── structured ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_strings_are_redacted_wherever_they_stand_in_a_structure() -> None:
    value = {"rows": [["x", {"note": f"key {AWS}"}], "password=hunter2"], "n": 1, "ok": True, "none": None}
    result = redact_json(value, SECRETS)
    assert result.count == 2
    assert result.value == {
        "rows": [["x", {"note": "key [redacted:aws-key-id]"}], "password=[redacted:password]"],
        "n": 1,
        "ok": True,
        "none": None,
    }


@pytest.mark.parametrize(
    "name",
    [
        *("password", "DB_PASSWORD", "apiKey", "x-api-key", "clientSecret", "Authorization", "set-cookie", "githubToken"),
        *("pass", "DB_PASS", "ftpPass", "pwd", "wifi-psk"),
    ],
)
def test_a_member_named_as_a_credential_goes_whatever_it_looks_like(name: str) -> None:
    assert "plain" not in json.dumps(redact_json({name: "plain"}, SECRETS).value)
    assert "plain" not in json.dumps(redact_json({name: ["plain", {"of": "plain"}]}, SECRETS).value)
    assert "4711" not in json.dumps(redact_json({name: 4711}, SECRETS).value)


@pytest.mark.parametrize(
    "name", ["nextPageToken", "max_tokens", "tokenizer", "passwordPolicy", "key", "author", "compass", "byPassed", "OLDPWDS"]
)
def test_a_member_with_a_harmless_name_stays(name: str) -> None:
    assert redact_json({name: "plain"}, SECRETS).value == {name: "plain"}


@pytest.mark.parametrize(
    "value",
    [
        {"name": "password", "value": "plain"},
        {"key": "DB_PASS", "value": ["plain"]},
        {"Value": "plain", "Name": "client_secret"},
        [{"field": "apiKey", "content": {"is": "plain"}}],
    ],
)
def test_a_value_beside_the_name_of_a_credential_goes(value: Json) -> None:
    assert "plain" not in json.dumps(redact_json(value, SECRETS).value)


@pytest.mark.parametrize(
    "value", [{"name": "theme", "value": "plain"}, {"name": "password", "type": "plain"}, {"key": 7, "value": "plain"}]
)
def test_a_value_beside_another_name_stays(value: Json) -> None:
    assert redact_json(value, SECRETS).value == value


def test_absent_values_and_flags_under_a_credentials_name_stay() -> None:
    value = {"password": None, "secret": True, "token": ""}
    assert redact_json(value, SECRETS).value == value


def test_names_are_redacted_too() -> None:
    assert redact_json({GITHUB: 1}, SECRETS).value == {"[redacted:github-token]": 1}


def test_names_do_not_count_where_only_personal_data_is_asked_for() -> None:
    assert redact_json({"password": "x", "mail": "a@example.com"}, PII).value == {"password": "x", "mail": "[redacted:email]"}


def test_what_cannot_be_looked_into_does_not_leave() -> None:
    deep: Json = AWS
    for _ in range(500):
        deep = [deep]
    assert AWS not in repr(redact_json(deep, SECRETS).value)
    assert AWS not in repr(redact_json({"x": AWS.encode()}, SECRETS).value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | messy_texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(messy_texts, inner, max_size=3),
        max_leaves=12,
    )
)
def test_redacting_a_structure_twice_changes_nothing_more(value: Json) -> None:
    once = redact_json(value, BOTH)
    assert redact_json(once.value, BOTH).value == once.value


# ── caps ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("002-31", "a cut text keeps to its limit and counts what is missing")
@given(st.text(max_size=300), st.integers(0, 400))
def test_a_capped_text_never_exceeds_its_limit_and_counts_what_is_missing(text: str, limit: int) -> None:
    whole = text.encode("utf-8", "replace")
    capped, cut = cap_text(text, limit)
    assert len(capped.encode()) <= limit
    if cut == 0:
        assert capped.encode() == whole
        return
    mark = f"…[truncated {cut} bytes]"
    if capped:
        assert capped.endswith(mark)
        kept = capped.removesuffix(mark).encode()
        assert whole.startswith(kept)
        assert len(kept) + cut == len(whole)
    else:
        assert cut == len(whole)


def test_a_text_that_fits_exactly_is_left_alone() -> None:
    assert cap_text("é" * 50, 100) == ("é" * 50, 0)


def test_a_character_is_never_cut() -> None:
    for limit in range(24, 60):
        assert "\ufffd" not in cap_text("😀" * 100, limit)[0]


def test_a_cut_says_how_much_is_missing() -> None:
    assert cap_text("x" * 1000, 100) == ("x" * 75 + "…[truncated 925 bytes]", 925)


def test_text_that_has_no_utf_8_form_can_still_be_shown() -> None:
    assert cap_text("a\ud800b", 100) == ("a?b", 0)


def test_structure_that_fits_is_kept_and_structure_that_does_not_is_dropped_whole() -> None:
    value = {"rows": list(range(10))}
    size = len(orjson.dumps(value))
    assert cap_json(value, size) == (value, False)
    assert cap_json(value, size - 1) == (None, True)
    assert cap_json(None, 0) == (None, False)


@pytest.mark.parametrize("value", [float("nan"), {"n": 2**60}, b"x", "\ud800", {1: 2}], ids=repr)
def test_structure_that_is_no_json_is_dropped(value: Json) -> None:
    assert cap_json(value, 1000) == (None, True)
