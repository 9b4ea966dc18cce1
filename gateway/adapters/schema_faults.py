"""Why a JSON Schema that somebody wrote is none, in words that say where."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.core.effects import escape

_LONGEST = 300


def describe_schema_fault(error: Exception) -> str:
    """One line about what compiling a schema raised. A mistyped `type`, which the drafts' own schemas say in the words of an
    `anyOf`, is said plainly."""
    first = str(error).partition("\n")[0].rstrip(".:")
    # Only what does not fit the draft's own schema stands somewhere; a bad reference has no such path.
    path: Sequence[str | int] = getattr(error, "instance_path", ())
    where = "".join(f"/{step}" for step in path)
    if list(path[-1:]) == ["type"] and "anyOf" in first:
        first = "is none of array, boolean, integer, null, number, object, string, or a list of these"
    return escape(f"{where}: {first}" if where else first)[:_LONGEST]
