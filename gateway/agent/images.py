"""Images that the person has attached, as a model that sees is told of them: by their ids, for the gateway puts in the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.limits import LIMITS
from gateway.agent.messages import Message, ToolMessage
from gateway.core.local_tools import ATTACHMENT

_SEEN: Final = ("image/png", "image/jpeg", "image/webp")


def images_of(message: Message) -> list[str]:
    """The ids of the images that came in with a message."""
    if not isinstance(message, ToolMessage) or message.call["name"] != ATTACHMENT:
        return []
    attached: Sequence[Mapping[str, Any]] = message.result.get("attachments") or ()
    return [each["id"] for each in attached if each["mediaType"] in _SEEN]


def shown_images(messages: Sequence[Message]) -> frozenset[str]:
    """The newest ones, as many as are shown at once."""
    found = [each for message in messages for each in images_of(message)]
    return frozenset(found[-LIMITS.shown_images :])
