"""How the process is, for people and machines; and what browsers report of the content policy."""

from __future__ import annotations

import asyncio
import json
import logging

from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from gateway.core.errors import GatewayError
from gateway.runtime.ports import ModelPhase
from gateway.server.parts import Visit
from gateway.server.responses import answer, no_content

DATABASE_SECONDS = 2.0
REPORT_LIMIT = 16 * 1024
"""Bytes of one report; Chromium cuts samples to 40 characters, so real ones are below 2 KiB."""

REPORT_LOGGED = 1_000

_log = logging.getLogger(__name__)


async def live(visit: Visit) -> Response:
    """The process answers."""
    return answer({"status": "ok"})


async def ready(visit: Visit) -> Response:
    """Whether a session could do its work: 200, or 503 with what is missing."""
    reasons: list[dict[str, str]] = []
    if not await _database_answers(visit):
        reasons.append({"part": "database", "message": "the database does not answer"})
    model = visit.parts.inference.backend.state()
    if model.phase is not ModelPhase.READY:
        reasons.append({"part": "model", "state": model.phase.value, "message": model.detail})
    # Tools that were set up and cannot run: a source that is away, programs without a cage to run them in. Each reason once.
    missing = dict.fromkeys(spec.unavailable for spec in visit.parts.toolbox.specs() if spec.unavailable)
    reasons += [{"part": "tools", "message": message} for message in missing]
    return answer({"status": "unready" if reasons else "ok", "reasons": reasons}, 503 if reasons else 200)


async def measure(visit: Visit) -> Response:
    """Prometheus text."""
    return Response(generate_latest(visit.parts.metrics), headers={"content-type": CONTENT_TYPE_LATEST})


async def take_report(visit: Visit) -> Response:
    """A browser reports that the policy stopped something: counted by the route's tag, and logged as data."""
    # JSON again, so that nothing in it can start a line of its own in the log.
    _log.warning("content policy report on the %s origin: %s", visit.site.value, json.dumps(visit.body)[:REPORT_LOGGED])
    return no_content()


async def _database_answers(visit: Visit) -> bool:
    try:
        async with asyncio.timeout(DATABASE_SECONDS):
            return await visit.parts.records.ready()
    except (TimeoutError, GatewayError):
        return False
