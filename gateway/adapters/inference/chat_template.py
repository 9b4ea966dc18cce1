"""The chat template of a GGUF file, which says whether a model is ever shown declared tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from gateway.adapters.inference.gguf import Entry, read_entry_named

KEY: Final = "tokenizer.chat_template"

_TOOLS: Final = re.compile(r"\btools\b")


def read_chat_template(path: Path) -> str:
    """The template, empty where the file has none. Raises Misconfigured when the file is missing, or is no GGUF."""
    template: Entry | None = read_entry_named(path, KEY)
    return template if isinstance(template, str) else ""


def mentions_tools(template: str) -> bool:
    """Whether it has a branch for tools. Without one a model server drops them in silence."""
    return _TOOLS.search(template) is not None
