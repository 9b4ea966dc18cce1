"""The commands of a tool file: how a call's arguments become an argument vector, and how that reads to a person.

The template is written by the operator, the values by an untrusted model. So a value never becomes part of the
template: a shell gets it as a variable that is assigned before the template begins, a program gets it inside the one
argument where the author put its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.core.canonical import Json, canonical_bytes
from gateway.core.effects import escape, names_in, pieces
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.runtime.ports import ArgumentFault

SHELL: Final = "/bin/bash"

MAX_TEMPLATE = 8_000
"""Characters of a command. It is shown whole in the approval, and a longer one belongs in a script file."""

MAX_ARGUMENT = 100_000
"""Bytes of one argument of a program: Linux' own limit is 128 KiB (MAX_ARG_STRLEN), the shell's command being one."""

MAX_ARGUMENTS = 400_000
"""Bytes of all of them; Linux allows a quarter of the stack limit, 2 MiB unless somebody lowered it."""

END_OF_OPTIONS: Final = "--"

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_TAKEN_NAMES: Final = frozenset(
    {
        *("_", "CDPATH", "COLUMNS", "COPROC", "DIRSTACK", "EMACS", "ENV", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "EXECIGNORE"),
        *("FCEDIT", "FIGNORE", "FUNCNAME", "FUNCNEST", "GLOBIGNORE", "GLOBSORT", "GROUPS", "HISTCMD", "HISTCONTROL", "HISTFILE"),
        *("HISTFILESIZE", "HISTIGNORE", "HISTSIZE", "HISTTIMEFORMAT", "HOME", "HOSTFILE", "HOSTNAME", "HOSTTYPE", "IFS"),
        *("IGNOREEOF", "INPUTRC", "INSIDE_EMACS", "LANG", "LANGUAGE", "LINENO", "LINES", "MACHTYPE", "MAIL", "MAILCHECK"),
        *("MAILPATH", "MAPFILE", "OLDPWD", "OPTARG", "OPTERR", "OPTIND", "OSTYPE", "PATH", "PIPESTATUS", "POSIXLY_CORRECT"),
        *("PPID", "PROMPT_COMMAND", "PROMPT_DIRTRIM", "PS0", "PS1", "PS2", "PS3", "PS4", "PWD", "RANDOM", "READLINE_ARGUMENT"),
        *("READLINE_LINE", "READLINE_MARK", "READLINE_POINT", "REPLY", "SECONDS", "SHELL", "SHELLOPTS", "SHLVL", "SRANDOM"),
        *("TERM", "TIMEFORMAT", "TMOUT", "TMPDIR", "TZ", "UID", "USER", "auto_resume", "histchars"),
    }
)
"""Variables that bash, the C library or the sandbox give a meaning; some cannot even be assigned, and bash then stops there."""

_TAKEN_PREFIXES: Final = ("BASH", "COMP_", "DYLD_", "GIT_", "GLIBC_", "LC_", "LD_", "MALLOC_", "NODE_", "PERL", "PYTHON", "RUBY")
"""Families of such variables. A template that exports its variables would hand these to every program it starts."""

_PROXIES: Final = re.compile(r"(?i)(?:https?|ftp|all|no)_proxy")

Pieces: TypeAlias = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A template for bash, and the arguments that it gets as variables, in that order."""

    template: str
    names: tuple[str, ...]

    def vector(self, arguments: Mapping[str, Json]) -> tuple[str, ...]:
        """The argument vector of a call. An argument that was not given is the empty string, so that `set -u` holds.

        Raises ToolFailed for arguments that `find_faults` refuses.
        """
        _require(self.find_faults(arguments))
        return (SHELL, "-c", self._script(arguments))

    def find_faults(self, arguments: Mapping[str, Json]) -> tuple[ArgumentFault, ...]:
        """What keeps values from being handed over as they are."""
        found = _find_nul(arguments, self.names)
        if found or len(self._script(arguments).encode()) <= MAX_ARGUMENT:
            return found
        return (ArgumentFault("", f"together longer than a command may be, {MAX_ARGUMENT} bytes"),)

    @property
    def shown(self) -> str:
        """The template of the sentence that tells a person what runs."""
        # No value that is shown without quotes holds a semicolon, so none can look like two.
        given = "; ".join(f"{name}={{{name}}}" for name in self.names)
        return f"Runs in a shell: {_literally(self.template)}" + (f" with {given}" if given else "")

    def _script(self, arguments: Mapping[str, Json]) -> str:
        assigned = (f"{name}={quote(spell(arguments.get(name)))}" for name in self.names)
        return "\n".join((*assigned, self.template))


@dataclass(frozen=True, slots=True)
class DirectCommand:
    """A program and its arguments, each a text with places for values; no shell ever reads them."""

    elements: tuple[Pieces, ...]
    defaults: Mapping[str, Json]
    """Defaults for what was not given: written by the author, and so allowed to be options."""

    def vector(self, arguments: Mapping[str, Json]) -> tuple[str, ...]:
        """The argument vector of a call. An option whose value was not given is left out.

        Raises ToolFailed for arguments that `find_faults` refuses.
        """
        _require(self.find_faults(arguments))
        return self._spelt(arguments)

    def find_faults(self, arguments: Mapping[str, Json]) -> tuple[ArgumentFault, ...]:
        """What keeps values from being handed over as they are, and values that would become options."""
        found = [*_find_nul(arguments, [name for element in self.elements for name in _names(element)])]
        completed = {**self.defaults, **arguments}
        for element, guarded in self._operands():
            names = _names(element)
            if missing := [name for name in names if completed.get(name) is None]:
                found.append(ArgumentFault(f"/{missing[0]}", "must not be null"))
            elif guarded or not _fill(element, completed).startswith("-"):
                continue
            elif any(completed[name] != self.defaults.get(name) for name in names):
                found.append(ArgumentFault(f"/{names[0]}", "makes an argument that the program would take for an option"))
        if not found:
            sizes = [len(text.encode()) for text in self._spelt(arguments)]
            if max(sizes) > MAX_ARGUMENT or sum(sizes) > MAX_ARGUMENTS:
                found.append(ArgumentFault("", f"longer than an argument of a program may be, {MAX_ARGUMENT} bytes"))
        return tuple(dict.fromkeys(found))

    @property
    def shown(self) -> str:
        """The template of the sentence that tells a person what runs."""
        return "Runs: " + " ".join("".join(_shown_piece(*piece) for piece in element) for element in self.elements)

    def _spelt(self, arguments: Mapping[str, Json]) -> tuple[str, ...]:
        given = [element for element in self.elements if all(arguments.get(name) is not None for name in _names(element))]
        return tuple(_fill(element, arguments) for element in given)

    def _operands(self) -> list[tuple[Pieces, bool]]:
        """The elements with values that the author did not make options, and whether a `--` keeps them from becoming one.

        A literal ends what `--` guards: in `timeout -- rg {pattern}` it is not meant for `rg`.
        """
        found: list[tuple[Pieces, bool]] = []
        guarded = False
        for element in self.elements:
            if not _names(element):
                guarded = element == ((END_OF_OPTIONS, None),)
            elif not element[0][0].startswith("-"):
                found.append((element, guarded))
        return found


Command: TypeAlias = ShellCommand | DirectCommand


def read_template(template: object, names: object, properties: Mapping[str, Json]) -> ShellCommand:
    """`_exec` with `_exec_args`, the alphabetical order of `properties` if it is None. Raises Misconfigured, saying why."""
    if not isinstance(template, str) or not template.strip():
        raise Misconfigured("`_exec` must be a command for bash, as a string")
    if "\0" in template or len(template) > MAX_TEMPLATE:
        raise Misconfigured(f"`_exec` must be at most {MAX_TEMPLATE} characters without NUL; put a longer one into a script file")
    if names is None:
        names = sorted(properties)
    listed = _strings(names, "`_exec_args` must be a list of parameter names")
    if len(set(listed)) != len(listed):
        raise Misconfigured("`_exec_args` names a parameter twice")
    for name in listed:
        if name not in properties:
            raise Misconfigured(f"`_exec_args` names `{escape(name)}`, which is no parameter")
        if _IDENTIFIER.fullmatch(name) is None:
            raise Misconfigured(
                f"parameter `{escape(name)}` cannot be a variable: a name is a letter or `_`, then letters, digits or `_`"
            )
        if name in _TAKEN_NAMES or name.startswith(_TAKEN_PREFIXES) or _PROXIES.fullmatch(name):
            raise Misconfigured(f"parameter `{name}` would replace a variable that means something to programs; rename it")
    return ShellCommand(template, listed)


def read_vector(vector: object, parameters: Mapping[str, Json]) -> DirectCommand:
    """`_argv` over the parameters' schema. Raises Misconfigured, saying why."""
    elements = _strings(vector, "`_argv` must be a list of strings: the program, then its arguments")
    if not elements or not elements[0].strip():
        raise Misconfigured("`_argv` must begin with a program")
    if sum(map(len, elements)) > MAX_TEMPLATE or any("\0" in element for element in elements):
        raise Misconfigured(f"`_argv` must be at most {MAX_TEMPLATE} characters without NUL; put a longer one into a script file")
    if names_in(elements[0]):
        raise Misconfigured("the program in `_argv` may not come from an argument")
    properties: Mapping[str, Mapping[str, Json]] = parameters.get("properties", {})
    defaults = {name: prop["default"] for name, prop in properties.items() if isinstance(prop, dict) and "default" in prop}
    always = {*parameters.get("required", ()), *defaults}
    used: set[str] = set()
    for element in elements:
        for name in names_in(element):
            used.add(name)
            if name not in properties:
                raise Misconfigured(f"`_argv` uses `{{{escape(name)}}}`, which is no parameter; write `{{{{` for a brace")
            if name not in always and not element.startswith("-"):
                raise Misconfigured(
                    f"`{{{name}}}` may be missing, and what follows would take its place: require `{name}`, give it a default, "
                    f"or put it into one element with its option, such as `--{name}={{{name}}}`"
                )
    if idle := sorted(properties.keys() - used):
        raise Misconfigured(f"parameter `{escape(idle[0])}` is used nowhere in `_argv`")
    return DirectCommand(tuple(_merged(element) for element in elements), defaults)


def quote(text: str) -> str:
    """The text as one word of bash, whatever it holds but NUL: between single quotes only a single quote means anything."""
    return "'" + text.replace("'", "'\\''") + "'"


def spell(value: Json) -> str:
    """A value as a program reads it: strings as they are, everything else as JSON, and nothing for null."""
    match value:
        case None:
            return ""
        case str():
            return value
        case _:
            return canonical_bytes(value).decode()


# ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _find_nul(arguments: Mapping[str, Json], names: Sequence[str]) -> tuple[ArgumentFault, ...]:
    with_nul = (name for name in dict.fromkeys(names) if "\0" in spell(arguments.get(name)))
    return tuple(ArgumentFault(f"/{name}", "holds a NUL character, which no command can be given") for name in with_nul)


def _require(faults: Sequence[ArgumentFault]) -> None:
    if faults:
        raise ToolFailed("; ".join(f"{fault.path or '/'}: {fault.message}" for fault in faults))


def _strings(value: object, otherwise: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Misconfigured(otherwise)
    texts = [text for text in value if isinstance(text, str)]  # pyright: ignore[reportUnknownVariableType]
    if len(texts) != len(value):  # pyright: ignore[reportUnknownArgumentType]
        raise Misconfigured(otherwise)
    return tuple(texts)


def _merged(element: str) -> Pieces:
    """The pieces of a template; literal text that an escaped brace cut in two is one again."""
    merged: list[tuple[str, str | None]] = []
    text = ""
    for literal, name in pieces(element):
        text += literal
        if name is not None:
            merged.append((text, name))
            text = ""
    return tuple([*merged, (text, None)] if text or not merged else merged)


def _fill(element: Pieces, arguments: Mapping[str, Json]) -> str:
    return "".join(text + ("" if name is None else spell(arguments[name])) for text, name in element)


def _names(element: Pieces) -> list[str]:
    return [name for _, name in element if name is not None]


def _literally(text: str) -> str:
    """Author's text as part of an effect: what deceives the eye spelt out, braces kept from being places."""
    return escape(text).replace("{", "{{").replace("}", "}}")


def _shown_piece(text: str, name: str | None) -> str:
    literal = _literally(text)
    if re.search(r"[^A-Za-z0-9_./:@%+=,^-]", text) or (name is None and not text):
        literal = '"' + literal.replace('"', '\\"') + '"'
    return literal + ("" if name is None else f"{{{name}}}")
