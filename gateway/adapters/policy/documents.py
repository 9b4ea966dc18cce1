"""The policy documents as they lie in their folder: `*.cedar`, `schema.cedarschema`, `profiles.toml`."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateway.core.canonical import digest
from gateway.core.errors import PolicyUnusable

SCHEMA = "schema.cedarschema"
PROFILES = "profiles.toml"

LARGEST = 1024 * 1024
"""Bytes of one document. A policy that people can read is a hundredth of it; anything larger is a mistake."""


@dataclass(frozen=True, slots=True)
class PolicyDocuments:
    """All of one policy, read at one moment. `rules` maps file name to text, in the order in which they count."""

    rules: Mapping[str, str]
    schema: str
    profiles: str
    version: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", digest(self.texts()))

    def texts(self) -> dict[str, str]:
        """Every text by file name."""
        return {**self.rules, SCHEMA: self.schema, PROFILES: self.profiles}


def read_documents(folder: Path) -> PolicyDocuments:
    """Read the folder. Raises PolicyUnusable, naming the file, when one is missing, unreadable or changing right now."""
    return from_texts(read_texts(folder))


def read_texts(folder: Path) -> dict[str, str]:
    """The folder's texts by file name. Raises PolicyUnusable."""
    octets = _read_all(folder)
    # Two files of two policies would be a third policy that nobody wrote.
    if _read_all(folder) != octets:
        raise PolicyUnusable("the policy documents changed while they were read; reload once they are written")
    return {name: decode(name, raw) for name, raw in octets.items()}


def from_texts(given: Mapping[str, str]) -> PolicyDocuments:
    """The documents that these texts are, by file name. Raises PolicyUnusable when one is missing."""
    texts = dict(given)
    for name in (SCHEMA, PROFILES):
        if name not in texts:
            raise PolicyUnusable(f"the policy has no file `{name}`")
    schema, profiles = texts.pop(SCHEMA), texts.pop(PROFILES)
    if not texts:
        raise PolicyUnusable("the policy folder has no `*.cedar` file")
    return PolicyDocuments(texts, schema, profiles)


def refuse_unseen(name: str, text: str) -> None:
    """Raise PolicyUnusable for characters that would make a rule read differently from how it is evaluated."""
    for number, line in enumerate(text.split("\n"), start=1):
        for column, char in enumerate(line, start=1):
            if char != "\t" and unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}:
                raise PolicyUnusable(f"`{name}` line {number}, column {column}: an invisible character, U+{ord(char):04X}")


def explain(error: ValidationError) -> str:
    """The first fault of a document's content, as `calls_per_turn: input should be a valid integer`."""
    return explain_fault(error.errors(include_url=False, include_context=False, include_input=False)[0])


def explain_fault(fault: ErrorDetails) -> str:
    """The same of one fault."""
    place = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    return f"`{place}`: {message}" if place else message


def _read_all(folder: Path) -> dict[str, bytes]:
    names = [path.name for path in sorted(folder.glob("*.cedar"))]
    for name in names:
        refuse_unseen(ascii(name), name)
    return {name: _read(folder, name) for name in (*names, SCHEMA, PROFILES)}


def _read(folder: Path, name: str) -> bytes:
    return read_document(folder / name, name)


def read_document(path: Path, name: str) -> bytes:
    """The bytes of one file, called `name`. Raises PolicyUnusable for what is missing, unreadable or too large."""
    try:
        # Not a folder, and not a pipe either, which would wait for somebody to write.
        if path.exists() and not path.is_file():
            raise PolicyUnusable(f"`{name}` is {'a folder' if path.is_dir() else 'something else'} and not a file")
        if not path.is_file():
            raise PolicyUnusable(f"the policy folder has no file `{name}`")
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise PolicyUnusable(f"`{name}` cannot be read: {error.strerror}") from None
    refuse_large(name, raw)
    return raw


def refuse_large(name: str, raw: bytes) -> None:
    """Raise PolicyUnusable for a document of which this is more than may be, and say where it should have ended."""
    if len(raw) > LARGEST:
        kept = raw[:LARGEST]
        line, column = kept.count(b"\n") + 1, len(kept[kept.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise PolicyUnusable(f"`{name}` line {line}, column {column}: it is larger than {LARGEST} bytes")


def decode(name: str, raw: bytes) -> str:
    """The text of a file. Raises PolicyUnusable where it is none that people can read."""
    try:
        text = raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line, column = before.count(b"\n") + 1, len(before[before.rfind(b"\n") + 1 :].decode()) + 1
        raise PolicyUnusable(f"`{name}` line {line}, column {column}: not UTF-8") from None
    refuse_unseen(name, text)
    return text
