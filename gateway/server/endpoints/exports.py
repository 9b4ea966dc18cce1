"""`GET /export?format=FORMAT&…`: the calls that the console's filter finds, as a file. The other members are those of the
filter of `audit/calls`."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response, StreamingResponse

from gateway.core.call_files import CallFormat
from gateway.core.errors import InvalidParams
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
    file = await context.parts.call_files.open(context.console.principal, form, admit(CallFilter, asked))
    return StreamingResponse(
        file.content,
        media_type=form.media_type,
        headers={
            "content-disposition": f'attachment; filename="{form.file_name}"',
            CALLS_HEADER: str(file.calls),
        },
    )
