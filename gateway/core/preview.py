"""What a call would change as things are at the moment, or send, for the person who is asked about it. Never signed, never
authority."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gateway.core.canonical import Json


class PreviewChange(StrEnum):
    """What becomes of the thing; KEEP when it would be the same afterwards. MOVE when it gets another name, which `lines` show
    with the present one. MAKE for a folder. SEND when what is shown is a message that leaves."""

    CREATE = "create"
    REPLACE = "replace"
    KEEP = "keep"
    DELETE = "delete"
    MOVE = "move"
    MAKE = "make"
    SEND = "send"


class LineMark(StrEnum):
    """What becomes of a line; SKIPPED stands for several that stay."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """A line of hostile text, or how many lines are left out."""

    mark: LineMark
    text: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Preview:
    """`digest` changes when the thing does. `complete` is whether `lines` are all there is to see of the change.

    What has neither size is no file: `target` says in words how much of what is changed, such as `3 rows of orders`.
    Of what is sent, `target` is where it goes, `lines` are the message as it leaves and `bytes_after` is the size of its body.
    """

    change: PreviewChange
    target: str
    bytes_before: int | None = None
    bytes_after: int | None = None
    digest: str = ""
    lines: tuple[PreviewLine, ...] = ()
    complete: bool = True

    def wire(self) -> dict[str, Json]:
        """The `Preview` of docs/PROTOCOL.md section 6; what is not known is absent."""
        sizes = {"bytesBefore": self.bytes_before, "bytesAfter": self.bytes_after}
        return {
            "change": self.change.value,
            "target": self.target,
            **{name: size for name, size in sizes.items() if size is not None},
            "digest": self.digest,
            "lines": [{"mark": line.mark.value, "text": line.text, "count": line.count} for line in self.lines],
            "complete": self.complete,
        }
