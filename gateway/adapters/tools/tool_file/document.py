"""Tool files: OpenAI's function schema with a command beside it, read whole or not at all.

A file comes from an operator but may have been written by anybody. All its faults are reported in one message,
each with the tool that it concerns, before any of its tools is published.
"""

from __future__ import annotations

import codecs
import json
import math
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar, cast

from gateway.adapters.tools.definitions import Definitions
from gateway.adapters.tools.schemas import Validator
from gateway.adapters.tools.tool_file.command import SHELL, Command, ShellCommand, read_template, read_vector
from gateway.adapters.tools.tool_file.programs import ENVIRONMENT, CommandTool
from gateway.core.canonical import Json, parse
from gateway.core.effects import escape
from gateway.core.errors import MalformedJson, Misconfigured
from gateway.core.model import DEFAULT_TOOL_TIMEOUT, ToolSpec
from gateway.core.vocabulary import Category, Recovery
from gateway.sandbox.machine_paths import lies_in, overlap

MAX_FILE = 1024 * 1024
"""Bytes of a tool file; a hundred tools are some 50 KB."""

MAX_TIMEOUT = 3600.0

_KEYS: Final = frozenset(
    {
        *("_exec", "_exec_args", "_argv", "_handler"),
        *("_category", "_summary", "_effects", "_network", "_timeout", "_folder", "_readable", "_recovery"),
    }
)

_MAY_REACH_OUT: Final = (Category.NETWORK, Category.EXECUTE, Category.DESTRUCTIVE, Category.ADMIN)
"""Categories of tools with a network: the policy asks before each of them."""

_NO_PARAMETERS: Final[Mapping[str, Json]] = {"type": "object", "properties": {}}

_TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")

_SYNTAX_SECONDS: Final = 5.0

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class ToolFileSettings:
    """What a tool file does not say itself. `folder` is the workspace, where its tools work, `timeout` in seconds.

    No tool may read what is `secret`, nor write what is `fixed`: a program that can rewrite the rules it runs under, or the
    file that describes it, has whatever permission it likes after the next start.
    """

    folder: Path
    timeout: float = DEFAULT_TOOL_TIMEOUT
    secret: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()

    def with_fixed(self, path: Path) -> ToolFileSettings:
        """The same with one more thing that may not be written."""
        return replace(self, fixed=(*self.fixed, path))


def read_tool_file(
    path: Path, source: str, settings: ToolFileSettings, find_taken: Callable[[str], ToolSpec | None]
) -> Sequence[CommandTool]:
    """Every tool of a file, in its order; `find_taken` knows the names that other sources have published.

    Raises Misconfigured with all that is wrong with the file.
    """
    tools: list[CommandTool] = []
    faults: list[str] = []
    # What the catalog would refuse is found here, to be reported with everything else.
    trial = Definitions()
    for number, entry in enumerate(_read_entries(path), start=1):
        place = f"tool {number}"
        try:
            reader = _EntryReader(_find_fields(entry), path.parent, settings.with_fixed(path))
        except Misconfigured as error:
            faults.append(f"{place}: {error.message}")
            continue
        tool = reader.read()
        name = escape(tool.name)
        found = [*reader.faults, *_find_collision(find_taken, tool.name)]
        try:
            trial.add(tool.describe(source, None))
        except Misconfigured as error:
            found.append(error.message.removeprefix(f"tool `{name}`").removeprefix(":").strip())
        faults += [f"{place} `{name[:80]}`: {fault}" for fault in dict.fromkeys(found)]
        tools.append(tool)
    if faults:
        raise Misconfigured("\n  ".join([f"the tool file `{escape(path.name)}` is wrong:", *faults]))
    return tools


def _find_collision(find_taken: Callable[[str], ToolSpec | None], name: str) -> list[str]:
    taken = find_taken(name)
    if taken is None:
        return []
    likeness = "" if taken.name == name else f" (it looks like `{taken.name}`)"
    return [f"this name is taken by {taken.source}{likeness}; rename it, or start without the built-in tools"]


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_entries(path: Path) -> Sequence[Json]:
    shown = escape(path.name)
    try:
        # Opening a FIFO or a terminal would wait for somebody.
        if not stat.S_ISREG(path.stat().st_mode):
            raise Misconfigured(f"the tool file `{shown}` is not a file")
        if path.stat().st_size > MAX_FILE:
            raise Misconfigured(f"the tool file `{shown}` is larger than {MAX_FILE} bytes")
        # Some editors begin every file with a byte-order mark.
        raw = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise Misconfigured(f"the tool file `{shown}` cannot be read: {error.strerror}") from None
    try:
        document = parse(raw)
    except MalformedJson as error:
        raise Misconfigured(f"the tool file `{shown}` cannot be read: {error.message}{_place_of_fault(raw)}") from None
    entries = cast("Mapping[str, Json]", document).get("tools") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise Misconfigured(f'the tool file `{shown}` must be a list of tools, or `{{"tools": […]}}`')
    if not entries:
        raise Misconfigured(f"the tool file `{shown}` has no tools in it")
    return cast("list[Json]", entries)


def _place_of_fault(raw: bytes) -> str:
    """Where a person should look, if the plain reader stumbles too."""
    try:
        json.loads(raw)
    except json.JSONDecodeError as error:
        return f" (line {error.lineno}, column {error.colno}: {error.msg})"
    except (ValueError, RecursionError):
        return ""
    return ""


def _check_types(schema: Mapping[str, Json]) -> None:
    """Raises Misconfigured for a parameter with a mistyped `type`: a validator only says that no alternative fits."""
    properties = schema.get("properties")
    for name, parameter in cast("dict[str, Json]", properties).items() if isinstance(properties, dict) else ():
        type_ = cast("dict[str, Json]", parameter).get("type") if isinstance(parameter, dict) else None
        if isinstance(type_, str) and type_ not in _TYPES:
            raise Misconfigured(f"`{escape(type_)[:80]}` is no type for `{escape(name)[:80]}`; types are {', '.join(_TYPES)}")


def _check_required(schema: Mapping[str, Json]) -> None:
    """Raises Misconfigured for a parameter that every call must give and none can."""
    declared = cast("dict[str, Json]", schema.get("properties", {}))
    for name in cast("list[str]", schema.get("required", [])):
        if name not in declared:
            raise Misconfigured(f"`required` names `{escape(name)[:80]}`, which is no parameter")


def _find_fields(entry: Json) -> Mapping[str, Json]:
    """The object that holds a tool's fields: the entry itself, or its `function`."""
    if not isinstance(entry, dict):
        raise Misconfigured("must be an object")
    outer = cast("dict[str, Json]", entry)
    if outer.get("type", "function") != "function":
        raise Misconfigured("only tools of type `function` can be run here")
    if "function" not in outer:
        return outer
    if not isinstance(outer["function"], dict):
        raise Misconfigured("`function` must be an object")
    if stray := sorted(name for name in outer if name.startswith("_")):
        raise Misconfigured(f"`{escape(stray[0])}` is beside `function`; write it inside")
    return cast("dict[str, Json]", outer["function"])


# ── one entry ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class _EntryReader:
    """Reads one tool; faults are collected in `faults`, and a harmless value replaces each wrong one."""

    def __init__(self, fields: Mapping[str, Json], beside: Path, settings: ToolFileSettings) -> None:
        self.faults: list[str] = []
        self._fields = fields
        self._beside = beside
        self._settings = settings

    def read(self) -> CommandTool:
        """The tool; to be published only if there are no faults."""
        for strange in sorted(name for name in self._fields if name.startswith("_") and name not in _KEYS):
            self.faults.append(f"`{escape(strange)}` means nothing here; known are {', '.join(sorted(_KEYS))}")
        parameters = self._guard(self._parameters, None)
        command = self._guard(lambda: self._command(parameters), None)
        category = self._guard(self._category, Category.EXECUTE)
        network = self._guard(lambda: self._network(category), False)
        return CommandTool(
            name=self._guard(lambda: self._text("name"), ""),
            description=self._guard(lambda: self._text("description"), ""),
            parameters=parameters or _NO_PARAMETERS,
            command=command or ShellCommand("true", ()),
            category=category,
            # Over a schema that could not be read, every name in them would be strange.
            summary=self._guard(lambda: self._text("_summary"), "") if parameters else "",
            effects=self._guard(lambda: self._texts("_effects"), ()) if parameters else (),
            network=network,
            folder=self._guard(self._folder, self._settings.folder),
            folder_given=str(self._fields.get("_folder", "")),
            readable=self._guard(self._readable, ()),
            timeout=self._guard(self._timeout, self._settings.timeout),
            recovery=self._guard(self._recovery, Recovery.UNSAFE),
        )

    def _guard(self, read: Callable[[], _Value], otherwise: _Value) -> _Value:
        try:
            return read()
        except Misconfigured as error:
            self.faults.append(error.message)
            return otherwise

    def _parameters(self) -> Mapping[str, Json] | None:
        parameters = self._fields.get("parameters", _NO_PARAMETERS)
        if not isinstance(parameters, dict):
            raise Misconfigured("`parameters` must be a JSON Schema of type `object`")
        schema = cast("dict[str, Json]", parameters)
        _check_types(schema)
        Validator(schema)
        _check_required(schema)
        return schema

    def _command(self, parameters: Mapping[str, Json] | None) -> Command | None:
        """None where the parameters of the command could not be read."""
        given = self._fields
        if "_exec" in given and "_argv" in given:
            raise Misconfigured("has both `_argv` and `_exec`; keep one")
        if "_exec_args" in given and "_exec" not in given:
            raise Misconfigured("`_exec_args` goes with `_exec`, which is missing")
        if "_argv" not in given and "_exec" not in given:
            reserved = " (`_handler` is reserved and runs nothing)" if "_handler" in given else ""
            raise Misconfigured(
                'says nothing to run: write `"_argv": ["program", "{parameter}"]`, or '
                f'`"_exec": "program \\"$parameter\\""` for bash{reserved}'
            )
        if parameters is None:
            return None
        if "_argv" in given:
            return read_vector(given["_argv"], parameters)
        command = read_template(given["_exec"], given.get("_exec_args"), parameters.get("properties", {}))
        _check_syntax(command.template)
        return command

    def _category(self) -> Category:
        try:
            return Category(self._fields.get("_category", Category.EXECUTE))
        except ValueError:
            raise Misconfigured(f"`_category` must be one of {', '.join(Category)}") from None

    def _recovery(self) -> Recovery:
        try:
            return Recovery(self._fields.get("_recovery", Recovery.UNSAFE))
        except ValueError:
            raise Misconfigured(f"`_recovery` must be one of {', '.join(Recovery)}") from None

    def _folder(self) -> Path:
        settings = self._settings
        folder = self._existing("_folder", self._fields["_folder"]) if "_folder" in self._fields else settings.folder
        for kept in (*settings.secret, *settings.fixed):
            if overlap(folder, kept.resolve()):
                raise Misconfigured(
                    f"would work in a folder with `{escape(kept.name)}` in it, which no tool may change; keep the two apart"
                )
        # It could put another folder in the place of the workspace, or a link.
        if lies_in(settings.folder, folder) and not lies_in(folder, settings.folder):
            raise Misconfigured("would work in a folder that the workspace lies in; name the workspace, or a folder beside it")
        return folder

    def _readable(self) -> tuple[Path, ...]:
        folders = tuple(self._existing("_readable", text) for text in self._texts("_readable"))
        for kept in self._settings.secret:
            if any(overlap(folder, kept.resolve()) for folder in folders):
                raise Misconfigured(f"`_readable` names a folder with `{escape(kept.name)}` in it, which no tool may read")
        return folders

    def _existing(self, key: str, text: Json) -> Path:
        """A folder as the file names it: absolute, or relative to the file itself."""
        if not isinstance(text, str) or not text or "\0" in text:
            raise Misconfigured(f"`{key}` must name a folder")
        with suppress(OSError, RuntimeError):
            # Links are followed now and never again: what the sandbox opens is what was looked at.
            folder = (self._beside / text).resolve()
            if folder.is_dir():
                return folder
        raise Misconfigured(f"`{key}` names `{escape(text)}`, which is no folder here")

    def _timeout(self) -> float:
        seconds = self._fields.get("_timeout", self._settings.timeout)
        known = isinstance(seconds, int | float) and not isinstance(seconds, bool) and math.isfinite(seconds)
        if not known or not 0 < seconds <= MAX_TIMEOUT:
            raise Misconfigured(f"`_timeout` must be seconds, more than 0 and at most {MAX_TIMEOUT:g}")
        return float(seconds)

    def _network(self, category: Category) -> bool:
        network = self._fields.get("_network", False)
        if not isinstance(network, bool):
            raise Misconfigured("`_network` must be true or false")
        if network and category not in _MAY_REACH_OUT:
            raise Misconfigured(f"`_network` goes with the categories {', '.join(_MAY_REACH_OUT)} only, not `{category}`")
        return network

    def _text(self, key: str) -> str:
        value = self._fields.get(key, "")
        if not isinstance(value, str):
            raise Misconfigured(f"`{key}` must be a string")
        return value

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self._fields.get(key, [])
        if not isinstance(value, list) or not all(isinstance(text, str) for text in cast("list[Json]", value)):
            raise Misconfigured(f"`{key}` must be a list of strings")
        return tuple(cast("list[str]", value))


def _check_syntax(template: str) -> None:
    """Have bash read the template without running it, where there is a bash."""
    with suppress(OSError, subprocess.TimeoutExpired):
        read = subprocess.run(  # noqa: S603 # `-n` runs nothing
            (SHELL, "-n", "-c", template),
            env=dict(ENVIRONMENT),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SYNTAX_SECONDS,
            check=False,
        )
        if read.returncode != 0:
            complaint = read.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise Misconfigured(
                f"`_exec` is no bash: {escape(complaint[0].removeprefix(f'{SHELL}: ').removeprefix('-c: '))[:200]}"
            )
