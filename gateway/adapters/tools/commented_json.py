"""JSON as editors let people write it (VS Code, Cursor, Zed): with comments, and with a comma after the last member."""

from __future__ import annotations

import re
from typing import Final

# Each alternative also matches what is not closed, up to the end of the text. Otherwise it would be tried again from every later
# quote or `/*`, which takes time that grows with the square of the text.
_COMMENT: Final = re.compile(r'(?P<text>"(?:[^"\\]|\\.?)*+(?:"|\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA: Final = re.compile(r'(?P<text>"(?:[^"\\]|\\.?)*+(?:"|\Z))|,(?=\s*+[}\]])', re.DOTALL)


def without_comments(text: str) -> str:
    """The same document as plain JSON, each value in the line where it stood. What was no such document is none afterwards."""
    return _LAST_COMMA.sub(lambda found: found["text"] or "", _COMMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return found["text"] or " " + "\n" * found[0].count("\n")
