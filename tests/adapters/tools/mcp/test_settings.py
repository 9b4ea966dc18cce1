"""What an operator may write about a server, and the one line for what may not be."""

from __future__ import annotations

import pytest

from gateway.adapters.tools.kinds import check_settings
from gateway.adapters.tools.mcp.settings import McpServerSettings
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured
from gateway.core.sources import SourceKind


def test_settings_that_were_checked_can_be_stored_and_read_again() -> None:
    given = {"command": ["a"], "args": ["b"], "folders": ["/c"], "timeout": 5, "labels": ["label:internal"]}

    assert check_settings(SourceKind.MCP, check_settings(SourceKind.MCP, given)) == check_settings(SourceKind.MCP, given)


def test_the_configuration_of_other_clients_can_be_taken_as_it_is() -> None:
    settings = McpServerSettings.model_validate(
        {"command": "npx", "args": ["-y", "some server"], "env": {"KEY": "${secret:KEY}"}}
    )

    assert settings.words == ("npx", "-y", "some server")
    assert settings.place == 'npx -y "some server"'
    assert (settings.network, settings.timeout) == (False, 30.0)
    assert McpServerSettings.model_validate({"command": ["a", "b"], "args": ["c"]}).words == ("a", "b", "c")
    assert (
        McpServerSettings.model_validate({"type": "http", "url": "http://127.0.0.1:3001/mcp"}).place
        == "http://127.0.0.1:3001/mcp"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "it should have either a `command` or a `url`"),
        ({"command": "a", "url": "http://h/"}, "it should have either a `command` or a `url`"),
        ({"command": " "}, "the `command` is empty"),
        ({"command": "a", "headers": {"X": "y"}}, "`headers` means nothing to a program"),
        ({"url": "http://h/", "network": True}, "`network` means nothing to a server with a `url`"),
        ({"command": "a", "allow_private": True}, "`allow_private` means nothing to a program"),
        ({"url": "http://h/", "env": {"A": "b"}}, "`env` means nothing to a server with a `url`"),
        ({"command": "a", "elicitation": "always"}, "`elicitation`: Input should be 'refuse' or 'ask'"),
        ({"url": "http://h/", "elicitation": True}, "`elicitation`: Input should be 'refuse' or 'ask'"),
        ({"command": "a", "type": "http"}, "the type `http` does not go with a `command`"),
        (
            {"url": "http://h/", "type": "sse"},
            "`type`: it should be `stdio` or `http`; the older transport `sse` is not supported",
        ),
        (
            {"command": "a", "args": ["${secret:KEY}"]},
            "`args`: a command can be read by everybody on this machine; put the secret",
        ),
        ({"command": "a\0"}, "`command`: no word of a command can hold U+0000"),
        ({"command": "a", "args": ["x"] * 300}, "`args`: it should be at most 200 words"),
        ({"command": "a", "folders": ["here"]}, "`folders`: `here` should be a whole path"),
        ({"command": "a", "writable": ["/a/../b"]}, "`writable`: `/a/../b` should be a whole path"),
        ({"command": "a", "env": {"HOME": "/x"}}, "`env`: `HOME` is the source's own folder"),
        ({"command": "a", "env": {"LD_PRELOAD": "/x"}}, "`env`: `LD_PRELOAD` changes what programs are loaded"),
        ({"command": "a", "env": {"A=B": "x"}}, "`env`: `A=B` is no name of a variable"),
        ({"command": "a", "timeout": 0}, "`timeout`: "),
        ({"command": "a", "timeout": 601}, "`timeout`: "),
        ({"command": "a", "cwd": "/"}, "`cwd`: Extra inputs are not permitted"),
        ({"url": "ftp://h/"}, "`url`: it should be an address such as"),
        ({"url": "http://h:no/"}, "`url`: it should be an address such as"),
        ({"url": "http://h\\@evil/"}, "`url`: it should be an address such as"),
        ({"url": "http://a:b@h/"}, "`url`: put a name and password into `headers`"),
        ({"url": "http://h/#x"}, "`url`: it should have no fragment and no secret"),
        ({"url": "http://h/${secret:KEY}"}, "`url`: it should have no fragment and no secret"),
        ({"url": "http://h/", "headers": {"Host": "x"}}, "`headers`: `Host` is set by the client itself"),
        ({"url": "http://h/", "headers": {"Mcp-Session-Id": "x"}}, "`headers`: `Mcp-Session-Id` is set by the client itself"),
        ({"url": "http://h/", "headers": {"X Y": "x"}}, "`headers`: `X Y` is no name of a header"),
        ({"url": "http://h/", "headers": {"X": "a\r\nY: b"}}, "`headers`: the value of `X` holds a character"),
    ],
)
def test_a_fault_is_one_line_that_names_the_setting(given: dict[str, Json], said: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        check_settings(SourceKind.MCP, given)

    assert caught.value.message.startswith(said)
    assert "\n" not in caught.value.message
