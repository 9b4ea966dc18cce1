"""A tool file as a source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from gateway.adapters.tools.local import LocalSource, ToolEntry, in_thread
from gateway.adapters.tools.source import SourceHealth
from gateway.adapters.tools.tool_file.document import ToolFileSettings, read_tool_file
from gateway.adapters.tools.tool_file.programs import CommandTool, ProgramRunner
from gateway.core.model import ToolSpec
from gateway.core.vocabulary import Reason
from gateway.sandbox.opening import FolderIdentity, HeldFolder


def tool_file_source(
    path: Path,
    programs: ProgramRunner,
    settings: ToolFileSettings,
    *,
    find_taken: Callable[[str], ToolSpec | None] = lambda _: None,
) -> LocalSource:
    """Every tool of a file. Without a sandbox all are there and unavailable, with the reason.

    Starting it raises Misconfigured with all that is wrong with the file, names that `find_taken` knows included.
    """
    source = f"tools:{path.name}"
    held = ExitStack()
    # Of folders that are held open, or a folder that is made in the place of a deleted one could get its number.
    identities: dict[Path, FolderIdentity | None] = {}

    def hold(folder: Path) -> None:
        if folder not in identities:
            opened = HeldFolder(folder)
            held.callback(opened.close)
            identities[folder] = opened.identity

    def make_entry(tool: CommandTool) -> ToolEntry:
        for folder in (tool.folder, *tool.readable):
            hold(folder)
        run = in_thread(lambda arguments, context: programs.run(tool, arguments, context, identities), programs.threads)
        return ToolEntry(tool.describe(source, programs.unavailable), run, find_faults=tool.find_faults)

    def load() -> Sequence[ToolEntry]:
        return [make_entry(tool) for tool in read_tool_file(path, source, settings, find_taken)]

    return LocalSource(
        source, load, health=lambda: SourceHealth(programs.unavailable, Reason.SANDBOX_UNAVAILABLE), release=held.close
    )
