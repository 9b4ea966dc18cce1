"""The base of all wire types: member naming, strictness, and the scalars of docs/PROTOCOL.md section 3."""

from __future__ import annotations

from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic.alias_generators import to_camel

from gateway.core.canonical import MAX_INTEGER, Json


class Wire(BaseModel):
    """One JSON object of the contract: camelCase members, no unknown ones, immutable.

    An optional member that is None is not sent; null inside free JSON (`arguments`, `structured`) is.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        # Checks are built by the first value: most shapes are never seen by a gateway that only just began.
        defer_build=True,
        frozen=True,
        serialize_by_alias=True,
        validate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )

    @classmethod
    def admit(cls, value: Json) -> Self:
        """Check a parsed JSON value that came over the wire. Raises pydantic's ValidationError.

        Unlike the constructor it knows the camelCase names only: `turn_id` is an unknown member.
        """
        return cls.model_validate(value, by_alias=True, by_name=False)

    def to_json(self) -> bytes:
        """The UTF-8 JSON of this object, as it is sent."""
        return self.__pydantic_serializer__.to_json(self, exclude_none=True)

    def enclose(self, before: bytes, after: bytes) -> bytes:
        """The JSON of this object with something before it and something after it."""
        return b"%b%b%b" % (before, self.to_json(), after)

    def to_members(self) -> dict[str, Json]:
        """The same as Python values."""
        return self.model_dump(mode="json", exclude_none=True)


class Nothing(Wire):
    """No parameters, or a result without content."""


Identifier: TypeAlias = Annotated[str, Field(min_length=1, max_length=64)]
"""Made by the gateway and opaque to clients. Any short string is accepted as one; an unknown one is not found."""

CallId: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")]
"""Made by the client, unique in its conversation."""

Digest: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""Lower-case hex SHA-256 of canonical JSON."""

ClaimedDigest: TypeAlias = Annotated[str, Field(max_length=128)]
"""A digest that a client sends. The parser accepts any; the gate refuses a wrong one, with a message for the model."""

ClaimedToolName: TypeAlias = Annotated[str, Field(max_length=64)]
"""A tool name as a model wrote it, in at most 64 characters; a name that is not advertised is `unknownTool`."""

ToolName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
"""A name that the gateway publishes."""

ModelId: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
"""Weight digest and architecture tag, or a remote model's own name."""

Timestamp: TypeAlias = Annotated[str, Field(pattern=r"^\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
"""RFC 3339, UTC, milliseconds."""

Title: TypeAlias = Annotated[str, Field(max_length=200)]
"""A conversation's title, in characters; may be empty."""

Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]
"""A person's name for a passkey."""

Cursor: TypeAlias = Annotated[str, Field(min_length=1, max_length=256)]
"""Where the next page of a listing starts; opaque, made by the gateway."""

SearchText: TypeAlias = Annotated[str, Field(min_length=2, max_length=200, pattern=r"\S")]
"""Words to look for, in characters."""

PageSize: TypeAlias = Annotated[int, Strict(), Field(ge=1, le=200)]
"""The largest number of rows in one page of a listing."""

Count: TypeAlias = Annotated[int, Strict(), Field(ge=0, le=MAX_INTEGER)]
"""A count or a position; strict, so that `"5"`, `5.0` and `true` are not counts."""

Flag: TypeAlias = Annotated[bool, Strict()]

Number: TypeAlias = Annotated[float, Strict()]

FreeText: TypeAlias = str
"""Text of any length that fits into a message (256 KiB)."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object whose members the contract does not define."""
