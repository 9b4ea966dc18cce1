"""All trials in order, a line for each."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import click

from gateway.cli.smoke_test.browser import SmokeBrowser
from gateway.cli.smoke_test.decisions import WISHES, visit
from gateway.cli.smoke_test.differences import Difference
from gateway.cli.smoke_test.gateway_child import check_record, running_gateway
from gateway.core.errors import GatewayError


async def try_all(folder: Path, policy: Path | None) -> int:
    """How many things were not as they should be."""
    differences = 0

    def report(name: str, trouble: Exception | None, said: str) -> None:
        nonlocal differences
        differences += trouble is not None
        mark = click.style("ok  ", fg="green") if trouble is None else click.style("DIFF", fg="red")
        click.echo(f"{mark}  {name:<10} {said if trouble is None else str(trouble) or 'no answer in time'}")

    async with running_gateway(folder, policy) as gateway, aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        try:
            async with visit(gateway, SmokeBrowser(session), folder / "workspace") as visitor:
                for wish in WISHES:
                    try:
                        report(wish.mode.value, None, await visitor.try_out(wish))
                    except (Difference, TimeoutError) as trouble:
                        report(wish.mode.value, trouble, "")
        except (Difference, TimeoutError, aiohttp.ClientError) as trouble:
            report("sign-in", trouble, "")
    try:
        report("record", None, await check_record(folder))
    except (GatewayError, TimeoutError) as trouble:
        report("record", trouble, "")
    return differences
