"""The four cookies. A value is an opaque secret signed for one purpose; its state is in the ledger or in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from starlette.requests import HTTPConnection
from starlette.responses import Response

from gateway.runtime.ports import CookieSigner

LOGIN_SECONDS = 600
"""From the shell's `/login` to its `/callback`: long enough to register a passkey in between."""


@dataclass(frozen=True, slots=True)
class Cookie:
    """One kind of cookie. `seconds` None: until the browser is closed."""

    name: str
    same_site: Literal["strict", "lax"] = "strict"
    seconds: int | None = None


CONSOLE = Cookie("countersign_console")
AGENT = Cookie("countersign_agent")

BROWSER = Cookie("countersign_browser")
"""Which browser asked for a challenge, before anybody has signed in."""

LOGIN = Cookie("countersign_login", same_site="lax", seconds=LOGIN_SECONDS)
"""The state of a shell's sign-in. Lax, because the browser must send it with the redirect from the console."""


class CookieJar:
    """Reads and writes cookies of one origin. `secure` where its scheme is https."""

    def __init__(self, signer: CookieSigner, *, secure: bool) -> None:
        self._signer = signer
        self._secure = secure

    def name(self, cookie: Cookie) -> str:
        """The name on the wire: `__Host-` makes the browser itself refuse a Domain, a Path and plain http."""
        return f"__Host-{cookie.name}" if self._secure else cookie.name

    def read(self, connection: HTTPConnection, cookie: Cookie) -> str | None:
        """The signed value. None without one, and None for two of one name: another host has set one of them."""
        values = _values(connection, self.name(cookie))
        if len(values) != 1:
            return None
        return self._signer.unsign(values[0], purpose=cookie.name, max_age=cookie.seconds)

    def write(self, response: Response, cookie: Cookie, value: str, *, seconds: int | None = None) -> None:
        """Set it, host-only, HttpOnly."""
        response.set_cookie(
            self.name(cookie),
            self._signer.sign(value, purpose=cookie.name),
            max_age=cookie.seconds if seconds is None else seconds,
            path="/",
            secure=self._secure,
            httponly=True,
            samesite=cookie.same_site,
        )

    def clear(self, response: Response, cookie: Cookie) -> None:
        """Delete it in the browser."""
        response.delete_cookie(self.name(cookie), path="/", secure=self._secure, httponly=True, samesite=cookie.same_site)


def _values(connection: HTTPConnection, name: str) -> list[str]:
    # Parsed here: a mapping would silently pick one of several cookies of the same name.
    pairs = [pair.strip().partition("=") for header in connection.headers.getlist("cookie") for pair in header.split(";")]
    return [value for key, _, value in pairs if key == name]
