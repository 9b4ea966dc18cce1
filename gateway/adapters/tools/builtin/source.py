"""The built-in tools as a source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from gateway.adapters.tools.builtin.attachments import attachment_tools
from gateway.adapters.tools.builtin.egress import Egress
from gateway.adapters.tools.builtin.fetching import Fetcher
from gateway.adapters.tools.builtin.files import Workspace
from gateway.adapters.tools.builtin.kept import KeptTextReader, kept_tools
from gateway.adapters.tools.builtin.passages import PassageStore, TextEmbedder
from gateway.adapters.tools.builtin.semantic import semantic_tools
from gateway.adapters.tools.builtin.web import web_tools
from gateway.adapters.tools.builtin.workspace import AuditReader, file_tools, system_tools
from gateway.adapters.tools.functions import read_function
from gateway.adapters.tools.local import LocalSource, ToolEntry
from gateway.adapters.tools.threads import WorkerThreads

NAME: Final = "builtin"


def builtin_source(
    folder: Path,
    read_audit: AuditReader,
    read_kept: KeptTextReader,
    threads: WorkerThreads,
    *,
    allow_hosts: Iterable[str] = (),
    index: Path | None = None,
    embedder: TextEmbedder | None = None,
) -> LocalSource:
    """The tools over `folder`. `allow_hosts` are `host:port` pairs that may be fetched although they are not public. With an
    `embedder`, passages are found by their meaning, and `index` keeps their vectors."""

    held = ExitStack()

    def load() -> Sequence[ToolEntry]:
        workspace = Workspace(folder)
        held.callback(workspace.close)
        tools = [*file_tools(workspace), *system_tools(workspace, read_audit), *kept_tools(read_kept), *attachment_tools()]
        tools += web_tools(Fetcher(Egress(allow_hosts)))
        if embedder is not None and index is not None:
            tools += semantic_tools(workspace, PassageStore(index, folder.resolve(), embedder.id), embedder)
        return [read_function(tool, NAME, threads) for tool in tools]

    return LocalSource(NAME, load, release=held.close)
