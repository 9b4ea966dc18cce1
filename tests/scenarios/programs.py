"""The programs that the scenarios declare as tools, and a short way to declare one."""

from __future__ import annotations

from typing import Any

ARGUMENTS = ("first", "second", "third")
TEXTS: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ARGUMENTS},
    "required": list(ARGUMENTS),
}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
VALUE: dict[str, Any] = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
PRINT_ARGUMENTS = "import json, sys; print(json.dumps(sys.argv[1:]))"

# A tree that does not want to end: one that is deaf, one in a session of its own, one whose parent is gone.
STUBBORN = """
trap '' TERM
setsid bash -c 'trap "" TERM; while :; do echo x >> "$0.session"; sleep 0.05; done' "$value" &
( ( while :; do echo x >> "$value.orphan"; sleep 0.05; done ) & )
while :; do echo x >> "$value.deaf"; sleep 0.05; done
"""


def program(name: str, parameters: dict[str, Any] = NOTHING, **said: Any) -> dict[str, Any]:
    """A tool that runs without asking, so that a test may call it often."""
    return {"name": name, "description": f"{name} for tests", "parameters": parameters, "_category": "read", **said}


PROGRAMS = [
    program("shell", TEXTS, _exec='printf \'%s\\0\' "$first" "$second" "$third"'),
    program("direct", TEXTS, _argv=["python3", "-c", PRINT_ARGUMENTS, "x{first}", "--second={second}", "--", "{third}"]),
    program("operand", VALUE, _argv=["ls", "{value}"]),
    program("shell_environment", _exec="tr '\\0' '\\n' < /proc/$$/environ"),
    program("direct_environment", _argv=["env"]),
    program("remember", VALUE, _exec='echo "${left-nothing}"; cat /tmp/left; export left="$value"; echo "$value" > /tmp/left'),
    program("flood", _exec="head -c 300000 /dev/zero | tr '\\0' 'x'; head -c 20000 /dev/zero | tr '\\0' 'e' >&2; exit 3"),
    program("bytes", _exec="printf 'a\\377b'"),
    program("leak", _exec="printf 'found\\nAKIA''IOSFODNN7EXAMPLE\\n'"),
    program("stubborn", VALUE, _exec=STUBBORN, _timeout=1),
    program("patient", VALUE, _exec=STUBBORN, _timeout=60),
    program("missing", _argv=["no-such-program-anywhere"]),
    program("killed", _exec="kill -9 $$"),
    program("elsewhere", VALUE, _exec='pwd; cat -- "$value"; echo x > here', _folder="apart", _readable=["library"]),
    {key: value for key, value in program("append", VALUE, _exec='echo "$value" >> told').items() if key != "_category"},
]
