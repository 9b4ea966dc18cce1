"""The named values of a text: "name: value", "NAME=value", the members of a JSON document, the constants of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.agent.browser import trim
from gateway.agent.passages import lines_of
from gateway.agent.vocabulary import any_of
from gateway.agent.wish_words import WISH_WORDS


@dataclass(frozen=True, slots=True)
class Field:
    """A value by its name, where it stands, the names of what it belongs to, and the values beside it."""

    name: str
    value: str
    line: int
    within: Sequence[str]
    beside: list[str]


@dataclass(slots=True)
class _Group:
    """An object or a list of a JSON document that is not closed yet: its name, and the values of its members so far."""

    name: str
    is_list: bool
    values: list[str] = field(default_factory=list[str])


_FIELD: Final = re.compile(
    r"([ \t]*)((?:[-*+] )?)(?:\[[ xX]\] )?([^\s:=#][^:=#]{0,40}?)[ \t]*[:=](?:[ \t]+(.*)|(?=$)|(?<==)(.*))"
)
_SECTION: Final = re.compile(r"[ \t]*(?:#+ +(.+)|\[([^\[\]]+)\])")
_TOKEN: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}\[\],:])|([^\s"{}\[\],:]+)', re.DOTALL)
_JSON: Final = re.compile(r"\.json\Z", re.IGNORECASE | re.ASCII)
_CODE: Final = re.compile(rf"\.(?:{any_of(WISH_WORDS.code_endings)})\Z", re.IGNORECASE | re.ASCII)
_LITERAL: Final = r"(\"[^\"]*\"|'[^']*'|-?[0-9][0-9_.]*|[Tt]rue|[Ff]alse)"
_CONSTANT: Final = re.compile(
    rf"[ \t]*(?:(?:{any_of(WISH_WORDS.defining_leads)}|{any_of(WISH_WORDS.binding_words)}) )*"
    rf"[\"']?([A-Za-z_][A-Za-z0-9_-]*)[\"']?(?:: ?[A-Za-z][^=]*?)?[ \t]*[=:][ \t]*{_LITERAL}[ \t]*[,;]?(?:[ \t]+(?:#|//).*)?"
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_code(name: str) -> bool:
    """Whether a file is a program by its name."""
    return _CODE.search(name) is not None


def fields_in(text: str, name: str) -> list[Field]:
    """The fields of a text. `name` is the file's."""
    if _JSON.search(name):
        return _of_json(text)
    return list(_of_code(text)) if is_code(name) else _of_lines(text)


def spelt(name: str) -> str:
    """The name of a field with its words apart: "log Level" for "logLevel"."""
    return _HUMP.sub(" ", name)


def _of_lines(text: str) -> list[Field]:
    """Under headings, in sections, or below one another."""
    fields: list[Field] = []
    section = ""
    above: list[tuple[int, str]] = []
    record: list[str] = []
    depth = -1
    for line, written in enumerate(lines_of(text), 1):
        if (found := _SECTION.fullmatch(written)) is not None:
            section, above, record = trim(found[1] or found[2]), [], []
        elif (found := _FIELD.fullmatch(written)) is not None:
            indent = len(found[1]) + len(found[2])
            above = [each for each in above if each[0] < indent]
            if found[2] or indent < depth:
                record = []
            depth = indent
            value = trim(found[4] or found[5] or "")
            if value:
                within = [section] if section else []
                fields.append(Field(trim(found[3]), value, line, [*within, *(name for _, name in above)], record))
                record.append(value)
            else:
                above.append((indent, trim(found[3])))
    return _told_apart(fields)


def _of_json(text: str) -> list[Field]:
    """The members of objects that are values, and the lists of values, each as one. What is no JSON has few."""
    fields: list[Field] = []
    groups: list[_Group] = []
    key, line, before = "", 1, 0
    tokens = list(_TOKEN.finditer(text))
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        line += text.count("\n", before, token.start())
        before = token.start()
        if token[2] is None:
            value = token[3] if token[1] is None else token[1]
            if after is not None and after[2] == ":":
                key = value
            elif groups:
                _keep(fields, groups, key, value, line)
                key = ""
        elif token[2] in "{[":
            groups.append(_Group(key, token[2] == "["))
            key = ""
        elif token[2] in "}]":
            groups = groups[:-1]
    return _told_apart(fields)


def _keep(fields: list[Field], groups: Sequence[_Group], key: str, value: str, line: int) -> None:
    """A value of the group that is open, as a field of its own, or with the others of its list."""
    group = groups[-1]
    outer = [each.name for each in groups[: -1 if group.is_list else None] if each.name]
    if group.is_list and group.values:
        last = fields.pop()
        fields.append(Field(last.name, f"{last.value}, {value}", last.line, last.within, []))
    else:
        fields.append(Field(group.name if group.is_list else key, value, line, outer, [] if group.is_list else group.values))
    group.values.append(value)


def _of_code(text: str) -> Iterator[Field]:
    """Names that are given a number or a text in a line of their own."""
    for line, written in enumerate(lines_of(text), 1):
        if (found := _CONSTANT.fullmatch(written)) is not None:
            yield Field(found[1], found[2], line, [], [])


def _told_apart(fields: Sequence[Field]) -> list[Field]:
    """The fields, of which one that stands alone has nothing beside it."""
    return [each if each.beside[1:] else Field(each.name, each.value, each.line, each.within, []) for each in fields]
