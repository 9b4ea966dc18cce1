"""Files that people have, as sources: an SQLite database, an OpenAPI document. Configurations of MCP clients are read elsewhere
(gateway/adapters/tools/client_configurations.py)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured

_SQLITE: Final = b"SQLite format 3\0"
"""With which every SQLite file begins (sqlite.org/fileformat.html, section 1.3.1)."""

_API: Final = re.compile(rb"""(?:^|[{,])\s*["']?(?:openapi|swagger)["']?\s*:""", re.MULTILINE)
_LOOKED_AT: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What a file is as a source, and a name for it."""

    name: str
    kind: str
    settings: Mapping[str, Json]
    note: str = ""
    """What the person should know of it."""


def recognise(file: Path, given: str | None = None) -> SourceFile | None:
    """The source that a file is, under the name that was given or its own; None for a file of another kind.

    Raises Misconfigured for one that cannot be used.
    """
    beginning = read_named(file, _LOOKED_AT)
    name = given or _name(file)
    if beginning.startswith(_SQLITE):
        return SourceFile(name, "sql", {"url": sqlite_url(file)}, "for reading; `--role change` of `add` lets it be changed")
    if b'"mcpServers"' in beginning or _API.search(beginning) is None:
        return None
    base = find_base_url(file, f"countersign sources add {name}")
    settings: dict[str, Json] = {"document_file": str(file.absolute()), "base_url": base}
    return SourceFile(name, "http", settings, f"requests go to {escape(base)}, as the document says")


def sqlite_url(file: Path) -> str:
    """The URL of a database file."""
    # What means something in a URL is written so that it means itself; all else stays readable.
    path = str(file.resolve()).replace("%", "%25").replace("?", "%3F")
    return f"sqlite:///{path}"


def find_base_url(document: Path, command: str) -> str:
    """Where an OpenAPI document says that its API is. Raises Misconfigured with the `command` that says it in its place."""
    from gateway.adapters.tools.http_api.places import read_base

    match read_api(document).get("servers"):
        case [{"url": str(url)}, *_]:
            try:
                read_base(url)
            except Misconfigured:
                pass
            else:
                return url
        case _:
            pass
    raise Misconfigured(
        f"`{escape(document.name)}` does not say where the API is; say it:"
        f" `{command} --openapi {escape(str(document))} --base-url https://HOST`"
    )


def read_api(document: Path) -> Mapping[str, Json]:
    """An OpenAPI document that can be used. Raises Misconfigured with the file's name."""
    from gateway.adapters.tools.http_api.documents import MAX_JSON, read_document

    try:
        return read_document(read_named(document, MAX_JSON)).root
    except Misconfigured as error:
        raise Misconfigured(f"`{escape(document.name)}`: {error.message}") from None


def read_named(file: Path, most: int) -> bytes:
    """The content of the file, of a longer one a byte more than `most`. Raises Misconfigured with its name."""
    from gateway.adapters.tools.regular_files import read_regular

    try:
        return read_regular(file, most)
    except OSError as error:
        raise Misconfigured(f"`{escape(file.name)}` cannot be read ({error.strerror})") from None


def _name(file: Path) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:28].strip("-")
    return plain if plain[:1].isalpha() else f"source-{plain}".strip("-")
