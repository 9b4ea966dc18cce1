"""The Toolbox over functions (docs/PROTOCOL.md section 7 rows 9, 15)."""

from __future__ import annotations

import asyncio
import sys
import threading
from dataclasses import dataclass, replace
from typing import Any

import pytest

from gateway.adapters.tools import catalog as catalog_module
from gateway.adapters.tools import functions, local
from gateway.adapters.tools.declaration import tool
from gateway.adapters.tools.local import LocalSource, ToolEntry
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured, ToolFailed
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.vocabulary import Category, Recovery, Trust
from gateway.runtime.ports import Toolbox, ToolContext
from tests.adapters.tools.conftest import Call, catalog_of, catalog_over, failure_of, make_context, spec_of


@tool(category="read", summary="Greet {name}")
def greet(name: str, times: int = 1) -> str:
    """Say hello."""
    return ", ".join([f"hello {name}"] * times)


@tool(category="read")
async def greet_slowly(name: str, context: ToolContext) -> dict[str, str]:
    """Say hello, later."""
    await asyncio.sleep(0)
    return {"hello": name, "for": context.principal.name}


def test_the_catalog_is_a_toolbox() -> None:
    toolbox: Toolbox = catalog_of(greet, greet_slowly)
    assert [spec.name for spec in toolbox.specs()] == ["greet", "greet_slowly"]


def test_a_definition_says_what_its_author_declared() -> None:
    @tool(
        category=Category.DESTRUCTIVE,
        summary="Drop {table}",
        effects=("The table {table} is gone",),
        trust=Trust.TRUSTED,
        labels=("label:internal",),
        recovery="probe",
        result_cap=100,
        timeout=1.5,
        name="drop",
        title="Drop a table",
        interface="database",
    )
    def drop_table(table: str) -> None:
        """Drop a table."""

    (spec,) = catalog_of(drop_table).specs()
    assert (spec.name, spec.title, spec.description) == ("drop", "Drop a table", "Drop a table.")
    assert (spec.interface_id, spec.method_name, spec.source) == ("database", "drop_table", "test")
    assert (spec.category, spec.trust, spec.recovery) == (Category.DESTRUCTIVE, Trust.TRUSTED, Recovery.PROBE)
    assert (spec.labels, spec.result_cap, spec.timeout) == (("label:internal",), 100, 1.5)
    assert (spec.summary, spec.effects) == ("Drop {table}", ("The table {table} is gone",))


def test_a_result_is_untrusted_and_a_call_unsafe_to_repeat_unless_declared_otherwise() -> None:
    (spec,) = catalog_of(greet).specs()
    assert (spec.trust, spec.recovery) == (Trust.UNTRUSTED, Recovery.UNSAFE)


def test_a_declared_function_is_still_a_function() -> None:
    assert greet("Ada", times=2) == "hello Ada, hello Ada"


async def test_functions_run_in_threads_and_coroutines_on_the_loop(call: Call) -> None:
    @tool(category="read")
    def where() -> str:
        """Where it runs."""
        return "loop" if threading.current_thread() is threading.main_thread() else "thread"

    @tool(category="read")
    async def where_async() -> str:
        """Where it runs."""
        return "loop" if threading.current_thread() is threading.main_thread() else "thread"

    catalog = catalog_of(where, where_async)
    async with asyncio.timeout(5):
        assert (await call(catalog, "where")).text == "thread"
        assert (await call(catalog, "where_async")).text == "loop"


async def test_the_context_is_handed_in_and_never_published(call: Call) -> None:
    catalog = catalog_of(greet_slowly)
    spec = spec_of(catalog, "greet_slowly")
    assert set(spec.param_schema["properties"]) == {"name"}
    assert catalog.find_faults(spec, {"name": "Bob", "context": {}})
    output = await call(catalog, "greet_slowly", name="Bob")
    assert output.structured == {"hello": "Bob", "for": "Ada"}


@dataclass
class Found:
    path: str
    bytes: int


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        ("plain", "plain", None),
        (None, "done", None),
        ({"a": [1, 2]}, '{"a":[1,2]}', {"a": [1, 2]}),
        ([], "[]", []),
        (7, "7", 7),
        (Found("a", 3), '{"path":"a","bytes":3}', {"path": "a", "bytes": 3}),
        (ToolOutput("said", {"n": 1}, ("label:internal",)), "said", {"n": 1}),
        ("lone \ud800 surrogate", "lone ? surrogate", None),
    ],
)
async def test_whatever_a_tool_gives_back_becomes_text_and_json(call: Call, value: Any, text: str, structured: Json) -> None:
    @tool(category="read")
    def give() -> Any:
        """Give."""
        return value

    output = await call(catalog_of(give), "give")
    assert (output.text, output.structured) == (text, structured)


@pytest.mark.parametrize("value", [object(), {"n": float("nan")}, {"n": 2**60}, {"text": "\ud800"}, ToolOutput("x", object())])
async def test_what_has_no_json_form_is_the_tools_failure(call: Call, value: object) -> None:
    @tool(category="read")
    def give() -> Any:
        """Give."""
        return value

    assert "not JSON" in (await failure_of(call(catalog_of(give), "give"))).message


@pytest.mark.parametrize(
    "error", [ValueError("/secret/path"), KeyError("x"), StopIteration(), SystemExit(3), KeyboardInterrupt(), RecursionError()]
)
@pytest.mark.parametrize("sort", ["function", "coroutine"])
async def test_of_an_unforeseen_error_only_the_class_is_reported(
    call: Call, error: BaseException, sort: str, caplog: pytest.LogCaptureFixture
) -> None:
    @tool(category="read", name="fail")
    def fail_in_thread() -> None:
        """Fail."""
        raise error

    @tool(category="read", name="fail")
    async def fail_on_loop() -> None:
        """Fail."""
        raise error

    async with asyncio.timeout(5):
        failed = await failure_of(call(catalog_of(fail_in_thread if sort == "function" else fail_on_loop), "fail"))
    assert failed.message.startswith("the tool failed (")
    assert "/secret/path" not in failed.message
    assert caplog.records


async def test_a_tools_own_failure_passes_in_its_own_words(call: Call) -> None:
    @tool(category="read")
    def fail() -> None:
        """Fail."""
        raise ToolFailed("there is no `x` \ud800" + "." * (2 << 20), "sourceUnavailable")

    failed = await failure_of(call(catalog_of(fail), "fail"))
    assert failed.message.startswith("there is no `x` ?")
    assert len(failed.message) == catalog_module.MAX_FAILURE_TEXT
    assert failed.reason == "sourceUnavailable"


async def test_a_coroutine_that_cancels_itself_has_failed_and_cancels_nobody_else(call: Call) -> None:
    @tool(category="read")
    async def give_up() -> None:
        """Give up."""
        raise asyncio.CancelledError

    assert (await failure_of(call(catalog_of(give_up), "give_up"))).message == "the tool gave up"


async def test_cancelling_reaches_a_coroutine_at_once() -> None:
    started = asyncio.Event()
    ended = asyncio.Event()

    @tool(category="read")
    async def wait() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    catalog, context = catalog_of(wait), make_context()
    async with asyncio.timeout(5):
        task = asyncio.create_task(catalog.execute(spec_of(catalog, "wait"), {}, context))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ended.is_set()
    assert context.cancelled.is_set()


async def test_a_blocking_tool_sees_the_cancellation_and_its_late_result_is_not_lost() -> None:
    """docs/PROTOCOL.md section 7: a result after the cancellation is recorded, so the runtime must be able to see it."""
    loop = asyncio.get_running_loop()
    started = asyncio.Event()

    @tool(category="read")
    def look(context: ToolContext) -> str:
        """Look until told to stop."""
        loop.call_soon_threadsafe(started.set)
        assert context.cancelled.wait(5)
        return "seen"

    catalog, context = catalog_of(look), make_context()
    async with asyncio.timeout(5):
        task = asyncio.create_task(catalog.execute(spec_of(catalog, "look"), {}, context))
        await started.wait()
        task.cancel()
        assert (await task).text == "seen"
    assert context.cancelled.is_set()


async def test_a_blocking_tool_that_never_listens_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "LATE_GRACE", 0.01)
    loop = asyncio.get_running_loop()
    started = asyncio.Event()
    release = threading.Event()

    @tool(category="read")
    def sleep() -> None:
        """Sleep."""
        loop.call_soon_threadsafe(started.set)
        release.wait(5)

    catalog = catalog_of(sleep)
    async with asyncio.timeout(5):
        task = asyncio.create_task(catalog.execute(spec_of(catalog, "sleep"), {}, make_context()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    release.set()


async def test_a_call_cancelled_while_it_is_queued_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "MAX_THREADS", 1)
    loop = asyncio.get_running_loop()
    started = asyncio.Event()
    release = threading.Event()
    ran: list[str] = []

    @tool(category="write")
    def hold() -> None:
        """Hold the thread."""
        loop.call_soon_threadsafe(started.set)
        release.wait(5)

    @tool(category="write")
    def act() -> None:
        """Act."""
        ran.append("acted")

    catalog = catalog_of(hold, act)
    async with asyncio.timeout(5):
        holding = asyncio.create_task(catalog.execute(spec_of(catalog, "hold"), {}, make_context()))
        await started.wait()
        acting = asyncio.create_task(catalog.execute(spec_of(catalog, "act"), {}, make_context()))
        # Once for the call, once for the task in which its source runs it.
        for _ in range(2):
            await asyncio.sleep(0)
        acting.cancel()
        await asyncio.sleep(0)
        release.set()
        await holding
        with pytest.raises(ToolFailed):
            await acting
    assert ran == []


def test_facts_come_from_the_tools_own_finder() -> None:
    @tool(category="write", facts=lambda arguments: CallFacts(path=arguments["path"], bytes=3))
    def write(path: str) -> None:
        """Write."""

    catalog = catalog_of(write, greet)
    assert catalog.facts(spec_of(catalog, "write"), {"path": "a"}) == CallFacts(path="a", bytes=3)
    assert catalog.facts(spec_of(catalog, "greet"), {"name": "a"}) == CallFacts()


def test_facts_that_cannot_be_found_are_a_failure_not_a_crash() -> None:
    @tool(category="write", facts=lambda arguments: CallFacts(path=arguments["nope"]))
    def write(path: str) -> None:
        """Write."""

    catalog = catalog_of(write)
    with pytest.raises(ToolFailed, match="KeyError"):
        catalog.facts(spec_of(catalog, "write"), {"path": "a"})


async def test_another_definition_of_the_same_name_does_not_run() -> None:
    """docs/SECURITY.md case 56: a definition that changed is another tool."""
    catalog = catalog_of(greet)
    changed = replace(spec_of(catalog, "greet"), description="Say goodbye.")
    failed = await failure_of(catalog.execute(changed, {"name": "a"}, make_context()))
    assert failed.reason == "sourceUnavailable"


async def test_a_tool_that_is_unavailable_says_why() -> None:
    spec = replace(spec_of(catalog_of(greet), "greet"), unavailable="no sandbox on this machine")

    async def never(arguments: Any, context: ToolContext) -> None:
        raise AssertionError

    catalog = catalog_over(LocalSource("test", lambda: [ToolEntry(spec, never)]))
    failed = await failure_of(catalog.execute(spec, {"name": "a"}, make_context()))
    assert (failed.message, failed.reason) == ("no sandbox on this machine", "sourceUnavailable")


@pytest.mark.parametrize("name", ["1st", "a-b", "a.b", "", "a" * 65, "naïve", "a b", "respond", "Respond", "a\n"])
def test_a_name_no_model_may_see_is_refused(name: str) -> None:
    @tool(category="read", name=name or " ")
    def anything() -> None:
        """Anything."""

    with pytest.raises(Misconfigured):
        catalog_of(anything)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(Misconfigured, match="already published"):
        catalog_of(greet, greet)


@pytest.mark.parametrize("template", ["Greet {nam}", "Greet {context}", "Greet {name.x}", "Greet {"])
@pytest.mark.parametrize("place", ["summary", "effects"])
def test_a_template_over_unknown_parameters_is_refused(template: str, place: str) -> None:
    declared: dict[str, Any] = {"summary": template} if place == "summary" else {"effects": (template,)}

    @tool(category="read", **declared)
    def hello(name: str, context: ToolContext) -> None:
        """Hello."""

    with pytest.raises(Misconfigured):
        catalog_of(hello)


def test_a_tool_without_a_docstring_is_refused() -> None:
    @tool(category="read")
    def silent() -> None: ...

    with pytest.raises(Misconfigured, match="no description"):
        catalog_of(silent)


def test_an_unsafe_schema_is_refused_by_the_name_of_its_tool() -> None:
    spec = replace(
        spec_of(catalog_of(greet), "greet"), param_schema={"type": "object", "properties": {"a": {"$ref": "http://x"}}}
    )

    async def never(arguments: Any, context: ToolContext) -> None:
        raise AssertionError

    with pytest.raises(Misconfigured, match="tool `greet`"):
        catalog_over(LocalSource("test", lambda: [ToolEntry(spec, never)]))


def test_a_recursion_in_the_callers_arguments_is_only_a_fault() -> None:
    catalog = catalog_of(greet)
    nested: Json = "x"
    for _ in range(min(sys.getrecursionlimit() // 2, 400)):
        nested = [nested]
    assert catalog.find_faults(spec_of(catalog, "greet"), {"name": nested})
