"""Credentials in texts that write signs otherwise, and under names that say whose they are."""

from __future__ import annotations

import pytest

from gateway.core.canonical import Json
from gateway.core.redaction import RedactionClass, redact_json, redact_text, weighs_more
from gateway.core.secret_words import names_secret

SECRETS = (RedactionClass.SECRETS,)
BOTH = (*SECRETS, RedactionClass.PII)
SECRET = "Xk9!vTq2pL"


@pytest.mark.parametrize(
    "text",
    [
        f"password%3D{SECRET}",
        f"https://a.example/?next=%2Fx%3Fpassword%253D{SECRET}",
        f"%7B%22password%22%3A%20%22{SECRET}%22%7D",
        f"client_secret%3d{SECRET}%26scope%3Dread",
        f"&quot;password&quot;:&quot;{SECRET}&quot;",
        f"password&#61;{SECRET}",
        rf"password\u003d{SECRET}",
    ],
)
def test_case_269_a_credential_goes_where_signs_are_written_otherwise(text: str) -> None:
    assert SECRET not in redact_text(text, SECRETS).text


@pytest.mark.parametrize(
    "text",
    [
        *(f"PASSWORT_DB={SECRET}", "PASSWORD_DB=lighthouse", f"token-github: {SECRET}", "password2: lighthouse"),
        *(f"parola: {SECRET}", f"Parolă: {SECRET}"),
        *(f"Zugangsdaten: ada / {SECRET}", f"Logindaten: ada | {SECRET}", f"identifiants : ada:{SECRET}"),
    ],
)
def test_case_269_the_name_of_a_credential_may_say_whose_it_is(text: str) -> None:
    redacted = redact_text(text, SECRETS).text
    assert SECRET not in redacted
    assert "lighthouse" not in redacted


@pytest.mark.parametrize("name", ["PASSWORT_DB", "parola", "Zugangsdaten", "password2"])
def test_case_269_so_it_is_in_data(name: str) -> None:
    assert "lighthouse" not in str(redact_json({name: "lighthouse"}, SECRETS).value)


@pytest.mark.parametrize(
    "text",
    [
        *("grant_type%3Dpassword%26username%3Dada", "pageToken%3DCAUQAA11x", "token_type%3Dbearer", "password&#61;&#61;"),
        *("PASSWORD_MIN_LENGTH=12", "password_hash=abc", "PASSWORD_FILE=/run/secrets/db1", "parola chiave: sicurezza"),
        *("Zugangsdaten: siehe Wiki", "see the credentials: /etc/app1", "keys: a / b1"),
    ],
)
def test_what_only_looks_like_that_stays(text: str) -> None:
    assert redact_text(text, SECRETS).text == text


@pytest.mark.parametrize(
    "text",
    [
        *("AKIAIOSFODNN7EXAMPLE", "db.example:5432:shop:ada:Xk9vTq2pLm", "-----BEGIN PRIVATE KEY-----", "+49 30 1234567"),
        *("ada@example.com", "4111 1111 1111 1111", "DE89370400440532013000", '"value":"Xk9vTq","name":"password"'),
    ],
)
def test_a_short_text_is_looked_through_as_a_long_one_is(text: str) -> None:
    """Most short texts are told at a glance to hold nothing."""
    assert redact_text(text, BOTH).count == redact_text(f"{text}\n{'. ' * 100}", BOTH).count == 1


@pytest.mark.parametrize(
    ("value", "longer"),
    [
        ({"short": ["a", 1, None, True]}, False),
        ("x" * 10_000, True),
        ({f"name {number}": number for number in range(1_000)}, True),
        ([[["x"] * 100] * 10] * 10, True),
        (None, False),
    ],
)
def test_data_of_many_strings_weighs_as_much_as_a_long_text(value: Json, longer: bool) -> None:
    assert weighs_more(value, 10_000) is longer


@pytest.mark.parametrize("words", ["Parolă", "La tua parola", "Anmeldedaten", "logindaten"])
def test_case_182_words_of_other_languages_ask_for_a_secret(words: str) -> None:
    assert names_secret(words)
