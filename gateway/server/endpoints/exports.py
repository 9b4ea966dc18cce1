"""`GET /export?format=FORMAT&…`: the calls that the console's filter finds, as a file. The other members are those of the
filter of `audit/calls`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from gateway.core.call_files import CallFormat
from gateway.core.errors import InvalidParams, TooManyRequests
from gateway.protocol.audit_methods import CallFilter
from gateway.protocol.codec import admit
from gateway.server.parts import RequestContext

CALLS_HEADER: Final = "countersign-calls"
"""How many calls the file has when it is whole. A file of the web has no such thing, and a stream may break."""


async def export_calls(context: RequestContext) -> Response:
    """One's own calls, for operators and auditors anybody's."""
    pairs = context.request.query_params.multi_items()
    asked = dict(pairs)
    if len(asked) != len(pairs):
        raise InvalidParams("each member of the filter is given once")
    try:
        form = CallFormat(asked.pop("format", ""))
    except ValueError:
        raise InvalidParams(f"`format` is one of {', '.join(CallFormat)}") from None
    person, under_way = context.console.principal, context.parts.exports
    if person.id in under_way:
        raise TooManyRequests("another export of yours is under way; ask again when it is done")
    under_way.add(person.id)
    try:
        file = await context.parts.call_files.open(person, form, admit(CallFilter, asked))
    except BaseException:
        under_way.discard(person.id)
        raise
    headers = {"content-disposition": f'attachment; filename="{form.file_name}"', CALLS_HEADER: str(file.calls)}
    return ExportResponse(_while_signed_in(context, file.content), form.media_type, headers, lambda: under_way.discard(person.id))


class ExportResponse(StreamingResponse):
    """One person has one at a time: each takes time of the event loop from everybody. `on_end` is called before whoever reads it
    can know that it is whole, since they may ask for the next at once."""

    def __init__(
        self, content: AsyncIterator[bytes], media_type: str, headers: Mapping[str, str], on_end: Callable[[], None]
    ) -> None:
        super().__init__(self._then_end(content), media_type=media_type, headers=headers)
        self._on_end = on_end
        self._is_over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            # For one that nobody read to its end, or began to read.
            self.end()

    def end(self) -> None:
        """It is over, sent or not. Only once: by the time its last octets are read, its person may have begun the next one."""
        if not self._is_over:
            self._is_over = True
            self._on_end()

    async def _then_end(self, content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for piece in content:
            yield piece
        self.end()


async def _while_signed_in(context: RequestContext, content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Stop in the middle when the session ends: a long file that is read slowly would outlive a suspension. The reader sees by
    the number of calls that some are missing."""
    async for piece in content:
        if await context.parts.access.console(context.request) is None:
            return
        yield piece
