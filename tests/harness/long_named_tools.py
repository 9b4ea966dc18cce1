"""Tools whose names are as long as a name may be, for pages that have little room.

`COUNTERSIGN_TOOLS_MODULES` names this module to the gateway.
"""

from __future__ import annotations

from typing import Annotated

from gateway.adapters.tools import tool


@tool(category="read", trust="trusted", summary="Search the archive of quarterly reports for {what}")
def search_the_archive_of_quarterly_financial_reports_by_department(what: Annotated[str, "anything"]) -> str:
    """Find nothing; no approval is needed."""
    return f"nothing of {what}"


@tool(category="destructive", summary="Remove {path} from the archive", effects=("{path} is gone for good",))
def remove_obsolete_quarterly_financial_reports_from_archive(path: Annotated[str, "a path"]) -> str:
    """Remove nothing; needs a step-up."""
    return f"did not remove {path}"
