"""Credentials whose name stands in another cell, item or clause: tables, lists of pairs, lists under one name, sentences."""

from __future__ import annotations

import pytest

from gateway.core.canonical import Json
from gateway.core.redaction import RedactionClass, redact_json, redact_lines, redact_text

SECRETS = (RedactionClass.SECRETS,)
SECRET = "Xk9!vTq2pL"


@pytest.mark.parametrize(
    "text",
    [
        f"<td>password</td><td>{SECRET}</td>",
        f"<tr>\n  <th>Password:</th>\n  <td class='v'>{SECRET}</td></tr>",
        f"<dt><b>API key</b></dt><dd><code>{SECRET}</code></dd>",
        f'["password",\n "{SECRET}"]',
        f'[["authorization", "{SECRET}"]]',
        f'[[\\"authorization\\", \\"Bearer {SECRET}\\"]]',
        f"('Cookie', 'sid={SECRET}; theme=dark')",
        f'{{"passwords": ["{SECRET}", "another {SECRET}"]}}',
        f"passwords: [\n  '{SECRET}',\n  '{SECRET}',\n]",
        f"api_keys = [{SECRET}, {SECRET}]",
        f"Passwords: {SECRET}",
        f"Das Passwort lautet {SECRET}",
        f"Das Passwort für ada lautet: {SECRET}",
        f"das Kennwort heißt {SECRET}",
        f"le mot de passe est {SECRET}",
        f"a senha é {SECRET}",
    ],
)
def test_a_value_beside_its_name_goes(text: str) -> None:
    shown = redact_text(text, SECRETS).text
    assert SECRET not in shown
    assert redact_text(shown, SECRETS).text == shown


@pytest.mark.parametrize(
    "text",
    [
        "<th>Password</th><th>Role</th>",
        "<td>password</td><td>string</td>",
        '"required": ["password", "created_at"]',
        'allow_headers=["authorization", "content-type", "x-amz-content-sha256"]',
        "passwords: [required, optional]",
        "api_keys = []",
        "Passwords: never share them",
        "Das Passwort lautet anders",
    ],
)
def test_names_without_a_value_stay(text: str) -> None:
    assert redact_text(text, SECRETS).text == text


@pytest.mark.parametrize(
    "value",
    [
        ["password", SECRET],
        [["authorization", f"Bearer {SECRET}"]],
        ["accept", "*/*", "X-Api-Key", SECRET],
        {"passwords": [SECRET, "hunter"]},
        {"apiKeys": {"ada": SECRET}},
        {"accessTokens": [{"ada": SECRET}]},
    ],
)
def test_an_item_beside_or_under_the_name_of_a_credential_goes(value: Json) -> None:
    shown = redact_json(value, SECRETS)
    assert SECRET not in str(shown.value)
    assert "hunter" not in str(shown.value)
    assert redact_json(shown.value, SECRETS).value == shown.value


@pytest.mark.parametrize(
    "value",
    [
        ["username", "password"],
        ["password", "created_at"],
        ["authorization", "x-amz-content-sha256"],
        ["Enter your password", "2 tries left"],
        ["user", "password", "sha256"],
        ["password", 7],
        {"max_tokens": 256, "tokens": ["a", "b2"], "secrets": ["db-2"]},
    ],
)
def test_lists_of_names_stay(value: Json) -> None:
    assert redact_json(value, SECRETS).value == value
    assert redact_json(["password", SECRET], (RedactionClass.PII,)).count == 0


@pytest.mark.parametrize(
    "unit",
    [
        "password</td>",
        "password</td> <td>",
        "password<b ",
        "passwords: [",
        'passwords: ["a1bcdef',
        'passwords: ["a1bcdef", "',
        '"authorization", "',
        "'cookie', 'a=",
        "password lautet ",
        "password für ",
        "user,password\n",
        "user,password\na\n",
        "password,",
        'user,password\n"',
        '"password",["a1bcdef","',
        '"password","a1bcdef",',
    ],
)
def test_hostile_repetition_is_read_in_one_go(unit: str) -> None:
    """A pattern that started over at every repetition would take hours."""
    text = unit * (200_000 // len(unit))
    assert "1memorable" not in redact_text(f"{text}\n\npassword: 1memorable\n", SECRETS).text


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_are_redacted_as_a_whole_and_stay_as_many(ending: str) -> None:
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    key = ("-----BEGIN PRIVATE KEY-----", body, body, "-----END PRIVATE KEY-----")
    lines = ["one", *key, "two", "password:", f"  {SECRET}", "three", f"token={SECRET} and more", "", "four"]
    shown = redact_lines(ending.join(lines), SECRETS)
    assert shown[:7] == ["one", "[redacted:private-key]", "", "", "", "two", "password:"]
    assert shown[7:] == ["  [redacted:password]", "three", "token=[redacted:password] and more", "", "four"]
    assert redact_lines(ending.join(lines), ()) == lines
    assert redact_lines("\n".join(key), SECRETS) == ["[redacted:private-key]", "", "", ""]
    assert redact_lines("", SECRETS) == []


@pytest.mark.parametrize(
    "name",
    [
        *("passwort", "Kennwort", "contraseña", "senha", "mot_de_passe", "passcode", "creds"),
        *("encryptionKey", "master_key", "deploy-key", "storageKey", "recovery_key"),
    ],
)
def test_a_member_goes_under_every_name_that_texts_know(name: str) -> None:
    for value in ({name: "plain"}, {name: ["plain", {"of": "plain"}]}, [{"k": name, "v": "plain"}]):
        assert "plain" not in str(redact_json(value, ("secrets",)).value)


@pytest.mark.parametrize("name", ["passport", "passengers", "primary_key", "public_key", "nextPageToken", "passwordPolicy"])
def test_a_member_whose_name_is_like_one_of_a_credential_stays(name: str) -> None:
    assert redact_json({name: "plain"}, ("secrets",)).value == {name: "plain"}


@pytest.mark.parametrize(
    "text",
    [
        f"user,password\nada,{SECRET}\nbob,hunter\n",
        f'user;password;role\r\nada;"{SECRET}";admin\r\nbob;hunter;user\r\n',
        f"id\tapi_key\n1\t{SECRET}\n2\thunter",
        f"made at noon\n\nname, secret\nada, {SECRET}\nbob, hunter-and-prey\n",
        f'"user","password"\n"a, b","{SECRET}"\nbob,hunter\n',
    ],
)
def test_case_242_a_column_under_the_name_of_a_credential_goes_as_a_whole(text: str) -> None:
    shown = redact_text(text, SECRETS).text
    assert SECRET not in shown
    assert "hunter" not in shown
    assert len(shown.splitlines()) == len(text.splitlines())
    assert redact_text(shown, SECRETS).text == shown


@pytest.mark.parametrize(
    "text",
    [
        "user,password,role\nada,required,string\n",
        "column,token\nthe,12\ncats2,9\n",
        "key,value\ncolour,Xk9!vTq2pL\n",
        "user,password\nada,Xk9!vTq2pL,three\n",
        "user, password and the rest\nada, Xk9!vTq2pL\n",
        "password_hint,user\nthe dog2,ada\n",
    ],
)
def test_tables_without_credentials_stay(text: str) -> None:
    assert redact_text(text, SECRETS).text == text


@pytest.mark.parametrize(
    "value",
    [
        ["password", [SECRET]],
        ["password", {"value": SECRET}],
        ["user", "password", SECRET],
        ["password", SECRET, f"{SECRET}3"],
        ["id", "ada", "api_key", SECRET, "admin"],
    ],
)
def test_case_242_what_looks_made_up_behind_a_name_goes_from_any_list(value: Json) -> None:
    text = str(value).replace("'", '"')
    assert SECRET not in str(redact_json(value, SECRETS).value)
    assert SECRET not in redact_text(text, SECRETS).text
    assert redact_json(["password", ["can't be blank", "is too short"], "sha256"], SECRETS).count == 0


@pytest.mark.parametrize("name", ["nextPageToken", "next_page_token", "next page token", "continuationToken", "NextToken"])
def test_a_cursor_stays_in_texts_as_in_data(name: str) -> None:
    assert redact_json({name: SECRET}, SECRETS).count == 0
    for text in (f"{name}: {SECRET}", f'"{name}": "{SECRET}"', f"{name}={SECRET}"):
        assert redact_text(text, SECRETS).text == text


@pytest.mark.parametrize("name", ["accessToken", "pageAccessToken", "next_access_token"])
def test_a_token_that_only_sounds_like_a_cursor_goes_from_texts_as_from_data(name: str) -> None:
    assert redact_json({name: SECRET}, SECRETS).count == 1
    assert redact_text(f"{name}: {SECRET}", SECRETS).count == 1
