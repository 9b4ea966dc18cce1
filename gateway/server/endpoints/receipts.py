"""`GET /receipt?conversation=ID&call=ID`: the receipt of a call, to the console that shows the call.

`GET /verifier`: the page that checks it, as a file.
"""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from gateway.core.errors import NotFound
from gateway.server.parts import RequestContext
from gateway.server.responses import JSON


async def fetch_receipt(context: RequestContext) -> Response:
    """A file to be saved: of one's own calls, for operators and auditors of anybody's."""
    asked = context.request.query_params
    conversation_id, call_id = asked.get("conversation"), asked.get("call")
    if not conversation_id or not call_id:
        raise NotFound("name a `conversation` and a `call`")
    person = context.console.principal
    owner_id = None if person.profile.reads_all else person.id
    raw = await context.parts.receipts.of_call(conversation_id, call_id, owner_id)
    return Response(raw, media_type=JSON, headers={"content-disposition": 'attachment; filename="receipt.json"'})


async def fetch_verifier(context: RequestContext) -> Response:
    """To be saved and opened from a disk: what a gateway serves, it could change for whoever asks."""
    page = context.parts.verifier.page(context.request)
    if page.status_code == HTTPStatus.OK:
        page.headers["content-disposition"] = 'attachment; filename="verify.html"'
    return page
