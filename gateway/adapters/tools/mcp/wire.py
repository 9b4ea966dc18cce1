"""What the gateway and the worker of one server say to each other, and how much of it.

Both write one JSON object a line. The gateway's begin with the settings (`kind`), then each has `do`; the worker's have `tell`.
The limits are kept on both sides: the worker reads what a hostile server wrote and is not believed either.

    gateway  {"do": "list", "id"}                       → {"tell": "server"}, then "tool" and "refused" lines, then "listed"
             {"do": "call", "id", "tool", "arguments"}  → "progress" lines, "attached" lines, then "done"
             {"do": "cancel", "id"}                     → nothing; the request is answered by nothing any more
             {"do": "bearer", "token"}                  → nothing; later requests to the server carry this access token
             {"do": "answer", "id", "question", "action", "values"}  what a person made of an "ask" line of that call, or
                                                        "refused" with the reason for which nobody was asked
    worker   {"tell": "attached", "id", "data", "begins"}  a part, in base64, of bytes that come with a result; `begins`: first
             {"tell": "failed", "id", "why", "how"}     in place of "listed" or "done"; `challenge` of a sign-in that is wanted,
                                                        `detail` that only the operator is told, of a request that was not sent
             {"tell": "ask", "id", "question", "message", "schema"}  the server asks the person; "withdrawn" with the same
                                                        numbers where it does not any more
             {"tell": "changed"}                        once until the next "list"
             {"tell": "note", "why"}                    something the operator should know
             {"tell": "gone", "why", "ended"}           the last line; `ended`: the server did so by itself; `challenge` and
                                                        `detail` as above
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Final

MAX_LINE: Final = 1 << 20
"""Bytes of a line from the worker. A result is cut to half of it; reading one takes the gateway a millisecond or two."""

MAX_ORDER: Final = 4 << 20
"""Bytes of a line to the worker; a call's arguments are far smaller (docs/PROTOCOL.md section 2)."""

MAX_TEXT: Final = 256 * 1024
"""Bytes of a result's text, and of its structured part, that leave the worker."""

ATTACHED_AT_ONCE: Final = 384 * 1024
"""Bytes of one "attached" line, before base64."""

MAX_TOOLS: Final = 2_000
MAX_TOOL: Final = 64 * 1024
"""Bytes of one tool as JSON."""

MAX_OFFER: Final = 8 << 20
"""Bytes of all tools of a server."""

MAX_FORM: Final = 16 * 1024
"""Bytes of the schema of a form that a server asks a person to fill in."""

MAX_NAME: Final = 128
"""Characters of a tool's own name; the specification's recommendation."""

MAX_WHY: Final = 500
"""Characters of a sentence about what went wrong."""

LINES_AT_ONCE: Final = 3 * MAX_TOOLS
LINES_PER_SECOND: Final = 500
"""How many lines the gateway takes from a worker: a whole offer at once, and progress of many calls."""

BYTES_AT_ONCE: Final = 16 << 20
BYTES_PER_SECOND: Final = 16 << 20
"""And how many bytes: twice a whole offer at once."""


@contextmanager
def standing_still(box: asyncio.Timeout) -> Generator[None]:
    """Let no time of `box` pass while a person is asked. What has ended meanwhile stays so."""
    loop = asyncio.get_running_loop()
    left = (box.when() or loop.time()) - loop.time()
    with suppress(RuntimeError):
        box.reschedule(None)
    try:
        yield
    finally:
        with suppress(RuntimeError):
            box.reschedule(loop.time() + left)


class RequestFailure(StrEnum):
    """How a request failed."""

    NOT_SENT = "notSent"
    """Nothing of it reached the server."""
    REFUSED = "refused"
    """The server answered with an error, or with a result that is none."""
    LATE = "late"
    """There was no answer in time; it may have taken effect."""
    UNAUTHORIZED = "unauthorized"
    """The server wants a sign-in, or another one; it ran nothing."""
    LOST = "lost"
    """The connection ended; it may have taken effect."""
