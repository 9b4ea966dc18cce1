"""What the filters of `audit show` and `audit export` name. Of what no record has nothing would be found, which looks like an
answer: so it is refused, with what is nearest.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from gateway.adapters.storage import log
from gateway.adapters.storage.inspection import StoredLog
from gateway.cli.quoting import quote
from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.runtime.ports import AuditQuery

_LISTED: Final = 5
"""Names that are told where none is near."""


def find_person(names: Mapping[str, str], asked: str) -> str:
    """The id of whoever has that id, or is the only one of that name. `names` are everybody's, by their ids."""
    if asked in names:
        return asked
    called = [id_ for id_, name in names.items() if name.casefold() == asked.casefold()]
    if len(called) > 1:
        raise Misconfigured(f"several people are called {quote(asked)}; name one by id: {', '.join(map(escape, called))}")
    return called[0] if called else asked


def require_person(names: Mapping[str, str], asked: str, others: Collection[str] = ()) -> None:
    """Raises Misconfigured, with the nearest names, for somebody who is not among `names` and has no call, as `others` have."""
    if asked not in names and asked not in others:
        require_recorded("person", asked, set(names.values()))


def require_recorded(what: str, asked: str, known: Collection[str]) -> None:
    """Raises Misconfigured, with the nearest of those that are known, for one that is not among them."""
    if asked not in known:
        raise Misconfigured(f"no {what} {quote(asked)} was ever on record{_nearest(asked, known)}")


def require_any_recorded(stored: StoredLog, query: AuditQuery) -> None:
    """Raises Misconfigured where it is one part of a question, by itself, to which nothing in the log is the answer."""
    if query.principal_id is not None and not _has(stored, AuditQuery(principal_id=query.principal_id, limit=1)):
        require_person(stored.names(), query.principal_id)
    if query.tool is not None and not _has(stored, AuditQuery(tool=query.tool, limit=1)):
        require_recorded("tool", query.tool, published_tools(stored))
    wanted = query.conversation_id
    if wanted is not None and not _has(stored, AuditQuery(conversation_id=wanted, limit=1)):
        raise Misconfigured(f"no conversation {quote(wanted)} is on record")


def published_tools(stored: StoredLog) -> Collection[str]:
    """The names of all tools that were ever offered."""
    return {str(body.get("name")) for body in log.read_descriptors(stored.connection).values()}


def _has(stored: StoredLog, query: AuditQuery) -> bool:
    return bool(stored.rows(query))


def _nearest(asked: str, known: Collection[str]) -> str:
    if not known:
        return ""
    by_folded = {each.casefold(): each for each in sorted(known)}
    folded = asked.casefold()
    near = difflib.get_close_matches(folded, by_folded, n=3)
    near += [each for each in by_folded if folded in each and each not in near][: 3 - len(near)]
    if near:
        return f"; nearest: {_list([by_folded[each] for each in near])}"
    listed = sorted(known)
    more = f" and {len(listed) - _LISTED:,} more" if len(listed) > _LISTED else ""
    return f"; there are {_list(listed[:_LISTED])}{more}"


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"`{escape(each)}`" for each in names)
