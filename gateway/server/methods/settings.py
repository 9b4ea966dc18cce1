"""The console's methods about settings that change while the gateway runs (docs/PROTOCOL.md section 6), for operators."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from gateway.core.errors import InvalidParams
from gateway.protocol import setting_methods as wire
from gateway.protocol.wire import Nothing
from gateway.runtime.operator_settings import OperatorSettings, SettingState
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow


class SettingMethods:
    """The handlers."""

    def __init__(self, settings: OperatorSettings) -> None:
        self._settings = settings

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        reads, operator = Concurrency.AT_ONCE, MethodPermission.OPERATOR
        changes = ("setting:changed", "setting-change:refused")
        return {
            "settings/list": MethodRow(self.list, reads, operator),
            "settings/ask": MethodRow(self.ask, reads, operator),
            "settings/change": MethodRow(self.change, Concurrency.IN_ORDER, operator, changes),
        }

    async def list(self, _caller: ConsoleCaller, _params: Nothing) -> wire.SettingList:
        """All of them."""
        return self._view()

    async def ask(self, caller: ConsoleCaller, params: wire.SettingWish) -> wire.SettingQuestionView:
        """What a passkey has to sign."""
        if (params.value is None) != (params.reset is True):
            raise InvalidParams("give either `value` or `reset`")
        question = await self._settings.ask(caller.session, params.name, params.value, params.base)
        return wire.SettingQuestionView(
            statement=orjson.loads(question.statement),
            statement_digest=question.digest,
            passkey_options=dict(question.options),
        )

    async def change(self, caller: ConsoleCaller, params: wire.SettingAnswer) -> wire.SettingList:
        """Change what this console was asked about last."""
        await self._settings.sign(caller.session, params.assertion)
        return self._view()

    def _view(self) -> wire.SettingList:
        return wire.SettingList(version=self._settings.version, settings=tuple(map(_view_setting, self._settings.list())))


def _view_setting(state: SettingState) -> wire.WireSetting:
    setting = state.setting
    bounds = {"least": setting.range.least, "most": setting.range.most} if setting.range.most else {}
    return wire.WireSetting(
        name=setting.name,
        value=state.value,
        configured=setting.configured,
        place=state.place.value,
        fixed=setting.is_fixed,
        words=setting.range.words,
        **bounds,
    )
