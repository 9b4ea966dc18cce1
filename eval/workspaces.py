"""The world of a case: real tools over a folder of its own, a bookkeeper that remembers, and an office that nods.

Nothing leaves the process, and the same calls give the same results. Everybody always says yes here: what counts is what a
model proposes.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from eval.cases import Tools
from eval.claims import Act
from eval.long_files import long_files
from eval.scoring import Proposal
from gateway.adapters.tools.builtin.files import Workspace
from gateway.adapters.tools.builtin.passages import PassageStore, TextEmbedder
from gateway.adapters.tools.builtin.semantic import semantic_tools
from gateway.adapters.tools.builtin.workspace import file_tools, system_tools
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.adapters.tools.declaration import AnyTool
from gateway.adapters.tools.functions import read_function, tool_threads
from gateway.adapters.tools.local import LocalSource, ToolEntry
from gateway.adapters.tools.schemas import read_signature
from gateway.core.canonical import Json
from gateway.core.errors import ToolFailed
from gateway.core.model import Principal, ToolOutput, ToolSpec
from gateway.core.redaction import cap_text
from gateway.core.vocabulary import Category, Profile, Trust
from gateway.runtime.ports import AuditQuery, AuditRow, ToolContext

SETS: Final = Path(__file__).with_name("sets")

TODAY: Final = date(2026, 3, 10)
"""A Tuesday. The day of the person in every case."""

Executor: TypeAlias = Callable[[Mapping[str, Any]], str]

_CATEGORIES: Final = {
    "delete_transaction": Category.DESTRUCTIVE,
    "find_transactions": Category.READ,
    "show_report": Category.READ,
    "send_mail": Category.NETWORK,
}
_FETCHES: Final = frozenset({"http_get"})
_WITH_FILES: Final = {Tools.WORKSPACE: "files", Tools.EVERYTHING: "files", Tools.HOUSE: "house", Tools.MEANING: "meaning"}
_WITH_EXPENSES: Final = frozenset({Tools.EXPENSES, Tools.EVERYTHING})


class CaseWorkspace:
    """The tools of one case. `folder` is empty and belongs to it."""

    def __init__(self, tools: Tools, folder: Path, embedder: TextEmbedder | None = None) -> None:
        self._entries: list[ToolEntry] = []
        self._embedder = embedder if tools is Tools.MEANING else None
        if (files := _WITH_FILES.get(tools)) is not None:
            self._add_workspace(folder, _read(files) | (long_files() if tools is Tools.HOUSE else {}))
        if tools in _WITH_EXPENSES:
            self._add_declared("expenses", Ledger().executors())
        if tools is Tools.EVERYTHING:
            self._add_declared("office", {})
        if tools is Tools.OPERATIONS:
            self._add_declared("operations", {})
        self.acts: list[Act] = []
        """What ran so far, and what was read."""
        self.read: list[str] = []
        source = LocalSource("case", lambda: self._entries)
        source.load()
        self.catalog = ToolCatalog()
        self.catalog.publish(source)

    def only_looks(self, tool: str) -> bool:
        """Whether a call of this tool changes nothing."""
        spec = self.catalog.find(tool)
        return spec is not None and (spec.category is Category.READ or tool in _FETCHES)

    def find_fault(self, tool: str, arguments: Mapping[str, Json]) -> tuple[str, str] | None:
        """The outcome and the words with which the gateway would refuse the call for its form, or None."""
        spec = self.catalog.find(tool)
        if spec is None:
            return "unknownTool", f"there is no tool `{tool[:64]}`"
        faults = self.catalog.find_faults(spec, arguments)
        if faults:
            return "invalidArguments", "; ".join(f"{fault.path or 'arguments'}: {fault.message}" for fault in faults)
        return None

    async def run(self, tool: str, arguments: Mapping[str, Json]) -> tuple[str, str, Trust]:
        """Run a call that has no fault: its outcome, its text, cut as the gateway cuts it, and how far that may be believed."""
        spec = self.catalog.find(tool)
        assert spec is not None
        try:
            output = await self.catalog.execute(spec, arguments, _context())
        except ToolFailed as error:
            return "executionError", error.message, Trust.TRUSTED
        if self.only_looks(tool):
            self.read.append(output.text)
        self.acts.append(Act(tool, orjson.dumps(arguments).decode(), looks=self.only_looks(tool)))
        return "ok", cap_text(output.text, spec.result_cap)[0], spec.trust

    async def propose(self, tool: str, arguments: Mapping[str, Json]) -> tuple[Proposal, str, str]:
        """A call as a model made it, its outcome and its text; run only where its form is right."""
        fault = self.find_fault(tool, arguments)
        proposal = Proposal(tool, arguments, accepted=fault is None, looks=self.only_looks(tool))
        return (proposal, *(fault or (await self.run(tool, arguments))[:2]))

    def _add_workspace(self, folder: Path, contents: Mapping[str, str]) -> None:
        for name, text in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        workspace, threads = Workspace(folder), tool_threads()
        found = [] if self._embedder is None else self._search_tools(workspace, folder, self._embedder)
        for tool in (*file_tools(workspace), *found):
            self._entries.append(read_function(tool, "builtin", threads))
        canned: dict[str, Executor] = {
            "system_status": lambda _: "load: 0.4 on 4 processors\nmemory: 5.1 GB free of 8.0 GB\ndisk: 40.0 GB free of 100.0 GB",
            "read_audit": lambda _: "2026-03-10T09:12:04Z read_file auto ok",
        }
        for tool in system_tools(workspace, _no_rows):
            self._register(tool.describe(read_signature(tool.function), "builtin"), canned[tool.name])
        self._register(_web_spec(), _fetch)

    def _search_tools(self, workspace: Workspace, folder: Path, embedder: TextEmbedder) -> list[AnyTool]:
        """The search by meaning, with an index beside the folder that ends with it."""
        self._index = tempfile.TemporaryDirectory(prefix="countersign-passages-")
        return semantic_tools(workspace, PassageStore(Path(self._index.name), folder.resolve(), embedder.id), embedder)

    def _add_declared(self, name: str, executors: Mapping[str, Executor]) -> None:
        """Tools as a tool file declares them, in both its shapes."""
        for entry in _read(name)["tools"]:
            function: dict[str, Any] = entry.get("function", entry)
            spec = ToolSpec(
                name=function["name"],
                description=function["description"],
                interface_id=name,
                method_name=function["name"],
                param_schema=function["parameters"],
                category=_CATEGORIES.get(function["name"], Category.WRITE),
                source=name,
            )
            self._register(spec, executors.get(spec.name, lambda _: "done"))

    def _register(self, spec: ToolSpec, execute: Executor) -> None:
        self._entries.append(ToolEntry(spec, _as_runner(execute)))


class Ledger:
    """Purchases in memory."""

    def __init__(self) -> None:
        self._purchases: list[dict[str, Any]] = list(_read("purchases"))

    def executors(self) -> dict[str, Executor]:
        """By the names of `sets/expenses.json`."""
        return {
            "save_transaction": self._save,
            "show_report": lambda given: f"spent in this period ({given['period']}): 120.00",
            "set_budget": lambda given: f"budget of {given['category']} is {given['amount']} a month",
            "find_transactions": self._find,
            "delete_transaction": self._delete,
        }

    def _save(self, given: Mapping[str, Any]) -> str:
        purchase = {"id": f"t{len(self._purchases) + 1}", "currency": "EUR", "date": TODAY.isoformat(), **given}
        self._purchases.append(purchase)
        return f"saved {purchase['id']}: {_line_of(purchase)}"

    def _find(self, given: Mapping[str, Any]) -> str:
        wanted = str(given["merchant"]).casefold()
        found = [each for each in self._purchases if wanted in each["merchant"].casefold()]
        return "\n".join(f"{each['id']}: {_line_of(each)}" for each in found) or "none found"

    def _delete(self, given: Mapping[str, Any]) -> str:
        left = [each for each in self._purchases if each["id"] != given["id"]]
        if len(left) == len(self._purchases):
            raise ToolFailed(f"there is no purchase {given['id']}")
        self._purchases = left
        return f"deleted {given['id']}"


def _line_of(purchase: Mapping[str, Any]) -> str:
    return f"{purchase['merchant']}, {purchase['amount']} {purchase['currency']}, {purchase['date']}"


def _web_spec() -> ToolSpec:
    """What the real one publishes; a test compares them."""
    description = "Address of the page, for example https://example.com/"
    return ToolSpec(
        name="http_get",
        description="Fetch a public web page and give its text.",
        interface_id="web",
        method_name="http_get",
        param_schema={
            "type": "object",
            "properties": {"url": {"type": "string", "description": description, "maxLength": 2048}},
            "required": ["url"],
            "additionalProperties": False,
        },
        category=Category.NETWORK,
        source="builtin",
    )


def _fetch(given: Mapping[str, Any]) -> str:
    page = _read("pages").get(given["url"])
    if page is None:
        raise ToolFailed("the server does not answer")
    return str(page)


def _as_runner(execute: Executor) -> Callable[[Mapping[str, Json], ToolContext], Awaitable[Any]]:
    async def run(arguments: Mapping[str, Json], _context: ToolContext) -> ToolOutput:
        return ToolOutput(execute(arguments))

    return run


async def _no_rows(_query: AuditQuery) -> tuple[AuditRow, ...]:
    return ()


def _context() -> ToolContext:
    person = Principal("person", "Person", Profile.OPERATOR)
    return ToolContext(person, "session", "conversation", "turn", "call", "key", threading.Event(), lambda _line, _part: None)


def _read(name: str) -> Any:
    return orjson.loads((SETS / f"{name}.json").read_bytes())
