"""Two thousand tools of one API: the list in the shell and the page on the console, on a desk and on a phone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.appearance import check_appearance, check_focus
from tests.e2e.conftest import serving
from tests.e2e.person import PHONE, Person, send
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

MANY = 2_000
DEVICES: dict[str, dict[str, Any]] = {
    "desktop-light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone-dark": {"viewport": PHONE, "color_scheme": "dark", "is_mobile": True, "has_touch": True},
}
DECLARED = """
[sources.shop]
kind = "http"
base_url = "https://shop.example/api"
document_file = {document}
tools = {{ get_order_0003 = "read", get_order_0005 = "write", get_order_0007 = "destructive" }}
"""


def describe_api() -> dict[str, Any]:
    """An OpenAPI document with as many operations as a source may offer."""
    paths = {
        f"/orders/{at:04}": {
            "get": {
                "operationId": f"get_order_{at:04}",
                "summary": f"Show order number {at} with its items, its address and what was paid for it.",
                "responses": {"200": {"description": "The order."}},
            }
        }
        for at in range(MANY)
    }
    return {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": paths}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("many")
    document = home / "shop.json"
    document.write_text(json.dumps(describe_api()), encoding="utf-8")
    (home / "countersign.toml").write_text(DECLARED.format(document=json.dumps(str(document))), encoding="utf-8")
    async with serving(home, COUNTERSIGN_MODEL_URL=model.url, COUNTERSIGN_MODEL_TIER="native") as process:
        yield process
    assert "Traceback" not in process.output, process.output


@pytest.mark.parametrize("device", DEVICES)
async def test_two_thousand_tools_are_searched_and_read_on_in_the_shell_by_keyboard(person: Person, device: str) -> None:
    async with person.on_another_device(**DEVICES[device]) as context:
        shell = await context.new_page()
        await shell.goto(person.gateway.agent_origin)
        await send(shell, "/tools")
        tools = shell.get_by_role("region", name="Tools of this conversation")
        search = tools.get_by_role("searchbox", name="Search the tools")
        await expect(search).to_be_focused()
        await expect(tools.get_by_role("status")).to_contain_text("from 3 sources")
        await check_appearance(shell, f"{device}-shell-many-tools")
        shop = group(tools, "shop")
        await expect(shop).to_contain_text("1,997 tools: nobody has decided about it yet")
        await search.press_sequentially("order 0005")
        await expect(tools.get_by_role("listitem")).to_have_count(1)
        await expect(tools.get_by_role("listitem")).to_contain_text("Asks first")
        await check_appearance(shell, f"{device}-shell-many-tools-found")
        await search.fill("shop")
        await expect(shop.get_by_role("listitem")).to_have_count(50)
        await shop.get_by_role("button", name="Show 50 more").press("Enter")
        await expect(shop.get_by_role("listitem")).to_have_count(100)
        await expect(shop.get_by_role("listitem").nth(50)).to_be_focused()
        await check_appearance(shell, f"{device}-shell-many-tools-more")
        await check_focus(shell, 3)


def group(tools: Locator, source: str) -> Locator:
    return tools.locator("details").filter(has=tools.page.get_by_role("heading", name=source, exact=True))


@pytest.mark.parametrize("device", DEVICES)
async def test_a_source_of_two_thousand_tools_is_walked_through_on_the_console_by_keyboard(person: Person, device: str) -> None:
    async with person.on_another_device(**DEVICES[device]) as context:
        page = await context.new_page()
        await page.goto(f"{person.gateway.console_origin}/sources/shop")
        rows = page.get_by_role("grid", name="Tools of shop").get_by_role("row")
        await expect(rows.first).to_be_visible()
        await expect(page.get_by_text("of 2,000 tools")).to_be_visible()
        await check_appearance(page, f"{device}-console-many-tools")
        await page.get_by_label("Search names and descriptions").fill("number 1234 ")
        await expect(rows).to_have_count(1)
        await rows.first.focus()
        await rows.first.scroll_into_view_if_needed()
        await check_appearance(page, f"{device}-console-many-tools-found")


async def test_what_one_page_decides_another_one_shows_without_asking(browser: Browser, person: Person) -> None:
    _ = browser
    first, second = await person.context.new_page(), await person.context.new_page()
    for page in (first, second):
        await page.goto(f"{person.gateway.console_origin}/sources/shop")
    await (await row_of(first, "get_order_0010")).press("r")
    await expect(await row_of(second, "get_order_0010")).to_contain_text("in use")
    await first.close()
    await second.close()
    await person.check_no_violations()


async def row_of(page: Page, tool: str) -> Locator:
    row = page.get_by_role("row").filter(has=page.get_by_text(f"shop__{tool}", exact=True))
    await row.focus()
    return row
