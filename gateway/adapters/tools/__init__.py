"""The tools: typed Python functions behind the Toolbox port, and the ones that come with the gateway.

    declaration   `@tool`: what a function says about itself
    schemas       a signature becomes a small JSON Schema; what no schema may hold
    registry      the Toolbox: publishes, checks arguments, runs, turns every failure into one that is safe to show
    threads       where functions that block run
    discovery     tools of other people: installed ones, and modules named on the command line
    workspace     the built-in tools over one folder
    beneath       opening a path that cannot leave that folder
    files         reading, writing and deleting in it
    egress        which addresses may be reached, decided once and pinned
    fetching      one GET through that guard, with every quantity capped
    reading       HTML as text
    status        the machine's own figures
    toolfile      programs as tools, described in a JSON file
    command       how a call's arguments become such a program's, and how that reads to a person
    process       running one in the cage (sandbox), and what it wrote as a result

Arguments come from a model and results from anywhere: both are hostile. The functions here get arguments that fit their
schema and nothing more is assumed of them.

The four names below are what an author of tools needs (docs/TOOLS.md).
"""

from gateway.adapters.tools.declaration import tool
from gateway.core.errors import ToolFailed
from gateway.core.model import ToolOutput
from gateway.runtime.ports import ToolContext

__all__ = ["ToolContext", "ToolFailed", "ToolOutput", "tool"]
