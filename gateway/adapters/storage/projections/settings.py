"""Settings that were changed while the gateway ran, as the tables keep them: which leaf has the newest choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import orjson
from sqlalchemy import select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, insertion
from gateway.core.ledger.settings import SettingChanged, SettingChangeRefused, SettingEntry

ADD_CHANGE = insertion(t.setting_changes, leaf="leaf")

# The leaf itself is read: there is no second copy of the choices that could say something else.
_newest_change = select(t.setting_changes.c.leaf).order_by(t.setting_changes.c.leaf.desc()).limit(1).scalar_subquery()
_newest_choices = select(t.leaves.c.position, t.leaves.c.body).where(t.leaves.c.position == _newest_change)


def change_settings(entry: SettingEntry) -> Sequence[Change]:
    """What an entry about a setting changes."""
    match entry:
        case SettingChanged():
            return (Change(ADD_CHANGE, {"at": entry.at}),)
        case SettingChangeRefused():
            return ()
        case _:
            assert_never(entry)


@stored("change of a setting", "position")
def _read_choices(row: ARow) -> Mapping[str, int | str]:
    body: dict[str, Any] = orjson.loads(row.body)
    return dict(body["chosen"])


class SettingReader(Reader):
    """What was chosen on the console."""

    async def chosen_settings(self) -> Mapping[str, int | str]:
        return self._find(_newest_choices, _read_choices) or {}
