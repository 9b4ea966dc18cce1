"""What the operator says of one database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from gateway.core.vocabulary import Label

MAX_ROWS: Final = 10_000
"""Rows of one result. A model reads some hundred; more is for a program, which has better ways."""

_SECRET: Final = re.compile(r"\$\{secret:[A-Za-z0-9_.-]{1,64}\}")
_FUNCTION: Final = re.compile(r"([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}")
_LABEL: Final = re.compile(r"[a-z][a-z0-9:_-]{0,31}")
_LEVELS: Final = frozenset(label.mark for label in Label)
_OPTIONS: Final = frozenset({"sslmode", "sslrootcert", "unix_sock"})
_TLS: Final = ("disable", "require", "verify-full")


class SqlRole(StrEnum):
    """What a source may be used for. CHANGE offers reading too."""

    QUERY = "query"
    CHANGE = "change"


class SqlDialect(StrEnum):
    """The databases that can be held to reading alone."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


def read_url(text: str) -> URL:
    """The URL of a database, taken apart. Raises ValueError with a sentence that names no secret."""
    try:
        url = make_url(text)
    except ArgumentError:
        raise ValueError(
            "it should be a URL like `sqlite:////var/lib/shop/orders.db` or"
            " `postgresql+pg8000://reader:${secret:SHOP}@db.example/shop`"
        ) from None
    match url.drivername:
        case "sqlite":
            _check_sqlite(url)
        case "postgresql" | "postgresql+pg8000":
            _check_postgresql(url)
        case _:
            raise ValueError(
                "it should begin with `sqlite://` or `postgresql+pg8000://`; no other database can be held to reading here"
            )
    return url


def _check_sqlite(url: URL) -> None:
    if url.host or url.username or url.query:
        raise ValueError("it should be `sqlite:///` and the path of a file, nothing else")
    if not url.database or url.database == ":memory:" or not Path(url.database).is_absolute():
        raise ValueError("it should name a file by its whole path, with four slashes: `sqlite:////var/lib/shop/orders.db`")


def _check_postgresql(url: URL) -> None:
    if not url.username or not url.database:
        raise ValueError("it should name a user and a database: `postgresql+pg8000://reader:${secret:SHOP}@db.example/shop`")
    if url.password is not None and _SECRET.fullmatch(str(url.password)) is None:
        raise ValueError("it should not hold the password itself: store that as a secret and write `${secret:NAME}` in its place")
    if "${" in f"{url.username}{url.host}{url.database}":
        raise ValueError("it should have a secret in the place of the password alone")
    if strange := sorted(set(url.query) - _OPTIONS):
        raise ValueError(f"it should have no option `{strange[0][:40]}`; there are {', '.join(sorted(_OPTIONS))}")
    if (mode := url.query.get("sslmode", _TLS[0])) not in _TLS:
        raise ValueError(f"its `sslmode` should be one of {', '.join(_TLS)}, not `{str(mode)[:40]}`")
    if not url.host and not url.query.get("unix_sock"):
        raise ValueError("it should name a host, or a socket by `?unix_sock=`")


def _check_url(text: str) -> str:
    read_url(text)
    return text


class SqlSettings(BaseModel):
    """One database. `timeout` in seconds, `max_bytes` of all values of one result together.

    `tables` names what may be reached, with the columns where not all of them may be; nothing named is all that there is.
    `table_labels` are put on a table (`orders`) or a column (`orders.email`), and go with every result that may come from there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Annotated[str, Field(max_length=2000), AfterValidator(_check_url)]
    role: SqlRole = SqlRole.QUERY
    tables: Mapping[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    functions: tuple[str, ...] = ()
    max_rows: int = Field(default=200, ge=1, le=MAX_ROWS)
    max_bytes: int = Field(default=256 * 1024, ge=1024, le=8 * 1024 * 1024)
    max_changed_rows: int = Field(default=1000, ge=1)
    timeout: float = Field(default=10.0, ge=0.1, le=300.0)
    table_labels: Mapping[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])

    @field_validator("functions")
    @classmethod
    def _functions(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if _FUNCTION.fullmatch(name) is None:
                raise ValueError(f"it should be names of functions in lower case, like `shop.price`, not `{name[:60]}`")
        return names

    @field_validator("table_labels")
    @classmethod
    def _labels(cls, labels: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        for mark in (mark for marks in labels.values() for mark in marks):
            if _LABEL.fullmatch(mark) is None:
                raise ValueError(f"it should be words in lower case, like `pii`, not `{mark[:60]}`")
            if mark.startswith("label:") and mark not in _LEVELS:
                raise ValueError(f"it should be one of {', '.join(sorted(_LEVELS))}, not `{mark}`")
        return labels

    @property
    def dialect(self) -> SqlDialect:
        """Which database it is."""
        return SqlDialect.SQLITE if read_url(self.url).drivername == "sqlite" else SqlDialect.POSTGRESQL
