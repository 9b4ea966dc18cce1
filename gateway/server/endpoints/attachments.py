"""`GET /attachments/ID`: the bytes that came with a result, to the shell that shows it."""

from __future__ import annotations

from starlette.responses import Response

from gateway.core.attachments import MediaType
from gateway.server.parts import RequestContext

_NOTHING_RUNS = "default-src 'none'; sandbox; frame-ancestors 'none'"
"""For whoever opens the address by itself: a document without an origin, in which nothing runs and which asks for nothing."""


async def fetch_attachment(context: RequestContext) -> Response:
    """An image of a kind that is shown, or a file to be saved; `nosniff` stands on every answer."""
    attachment = await context.parts.attachments.fetch(context.agent, context.request.path_params["id"])
    reference = attachment.reference
    place = "attachment" if reference.media_type is MediaType.BYTES else "inline"
    headers = {
        "content-type": reference.media_type.value,
        "content-disposition": f'{place}; filename="{reference.digest[:12]}.{_ENDINGS[reference.media_type]}"',
        "content-security-policy": _NOTHING_RUNS,
    }
    return Response(attachment.data, headers=headers)


_ENDINGS = {
    MediaType.PNG: "png",
    MediaType.JPEG: "jpg",
    MediaType.GIF: "gif",
    MediaType.WEBP: "webp",
    MediaType.BYTES: "bin",
}
