"""`[sinks.NAME]` tables of the settings file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError

from gateway.core.effects import escape
from gateway.core.errors import Misconfigured


class Signal(StrEnum):
    """What a collector is sent."""

    LOGS = "logs"
    TRACES = "traces"
    METRICS = "metrics"


class _SinkTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    payloads: bool = Field(default=False, description="whether arguments and results go along")


class FileSink(_SinkTable):
    """JSON lines at the end of a file, such as one on a mounted volume."""

    kind: Literal["file"]
    path: Path


class SyslogSink(_SinkTable):
    """A syslog server: RFC 5424 over TLS (RFC 5425), or over TCP inside a network that is trusted."""

    kind: Literal["syslog"]
    host: str = Field(min_length=1, max_length=253)
    port: int = Field(6514, ge=1, le=65535)
    tls: bool = True
    ca: Path | None = Field(default=None, description="certificates to trust, in PEM; the system's when unset")
    certificate: Path | None = Field(
        default=None, description="what this gateway shows to a server that asks, in PEM, with its key in the same file"
    )


class OtlpSink(_SinkTable):
    """An OpenTelemetry collector: OTLP over HTTP, in JSON."""

    kind: Literal["otlp"]
    url: str = Field(pattern=r"^https?://[^\s/?#]+[^\s?#]*$", description="base URL, such as http://127.0.0.1:4318")
    headers: Mapping[str, SecretStr] = {}
    signals: tuple[Signal, ...] = Field((Signal.LOGS, Signal.TRACES, Signal.METRICS), min_length=1)


SinkSettings = Annotated[FileSink | SyslogSink | OtlpSink, Field(discriminator="kind")]

_TABLE: Final[TypeAdapter[FileSink | SyslogSink | OtlpSink]] = TypeAdapter(SinkSettings)


@dataclass(frozen=True, slots=True)
class NamedSink:
    """A sink by its name."""

    name: str
    settings: FileSink | SyslogSink | OtlpSink


def _require_name(name: str) -> str:
    # It is part of a file's name.
    if re.fullmatch(r"[a-z][a-z0-9-]{0,31}", name) is None:
        raise Misconfigured("a sink's name has lower-case letters, digits and `-`, a letter first, at most 32")
    return name


def read_sinks(tables: Mapping[str, Mapping[str, Any]]) -> Sequence[NamedSink]:
    """The sinks of the settings. Raises Misconfigured, naming the table."""
    sinks: list[NamedSink] = []
    for name, table in tables.items():
        shown = f"`[sinks.{escape(name)[:80]}]`"
        try:
            sinks.append(NamedSink(_require_name(name), _TABLE.validate_python(table)))
        except Misconfigured as error:
            raise Misconfigured(f"{shown}: {error.message}") from None
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(str(part) for part in first["loc"][1:])
            raise Misconfigured(f"{shown}: {f'`{escape(place)}`: ' if place else ''}{first['msg']}") from None
    return sinks
