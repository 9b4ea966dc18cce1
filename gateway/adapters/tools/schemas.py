"""JSON Schema of a tool's arguments: made from a signature, kept small, and refused when it could be turned against us.

The schema is authoritative, also one from a tool's author: validation compiles it once, never fetches anything, and matches
patterns with an engine whose time is linear in its input (Rust's `regex`), so that no argument can keep the gateway busy.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Final, TypeAlias, cast, get_args, get_origin

import jsonschema_rs
from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema

from gateway.adapters.schema_faults import describe_schema_fault
from gateway.adapters.tools.outputs import FAILURES
from gateway.adapters.tools.readings import PLAIN_DECIMAL, find_misread, refuse_unfaithful, word_misread
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.runtime.ports import ArgumentFault, ToolContext

Schema: TypeAlias = Mapping[str, Json]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

MAX_SUBSCHEMAS = 2_000
"""Subschemas counted with every reference followed, so that a few lines cannot unfold into billions of checks."""

MAX_SCHEMA_DEPTH = 32
"""Nesting of subschemas; OpenAI's strict mode stops at 10, docs/PROTOCOL.md's frames at 64."""

MAX_FAULTS = 20
"""Faults reported at once: enough to repair a call, too few to fill a small model's context."""

_REBASING: Final = frozenset({"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"})
_SCHEMA_MEMBERS: Final = (
    *("items", "contains", "unevaluatedItems", "not", "if", "then", "else", "contentSchema"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames"),
)
_LIST_MEMBERS: Final = ("anyOf", "allOf", "oneOf", "prefixItems")
_MAP_MEMBERS: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")


@dataclass(frozen=True, slots=True)
class Signature:
    """What calling a function takes: the published schema, how to read arguments that fit it, and where the context goes."""

    schema: Schema
    context_name: str | None
    reader: TypeAdapter[Any]

    def read(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """The arguments as the function's own types, exactly those that were given. Raises pydantic's ValidationError."""
        read = self.reader.validate_python(arguments)
        return {name: getattr(read, name) for name in arguments}

    def find_faults(self, arguments: Mapping[str, Json]) -> tuple[ArgumentFault, ...]:
        """What the function's types refuse although the schema lets it pass: a date that is none, for instance, or one in a
        form that they would read as something else than it says."""
        try:
            read = self.reader.validate_python(arguments)
            written = self.reader.dump_python(read, mode="json", by_alias=True, include=set(arguments), warnings=False)
        except ValidationError as error:
            told = error.errors(include_url=False, include_context=False, include_input=False)
            return tuple(ArgumentFault(_pointer(fault["loc"]), escape(fault["msg"])[:300]) for fault in told[:MAX_FAULTS])
        except FAILURES as error:
            # An author's own validator may raise anything, and the arguments are hostile.
            return (ArgumentFault("", f"cannot be read ({type(error).__name__})"),)
        misread = islice(find_misread(arguments, written), MAX_FAULTS)
        return tuple(ArgumentFault(_pointer(at), word_misread(said)) for at, said in misread)


def read_signature(function: Callable[..., Any]) -> Signature:
    """The signature of a tool function. Raises Misconfigured for one that cannot be published, naming the parameter."""
    name = getattr(function, "__name__", "tool")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise Misconfigured(f"tool `{name}`: an annotation cannot be read: {error}") from None
    fields: list[tuple[str, Any, Any]] = []
    context_name: str | None = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise Misconfigured(f"tool `{name}`: parameter `{parameter.name}` cannot be given by name")
        if parameter.name not in hints:
            raise Misconfigured(f"tool `{name}`: parameter `{parameter.name}` has no type")
        if hints[parameter.name] is ToolContext:
            if context_name is not None:
                raise Misconfigured(f"tool `{name}`: there is one context, not two")
            context_name = parameter.name
            continue
        if parameter.name.startswith("_"):
            raise Misconfigured(f"tool `{name}`: parameter `{parameter.name}` may not begin with an underscore")
        annotation = _described(hints[parameter.name])
        fields.append((parameter.name, annotation, _field(parameter.default)))
    shape = dataclasses.make_dataclass(
        "Arguments", fields, kw_only=True, namespace={"__pydantic_config__": ConfigDict(extra="forbid")}
    )
    try:
        reader = TypeAdapter[Any](shape)
        refuse_unfaithful(reader.core_schema)
        published = reader.json_schema(schema_generator=_Published)
    except (PydanticUserError, PydanticInvalidForJsonSchema) as error:
        raise Misconfigured(f"tool `{name}`: its parameters have no JSON Schema: {error.message}") from None
    except Misconfigured as error:
        raise Misconfigured(f"tool `{name}`: {error.message}") from None
    schema = _tidy(published, published.get("$defs", {}), ())
    schema.setdefault("properties", {})
    return Signature(schema, context_name, reader)


class Validator:
    """A compiled schema. Checking is pure and quick; the cost is in making one."""

    def __init__(self, schema: Schema) -> None:
        """Raises Misconfigured for a schema that is not valid, not closed in itself, recursive or not linear-time."""
        _inspect(schema)
        try:
            self._compiled = jsonschema_rs.Draft202012Validator(
                dict(schema), offline=True, pattern_options=jsonschema_rs.RegexOptions(), mask=_MASK
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise Misconfigured(f"the parameter schema is refused: {describe_schema_fault(error) or 'not a schema'}") from None
        self._names = tuple(cast("Mapping[str, Json]", schema.get("properties", {})))

    def find_faults(self, arguments: Mapping[str, Json]) -> tuple[ArgumentFault, ...]:
        """Every fault, at most `MAX_FAULTS`, in words that help to do better; empty when the arguments fit."""
        # The common case only checks whether there is a fault.
        if self._compiled.is_valid(arguments):
            return ()
        faults: list[ArgumentFault] = []
        try:
            for error in self._compiled.iter_errors(arguments):
                faults.extend(self._word(error))
                if len(faults) >= MAX_FAULTS:
                    break
        except ValueError:
            # The validator's own recursion limit, far beyond what the wire lets through.
            return (ArgumentFault("", "nests too deep"),)
        return tuple(faults[:MAX_FAULTS])

    def _word(self, error: jsonschema_rs.ValidationError) -> list[ArgumentFault]:
        at = error.instance_path
        match error.kind:
            case jsonschema_rs.ValidationErrorKind.Required(property=name):
                return [ArgumentFault(_pointer([*at, name]), "is required")]
            case jsonschema_rs.ValidationErrorKind.AdditionalProperties(unexpected=names):
                known = f"; the parameters are {', '.join(self._names) or 'none'}" if not at else ""
                return [ArgumentFault(_pointer([*at, name]), f"is not a parameter{known}") for name in names]
            case jsonschema_rs.ValidationErrorKind.Type(types=types):
                message = f"must be {' or '.join(sorted(types))}, not {_type_name(error.instance)}"
            case _:
                message = error.message.removeprefix(f"{_MASK} ")
        return [ArgumentFault(_pointer(at), escape(message)[:300])]


_MASK = "the value"
"""Replaces the value in messages: it may be large, and the sender has it."""


class _Published(GenerateJsonSchema):
    """A default without a JSON form is left out, silently: the function still has it. A decimal says how it is written."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 # pydantic's own declaration

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """A number, or a string of plain digits."""
        number, _ = super().decimal_schema(schema)["anyOf"]
        return {"anyOf": [number, {"type": "string", "pattern": PLAIN_DECIMAL}]}


def _described(annotation: Any) -> Any:
    """`Annotated[str, "where to look"]` with the text as pydantic's description."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *extras = get_args(annotation)
    return Annotated[(kind, *(FieldInfo(description=extra) if isinstance(extra, str) else extra for extra in extras))]


def _field(default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return dataclasses.field()
    # As a factory, because a dataclass refuses mutable defaults and only the schema wants to know this one.
    return dataclasses.field(default=default) if default.__hash__ else dataclasses.field(default_factory=lambda: default)


def _tidy(schema: Schema, definitions: Mapping[str, Schema], within: Sequence[str]) -> dict[str, Json]:
    """The schema without titles, references and null defaults, and closed where it names its properties."""
    members = {name: value for name, value in schema.items() if name not in ("title", "$defs", "discriminator", "$ref")}
    if (reference := schema.get("$ref")) is not None:
        name = str(reference).removeprefix("#/$defs/")
        if name in within:
            raise Misconfigured(f"the type `{name}` contains itself, which no argument schema may")
        return {**_tidy(definitions[name], definitions, (*within, name)), **_tidy(members, definitions, within)}
    if members.get("default", ...) is None:
        del members["default"]
    for name, value in members.items():
        if name in _MAP_MEMBERS:
            members[name] = {key: _tidy(inner, definitions, within) for key, inner in value.items()}
        elif name in _LIST_MEMBERS:
            members[name] = [_tidy(inner, definitions, within) for inner in value]
        elif name in _SCHEMA_MEMBERS and isinstance(value, dict):
            members[name] = _tidy(cast("Schema", value), definitions, within)
    if "properties" in members:
        members.setdefault("additionalProperties", False)
    choices = members.get("anyOf")
    # `{"type": ["integer", "null"]}` says the same as two alternatives in a third of the tokens.
    if choices and all(set(choice) == {"type"} for choice in choices):
        del members["anyOf"]
        members["type"] = [choice["type"] for choice in choices]
    return members


def _inspect(root: Schema) -> None:
    if root.get("type") != "object":
        raise Misconfigured("a parameter schema must be of type `object`")
    if root.get("$schema", DIALECT) != DIALECT:
        raise Misconfigured("a parameter schema must be JSON Schema 2020-12")
    count = 0

    def visit(schema: object, above: tuple[int, ...]) -> None:
        nonlocal count
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            raise Misconfigured("a parameter schema holds something that is no schema")
        if id(cast("Json", schema)) in above:
            raise Misconfigured("a parameter schema refers to itself")
        count += 1
        if count > MAX_SUBSCHEMAS or len(above) > MAX_SCHEMA_DEPTH:
            raise Misconfigured("a parameter schema is too large or too deep")
        members = cast("dict[str, Json]", schema)
        if rebasing := _REBASING & members.keys():
            raise Misconfigured(f"a parameter schema may not use `{min(rebasing)}`")
        below = (*above, id(members))
        if "$ref" in members:
            visit(_resolve(root, members["$ref"]), below)
        for name, value in members.items():
            if name in _SCHEMA_MEMBERS:
                visit(value, below)
            elif name in _LIST_MEMBERS and isinstance(value, list):
                for inner in cast("list[Json]", value):
                    visit(inner, below)
            elif name in _MAP_MEMBERS and isinstance(value, dict):
                for inner in cast("dict[str, Json]", value).values():
                    visit(inner, below)

    visit(root, ())


def _resolve(root: Schema, reference: object) -> object:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        raise Misconfigured(f"a parameter schema may only refer to its own parts, not to `{escape(str(reference))[:200]}`")
    found: object = root
    for step in reference[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or key not in found:
            raise Misconfigured(f"a parameter schema refers to `{escape(reference)[:200]}`, which it does not hold")
        found = cast("dict[str, object]", found)[key]
    return found


def _pointer(path: Sequence[str | int]) -> str:
    """RFC 6901."""
    return "".join("/" + escape(str(step).replace("~", "~0").replace("/", "~1")) for step in path)


def _type_name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
