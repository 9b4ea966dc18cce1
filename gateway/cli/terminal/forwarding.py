"""How somebody who works over SSH reaches the console, which listens on this machine alone."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

_USER_UNKNOWN = "you"


def describe_forwarding(connection: str, console_origin: str, who: Callable[[], str]) -> tuple[str, ...]:
    """Lines to say, none for somebody at this machine. `connection` is `SSH_CONNECTION`: client, its port, server, its port."""
    match connection.split():
        case [_, _, server, server_port]:
            port = urlsplit(console_origin).port
            far = "" if server_port == "22" else f" -p {server_port}"
            return (
                "",
                "You are here over SSH, and the console is on this machine. On your own, forward its port, and leave this open:",
                "",
                f"  ssh -N -L {port}:127.0.0.1:{port}{far} {_name_of(who)}@{server}",
                "",
                "Then the link opens in your own browser.",
            )
        case _:
            return ()


def _name_of(who: Callable[[], str]) -> str:
    try:
        return who()
    except (KeyError, OSError):
        # A user without an entry, in a container.
        return _USER_UNKNOWN
