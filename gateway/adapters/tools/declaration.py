"""`@tool`: what a typed function says about itself, and the definition that is published from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar

from gateway.adapters.tools.schemas import Signature
from gateway.core.canonical import Json
from gateway.core.model import DEFAULT_RESULT_CAP, DEFAULT_TOOL_TIMEOUT, CallFacts, ToolSpec
from gateway.core.preview import Preview
from gateway.core.vocabulary import Category, Recovery, Trust

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

FactFinder: TypeAlias = Callable[[Mapping[str, Json]], CallFacts]
"""Reads the policy's facts off arguments that fit the schema, defaults applied. Raises ToolFailed when it cannot."""


Previewer: TypeAlias = Callable[[Mapping[str, Json]], Preview | None]
"""Shows what a call would change as things are now; blocks. Raises ToolFailed, in words for the person, when it cannot work."""


@dataclass(frozen=True, slots=True)
class Tool(Generic[_Parameters, _Result]):
    """A function and what its author declared. Calling it calls the function, so that it can be tested as one."""

    function: Callable[_Parameters, _Result]
    name: str
    title: str | None
    category: Category
    interface: str | None
    summary: str
    effects: tuple[str, ...]
    trust: Trust
    own: bool
    labels: tuple[str, ...]
    recovery: Recovery
    result_cap: int
    timeout: float
    facts: FactFinder | None
    preview: Previewer | None

    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return self.function(*args, **kwargs)

    def describe(self, signature: Signature, source: str) -> ToolSpec:
        """The definition as the gateway publishes it, `source` being where it came from."""
        return ToolSpec(
            name=self.name,
            title=self.title,
            description=inspect.getdoc(self.function) or "",
            interface_id=self.interface or self.function.__module__,
            method_name=self.function.__name__,
            param_schema=signature.schema,
            category=self.category,
            source=source,
            summary=self.summary,
            effects=self.effects,
            trust=self.trust,
            own=self.own,
            labels=self.labels,
            recovery=self.recovery,
            result_cap=self.result_cap,
            timeout=self.timeout,
        )


AnyTool: TypeAlias = Tool[..., Any]


def tool(
    *,
    category: Category | str,
    summary: str = "",
    effects: tuple[str, ...] = (),
    trust: Trust | str = Trust.UNTRUSTED,
    own: bool = False,
    labels: tuple[str, ...] = (),
    recovery: Recovery | str = Recovery.UNSAFE,
    result_cap: int = DEFAULT_RESULT_CAP,
    timeout: float = DEFAULT_TOOL_TIMEOUT,
    facts: FactFinder | None = None,
    preview: Previewer | None = None,
    name: str | None = None,
    title: str | None = None,
    interface: str | None = None,
) -> Callable[[Callable[_Parameters, _Result]], Tool[_Parameters, _Result]]:
    """Make a tool of a function.

    The docstring is what models read; parameters are described by `Annotated[str, "…"]`. `summary` and `effects` are what
    people read before they approve, templates over parameter names; `preview` adds what the call would change. `result_cap`
    is in bytes, `timeout` in seconds. `own` is for tools whose results are of the person's own workspace or record. A
    parameter of type `ToolContext` is filled by the gateway and published to nobody. Functions that block run in a thread and
    should look at `context.cancelled` now and then; coroutine functions run on the loop and must not block it.
    """

    def declare(function: Callable[_Parameters, _Result]) -> Tool[_Parameters, _Result]:
        return Tool(
            function=function,
            name=name or function.__name__,
            title=title,
            category=Category(category),
            interface=interface,
            summary=summary,
            effects=effects,
            trust=Trust(trust),
            own=own,
            labels=labels,
            recovery=Recovery(recovery),
            result_cap=result_cap,
            timeout=timeout,
            facts=facts,
            preview=preview,
        )

    return declare
