"""The chat template of a GGUF file, which says whether a model is ever shown declared tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from gateway.adapters.inference.gguf import Entry, read_entry_named
from gateway.core.errors import Misconfigured

KEY: Final = "tokenizer.chat_template"

LARGEST_BYTES: Final = 1 << 18
"""The longest public ones have some 20 KB."""

_TOOLS: Final = re.compile(r"\btools\b")


def read_chat_template(path: Path) -> str:
    """The template, empty where the file has none. Raises Misconfigured when the file is missing, or is no GGUF."""
    template: Entry | None = read_entry_named(path, KEY)
    return template if isinstance(template, str) else ""


def read_template_file(path: Path) -> str:
    """A chat template that an operator has in a file. Raises Misconfigured."""
    try:
        with path.open("rb") as file:
            octets = file.read(LARGEST_BYTES + 1)
        if len(octets) > LARGEST_BYTES:
            raise Misconfigured(f"the chat template `{path.name}` is longer than {LARGEST_BYTES} bytes")
        template = octets.decode()
    except OSError as error:
        raise Misconfigured(f"the chat template `{path.name}` cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Misconfigured(f"the chat template `{path.name}` is not UTF-8") from None
    if not template.strip():
        raise Misconfigured(f"the chat template `{path.name}` is empty")
    return template


def mentions_tools(template: str) -> bool:
    """Whether it has a branch for tools. Without one a model server drops them in silence."""
    return _TOOLS.search(template) is not None
