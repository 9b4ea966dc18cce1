"""The model that `--model stub` names: fixed rules in place of weights, the same answer to the same words every time.

For a first look, for demonstrations and for tests of an installation. It calls tools by itself, on this machine, and is no
language model: what fits none of its rules is answered with the list of them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import orjson

from gateway.adapters.inference.scripted import SCRIPTED, Reply, ScriptedBackend
from gateway.core.canonical import Json
from gateway.core.vocabulary import Reason, Tier

STUB: Final = replace(
    SCRIPTED,
    id="stub:1",
    display_name="Stub (rules, no language model)",
    backend="stub",
    context_tokens=32768,
    supports_tools=True,
    tier=Tier.NATIVE,
)

RULES: Final = (
    "list FOLDER",
    "read FILE",
    "search for TEXT [in FOLDER]",
    "write TEXT to FILE",
    "delete FILE",
    "get URL",
    "TOOL TEXT, for a tool with one argument",
    'TOOL {"argument": "value"}, for any tool',
)
"""What it understands, as it says itself. Wishes that `then` or `;` parts are done one after the other."""

UNKNOWN: Final = (
    "I am the stub model, which follows fixed rules, and this fits none of them. I understand: " + "; ".join(RULES) + "."
)

RESULT_CHARACTERS: Final = 600
"""Of a result that it repeats in its answer."""

LONGEST: Final = 2000
"""Characters of a message that it reads. The rules look at all of it many times, and here nothing else may wait for them."""

_PARTED: Final = re.compile(r";|,?\s(?:and\s)?then\s")
_POLITE: Final = re.compile(r"^(?:please|now|use|call|can you|could you)\s+", re.IGNORECASE)
_FRAME: Final = re.compile(r"</?tool_result[^>\n]*>\n?")
_REASON: Final = re.compile(rf"(?:{'|'.join(reason for reason in Reason if not reason.islower())}): ?")
"""How a result begins that is none: with why, in a word of the protocol that no file begins with."""
_NAME: Final = r"(\S+|`[^`\n]+`|\"[^\"\n]+\")"
_ARTICLE: Final = r"(?:the\s+)?(?:files?\s+|folders?\s+|director(?:y|ies)\s+)?(?:in\s+|of\s+)?"

_Arguments = dict[str, Json]
_Rule = tuple[str, re.Pattern[str], Callable[[re.Match[str]], _Arguments]]


def _rule(tool: str, pattern: str, **arguments: str | int) -> _Rule:
    """A tool, how a wish for it is said, and its arguments: the number of a group, or a value."""

    def read(found: re.Match[str]) -> _Arguments:
        return {name: _bare(found[value]) if isinstance(value, int) else value for name, value in arguments.items()}

    return tool, re.compile(pattern, re.IGNORECASE | re.DOTALL), read


_PLAIN: Final[Sequence[_Rule]] = (
    _rule("write_file", rf"(?:write|save|put)\s+(.+)\s+(?:to|into|in)\s+{_NAME}", content=1, path=2),
    _rule("delete_file", rf"(?:delete|remove)\s+{_ARTICLE}{_NAME}", path=1),
    _rule("search_files", r"(?:search|look)\s+for\s+(.+?)\s+in\s+(\S+)", query=1, path=2),
    _rule("search_files", r"(?:search|look)\s+for\s+(.+)", query=1),
    _rule("http_get", r"(?:get|fetch|open)\s+(https?://\S+)", url=1),
    _rule("list_directory", rf"(?:list|show|what(?:'s|\s+is)\s+in)\s+{_ARTICLE}(\S+/|\.)", path=1),
    _rule("list_directory", r"list(?:\s+(?:the\s+|all\s+|my\s+)?(?:files|folders|workspace))?", path="."),
    _rule("list_directory", rf"list\s+{_ARTICLE}(\S+)", path=1),
    _rule("read_file", rf"(?:read|show|open|what(?:'s|\s+is)\s+in)\s+{_ARTICLE}{_NAME}", path=1),
    _rule("system_status", r"(?:show\s+)?(?:the\s+)?(?:system\s+)?status"),
)


def stub_backend() -> ScriptedBackend:
    """The stub as a backend that keeps nothing of what it was asked."""
    return ScriptedBackend(answer_by_rules, STUB, asked=deque(maxlen=0))


def answer_by_rules(asked: Mapping[str, Any]) -> Reply:
    """The reply to a chat request: the next call that its last message of a person wants, or what came of the last one."""
    messages: list[Any] = list(asked.get("messages") or ())
    latest = max((at for at, message in enumerate(messages) if _role(message) == "user"), default=None)
    if latest is None:
        return Reply(UNKNOWN)
    wishes = _wishes_of(_text(messages[latest]))
    results = [message for message in messages[latest + 1 :] if _role(message) == "tool"]
    tools = _declared(asked)
    if len(results) < len(wishes):
        call = _call_for(wishes[len(results)], tools)
        if call is not None:
            return Reply(calls=(call,))
    if not results:
        return Reply(UNKNOWN)
    shown = _FRAME.sub("", _text(results[-1])).strip()
    cut = shown if len(shown) <= RESULT_CHARACTERS else shown[:RESULT_CHARACTERS] + " …"
    failed = _REASON.match(cut)
    if failed is not None:
        return Reply(f"That did not work: {cut[failed.end() :]}")
    return Reply(f"{'The result' if len(results) == 1 else f'The last of {len(results)} results'}:\n{cut}")


def _wishes_of(message: str) -> list[str]:
    """A message taken apart, but not inside quotes: those may hold a text to write."""
    if len(message) > LONGEST:
        return []
    wishes: list[str] = []
    begin = 0
    for found in _PARTED.finditer(message):
        if message.count('"', 0, found.start()) % 2 == 0:
            wishes.append(message[begin : found.start()].strip())
            begin = found.end()
    return [wish for wish in (*wishes, message[begin:].strip()) if wish]


def _call_for(wish: str, tools: Mapping[str, Mapping[str, Any]]) -> tuple[str, _Arguments] | None:
    bare = _POLITE.sub("", wish.strip()).rstrip("?!. \n")
    for name, parameters in tools.items():
        found = re.match(rf"{re.escape(name)}\b(?:\s+with\b)?\s*(.*)", bare, re.DOTALL)
        if found is not None and (arguments := _arguments_of(found[1], parameters)) is not None:
            return name, arguments
    for name, pattern, read in _PLAIN:
        found = pattern.fullmatch(bare)
        if found is not None and name in tools:
            return name, read(found)
    return None


def _arguments_of(text: str, parameters: Mapping[str, Any]) -> _Arguments | None:
    """The arguments that stand after a tool's name: a JSON object, or the text of its only argument."""
    if text.startswith("{"):
        try:
            given = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
        return cast("_Arguments", given) if isinstance(given, dict) else None
    required = list(parameters.get("required") or ())
    if not text:
        return None if required else {}
    return {required[0]: _bare(text)} if len(required) == 1 else None


def _declared(asked: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The parameters of each declared tool, by name; the longest names first, for one may begin another."""
    found: dict[str, Mapping[str, Any]] = {}
    for tool in asked.get("tools") or ():
        match tool:
            case {"function": {"name": str(name), **function}}:
                parameters = function.get("parameters")
                found[name] = cast("Mapping[str, Any]", parameters) if isinstance(parameters, dict) else {}
            case _:
                pass
    return dict(sorted(found.items(), key=lambda each: -len(each[0])))


def _role(message: Any) -> str:
    match message:
        case {"role": str(role)}:
            return role
        case _:
            return ""


def _text(message: Any) -> str:
    match message:
        case {"content": str(content)}:
            return content
        case _:
            return ""


def _bare(text: str) -> str:
    """Without the quotes around it, of which a person may write any kind."""
    stripped = text.strip()
    return stripped[1:-1] if len(stripped) > 1 and stripped[0] in "\"'`" and stripped[-1] == stripped[0] else stripped
