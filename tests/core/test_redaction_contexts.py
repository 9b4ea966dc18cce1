"""Credentials that only their place tells, on lines that were written before their patterns were looked at (docs/LIMITATIONS.md).

`data/unseen-secrets.txt` has a kind and a line each; between « and » stands the shape of a secret (`A`, `a`, `9`, and `x` for
a hexadecimal digit), which is filled when a test runs, so that no scanner of this tree finds one. Before the patterns of
`context_secrets`, recall on these lines was 0.37.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from gateway.core.redaction import RedactionClass, redact_json, redact_text

SECRETS = (RedactionClass.SECRETS,)
DATA = Path(__file__).parent / "data"
HARMLESS = (DATA / "unseen-harmless.txt").read_text(encoding="utf-8").splitlines()
_ALPHABETS = {"A": "ABCDEFGHJKLMNPQRSTUVWXYZ", "a": "abcdefghjkmnpqrstuvwxyz", "9": "0123456789", "x": "0123456789abcdef"}


def planted() -> list[tuple[str, str, str]]:
    """Kind, line and secret of each."""
    filled = random.Random("unseen")
    lines = [each.split("\t", 1) for each in (DATA / "unseen-secrets.txt").read_text(encoding="utf-8").splitlines()]
    found: list[tuple[str, str, str]] = []
    for kind, line in lines:
        before, shape, after = re.split("[«»]", line)
        secret = "".join(filled.choice(_ALPHABETS[each]) if each in _ALPHABETS else each for each in shape)
        found.append((kind, f"{before}{secret}{after}", secret))
    return found


def test_the_lines_are_enough_to_say_anything() -> None:
    assert len(planted()) >= 120
    assert len(HARMLESS) >= 450


def test_case_283_nearly_all_secrets_that_their_place_tells_are_found_and_nearly_nothing_else() -> None:
    missed = [line for _, line, secret in planted() if secret in redact_text(line, SECRETS).text]
    wrong = [line for line in HARMLESS if redact_text(line, SECRETS).count]
    found = len(planted()) - len(missed)
    assert found / len(planted()) >= 0.95, missed
    assert found / (found + len(wrong)) >= 0.98, wrong


@pytest.mark.parametrize("kind", sorted({kind for kind, _, _ in planted()}))
def test_case_283_no_kind_of_place_is_missed(kind: str) -> None:
    lines = [(line, secret) for each, line, secret in planted() if each == kind]
    assert sum(secret in redact_text(line, SECRETS).text for line, secret in lines) <= len(lines) // 10


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("pin", "6612"), ("pin", 6612), ("cardPin", "4821"), ("otp", "902817"), ("verificationCode", "118 204")),
        *(("backup_codes", ["8hq2-kd93", "m2xl-77qa"]), ("key", "Ab1Cd2Ef3Gh4Ij5Kl6Mn"), ("serviceKey", "Ab1Cd2Ef3Gh4Ij5Kl6Mn")),
    ],
)
def test_case_283_so_it_is_in_data(name: str, value: object) -> None:
    assert "redacted" in str(redact_json({name: value}, SECRETS).value)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("pin", 17), ("pins", [1001, 1002]), ("pin", True), ("pin", {"x": 4821}), ("spin", "4821"), ("code", "482913")),
        *(("key", "user:4821:profile"), ("key", "PROJ-4821"), ("cacheKey", "Ab1Cd2Ef3Gh4Ij5Kl6Mn"), ("pin", 0.5)),
    ],
)
def test_what_only_has_such_a_name_stays_in_data(name: str, value: object) -> None:
    assert redact_json({name: value}, SECRETS).value == {name: value}  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "unit",
    [
        *("PIN ", "PIN is ", "PIN for a ", "my pin ", "verification code ", "code: 4f8k-2m9q, ", "key=", "key: a1B2c3", "?key="),
        *(
            "00aB00aB00aB",
            "net use x: ",
            "net user a ",
            "echo a | ",
            "docker -a ",
            "passwordA1",
            "log in with a/",
            "1234 is your ",
        ),
        *("your a code ", "combination of ", "://a1", "credentials: ", 'passphrase "a b ', "with a1 as ", "license key ", "A1-"),
    ],
    ids=repr,
)
def test_hostile_repetition_is_read_in_one_go(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert "1memorable" not in redact_text(f"{text}\n\npassword: 1memorable\n", SECRETS).text
