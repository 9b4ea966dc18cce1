"""The images of a request to `/v1`: named by the page, and put in by the gateway.

A page names an image by the id that its result has (`attachment:ID`). So no address of a page's choosing reaches a model's
server, which might fetch it, and no bytes do that the gateway has not looked at, labelled and recorded.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Final, cast

from gateway.core.attachments import MediaType
from gateway.core.canonical import Json
from gateway.core.errors import NotFound, Refused
from gateway.runtime.attachments import Attachments
from gateway.runtime.inference import Lease
from gateway.server.responses import HttpError

SCHEME: Final = "attachment:"
MOST_IMAGES: Final = 8
TOKENS_PER_IMAGE: Final = 1_500
"""More than most models count for an image of the size that a page sends."""

_SHOWN: Final = (MediaType.PNG, MediaType.JPEG, MediaType.WEBP)


def judge_parts(messages: Json) -> Sequence[dict[str, Json]] | HttpError:
    """The parts of these messages that name an image. Their other content is text, and nothing else."""
    named: list[dict[str, Json]] = []
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in cast("list[Json]", messages)):
        return _bad("invalid_params", "`messages` is a list of objects")
    for message in cast("list[dict[str, Json]]", messages):
        content = message.get("content")
        if content is None or isinstance(content, str):
            continue
        if not isinstance(content, list):
            return _bad("invalid_params", "`content` is text, or a list of parts")
        for part in cast("list[Json]", content):
            match part:
                case {"type": "text", "text": str(), **rest} if not rest:
                    pass
                case {"type": "image_url", "image_url": {"url": str(url), **more}, **rest} if not rest and not more:
                    if not url.startswith(SCHEME) or message.get("role") != "user":
                        return _bad("image_not_attached", f"an image is named as `{SCHEME}ID`, in a message of `user`")
                    named.append(cast("dict[str, Json]", part))
                case _:
                    return _bad("invalid_params", "a part is text, or an image that was attached")
    if len(named) > MOST_IMAGES:
        return _bad("too_many_images", f"at most {MOST_IMAGES} images are shown at once")
    return named


async def put_in(parts: Sequence[dict[str, Json]], lease: Lease, attachments: Attachments) -> HttpError | None:
    """Replace each name by the image. Only those of the conversation that the token is for are shown, under its label."""
    if parts and not lease.model.sees_images:
        return _bad("model_sees_no_images", "this model sees no images")
    for part in parts:
        named = cast("dict[str, str]", part["image_url"])["url"].removeprefix(SCHEME)
        try:
            kept = await attachments.fetch(lease.session, named, conversation_id=lease.conversation.id)
        except (NotFound, Refused):
            return _bad("image_not_attached", "no image of this conversation has that id")
        kind = kept.reference.media_type
        if kind not in _SHOWN:
            return _bad("image_not_attached", "no image of this conversation has that id")
        part["image_url"] = {"url": f"data:{kind.value};base64,{b64encode(kept.data).decode()}"}
    return None


def _bad(code: str, message: str) -> HttpError:
    return HttpError(400, code, message)
