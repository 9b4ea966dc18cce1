"""What a person attaches to a conversation: it comes in as the result of a call, and so as untrusted as any other.

A page calls this for its person. The call is judged, counted and on record with the digest of the bytes; its result is redacted,
raises the taint of the conversation and counts where arguments are looked for in untrusted text. No model is offered it: one
that called it would only have its own words back, labelled as somebody else's.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Annotated, Final

from pydantic import Field

from gateway.adapters.tools.builtin.texts import decode_text
from gateway.adapters.tools.declaration import AnyTool, tool
from gateway.core.attachments import MediaType, media_type_of
from gateway.core.canonical import Json, digest_of_bytes
from gateway.core.effects import show
from gateway.core.errors import ToolFailed
from gateway.core.images import UnusableImage, clean_image
from gateway.core.local_tools import ATTACHMENT
from gateway.core.model import ToolOutput
from gateway.core.vocabulary import Category, Recovery, Trust

MAX_NAME: Final = 200
MAX_DATA: Final = 170_000
"""Characters of base64, some 127,500 bytes: a message of the protocol has room for no more."""

RESULT_CAP: Final = 32 * 1024
"""Bytes that are handed out at once. What is longer is kept, and read on page by page."""


def attachment_tools() -> list[AnyTool]:
    """The tool that takes an attachment in."""

    @tool(
        category=Category.READ,
        summary="Take in the attachment {name}",
        trust=Trust.UNTRUSTED,
        recovery=Recovery.PURE,
        result_cap=RESULT_CAP,
        name=ATTACHMENT,
        interface="attachments",
    )
    def read_attachment(
        name: Annotated[str, Field(description="The name of the file", min_length=1, max_length=MAX_NAME)],
        data: Annotated[str, Field(description="Its bytes in base64", max_length=MAX_DATA)],
    ) -> ToolOutput:
        """Take in a file that the person attaches to the conversation. The person's page calls this, and no model."""
        try:
            raw = b64decode(data, validate=True)
        except binascii.Error as error:
            raise ToolFailed("the data is no base64") from error
        record: dict[str, Json] = {"name": name, "bytes": len(raw), "digest": digest_of_bytes(raw)}
        kind = media_type_of(raw)
        if kind is not MediaType.BYTES:
            said = f"{show(name)} is an image of {len(raw)} bytes ({kind.value}). It is shown to the person"
            return ToolOutput(said, {**record, "mediaType": kind.value}, attached=(_without_metadata(name, raw),))
        decoded = decode_text(raw)
        # Unlike a file of the workspace, which may be large, it is looked at as a whole.
        if decoded is None or "\0" in decoded.text:
            raise ToolFailed(f"{show(name)} is not text")
        return ToolOutput(f"{show(name)}, {len(raw)} bytes:\n{decoded.text}", record)

    return [read_attachment]


def _without_metadata(name: str, raw: bytes) -> bytes:
    """What may be kept, shown and exported."""
    try:
        return clean_image(raw)
    except UnusableImage as error:
        raise ToolFailed(f"{show(name)}: {error}") from error
