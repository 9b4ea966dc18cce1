"""What is wrong with the documents of a policy, each fault with its place: the checks of loading, statement by statement."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

import cedarpy
from pydantic import ValidationError

from gateway.adapters.policy.breaks import (
    START,
    TextPlace,
    find_break,
    find_name,
    find_word,
    place_of,
    read_toml_place,
    split_statements,
)
from gateway.adapters.policy.cases import CaseFile
from gateway.adapters.policy.documents import PROFILES, SCHEMA, refuse_large, refuse_unseen
from gateway.adapters.policy.naming import SchemaNames, explain_unknown, read_schema_names
from gateway.adapters.policy.nesting import TOO_DEEP, find_too_deep, find_too_deep_type
from gateway.adapters.policy.profiles import ProfileTable
from gateway.adapters.policy.rules import check_file, find_excess
from gateway.adapters.policy.toml_places import describe_errors
from gateway.adapters.policy.unknowns import find_unknown
from gateway.core.errors import PolicyUnusable
from gateway.runtime.ports import FaultSeverity, PolicyFault

MOST: Final = 50
"""Faults that are told at once: whoever has more mends those first."""

CASE_NAME: Final = re.compile(r"cases/[A-Za-z0-9_-]{1,64}\.toml")
RULES_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\.cedar")

_TWICE: Final = re.compile(r"duplicate annotation: (@\w+)")
_TOLD: Final = re.compile(r"line (\d+), column (\d+):? ")
_REWORDED: Final = {"the rule there ": "", "rule number 1:": "this rule:"}
_OF_RULE: Final = re.compile(r".*?rule (?:`[^`]*`|number \d+): ", re.DOTALL)
_QUOTED: Final = re.compile(r'`([^`]+)`|"([^"]+)"')


def find_first_error(documents: Mapping[str, str], *, limited: bool = True) -> PolicyFault | None:
    """The first fault that keeps these texts from loading, whatever their files are called; None where there is none."""
    return next(_find_in_documents(documents, {}, limited=limited), None)


def find_faults(documents: Mapping[str, str], cases: Mapping[str, str], tools: Iterable[str]) -> list[PolicyFault]:
    """Every fault of these texts that can be found in one go, errors before warnings, at most `MOST`."""
    found = list(_find_errors(documents, cases))[:MOST]
    if not found:
        found = list(islice(find_unknown(documents, cases, frozenset(tools)), MOST))
    return found


def _find_errors(documents: Mapping[str, str], cases: Mapping[str, str]) -> Iterator[PolicyFault]:
    for name in (SCHEMA, PROFILES):
        if name not in documents:
            yield _error(name, START, f"the policy has no file `{name}`")
    rules = {name: text for name, text in documents.items() if name not in (SCHEMA, PROFILES)}
    odd = [name for name in rules if not RULES_NAME.fullmatch(name)] + [name for name in cases if not CASE_NAME.fullmatch(name)]
    for name in odd:
        yield _error(name, START, "a policy holds `NAME.cedar` files, its schema, its profiles and `cases/NAME.toml`")
    unreadable = [fault for name, text in (*documents.items(), *cases.items()) if (fault := _find_unreadable(name, text))]
    yield from unreadable
    if not odd and not unreadable:
        yield from _find_in_documents(documents, cases, limited=True)


def _find_in_documents(documents: Mapping[str, str], cases: Mapping[str, str], *, limited: bool) -> Iterator[PolicyFault]:
    rules = {name: text for name, text in documents.items() if name not in (SCHEMA, PROFILES)}
    for name, text in (*rules.items(), (SCHEMA, documents.get(SCHEMA, ""))):
        if (offset := find_too_deep_type(text) if name == SCHEMA else find_too_deep(text)) is not None:
            # Nothing else is read of it.
            yield _error(name, place_of(text, offset), TOO_DEEP)
            return
    if PROFILES in documents:
        yield from _find_in_toml(PROFILES, documents[PROFILES], ProfileTable)
    for name, text in cases.items():
        yield from _find_in_toml(name, text, CaseFile)
    schema, fault = _read_schema(documents.get(SCHEMA))
    if fault is not None:
        yield fault
    if schema is None:
        return
    if limited and (excess := find_excess(rules)) is not None:
        yield _error(excess.file, place_of(rules[excess.file], excess.offset), excess.message)
        return
    yield from _find_in_rules(rules, schema, read_schema_names(documents[SCHEMA]))


def _find_unreadable(name: str, text: str) -> PolicyFault | None:
    try:
        refuse_large(name, text.encode("utf-8", "surrogatepass"))
        refuse_unseen(name, text)
    except PolicyUnusable as error:
        message = error.message.removeprefix(f"`{name}` ")
        told = _TOLD.match(message)
        place = START if told is None else TextPlace(int(told[1]), int(told[2]))
        return _error(name, place, message if told is None else message[told.end() :])
    return None


def _find_in_toml(name: str, text: str, shape: type[ProfileTable | CaseFile]) -> Iterator[PolicyFault]:
    try:
        shape.model_validate(tomllib.loads(text))
    except RecursionError:
        yield _error(name, START, "its values are nested too deeply")
    except tomllib.TOMLDecodeError as error:
        message, place = read_toml_place(str(error))
        yield _error(name, place, f"not TOML: {message}")
    except ValidationError as error:
        yield from (_error(name, place, message) for place, message in describe_errors(text, error))


def _read_schema(text: str | None) -> tuple[cedarpy.Schema | None, PolicyFault | None]:
    if text is None:
        return None, None
    try:
        return cedarpy.Schema.from_str(text), None
    except ValueError as error:
        place = place_of(text, find_break(text, cedarpy.Schema.from_str))
        return None, _error(SCHEMA, place, f"it does not load: {error}")


def _find_in_rules(rules: Mapping[str, str], schema: cedarpy.Schema, names: SchemaNames) -> Iterator[PolicyFault]:
    seen: dict[str, str] = {}
    number = 0
    for name, text in rules.items():
        try:
            rule_ids, faults = check_file(name, text, schema), []
        except PolicyUnusable as error:
            rule_ids, faults = [], list(_find_in_file(name, text, schema, error))
        yield from (replace(fault, message=explain_unknown(fault.message, names)) for fault in faults)
        number += len(rule_ids) + len(faults)
        for rule_id in rule_ids:
            if rule_id in seen:
                place = place_of(text, max(text.rfind(f'@id("{rule_id}")'), 0))
                yield _error(name, place, f"rule `{rule_id}` exists already, in `{seen[rule_id]}`")
            seen[rule_id] = name
    if not number:
        yield _error(next(iter(rules), "default.cedar"), START, "the policy has no rule, so it would forbid everything")


def _find_in_file(name: str, text: str, schema: cedarpy.Schema, whole: PolicyUnusable) -> Iterator[PolicyFault]:
    """The faults of each rule by itself; what only the whole file has is told at its beginning."""
    known: set[str] = set()
    told = 0
    for statement in split_statements(text):
        try:
            (rule_id, *_) = check_file(name, statement.text, schema)
            if rule_id in known:
                told += 1
                yield _error(name, place_of(text, statement.start), f"rule `{rule_id}` exists already, in `{name}`")
            known.add(rule_id)
        except PolicyUnusable as error:
            told += 1
            message, offset = _read_message(name, statement.text, error)
            yield _error(name, place_of(text, statement.start + offset), message)
        if told >= MOST:
            return
    if not told:
        yield _error(name, START, _read_message(name, text, whole)[0])


def _read_message(name: str, statement: str, error: PolicyUnusable) -> tuple[str, int]:
    """What a refusal of one statement says without its place, and the offset in the statement."""
    message = error.message.removeprefix(f"`{name}`").lstrip(": ")
    told = _TOLD.match(message)
    message = message[told.end() :] if told else message
    for old, new in _REWORDED.items():
        message = message.replace(old, new)
    if told and (told[1], told[2]) != ("1", "1"):
        lines = statement.split("\n")[: int(told[1]) - 1]
        return message, sum(len(line) + 1 for line in lines) + int(told[2]) - 1
    return message, _offset_in(statement, error)


def _offset_in(statement: str, error: PolicyUnusable) -> int:
    try:
        cedarpy.PolicySet.from_str(statement)
    except ValueError as broken:
        if twice := _TWICE.search(str(broken)):
            return statement.find(twice[1], statement.find(twice[1]) + 1)
        if "does not parse" in error.message:
            named = find_word(statement, [first or second for first, second in _QUOTED.findall(str(broken))])
            return find_break(statement, cedarpy.PolicySet.from_str) or named
    body = re.search(r"\b(permit|forbid)\b", statement)
    if body is None:
        return 0
    # What the message names, in its order: a name stands where it is used, or else the rule's beginning is told.
    inside = statement[body.start() :]
    for first, second in _QUOTED.findall(_OF_RULE.sub("", error.message, count=1)):
        word = first or second
        offset = find_name(inside, word.rpartition(".")[2]) if re.fullmatch(r"[\w.]+", word) else inside.find(word)
        if offset > 0:
            return body.start() + offset
    return 0


def _error(file: str, place: TextPlace, message: str) -> PolicyFault:
    return PolicyFault(FaultSeverity.ERROR, file, place.line, place.column, message)
