"""The page at an address that has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.server.access import Origins
from gateway.server.responses import NOT_FOUND, WRONG_HOST, HttpError
from gateway.server.signposts import direct

TOKENS = Path(__file__).parents[2] / "web/src/styles/tokens.css"
ROLES = {"paper": "paper", "surface": "surface", "ink": "ink", "soft": "ink-soft", "line": "line", "link": "accent-ink"}


def colours(style: str, name: str) -> list[str]:
    """What a role is in light and in dark, each colour in six digits."""
    found = re.findall(rf"--{name}: ?(#[0-9a-f]+)", style)
    return [f"#{each[1:] * 2}" if len(each) == 4 else each for each in found]


def page(fault: HttpError = NOT_FOUND, languages: str = "") -> str:
    headers = [(b"accept", b"text/html"), (b"accept-language", languages.encode())]
    scope = {"type": "http", "method": "GET", "headers": headers}
    return bytes(direct(scope, fault, Origins("http://agent.test", "http://console.test")).body).decode()


@pytest.mark.parametrize("fault", [NOT_FOUND, WRONG_HOST])
def test_the_page_speaks_the_first_of_the_browsers_languages_that_there_is(fault: HttpError) -> None:
    for languages, spoken, words in (
        ("de-AT,de;q=0.9,en;q=0.8", "de", "Die Konsole"),
        ("fr,de;q=0.5", "de", "Die Konsole"),
        ("en-GB,de;q=0.5", "en", "The console"),
        ("*", "en", "The console"),
        ("", "en", "The console"),
    ):
        assert f'<html lang="{spoken}">' in page(fault, languages)
        assert words in page(fault, languages)


def test_the_page_has_the_colours_of_the_console_in_light_and_in_dark() -> None:
    shown = page()
    tokens = re.sub(r":root\[data-app=\"shell\"\] \{[^}]*\}", "", TOKENS.read_text(encoding="utf-8"))
    for name, role in ROLES.items():
        assert colours(shown, name) == colours(tokens, role)[:2] != [], name
    assert "<svg" in shown
