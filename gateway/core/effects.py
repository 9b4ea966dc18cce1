"""The sentences that a person reads before saying yes, filled from the validated arguments with their defaults applied.

`Delete {path}` is written by the tool's author, `path` by a model nobody trusts. So whatever a value holds, it cannot leave
its place in the sentence: what could be read as more than one word is quoted, what cannot be seen is spelt out, and what is
too long to show is folded in the middle with its length and digest, because the dangerous part may stand at either end.
"""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata
from collections.abc import Mapping

from gateway.core.canonical import Json, canonical_bytes
from gateway.core.errors import Misconfigured
from gateway.core.model import ToolSpec

SHOWN_WHOLE = 160
"""Characters of a value that are shown without folding: two lines of an approval card on a 390 pixel screen are about 100."""

SHOWN_HEAD = 80
SHOWN_TAIL = 60

NOT_GIVEN = "(not given)"

_BARE = re.compile(r"[A-Za-z0-9_./:@%+=&?#~,-]*[A-Za-z0-9_/]")
"""A value that can stand in a sentence unquoted: one ASCII word that does not end like a sentence does."""

_SPELT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
"""As everybody writes them; the rest of what cannot be seen is spelt by number."""

_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_UNSEEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters of other categories that draw nothing: joiners, Hangul fillers, the empty braille cell."""

_VARIATION_SELECTORS = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


def summarise(spec: ToolSpec, arguments: Mapping[str, Json]) -> str:
    """One sentence of what the call does, for the head of an approval; names tool and arguments if the author gave none."""
    if spec.summary:
        return fill(spec.summary, arguments)
    shown = ", ".join(f"{escape(name)}: {show(value)}" for name, value in arguments.items())
    return f"Run {spec.name} with {shown}" if shown else f"Run {spec.name}"


def list_effects(spec: ToolSpec, arguments: Mapping[str, Json]) -> tuple[str, ...]:
    """What the call leaves behind, one sentence each, in the author's order."""
    return tuple(fill(effect, arguments) for effect in spec.effects)


def fill(template: str, arguments: Mapping[str, Json]) -> str:
    """The template with each `{name}` replaced by that argument as people should see it.

    An absent or null argument reads `(not given)`. Raises Misconfigured for a template that `names_in` refuses.
    """
    return "".join(literal if name is None else f"{literal}{show(arguments.get(name))}" for literal, name in pieces(template))


def names_in(template: str) -> tuple[str, ...]:
    """The argument names a template uses. Raises Misconfigured for anything but `{name}`, `{{` and `}}`."""
    return tuple(name for _, name in pieces(template) if name is not None)


def pieces(template: str) -> list[tuple[str, str | None]]:
    """A template as literal text, each with the name that follows it. Raises Misconfigured for what is no template."""
    found: list[tuple[str, str | None]] = []
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError:
        raise Misconfigured(f"template `{escape(template)}` has an unpaired brace") from None
    for literal, name, spec, conversion in parsed:
        # `{path.parent}`, `{path!r}` and `{path:>9}` would run code of the value's type; a template is only names.
        if name is not None and (not name.isidentifier() or spec or conversion):
            raise Misconfigured(f"template `{escape(template)}` may only use `{{name}}` with the name of a parameter")
        found.append((literal, name))
    return found


def show(value: Json) -> str:
    """A JSON value on one line, every character visible, nothing hidden without saying how much."""
    match value:
        case None:
            return NOT_GIVEN
        case bool():
            return "true" if value else "false"
        case int() | float():
            return canonical_bytes(value).decode()
        case str():
            return _show_text(value, quoted=_BARE.fullmatch(value) is None)
        case _:
            return _show_text(canonical_bytes(value).decode(), quoted=False)


def escape(text: str) -> str:
    """The text with everything that draws nothing, moves the cursor or turns the writing direction spelt as `\\n` or `\\u202e`.

    A backslash is doubled, so that no text can pretend to be an escape.
    """
    return "".join(map(_escape_character, text))


def _show_text(text: str, *, quoted: bool) -> str:
    if len(text) <= SHOWN_WHOLE:
        return _quote(text) if quoted else escape(text)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    # The note stands outside the quotes, where no value can write: a text that imitates it is seen as part of the value.
    note = f"...[{len(text)} characters, sha256 {digest}]..."
    return f"{_quote(text[:SHOWN_HEAD])} {note} {_quote(text[-SHOWN_TAIL:])}"


def _quote(text: str) -> str:
    return '"' + escape(text).replace('"', '\\"') + '"'


def _escape_character(char: str) -> str:
    if char in _SPELT:
        return _SPELT[char]
    if " " <= char <= "~" or not _is_unseen(char):
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_unseen(char: str) -> bool:
    category = unicodedata.category(char)
    # A space other than U+0020 looks like one or like none.
    if category in _UNSEEN_CATEGORIES or category == "Zs" or char in _UNSEEN_LETTERS:
        return True
    return any(ord(char) in selectors for selectors in _VARIATION_SELECTORS)
