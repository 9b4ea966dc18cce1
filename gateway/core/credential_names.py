"""Names of members, items and columns whose values are credentials, whatever those look like."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from gateway.core.canonical import Json
from gateway.core.look_alikes import as_read
from gateway.core.named_secrets import PASSWORDS, SIGN_INS, WORDS_OF_NAMES, names_any_value

_NAMES_OF_CREDENTIALS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "signingkey",
    "authorization",
    "credential",
    "credentials",
    "cookie",
    "cookies",
    "token",
    *(as_read(word) for word in (*PASSWORDS, *SIGN_INS)),
    *("passwords", "passwds", "passphrases", "apikeys", "accesskeys", "secretkeys", "privatekeys", "signingkeys"),
    *("accesstokens", "refreshtokens", "sessiontokens", "authtokens", "apitokens", "bearertokens", "clientsecrets"),
)
"""Ends of member names, in lower case and without punctuation, whose values are credentials whatever they look like."""

_NAMES_OF_NAMES = frozenset({"name", "key", "k", "id", "field", "label", "variable"})
NAMES_OF_VALUES = frozenset({"value", "content", "text", "val", "v", "default"})
"""Members that hold a name, and beside it its value."""

_SHORT_NAMES = frozenset({"pass", "pw", "pwd", "psk", "creds"})
"""Whole names, or the last words of names, that are credentials; words end in them too (`compass`)."""

_LAST_WORD = re.compile(r"(?:^|[^A-Za-z]|(?<=[a-z])(?=[A-Z]))([A-Za-z][a-z]*|[A-Z]+)$")

_NAME_IN_PAIR = re.compile(r"[\w.-]{2,64}")
_PUNCTUATION = re.compile(r"[\W_]+")
_HINT = re.compile("|".join(map(re.escape, sorted({*_NAMES_OF_CREDENTIALS, *_SHORT_NAMES, *WORDS_OF_NAMES}))))
"""What every name of a credential has, in lower case and without punctuation."""

_MADE_UP = re.compile(r"(?=\S{0,80}?(?:\d|[#!%^*+$~]))(?=\S{0,80}?[A-Za-z])\S{6,}")
_NAME_WITH_NUMBER = re.compile(r"[A-Za-z][A-Za-z_-]*+\d{0,4}|\d{4}-\d\d-\d\dT[\d:.+Z-]*")
"""`sha256`, `address2`, a time."""

_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*+|x-[\w-]*+", re.IGNORECASE)
"""What stands beside a name in a list of names (`["username", "password", "created_at"]`) and is no value of it."""

_NOT_CREDENTIALS = ("pagetoken", "continuationtoken", "nexttoken")
"""Names with such an ending that are no credentials: a caller needs them to read on."""


def paired_kind(members: Mapping[Json, Json]) -> str | None:
    """What `{"name": "password", "value": …}` says that its value is."""
    names = [member for name, member in members.items() if str(name).lower() in _NAMES_OF_NAMES and isinstance(member, str)]
    return next((kind for kind in map(credential_kind, names) if kind is not None), None)


def kinds_in_pairs(items: Sequence[Json]) -> Mapping[int, str]:
    """Which items are values: of `["password", …]`, and of names and values in turn, as HTTP libraries list headers.

    Where a list is not of pairs, or what follows a name is a list itself, only what looks made up is taken for a value.
    """
    kinds: dict[int, str] = {}
    kind: str | None = None
    for place, item in enumerate(items):
        if not isinstance(item, str):
            if kind is not None and _holds_made_up(item):
                kinds[place] = kind
            kind = None
            continue
        paired = place % 2 == 1 and not len(items) % 2
        if kind is not None and (looks_made_up(item) or (paired and place - 1 not in kinds and _is_value(item))):
            # More of them may follow: `["password", "…", "…"]`.
            kinds[place] = kind
            continue
        kind = credential_kind(item) if _may_be_name(item) else None
    return kinds


def looks_made_up(text: str) -> bool:
    """Whether a text has what names, words and numbers have not: letters with digits or signs among them, and no blank."""
    return _MADE_UP.fullmatch(text) is not None and _NAME_WITH_NUMBER.fullmatch(text) is None


def _may_be_name(text: str) -> bool:
    # First what keeps most strings of most lists out, at a tenth of the cost.
    return _NAME_IN_PAIR.fullmatch(text) is not None and _HINT.search(_bare(as_read(text))) is not None


def _is_value(text: str) -> bool:
    return _PLAIN_WORD.fullmatch(text) is None


def _holds_made_up(nested: Json) -> bool:
    match nested:
        case dict():
            inside = cast("Mapping[Json, Json]", nested).values()
        case list() | tuple():
            inside = cast("Sequence[Json]", nested)
        case _:
            return False
    return any(isinstance(each, str) and looks_made_up(each) for each in inside)


def credential_kind(name: str) -> str | None:
    name = as_read(name)
    bare = _bare(name)
    # Most names are none, and each is asked about.
    if _HINT.search(bare) is None or bare.endswith(_NOT_CREDENTIALS) or "[redacted:" in name:
        return None
    last = _LAST_WORD.search(name)
    if last is not None and last[1].lower() in _SHORT_NAMES:
        return "password"
    if bare.endswith(_NAMES_OF_CREDENTIALS):
        return next(known for known in _NAMES_OF_CREDENTIALS if bare.endswith(known))
    return "password" if names_any_value(name) else None


def _bare(name: str) -> str:
    return _PUNCTUATION.sub("", name).lower()
