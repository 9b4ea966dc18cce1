"""Liveness, readiness and metrics; and the browsers' reports of content policy violations."""

from __future__ import annotations

import asyncio
import json
import logging

from starlette.responses import Response

from gateway.core.errors import GatewayError
from gateway.runtime.ports import ModelPhase
from gateway.server.parts import RequestContext
from gateway.server.responses import answer, no_content

DATABASE_SECONDS = 2.0
REPORT_LIMIT = 16 * 1024
"""Bytes of one report; Chromium cuts samples to 40 characters, so real ones are below 2 KiB."""

REPORT_LOGGED = 1_000

_log = logging.getLogger(__name__)


async def live(context: RequestContext) -> Response:
    """The process answers."""
    return answer({"status": "ok"})


async def ready(context: RequestContext) -> Response:
    """Whether the gateway can serve a session: 200, or 503 with the reasons."""
    reasons: list[dict[str, str]] = []
    if not context.parts.admission.is_open:
        reasons.append({"part": "gateway", "message": "the gateway is stopping"})
    if not await _database_answers(context):
        reasons.append({"part": "database", "message": "the database does not answer"})
    model = context.parts.inference.backend.state()
    if model.phase is not ModelPhase.READY:
        reasons.append({"part": "model", "state": model.phase.value, "message": model.detail})
    # Configured tools that cannot run: a source that is not connected, programs without a sandbox. Each reason once.
    missing = dict.fromkeys(spec.unavailable for spec in context.parts.toolbox.specs() if spec.unavailable)
    reasons += [{"part": "tools", "message": message} for message in missing]
    return answer({"status": "unready" if reasons else "ok", "reasons": reasons}, 503 if reasons else 200)


async def measure(context: RequestContext) -> Response:
    """Prometheus text."""
    text, content_type = context.parts.metrics.render()
    return Response(text, headers={"content-type": content_type})


async def take_report(context: RequestContext) -> Response:
    """A browser's report of a violation: counted by the route's tag, and logged as data, a few a minute."""
    missing = context.parts.reports.spend()
    if missing is None:
        return no_content()
    if missing:
        _log.warning("%d content policy reports came before the next one that are only counted", missing)
    # Encoded as JSON again, so that nothing in it can start a new line in the log.
    _log.warning("content policy report on the %s origin: %s", context.site.value, json.dumps(context.body)[:REPORT_LOGGED])
    return no_content()


async def _database_answers(context: RequestContext) -> bool:
    try:
        async with asyncio.timeout(DATABASE_SECONDS):
            return await context.parts.records.ready()
    except (TimeoutError, GatewayError):
        return False
