"""Tools: where they come from, what they say about themselves, and how one is run.

    source        ToolSource, the one interface of everything that offers tools
    sources       which sources a gateway has: the one place that names them
    catalog       the Toolbox over all sources
    definitions   what may be published: names, schemas, templates
    outputs       what a tool gave back, as text and JSON

    builtin/        a source: files of one folder, the machine's figures, the web
    python_module/  a source: decorated functions of packages and modules
    tool_file/      a source: programs that a JSON file describes

    local         what these three share: running entries, cancelling and closing
    functions     a typed function as an entry; declaration: `@tool`; schemas: a signature as a small JSON Schema
    threads       where functions that block run

Arguments come from a model and results from anywhere: both are hostile. The functions here get arguments that fit their
schema and nothing more is assumed of them.

The four names below are what an author of tools needs (docs/TOOLS.md).
"""

from gateway.adapters.tools.declaration import tool
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput
from gateway.runtime.ports import ToolContext

__all__ = ["ToolContext", "ToolFailed", "ToolOutput", "tool"]
