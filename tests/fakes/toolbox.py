"""Tools whose effects a test can count."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.model import CallFacts, ToolOutput, ToolSpec
from gateway.core.preview import Preview
from gateway.core.vocabulary import Category, Trust
from gateway.runtime.ports import ArgumentFault, ToolContext


def make_spec(name: str, category: Category, *, trust: Trust = Trust.TRUSTED, timeout: float = 30.0) -> ToolSpec:
    """A tool with one required text argument `path` and an optional `depth` with a default."""
    return ToolSpec(
        name=name,
        description=f"{name} for tests",
        interface_id="tests",
        method_name=name,
        param_schema={
            "type": "object",
            "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "default": 1}},
            "required": ["path"],
            "additionalProperties": False,
        },
        category=category,
        source="tests",
        summary=f"{name} {{path}}",
        effects=(f"{name} touches {{path}}",),
        trust=trust,
        timeout=timeout,
    )


STANDARD = (
    make_spec("look", Category.READ),
    make_spec("read_outside", Category.READ, trust=Trust.UNTRUSTED),
    make_spec("write", Category.WRITE),
    make_spec("destroy", Category.DESTRUCTIVE),
    make_spec("administer", Category.ADMIN),
    make_spec("hang", Category.READ, timeout=0.05),
    make_spec("wait", Category.READ),
    make_spec("fail", Category.READ),
    make_spec("break", Category.READ),
)


class CountingToolbox:
    """The Toolbox port. `effects` lists every execution; `wait` blocks until `release` is set, and ignores being cancelled
    if `stubborn`."""

    def __init__(self, specs: Sequence[ToolSpec] = STANDARD) -> None:
        self.tools = list(specs)
        self.effects: list[tuple[str, Mapping[str, Json]]] = []
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self.stubborn = False

    def specs(self) -> Sequence[ToolSpec]:
        """All of them."""
        return tuple(self.tools)

    def find(self, name: str) -> ToolSpec | None:
        """By name."""
        return next((spec for spec in self.tools if spec.name == name), None)

    def find_faults(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Sequence[ArgumentFault]:
        """`path` must be a text, `depth` a number, nothing else is known."""
        faults = [ArgumentFault(f"/{name}", "is not known") for name in arguments if name not in ("path", "depth")]
        if not isinstance(arguments.get("path"), str):
            faults.append(ArgumentFault("/path", "must be a text"))
        return faults

    def facts(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> CallFacts:
        """The path."""
        if arguments["path"] == "unintelligible":
            raise ToolFailed("that path cannot be understood")
        return CallFacts(path=arguments["path"])

    async def preview(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Preview | None:
        """Nothing, and a failure for the path `gone`."""
        if arguments.get("path") == "gone":
            raise ToolFailed("there is no gone")
        return None

    async def execute(self, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext) -> ToolOutput:
        """Count, then do what the tool's name says."""
        self.effects.append((spec.name, arguments))
        self.started.set()
        match spec.name:
            case "hang":
                await asyncio.Event().wait()
            case "wait":
                await self._wait()
            case "fail":
                raise ToolFailed("there is no such file")
            case "break":
                raise ZeroDivisionError
            case _:
                context.progress("half way", 0.5)
        return ToolOutput(f"{spec.name} did {arguments['path']}", {"path": arguments["path"]})

    async def _wait(self) -> None:
        while True:
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                if not self.stubborn:
                    raise
            else:
                return
