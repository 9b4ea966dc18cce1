"""One browser for all tests; a gateway and an enrolled person for each module."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.e2e.browsers import browsers_for
from tests.e2e.chromium import chromium
from tests.e2e.firefox import firefox
from tests.e2e.person import Person
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

_BROWSERS = {"chromium": chromium, "firefox": firefox}
_BUILT = Path(__file__).parents[2] / "web" / "dist"


def built_web() -> Path:
    """The built apps: `$COUNTERSIGN_WEB`, else `web/dist`. A gateway without them would answer every page with 503."""
    folder = Path(os.environ.get("COUNTERSIGN_WEB", _BUILT))
    for app in ("shell", "console", "verifier"):
        if not (folder / app / "index.html").is_file():
            pytest.fail(f"the web apps are not built: run `make web/dist/ready` ({app} is missing)", pytrace=False)
    return folder


def make_gateway(home: Path, **settings: str) -> GatewayProcess:
    """A gateway that serves the built apps and the tools whose effects a test can see. It is not started."""
    settings = {"COUNTERSIGN_TOOLS_MODULES": '["tests.harness.effect_tools"]', "EFFECTS": str(home / "effects"), **settings}
    return GatewayProcess(home, settings={"COUNTERSIGN_WEB": str(built_web()), **settings})


@asynccontextmanager
async def serving(home: Path, **settings: str) -> AsyncGenerator[GatewayProcess]:
    """The same, started; in the end it has to stop cleanly."""
    process = make_gateway(home, **settings)
    await process.start()
    yield process
    assert await process.stop() == 0, process.output


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs a real browser."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.live)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What needs a browser runs in each that it can: all of Chromium's first, so that there is one browser at a time."""
    if "browser" in metafunc.fixturenames:
        names = browsers_for(metafunc.definition.path.stem, metafunc.definition.originalname)
        metafunc.parametrize("browser", names, indirect=True, scope="session")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    async with _BROWSERS[request.param]() as started:
        yield started


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def model(browser: Browser) -> AsyncIterator[ScriptedServer]:
    """A model that says what a test tells it to. One for each browser, and with it the gateway that speaks to it: what the tests
    of a module find is the same in either."""
    del browser
    async with ScriptedServer().listening() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    async with serving(
        tmp_path_factory.mktemp("gateway"),
        COUNTERSIGN_MODEL_URL=model.url,
        COUNTERSIGN_MODEL_TIER="native",
        COUNTERSIGN_MODEL_VISION="true",
    ) as process:
        yield process
    assert "Traceback" not in process.output, process.output


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def person(browser: Browser, gateway: GatewayProcess) -> AsyncIterator[Person]:
    """An operator who is enrolled, with the console open and the shell signed in."""
    made = await Person.with_new_browser(browser, gateway)
    await made.enrol()
    shell = await made.sign_in_to_shell()
    await shell.close()
    yield made
    await made.context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def shell(person: Person) -> AsyncIterator[Page]:
    """A window of the shell with an empty conversation."""
    page = await person.open_shell()
    yield page
    await page.close()
