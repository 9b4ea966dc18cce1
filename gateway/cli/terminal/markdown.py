"""An answer in Markdown as it is written: styled where its marks say so, and never written twice.

What stands on the screen cannot be taken back, so a mark is held until it is clear what it is. Only what is drawn the same way
everywhere is styled: headings, bold text, code, blocks of code and diffs. A single `*` or `_` stays as it is, because file names
have them, and links and tables stay as they were written.
"""

from __future__ import annotations

import re
from typing import Final

from gateway.cli.terminal.styling import RESET, Tone, begin, paint, tone_of_diff_line

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)\n")
_MAY_BE_FENCE: Final = re.compile(r" {0,3}(?:`{0,2}|~{0,2}|(?:`{3,}|~{3,})[^`\n]*)\Z")
_HEADING: Final = re.compile(r"#{1,6} +(?=[^\s#])")
_MAY_BE_HEADING: Final = re.compile(r"#{1,6} *\Z")
_CODE: Final = re.compile(r"`[^`\n]+`")
_BOLD: Final = re.compile(r"""\*\*([\w"'(`](?:[^*\n]*[\w"'.:!?)%`])?)\*\*(?![\w*/])""")
_MARK: Final = re.compile(r"[`*\n]")

_HELD: Final = 400
"""Characters that a mark without its partner holds back."""


class MarkdownStream:
    """Takes an answer in pieces, as safe text, and gives what to write. `end` gives what was held back."""

    def __init__(self) -> None:
        self._held = ""
        self._fence = ""
        """The marks that the block of code under way began with."""
        self._is_diff = False
        self._is_line_start = True
        self._line = Tone.PLAIN
        self._before = ""
        """The character that was written last."""

    def feed(self, piece: str) -> str:
        """What is clear by now."""
        self._held += piece
        return self._take(is_last=False)

    def end(self) -> str:
        """The rest."""
        rest = self._take(is_last=True)
        return f"{rest}{RESET}" if self._line is not Tone.PLAIN else rest

    def _take(self, *, is_last: bool) -> str:
        written: list[str] = []
        while self._held:
            step = self._begin_line(is_last=is_last) if self._is_line_start else self._go_on(is_last=is_last)
            if step is None:
                break
            written.append(step)
        return "".join(written)

    def _cut(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        self._before = taken[-1:] or self._before
        return taken

    def _begin_line(self, *, is_last: bool) -> str | None:
        """What the first characters of a line make of it; None while that is not clear."""
        fence = _FENCE.match(f"{self._held}\n" if is_last else self._held)
        if fence is not None and self._turns_block(fence):
            line, end, _ = self._cut(fence.end()).partition("\n")
            return paint(line, Tone.FAINT) + end
        if fence is None and not is_last and len(self._held) < _HELD and _MAY_BE_FENCE.match(self._held):
            return None
        if not self._fence:
            heading = _HEADING.match(self._held)
            if heading is not None:
                self._cut(heading.end())
                self._line = Tone.STRONG
            elif not is_last and _MAY_BE_HEADING.match(self._held):
                return None
        elif self._is_diff:
            self._line = tone_of_diff_line(self._held)
        self._is_line_start = False
        return begin(self._line)

    def _turns_block(self, fence: re.Match[str]) -> bool:
        """Whether the line begins a block of code or ends the one under way."""
        marks, word = fence[1], fence[2].strip().lower()
        if not self._fence:
            self._fence, self._is_diff = marks, word in ("diff", "patch")
            return True
        if word or marks[0] != self._fence[0] or len(marks) < len(self._fence):
            return False
        self._fence, self._is_diff = "", False
        return True

    def _go_on(self, *, is_last: bool) -> str | None:
        """The next piece within a line; None while what a mark means is not clear."""
        found = re.search("\n", self._held) if self._fence else _MARK.search(self._held)
        if found is None:
            return self._cut(len(self._held))
        if found.start():
            return self._cut(found.start())
        if found[0] == "\n":
            return self._end_line()
        return self._read_code(is_last=is_last) if found[0] == "`" else self._read_bold(is_last=is_last)

    def _end_line(self) -> str:
        tone, self._line, self._is_line_start = self._line, Tone.PLAIN, True
        return ("" if tone is Tone.PLAIN else RESET) + self._cut(1)

    def _read_code(self, *, is_last: bool) -> str | None:
        code = _CODE.match(self._held)
        if code is not None:
            # The marks stay: the loop's own sentences set names apart by them.
            return paint(self._cut(code.end()), Tone.CODE) + begin(self._line)
        return self._cut(1) if self._is_alone(is_last=is_last) else None

    def _read_bold(self, *, is_last: bool) -> str | None:
        is_opening = self._before in ("", "\n") or self._before.isspace() or self._before in "([\"'-:"
        if not is_opening or not self._held.startswith("**"[: len(self._held)]):
            return self._cut(1)
        bold = _BOLD.match(self._held)
        if bold is not None and (is_last or bold.end() < len(self._held)):
            self._cut(bold.end())
            return paint(bold[1], Tone.STRONG) + begin(self._line)
        if not self._is_alone(is_last=is_last):
            return None
        return self._cut(len(self._held) - len(self._held.lstrip("*")))

    def _is_alone(self, *, is_last: bool) -> bool:
        """Whether the partner of the mark that is held will not come."""
        return is_last or "\n" in self._held or len(self._held) > _HELD
