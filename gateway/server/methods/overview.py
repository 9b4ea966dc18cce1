"""The console's methods that say in words what the policy allows (docs/PROTOCOL.md section 6): to a person who is no operator,
what it allows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gateway.core.approval import RuleReason
from gateway.core.model import Principal
from gateway.core.moment import MomentFact
from gateway.core.vocabulary import ACTING, Profile
from gateway.protocol import overview_methods as wire
from gateway.protocol.shapes import WireRuleReason
from gateway.protocol.wire import Nothing
from gateway.runtime.gateway import Gateway
from gateway.runtime.policy_overview import ChangedVerdict, Circumstance, OverviewCell, OverviewRow, survey
from gateway.server.methods.caller import ConsoleCaller
from gateway.server.methods.table import Concurrency, MethodPermission, MethodRow
from gateway.server.methods.views import LABEL_NAMES


class OverviewMethods:
    """The handlers."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def rows(self) -> Mapping[str, MethodRow[ConsoleCaller]]:
        """The rows of the console's table."""
        return {"policy/overview": MethodRow(self.survey, Concurrency.IN_ORDER, MethodPermission.ANY_SESSION, reads_much=True)}

    async def survey(self, caller: ConsoleCaller, _params: Nothing) -> wire.PolicyOverview:
        """Everybody's row for operators, one's own for anybody else."""
        everybody = caller.principal.profile is Profile.OPERATOR
        people = [Principal("", "", profile) for profile in ACTING] if everybody else [caller.principal]
        ports = self._gateway.ports
        return wire.PolicyOverview(
            version=ports.policy.version,
            scope="everybody" if everybody else "own",
            rows=tuple(map(_view_row, survey(ports.policy, people, ports.toolbox.specs()))),
            # Where arguments came from is said of each kind, as what would change it.
            assumes_moment=bool(ports.policy.reads - {MomentFact.ARGUMENTS_FROM_UNTRUSTED}),
        )


def _view_row(row: OverviewRow) -> wire.PolicyRow:
    return wire.PolicyRow(profile=row.profile, cells=tuple(map(_view_cell, row.cells)))


def _view_cell(cell: OverviewCell) -> wire.PolicyCell:
    return wire.PolicyCell(
        category=cell.kind.category,
        host=cell.kind.host,
        mode=cell.verdict.mode,
        because=_view_reasons(cell.verdict.because),
        changes=tuple(map(_view_change, cell.changes)),
        exceptions=tuple(
            wire.ToolException(tool=each.tool, mode=each.verdict.mode, because=_view_reasons(each.verdict.because))
            for each in cell.exceptions
        ),
        exception_count=cell.exception_count,
    )


def _view_change(change: ChangedVerdict) -> wire.CircumstanceChange:
    what, value = change.circumstance, change.value
    return wire.CircumstanceChange(
        taint=value if what is Circumstance.TAINT else None,
        label=LABEL_NAMES[value] if what is Circumstance.LABEL else None,
        arguments_from_untrusted=bool(value) if what is Circumstance.ARGUMENTS else None,
        mode=change.verdict.mode,
        because=_view_reasons(change.verdict.because),
    )


def _view_reasons(because: Iterable[RuleReason]) -> tuple[WireRuleReason, ...]:
    return tuple(WireRuleReason(id=rule.id, why=rule.why) for rule in because)
