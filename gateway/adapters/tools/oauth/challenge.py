"""What a resource says in `WWW-Authenticate` when it wants a token (RFC 6750 section 3, RFC 9728 section 5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_CHALLENGE: Final = 4_096
"""Characters of the field that are looked at."""

_SCHEME: Final = re.compile(r"(?:^|,)\s*bearer(?:\s+|$)", re.IGNORECASE)
_PARAMETER: Final = re.compile(r'\s*([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)')

_SCOPE: Final = re.compile(r"[!#-\[\]-~]+(?: [!#-\[\]-~]+)*")
"""RFC 6749 section 3.3."""

MAX_SCOPE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Challenge:
    """The parts of a Bearer challenge that matter here; empty where the resource said nothing of it."""

    resource_metadata: str = ""
    scope: str = ""
    error: str = ""

    @property
    def wants_more(self) -> bool:
        """Whether the token is good and only allows too little."""
        return self.error == "insufficient_scope"


def read_challenge(field: str) -> Challenge | None:
    """The first Bearer challenge of a field; None where there is none."""
    field = field[:MAX_CHALLENGE]
    scheme = _SCHEME.search(field)
    if scheme is None:
        return None
    found: dict[str, str] = {}
    position = scheme.end()
    while (match := _PARAMETER.match(field, position)) is not None:
        value = match[3] if match[2] is None else re.sub(r"\\(.)", r"\1", match[2])
        found.setdefault(match[1].lower(), value)
        position = match.end()
    return Challenge(found.get("resource_metadata", ""), read_scope(found.get("scope", "")), found.get("error", ""))


def read_scope(text: str) -> str:
    """The scope itself; empty for what is none."""
    return text if len(text) <= MAX_SCOPE and _SCOPE.fullmatch(text) else ""
