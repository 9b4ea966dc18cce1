"""Credentials in tables of data, in lines of names and values, and under the names that other languages have for them."""

from __future__ import annotations

import pytest

from gateway.core.canonical import Json
from gateway.core.redaction import RedactionClass, redact_json, redact_text

SECRETS = (RedactionClass.SECRETS,)
SECRET = "Xk9!vTq2pL"


@pytest.mark.parametrize(
    "value",
    [
        [["user", "password"], ["ada", SECRET]],
        [["id", "user", "api_key"], [1, "ada", SECRET], [2, "ben", None]],
        {"columns": ["user", "password"], "rows": [["ada", SECRET], ["ben", "lighthouse"]]},
        {"fields": [{"name": "user"}, {"name": "Passwort"}], "data": [["ada", SECRET]]},
        {"result": {"headers": ["user", "password"], "values": [["ada", SECRET]]}},
    ],
)
def test_case_264_a_column_of_credentials_goes_from_a_table_in_data(value: Json) -> None:
    redacted = str(redact_json(value, SECRETS).value)
    assert SECRET not in redacted
    assert "lighthouse" not in redacted
    assert "ada" in redacted


@pytest.mark.parametrize(
    "value",
    [
        [["user", "password"], ["ada", "required"]],
        [["user", "password"], ["ada", "Xk9!vTq2pL", "three"]],
        [["user", "password"]],
        [["user", 7], ["password", 8]],
        [["password"], ["the dog"]],
        {"columns": ["user", "password"], "rows": "none"},
        {"columns": "password", "rows": [["ada", "Xk9!vTq2pL"]]},
        {"columns": ["user", "role"], "rows": [["ada", "Xk9!vTq2pL"]]},
    ],
)
def test_data_without_a_column_of_credentials_stays(value: Json) -> None:
    assert redact_json(value, SECRETS).value == value


@pytest.mark.parametrize(
    "text",
    [
        f"name,value\npassword,{SECRET}\nhost,db\n",
        f"key;value\napi_key;{SECRET}\n",
        f'name\tvalue\n"db_password"\t"{SECRET}"\n',
        rf'"[\"password\",\"{SECRET}\"]"',
    ],
)
def test_case_265_a_credential_beside_its_name_on_a_line_goes(text: str) -> None:
    assert SECRET not in redact_text(text, SECRETS).text


@pytest.mark.parametrize("text", ["password,sha256\n", "password,the_dog\n", "colour,Xk9!vTq2pL\n", "password,string\n"])
def test_a_line_of_two_names_stays(text: str) -> None:
    assert redact_text(text, SECRETS).text == text


@pytest.mark.parametrize(
    "name",
    [
        *(
            "密码",
            "密碼",
            "口令",
            "パスワード",
            "비밀번호",
            "пароль",
            "Пароль",
            "wachtwoord",
            "lösenord",
            "adgangskode",
            "passord",
        ),
        *("hasło", "heslo", "salasana", "şifre", "Passwort", "contraseña", "mot de passe", "senha"),
    ],
)
def test_case_266_the_word_for_a_password_of_another_language_names_one(name: str) -> None:
    for text in (f"{name}: {SECRET}", f"{name}={SECRET}", f"{name}：{SECRET}"):
        assert SECRET not in redact_text(text, SECRETS).text, text
    assert redact_json({name: "lighthouse"}, SECRETS).count == 1


def test_what_is_said_about_a_password_in_another_language_stays() -> None:
    for text in ("密码：请输入您的密码", "密码是必填项", "пароль: обязательное поле", "wachtwoord: verplicht", "口令是什么"):
        assert redact_text(text, SECRETS).text == text
    assert SECRET not in redact_text(f"密码是{SECRET}", SECRETS).text
