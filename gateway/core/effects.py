"""The sentences that a person reads before approving, filled from the validated arguments with their defaults applied.

`Delete {path}` is written by the tool's author, `path` by an untrusted model. So no value can change the meaning of the
sentence around it: a value that could be read as more than one word is quoted, invisible characters are escaped, and a value
that is too long is shortened in the middle, with its length and digest, because the dangerous part may be at either end.
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
"""Characters of a value that are shown without shortening: two lines of an approval card on a 390 pixel screen are about 100."""

SHOWN_HEAD = 80
SHOWN_TAIL = 60

NOT_GIVEN = "(not given)"

_WORDS = {None: "nothing", True: "yes", False: "no"}

_OTHER_TYPE = re.compile(r"(?i)true|false|null|none|nothing|yes|no|[-+]?[0-9][0-9_.,]*(?:e[-+]?[0-9]+)?")
"""Texts that read as a value of another type."""

_BARE = re.compile(r"[A-Za-z0-9_./:@%+=&?#~,-]*[A-Za-z0-9_/]")
"""A value that needs no quotes in a sentence: one ASCII word that does not end like a sentence does."""

_SPELT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
"""The usual escapes; other invisible characters are written by number."""

_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_UNSEEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters of other categories that are invisible: joiners, Hangul fillers, the empty braille cell."""

_VARIATION_SELECTORS = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


def summarise(spec: ToolSpec, arguments: Mapping[str, Json]) -> str:
    """One sentence of what the call does, for the head of an approval; names tool and arguments if the author gave none."""
    if spec.summary:
        return fill(spec.summary, arguments)
    written: Mapping[str, Json] = spec.param_schema.get("properties", {})
    names = dict.fromkeys((*(name for name in written if name in arguments), *arguments))
    shown = ", ".join(f"{escape(name)}: {_show_argument(arguments[name])}" for name in names)
    return f"Run {spec.name} with {shown}" if shown else f"Run {spec.name}"


def list_effects(spec: ToolSpec, arguments: Mapping[str, Json]) -> tuple[str, ...]:
    """What the call leaves behind, one sentence each, in the author's order."""
    return tuple(fill(effect, arguments) for effect in spec.effects)


def fill(template: str, arguments: Mapping[str, Json]) -> str:
    """The template with each `{name}` replaced by that argument as people should see it.

    An absent argument reads `(not given)`. Raises Misconfigured for a template that `names_in` refuses.
    """
    return "".join(
        literal if name is None else f"{literal}{_show_argument(arguments[name]) if name in arguments else NOT_GIVEN}"
        for literal, name in pieces(template)
    )


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


def _show_argument(value: Json) -> str:
    """Like `show`, with the types told apart in words: yes, and text "true"."""
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, str) and _OTHER_TYPE.fullmatch(value) is not None:
        return f"text {_quote(value)}"
    return show(value)


def escape(text: str) -> str:
    """The text with each character that is invisible, moves the cursor or changes the writing direction escaped, as `\\n` or
    `\\u202e`.

    A backslash is doubled, so that no text can look like an escape.
    """
    return "".join(map(_escape_character, text))


def escape_unseen(text: str) -> str:
    """Like `escape` for a text with parts that were escaped already: its backslashes stay as they are."""
    return "".join(each if each == "\\" else _escape_character(each) for each in text)


def _show_text(text: str, *, quoted: bool) -> str:
    if len(text) <= SHOWN_WHOLE:
        return _quote(text) if quoted else escape(text)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    # The note is outside the quotes, where no value can write: a text that imitates it is shown as part of the value.
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
