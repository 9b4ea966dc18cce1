"""Images from files of the person's own, brought in as the web shell brings in what is attached."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gateway.core.attachments import MediaType, media_type_of
from gateway.core.effects import escape
from gateway.core.vocabulary import Tier

MAX_IMAGE: Final = 120 * 1024
"""Bytes of an image, as in the web shell: a message of the protocol has room for little more."""

_SEEN: Final = frozenset({MediaType.PNG, MediaType.JPEG, MediaType.WEBP})


class UnusableImageFile(Exception):
    """A file that cannot be attached. Its words are a sentence for the person."""


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image as it is attached: the file's name and its bytes in base64. What tells where it was taken is still in it: the
    gateway takes that out."""

    name: str
    data: str


def read_image(path: Path) -> ImageFile:
    """The image in a file. Raises UnusableImageFile."""
    shown = escape(str(path))
    try:
        with path.expanduser().open("rb") as file:
            raw = file.read(MAX_IMAGE + 1)
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "that is no path"
        raise UnusableImageFile(f"`{shown}` cannot be read: {why}") from error
    if media_type_of(raw) not in _SEEN:
        raise UnusableImageFile(f"`{shown}` is no PNG, JPEG or WebP image")
    if len(raw) > MAX_IMAGE:
        raise UnusableImageFile(f"`{shown}` has more than {MAX_IMAGE // 1024} KB; make the image smaller")
    return ImageFile(path.name, binascii.b2a_base64(raw, newline=False).decode())


def why_unseen(model: Mapping[str, Any]) -> str:
    """Why a model is shown no images, as a sentence; empty where it is. One that is led step by step is shown text alone."""
    if model.get("seesImages") and model.get("tier", Tier.NATIVE) == Tier.NATIVE:
        return ""
    return f"{model['displayName']} sees no images. Choose a model that does; `/model` shows which there are."
