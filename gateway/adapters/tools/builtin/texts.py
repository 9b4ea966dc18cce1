"""Files as text: in which encoding their bytes are, and how a changed text is written back in the same one."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from gateway.core.effects import show
from gateway.core.errors import ToolFailed

BINARY_PROBE: Final = 8 * 1024
"""Bytes in which a NUL makes a file binary; git looks at as many."""

_CONTROLS: Final = frozenset(map(chr, (*range(0x20), 0x7F))) - frozenset("\t\n\v\f\r\x1b")
"""What no text has; a log may hold escape sequences of a terminal."""


class TextEncoding(Enum):
    """The encodings that are told apart. The last is what the WHATWG Encoding Standard reads Western text without a mark as."""

    UTF_8 = "utf-8"
    UTF_16_LE = "utf-16-le"
    UTF_16_BE = "utf-16-be"
    WINDOWS_1252 = "windows-1252"


_MARKS: Final = (
    (codecs.BOM_UTF8, TextEncoding.UTF_8),
    (codecs.BOM_UTF16_LE, TextEncoding.UTF_16_LE),
    (codecs.BOM_UTF16_BE, TextEncoding.UTF_16_BE),
)


@dataclass(frozen=True, slots=True)
class FileText:
    """A text, its encoding, and the byte order mark that its file begins with, if any."""

    text: str
    encoding: TextEncoding = TextEncoding.UTF_8
    mark: bytes = b""

    def with_text(self, text: str) -> FileText:
        """Another text for the same file."""
        return replace(self, text=text)

    def encode(self, shown: str) -> bytes:
        """The bytes of the file. Raises ToolFailed for a character that its encoding does not have; `shown` is its name."""
        try:
            return self.mark + self.text.encode(self.encoding.value)
        except UnicodeEncodeError as error:
            missing = show(self.text[error.start : error.start + 1])
            raise ToolFailed(f"{shown} is in {self.encoding.value}, which has no {missing}; write the whole file anew") from None


def decode_text(data: bytes, *, whole: bool = True) -> FileText | None:
    """What a file says, None for one that is no text. Not `whole`: a limit may have cut its last character in two."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _decode(data[len(mark) :], encoding, whole=whole)
            return None if text is None or "\0" in text else FileText(text, encoding, mark)
    if b"\0" in data[:BINARY_PROBE]:
        return None
    text = _decode(data, TextEncoding.UTF_8, whole=whole)
    if text is not None:
        return FileText(text)
    text = _decode(data, TextEncoding.WINDOWS_1252, whole=whole)
    # Any byte but five is a character there, so what is no text is told by its control characters.
    return None if text is None or not _CONTROLS.isdisjoint(text) else FileText(text, TextEncoding.WINDOWS_1252)


def _decode(data: bytes, encoding: TextEncoding, *, whole: bool) -> str | None:
    try:
        # With `final` false, the decoder ignores a last character that the limit cut in two.
        return codecs.getincrementaldecoder(encoding.value)().decode(data, final=whole)
    except UnicodeDecodeError:
        return None
