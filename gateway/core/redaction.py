"""What must not leave in a tool's result: credentials, personal data, and more bytes than were agreed.

Redact first, cap second: a cut through the middle of a credential would leave half of it, which nothing recognises.

Every pattern is linear in its input, because the input is hostile: it starts at a fixed word or at the start of a token,
repeats only with possessive or bounded quantifiers, and is tried only when one of its marker words occurs at all.
Detection is not complete: docs/LIMITATIONS.md says what it misses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from gateway.core.canonical import MAX_DEPTH, Json, canonical_bytes, exceeds
from gateway.core.context_secrets import CONTEXTS, EMPTY_HEADER, member_kind
from gateway.core.credential_columns import find_columns
from gateway.core.credential_names import NAMES_OF_VALUES, kinds_in_pairs, paired_kind
from gateway.core.credential_tables import NAMES_OF_ROWS, Kinds, kinds_of_columns, kinds_of_rows
from gateway.core.errors import MalformedJson
from gateway.core.look_alikes import as_read
from gateway.core.markers import MarkedText, mark_text
from gateway.core.named_secrets import COMMANDS, WORDS_OF_NAMES, find_named, find_words
from gateway.core.secret_tokens import TOKENS, PatternSet, secret_pattern

_WEIGHT_OF_STRING = 500
"""As many characters of a long text take as long as a string or a name by itself does, whatever its length (measured)."""


class RedactionClass(StrEnum):
    """What a policy may ask to have taken out."""

    SECRETS = "secrets"
    PII = "pii"


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text with each finding replaced by `[redacted:kind]`, and how many there were."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class RedactedJson:
    """A JSON value of the same shape with its strings redacted, and how many findings there were."""

    value: Json
    count: int


def redact_text(text: str, classes: Collection[str]) -> RedactedText:
    """Replace what looks like a member of `classes` (RedactionClass values). What is redacted already stays as it is."""
    pieces: list[str] = []
    position = count = 0
    for finding in _disjoint(_find(text, classes)):
        pieces += (text[position : finding.start], f"[redacted:{finding.kind}]")
        position = finding.end
        count += 1
    return RedactedText("".join((*pieces, text[position:])), count) if count else RedactedText(text, 0)


def find_redacted(text: str, classes: Collection[str]) -> list[tuple[int, int]]:
    """From where to where a text would be redacted, in order and apart from one another."""
    return [(finding.start, finding.end) for finding in _disjoint(_find(text, classes))]


def redact_lines(text: str, classes: Collection[str]) -> list[str]:
    """The lines of a redacted text, as many as it has. For whoever gives some of them: a line alone does not tell that it is part
    of a key, or that the one before named a password."""
    pieces: list[str] = []
    position = 0
    for finding in _disjoint(_find(text, classes)):
        # Lines that went whole are empty, so that those below keep their places.
        gone = len(f"{text[finding.start : finding.end]}.".splitlines()) - 1
        pieces.append(f"{text[position : finding.start]}[redacted:{finding.kind}]" + "\n" * gone)
        position = finding.end
    lines = "".join((*pieces, text[position:])).splitlines()
    return lines + [""] * (len(text.splitlines()) - len(lines))


def redact_json(value: Json, classes: Collection[str]) -> RedactedJson:
    """Redact every string of a JSON value, and whole values whose member name says that they are credentials.

    Nesting beyond 64 and anything that is no JSON is replaced too, since it cannot be looked into.
    """
    return _redact_json(value, classes, depth=0, under=None)


def weighs_more(value: Json, characters: int) -> bool:
    """Whether redacting a JSON value takes longer than a text of so many characters does. It looks no further than it has to."""
    return exceeds(value, characters, string=_WEIGHT_OF_STRING, members=lambda them: len(them) * _WEIGHT_OF_STRING)


def cap_text(text: str, limit: int, beyond: int = 0) -> tuple[str, int]:
    """At most `limit` bytes of UTF-8, ending in `…[truncated N bytes]` if N bytes were cut; and N, 0 if none were. `beyond` more
    bytes were cut before. Never cuts inside a character. If `limit` is smaller than the mark itself, nothing is left of the text.
    Unpaired surrogates, which have no UTF-8 form, become `?`."""
    raw = text.encode("utf-8", "replace")
    whole = len(raw) + beyond
    if whole <= limit and not beyond:
        return raw.decode(), 0
    end = min(len(raw), limit - len(_truncation_mark(whole).encode()))
    if end < 0:
        return "", whole
    while end < len(raw) and raw[end] & 0xC0 == 0x80:  # a continuation byte: step back to where its character starts
        end -= 1
    cut = whole - end
    return raw[:end].decode() + _truncation_mark(cut), cut


def cap_json(value: Json, limit: int) -> tuple[Json, bool]:
    """The value, or None and True when its canonical text is longer than `limit` bytes or does not exist.

    Half a JSON value would be another value, so it is dropped whole; the text beside it says what it can.
    """
    if value is None:
        return None, False
    try:
        size = len(canonical_bytes(value))
    except MalformedJson:
        return None, True
    return (value, False) if size <= limit else (None, True)


def _truncation_mark(count: int) -> str:
    return f"…[truncated {count} bytes]"


# ── finding ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, order=True)
class _Finding:
    start: int
    end: int
    kind: str


# A header's value runs to the end of its line, or to the quote that encloses the header itself. What is replaced already stays.
_SEPARATOR = r"""(?:\\*["'])?[ \t]{0,8}+(?::=|=>|=|:)[ \t]{0,8}+(?:\\*["'])?"""
_NOT_A_VALUE = rf"(?!\[redacted:|\$\{{|%\(|(?i:(?:none|null|required|see|is)\b(?!-))){EMPTY_HEADER}"
_ESCAPED = r"""(?<=\\")(?:[^"\\\r\n]|\\[^"\r\n])++"""
_HEADER = r"""(?<=["'])[^\r\n"']++|(?<!["'])(?:[^\r\n"'=]|="[^"\r\n]*+"|=)++"""
_PAIRED = r"""[^"'\\\r\n]++"""

_SECRETS = PatternSet(
    *TOKENS,
    secret_pattern("authorization", "authorization", rf"(?i)\bauthorization{_SEPARATOR}{_NOT_A_VALUE}({_ESCAPED}|{_HEADER})"),
    # Pairs of name and value, as programs list headers. Lists of names alone (`"authorization", "content-type"`) are no pairs.
    secret_pattern(
        "authorization",
        "authorization",
        rf"""(?i)["']authorization\\*["'][ \t]{{0,8}},\s{{0,32}}\\*["'](?!\[redacted:|x-)(?=[^"'\r\n]{{0,256}}?\d)({_PAIRED})""",
    ),
    secret_pattern(
        "cookie",
        "cookie",
        rf"""(?i)["'](?:set-)?cookie\\*["'][ \t]{{0,8}},\s{{0,32}}\\*["'](?!\[redacted:)(?=[^\s=;,"']{{1,256}}+=)({_PAIRED})""",
    ),
    secret_pattern("bearer-token", "bearer", r"(?i)\bbearer[ \t]{1,4}+(?=[a-z._~+/-]*+\d)([a-z0-9._~+/-]{16,}+={0,2})"),
    secret_pattern(
        "cookie",
        "cookie",
        rf"(?i)\b(?:set-)?cookie2?{_SEPARATOR}{_NOT_A_VALUE}(?=[^\s=;,]{{1,256}}+=(?!\{{))({_ESCAPED}|{_HEADER})",
    ),
    secret_pattern("url-password", "://", r"""://[^\s/?#@:"'<>]{0,256}+:(?!\[redacted:)([^\s/?"'<>]{1,1024})@"""),
    *COMMANDS,
    *CONTEXTS,
)

_PERSONAL = PatternSet(
    secret_pattern("email", "@", r"(?<![\w.%+-])[A-Za-z0-9_.%+-]{1,64}+@[A-Za-z0-9-]{1,63}+(?:\.[A-Za-z0-9-]{1,63}+){1,8}+"),
    secret_pattern("phone", "+", r"(?<![\w+])\+\d(?:[ ().-]{0,2}+\d){7,14}+"),
)

# These look ahead from every first character that a number could have: the text before a number must not hide it. The first
# two digits are those of payment networks, which keeps times and ids out.
_CARD = re.compile(r"(?a)[2-6](?<![\d.].)(?=((?:(?<=[3-6])\d|(?<=2)[2-7])(?:[ -]?\d){11,17}))")
_IBAN = re.compile(r"(?a)[A-Z](?<![A-Za-z0-9].)(?=([A-Z]\d{2}(?: ?[A-Z0-9]){11,30}))")

_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----")


_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]")
"""Characters that nobody sees; one inside of a credential leaves it a credential to whoever copies it."""


def _find(text: str, classes: Collection[str]) -> list[_Finding]:
    if text.isascii():
        return _find_visible(text, classes)
    # A name in letters that look like its own, or behind a blank of another width, is read as that name.
    text = as_read(text)
    if _INVISIBLE.search(text) is None:
        return _find_visible(text, classes)
    places = [place for place, character in enumerate(text) if _INVISIBLE.match(character) is None]
    found = _find_visible("".join([text[place] for place in places]), classes)
    return [_Finding(places[each.start], places[each.end - 1] + 1, each.kind) for each in found]


_SHORT = 56
"""Characters of most names and values in data. A bot's token is longer, so a letter alone is no sign of one here."""

_SIGN_OF_SECRET = re.compile(
    "|".join(map(re.escape, sorted({*_SECRETS.words(), *WORDS_OF_NAMES, "-----begin"} - {"m", "n", "o", ":", "value"})))
    + r"""|:(?:\d{1,5}|\*):|value["']"""
)
"""What a short text with a credential has in it, in lower case."""

_SIGN_OF_PERSON = re.compile(r"[@+]|(?a:\d(?:[ -]?\d){12}|[A-Z]{2}\d\d)")


def _find_visible(text: str, classes: Collection[str]) -> list[_Finding]:
    lowered = text.lower()
    secrets, personal = RedactionClass.SECRETS in classes, RedactionClass.PII in classes
    if len(text) < _SHORT:
        # Data may have tens of thousands of names, and nearly all hold nothing.
        secrets = secrets and _SIGN_OF_SECRET.search(lowered) is not None
        personal = personal and _SIGN_OF_PERSON.search(text) is not None
        if not (secrets or personal):
            return []
    exact = mark_text(text)
    folded = exact if lowered == text else mark_text(lowered)
    findings: list[_Finding] = []
    if secrets:
        findings += _find_private_keys(text)
        findings += _find_patterns(_SECRETS, text, exact, folded)
        words = find_words(text, folded)
        findings += [_Finding(start, end, "password") for start, end in find_named(text, words)]
        findings += [_Finding(start, end, kind) for start, end, kind in find_columns(text, words)]
    if personal:
        findings += _find_patterns(_PERSONAL, text, exact, folded)
        findings += _find_numbers("card-number", _CARD, _longest_card, text)
        findings += _find_numbers("iban", _IBAN, _longest_iban, text)
    return findings


def _find_patterns(patterns: PatternSet, text: str, exact: MarkedText, folded: MarkedText) -> Iterator[_Finding]:
    for pattern in patterns.occurring_in(exact, folded):
        group = 1 if pattern.expression.groups else 0
        for match in pattern.expression.finditer(text):
            yield _Finding(match.start(group), match.end(group), pattern.kind)


def _find_private_keys(text: str) -> Iterator[_Finding]:
    position = 0
    while begin := _KEY_BEGIN.search(text, position):
        end = _KEY_END.search(text, begin.end())
        # A block whose end is missing is still most of a key, and looking for the next start would scan it all again.
        position = end.end() if end else len(text)
        yield _Finding(begin.start(), position, "private-key")


def _find_numbers(kind: str, expression: re.Pattern[str], longest: Callable[[str], int], text: str) -> Iterator[_Finding]:
    for match in expression.finditer(text):
        # More of the same characters may follow directly (an expiry date, a word in capitals): the check digits say how
        # many of them are the number.
        places = [place for place in range(match.start(), match.end(1)) if text[place] not in " -"]
        if length := longest("".join([text[place] for place in places])):
            yield _Finding(match.start(), places[length - 1] + 1, kind)


def _longest_card(digits: str) -> int:
    """The largest count from 13 to 19 of leading digits that pass the Luhn check (ISO 7812), or 0."""
    longest = 0
    sums = [0, 0]  # with every digit at an even place doubled, and with every digit at an odd place
    for place, char in enumerate(digits):
        digit = int(char)
        sums[place % 2] += 2 * digit - 9 if digit > 4 else 2 * digit
        sums[1 - place % 2] += digit
        # The last digit is never doubled, so the one before it says which sum counts.
        if place >= 12 and sums[1 - place % 2] % 10 == 0:
            longest = place + 1
    return longest


def _longest_iban(characters: str) -> int:
    """The largest count from 15 of leading characters that pass the mod 97 check (ISO 13616), or 0."""
    longest = 0
    country_and_check = int("".join([str(int(char, 36)) for char in characters[:4]]))  # six digits: letters are two each
    remainder = 0
    for place, char in enumerate(characters[4:], start=5):
        value = int(char, 36)
        remainder = (remainder * (10 if value < 10 else 100) + value) % 97
        if place >= 15 and (remainder * 1_000_000 + country_and_check) % 97 == 1:
            longest = place
    return longest


def _disjoint(findings: list[_Finding]) -> Iterator[_Finding]:
    """In order of place; what overlaps is one finding, named after the one that starts first."""
    current: _Finding | None = None
    for finding in sorted(findings, key=lambda finding: (finding.start, -finding.end)):
        if current is None:
            current = finding
        elif finding.start < current.end:
            current = _Finding(current.start, max(current.end, finding.end), current.kind)
        else:
            yield current
            current = finding
    if current is not None:
        yield current


# ── structured values ───────────────────────────────────────────────────────────────────────────────────────────────────


def _redact_json(value: Json, classes: Collection[str], *, depth: int, under: str | None) -> RedactedJson:
    """`under` is the kind of credential that the nearest member name indicates, None if it indicates none."""
    if depth > MAX_DEPTH:
        return RedactedJson("[redacted:too-deep]", 1)
    match value:
        case None | bool():
            return RedactedJson(value, 0)
        case int() | float():
            return RedactedJson(value, 0) if under is None else RedactedJson(f"[redacted:{under}]", 1)
        case str():
            return _redact_string(value, classes, under)
        case list() | tuple():
            return _redact_items(cast("list[Json]", value), classes, depth, under)
        case dict():
            return _redact_members(cast("Mapping[Json, Json]", value), classes, depth, under)
        case _:
            return RedactedJson("[redacted:unreadable]", 1)


def _redact_items(
    listed: Sequence[Json], classes: Collection[str], depth: int, under: str | None, columns: Kinds | None = None
) -> RedactedJson:
    """`columns` are the kinds of the columns of a table of which these are the rows, where they are known."""
    looked_into = under is None and RedactionClass.SECRETS in classes
    kinds = kinds_in_pairs(listed) if looked_into else dict[int, str]()
    # In the first row of a table may be its names.
    first = 0 if columns is not None else 1
    if columns is None:
        columns = kinds_of_columns(listed) if looked_into else dict[int, str]()
    items = [
        _redact_row(item, classes, depth + 1, columns)
        if columns and place >= first and place not in kinds
        else _redact_json(item, classes, depth=depth + 1, under=kinds.get(place, under))
        for place, item in enumerate(listed)
    ]
    return RedactedJson([item.value for item in items], sum(item.count for item in items))


def _redact_row(row: Json, classes: Collection[str], depth: int, columns: Kinds) -> RedactedJson:
    cells = [
        _redact_json(cell, classes, depth=depth + 1, under=columns.get(place))
        for place, cell in enumerate(cast("Sequence[Json]", row))
    ]
    return RedactedJson([cell.value for cell in cells], sum(cell.count for cell in cells))


def _redact_string(text: str, classes: Collection[str], under: str | None) -> RedactedJson:
    if under is None or not text or text.startswith("[redacted:"):
        redacted = redact_text(text, classes)
        return RedactedJson(redacted.text, redacted.count)
    return RedactedJson(f"[redacted:{under}]", 1)


def _redact_members(members: Mapping[Json, Json], classes: Collection[str], depth: int, under: str | None) -> RedactedJson:
    count = 0
    redacted: dict[str, Json] = {}
    looked_into = under is None and RedactionClass.SECRETS in classes
    paired = paired_kind(members) if RedactionClass.SECRETS in classes else None
    columns = kinds_of_rows(members) if looked_into else dict[int, str]()
    for name, member in members.items():
        shown = redact_text(str(name), classes)
        kind = under or (member_kind(str(name), member) if RedactionClass.SECRETS in classes else None)
        if kind is None and str(name).lower() in NAMES_OF_VALUES:
            kind = paired
        if columns and kind is None and str(name).lower() in NAMES_OF_ROWS and isinstance(member, list | tuple):
            value = _redact_items(cast("Sequence[Json]", member), classes, depth + 1, None, columns)
        else:
            value = _redact_json(member, classes, depth=depth + 1, under=kind)
        redacted[shown.text] = value.value
        count += shown.count + value.count
    return RedactedJson(redacted, count)
