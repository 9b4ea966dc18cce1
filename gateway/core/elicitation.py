"""What the server of a tool may ask a person while a call runs: a flat form, and what a person may answer to it.

The Model Context Protocol allows a small part of JSON Schema for such forms. Anything else is refused whole, and so is a form
with a field for a password or key: what is written into it goes to the server as it is. Every text of a form is the server's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Final, cast
from urllib.parse import urlsplit

from gateway.core.canonical import Json, canonical_bytes, digest
from gateway.core.errors import MalformedJson
from gateway.core.secret_words import names_secret

MAX_SCHEMA: Final = 16 * 1024
"""Bytes of a form's schema as JSON."""

MAX_MESSAGE: Final = 1_000
MAX_FIELDS: Final = 12
MAX_TEXT: Final = 300
"""Characters of a title or description."""

MAX_OPTIONS: Final = 50
MAX_OPTION: Final = 100
MAX_VALUE: Final = 2_000
"""Characters of what a person writes into one field."""


class FieldKind(StrEnum):
    """What goes into a field."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    CHOICES = "choices"


class TextFormat(StrEnum):
    """The formats that MCP allows for a text."""

    EMAIL = "email"
    URI = "uri"
    DATE = "date"
    DATE_TIME = "date-time"


class ElicitationAction(StrEnum):
    """What a person does with a form, in MCP's words."""

    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


class ElicitationStatus(StrEnum):
    """How a form ended: the audit record's word."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class FormOption:
    """One of the values of a choice, and what a person reads for it."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class FormField:
    """One field. `least` and `most` bound a number itself, the characters of a text, or how many choices are made."""

    name: str
    kind: FieldKind
    title: str | None
    description: str | None
    required: bool
    format: TextFormat | None = None
    least: float | None = None
    most: float | None = None
    options: tuple[FormOption, ...] = ()
    default: Json = None


@dataclass(frozen=True, slots=True)
class ElicitationForm:
    """A form that may be shown. `speaks_of_secrets`: its words do, although no field is named so."""

    message: str
    fields: tuple[FormField, ...]
    speaks_of_secrets: bool
    digest: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ElicitationRefusal:
    """Nobody was asked, or may be. `why` is a sentence of the gateway's for the server, the operator and the model."""

    why: str


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    """What goes back to the server that asked. `values` are there where the action is to accept."""

    action: ElicitationAction
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])


NO_ANSWER: Final = ElicitationAnswer(ElicitationAction.CANCEL)

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_ROOT: Final = frozenset({"$schema", "type", "title", "description", "properties", "required", "additionalProperties"})
_ANY_FIELD: Final = frozenset({"type", "title", "description", "default"})
_OF_TYPE: Final[Mapping[str, frozenset[str]]] = {
    "string": frozenset({"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"}),
    "number": frozenset({"minimum", "maximum"}),
    "integer": frozenset({"minimum", "maximum"}),
    "boolean": frozenset(),
    "array": frozenset({"items", "minItems", "maxItems"}),
}


class _Unfit(Exception):
    """A form that is none; the message says why."""


def read_form(message: str, schema: Json) -> ElicitationForm | ElicitationRefusal:
    """The form that a server asks to be filled in, if it is one that may be shown."""
    try:
        if len(canonical_bytes(schema)) > MAX_SCHEMA:
            return ElicitationRefusal(f"the schema of its form is larger than {MAX_SCHEMA >> 10} KB")
        fields = _read_fields(schema)
        text = _text(message, "the message", MAX_MESSAGE) or ""
        whole = digest({"message": message, "schema": schema})
    except (MalformedJson, RecursionError):
        return ElicitationRefusal("the schema of its form is not JSON, or is nested too deep")
    except _Unfit as unfit:
        return ElicitationRefusal(str(unfit))
    for each in fields:
        if names_secret(each.name) or names_secret(each.title or ""):
            return ElicitationRefusal("its form asks for a password, a key or another secret, which no form may")
    told = (text, *(part for each in fields for part in (each.description, *_labels(each)) if part))
    return ElicitationForm(text, fields, any(map(names_secret, told)), whole)


def find_value_fault(form: ElicitationForm, values: Mapping[str, Json]) -> str | None:
    """What is wrong with the values that a person gave; None when they fit the form."""
    known = {each.name: each for each in form.fields}
    if any(name not in known for name in values):
        return "there is no such field in this form"
    for each in form.fields:
        if each.name not in values:
            if each.required:
                return f"`{each.name}` has to be filled in"
        elif (fault := _find_fault(each, values[each.name])) is not None:
            return f"`{each.name}`: {fault}"
    return None


# ── reading a schema ──


def _read_fields(schema: Json) -> tuple[FormField, ...]:
    root = _members(schema, "its form")
    if root.get("type") != "object" or root.keys() - _ROOT or root.get("additionalProperties", False) not in (True, False):
        raise _Unfit("its form is not a flat list of fields")
    properties = _members(root.get("properties", {}), "its form")
    if len(properties) > MAX_FIELDS:
        raise _Unfit(f"its form has more than {MAX_FIELDS} fields")
    required = _texts(root.get("required", []), "required", MAX_FIELDS)
    if any(name not in properties for name in required):
        raise _Unfit("its form requires a field that it does not have")
    return tuple(_read_field(name, value, name in required) for name, value in properties.items())


def _read_field(name: str, value: Json, required: bool) -> FormField:
    if _NAME.fullmatch(name) is None:
        raise _Unfit("its form has a field whose name is no plain word")
    members = _members(value, f"`{name}`")
    kind = members.get("type")
    if not isinstance(kind, str) or kind not in _OF_TYPE or members.keys() - _ANY_FIELD - _OF_TYPE[kind]:
        raise _Unfit(f"`{name}` of its form is more than a plain field")
    title, description = (_text(members.get(each), f"`{name}`", MAX_TEXT) for each in ("title", "description"))
    options = _read_options(name, members)
    least, most = (_bound(name, members, *names) for names in (_LEAST, _MOST))
    read = FormField(name, _kind_of(kind, options), title, description, required, _format(name, members), least, most, options)
    if "default" not in members:
        return read
    default = members["default"]
    if _find_fault(read, default) is not None:
        raise _Unfit(f"`{name}` of its form has a default that misses its own schema")
    return FormField(name, read.kind, title, description, required, read.format, least, most, options, default)


_LEAST: Final = ("minimum", "minLength", "minItems")
_MOST: Final = ("maximum", "maxLength", "maxItems")


def _kind_of(kind: str, options: Sequence[FormOption]) -> FieldKind:
    match kind:
        case "array":
            return FieldKind.CHOICES
        case "string":
            return FieldKind.CHOICE if options else FieldKind.TEXT
        case _:
            return FieldKind(kind)


def _format(name: str, members: Mapping[str, Json]) -> TextFormat | None:
    if "format" not in members:
        return None
    try:
        return TextFormat(members["format"])
    except ValueError:
        raise _Unfit(f"`{name}` of its form has a format that is not known here") from None


def _read_options(name: str, members: Mapping[str, Json]) -> tuple[FormOption, ...]:
    """`enum` with or without `enumNames`, or a list of `const` and `title`."""
    wanted = "anyOf" if members.get("type") == "array" else "oneOf"
    if members.get("type") == "array":
        members = _members(members.get("items"), f"`{name}`")
        if members.keys() - {"type", "enum", "anyOf"} or members.get("type", "string") != "string":
            raise _Unfit(f"`{name}` of its form is more than a list of choices")
    elif "enum" not in members and "oneOf" not in members:
        return ()
    if ("enum" in members) == (wanted in members) or ("enumNames" in members and "enum" not in members):
        raise _Unfit(f"`{name}` of its form offers no choices that can be understood")
    if "enum" in members:
        values = _texts(members["enum"], f"`{name}`", MAX_OPTIONS)
        labels = _texts(members.get("enumNames", values), f"`{name}`", MAX_OPTIONS)
    else:
        pairs = [_members(each, f"`{name}`") for each in _list(members[wanted], f"`{name}`", MAX_OPTIONS)]
        if any(set(pair) != {"const", "title"} for pair in pairs):
            raise _Unfit(f"`{name}` of its form offers no choices that can be understood")
        values = _texts([pair["const"] for pair in pairs], f"`{name}`", MAX_OPTIONS)
        labels = _texts([pair["title"] for pair in pairs], f"`{name}`", MAX_OPTIONS)
    if not values or len(values) != len(labels) or len(set(values)) < len(values):
        raise _Unfit(f"`{name}` of its form offers no choices that can be understood")
    return tuple(FormOption(value, label) for value, label in zip(values, labels, strict=True))


def _bound(name: str, members: Mapping[str, Json], *names: str) -> float | None:
    found = next((members[each] for each in names if each in members), None)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise _Unfit(f"`{name}` of its form has a bound that is no number")
    return found


def _members(value: Json, what: str) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise _Unfit(f"{what} is not as a form is written")
    return cast("Mapping[str, Json]", value)


def _list(value: Json, what: str, most: int) -> Sequence[Json]:
    if not isinstance(value, list) or len(cast("Sequence[Json]", value)) > most:
        raise _Unfit(f"{what} of its form has no list of at most {most} values")
    return cast("Sequence[Json]", value)


def _texts(value: Json, what: str, most: int) -> Sequence[str]:
    texts = _list(value, what, most)
    if not all(isinstance(each, str) and len(each) <= MAX_OPTION for each in texts):
        raise _Unfit(f"{what} of its form has a choice that is no short text")
    return cast("Sequence[str]", texts)


def _text(value: Json, what: str, most: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > most:
        raise _Unfit(f"{what} of its form is no text of at most {most} characters")
    return value


def _labels(each: FormField) -> tuple[str, ...]:
    return tuple(option.label for option in each.options)


# ── checking values ──


def _find_fault(each: FormField, value: Json) -> str | None:
    match each.kind:
        case FieldKind.BOOLEAN:
            return None if isinstance(value, bool) else "it is yes or no"
        case FieldKind.NUMBER | FieldKind.INTEGER:
            return _find_number_fault(each, value)
        case FieldKind.TEXT:
            return _find_text_fault(each, value)
        case FieldKind.CHOICE:
            return None if any(value == option.value for option in each.options) else "it is none of the choices"
        case FieldKind.CHOICES:
            return _find_choices_fault(each, value)


def _find_number_fault(each: FormField, value: Json) -> str | None:
    wanted = int if each.kind is FieldKind.INTEGER else int | float
    if isinstance(value, bool) or not isinstance(value, wanted) or not math.isfinite(value):
        return "it is no whole number" if each.kind is FieldKind.INTEGER else "it is no number"
    return _find_bound_fault(each, value, "it is")


def _find_text_fault(each: FormField, value: Json) -> str | None:
    if not isinstance(value, str) or len(value) > MAX_VALUE:
        return f"it is no text of at most {MAX_VALUE} characters"
    fault = _find_bound_fault(each, len(value), "its characters are")
    if fault is None and each.format is not None and not _has_format(value, each.format):
        return f"it is no {each.format.value}"
    return fault


def _find_choices_fault(each: FormField, value: Json) -> str | None:
    known = [option.value for option in each.options]
    chosen = cast("Sequence[Json]", value) if isinstance(value, list) else None
    if chosen is None or any(choice not in known for choice in chosen) or len(set(chosen)) < len(chosen):
        return "it is no list of its choices"
    return _find_bound_fault(each, len(chosen), "its choices are")


def _find_bound_fault(each: FormField, amount: float, what: str) -> str | None:
    if each.least is not None and amount < each.least:
        return f"{what} fewer than {each.least:g}" if what != "it is" else f"it is less than {each.least:g}"
    if each.most is not None and amount > each.most:
        return f"{what} more than {each.most:g}"
    return None


def _has_format(value: str, wanted: TextFormat) -> bool:
    try:
        match wanted:
            case TextFormat.EMAIL:
                return re.fullmatch(r"[^@\s]+@[^@\s]+", value) is not None
            case TextFormat.URI:
                return bool(urlsplit(value).scheme) and not re.search(r"\s", value)
            case TextFormat.DATE:
                date.fromisoformat(value)
            case TextFormat.DATE_TIME:
                datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
