"""Pictures of every page of the shell and the console, held against those in `tests/pictures/kept`.

One story is told first, and then only looked at: a picture does not depend on which other tests ran. `make pictures` keeps what
changed.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, expect

from gateway.adapters.inference.scripted import Reply
from tests.audit_vectors import FOLDER
from tests.e2e.album import KEPT, Album, forgotten_pictures, make_steady
from tests.e2e.conftest import built_web, serving
from tests.e2e.person import DESKTOP, Person, answers, approval_dock, call_card, call_tool, decide, expect_idle, send
from tests.e2e.scripted_server import ScriptedServer
from tests.harness.process import GatewayProcess

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOTES_SERVER = Path(__file__).with_name("notes_server.py")

PARTS = ("390", "390-dark", "1280", "1280-dark", "1280-forced")
"""The looks of what is only a part of a page."""

ANSWER = """There are **three** files in `notes/`:

1. `ideas.md`, which is about [a garden](https://example.org/garden)
2. `old.txt`
3. `todo.txt`

| file | size |
|---|---:|
| ideas.md | 122 |
| todo.txt | 72 |

> Nothing else was found.

```python
def total(sizes: list[int]) -> int:
    return sum(sizes)  # of every file
```

The mean is $\\bar{x} = \\frac{1}{n}\\sum_{i=1}^{n} x_i$, and the wider sum is

$$S = a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + b_1 + b_2 + b_3 + b_4 + b_5 + b_6 + b_7 + b_8 + b_9 + c_1$$
"""


@dataclass(frozen=True)
class Story:
    """What has happened at the gateway before anybody looks."""

    person: Person
    told: str
    """The conversation with answers and cards, by address."""
    branched: str
    asked: str
    """The conversation whose call waits for consent."""
    context: BrowserContext
    """A browser in which the same person is signed in, and everything that wanders is replaced."""

    async def console(self, path: str, heading: str | None = None) -> Page:
        """A page of the console."""
        page = await self.context.new_page()
        await page.goto(f"{self.person.gateway.console_origin}{path}")
        await expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()
        await expect(page.get_by_role("progressbar")).to_be_hidden()
        return page

    async def shell(self, address: str = "/") -> Page:
        """A window of the shell."""
        page = await self.context.new_page()
        await page.goto(f"{self.person.gateway.agent_origin}{address}")
        await expect(page.get_by_label("Message")).to_be_visible()
        return page


async def _tell(person: Person, model: ScriptedServer) -> str:
    shell = await person.open_shell()
    model.will_answer(Reply(calls=(("list_directory", {"path": "notes"}),)), Reply(ANSWER))
    await send(shell, "what is in notes/?")
    await expect(answers(shell)).to_contain_text("Nothing else was found.")
    await expect_idle(shell)
    await call_tool(shell, "stumble")
    await expect(call_card(shell, "stumble", "Failed")).to_be_visible()
    await call_tool(shell, "read_file", path="../../etc/passwd")
    await expect(call_card(shell, "read_file", "Not accepted")).to_be_visible()
    person.write_file("notes/plan.md", "One step.\n")
    await call_tool(shell, "write_file", path="notes/plan.md", content="# Plan\n\nWater the beans.\n")
    async with person.open_approval(shell) as approval:
        await decide(approval, "Deny")
        await expect(approval.get_by_text("Denied, not run", exact=True)).to_be_visible()
    await expect_idle(shell)
    await call_tool(shell, "note", what="beans")
    async with person.open_approval(shell) as approval:
        await approval.get_by_role("radio", name="For this session").check()
        await approval.get_by_role("button", name="Approve for this session").click()
        await expect(approval.get_by_text("Approved", exact=True)).to_be_visible()
    await expect_idle(shell)
    return await _leave(shell)


async def _branch(person: Person, model: ScriptedServer) -> str:
    shell = await person.open_shell()
    model.will_answer(Reply("Hello."), Reply("It is blue."), Reply("It is green."))
    await send(shell, "good morning")
    await expect(answers(shell)).to_have_text("Hello.")
    await expect_idle(shell)
    await send(shell, "which colour is the sky?")
    await expect(answers(shell).nth(1)).to_have_text("It is blue.")
    await expect_idle(shell)
    await shell.get_by_role("button", name="Try again in a branch").last.click()
    await expect(answers(shell).nth(1)).to_have_text("It is green.")
    await expect_idle(shell)
    return await _leave(shell)


async def _ask(person: Person) -> str:
    shell = await person.open_shell()
    await call_tool(shell, "write_file", path="notes/plan.md", content="# Plan\n\n" + "One step after the other.\n" * 6)
    await expect(approval_dock(shell)).to_be_visible()
    other = await person.open_shell()
    await call_tool(other, "delete_file", path="notes/todo.txt")
    await expect(approval_dock(other)).to_be_visible()
    # They go on waiting for as long as their pages are open.
    return await _address(shell)


async def _address(shell: Page) -> str:
    await shell.wait_for_url("**/c/*")
    return urlsplit(shell.url).path


async def _leave(shell: Page) -> str:
    address = await _address(shell)
    await shell.close()
    return address


async def _add_source(person: Person, folder: Path) -> None:
    (folder / "description").write_text("Read a note.", encoding="utf-8")
    page = await person.context.new_page()
    await page.goto(f"{person.gateway.console_origin}/sources")
    await page.get_by_role("button", name="Add a source").click()
    await page.get_by_label("Name", exact=True).fill("notes")
    await page.get_by_label("Program").fill(sys.executable)
    await page.get_by_label("Arguments").fill(f"-S\n{NOTES_SERVER}\n{folder}")
    await page.get_by_label("Folders it may read").fill(str(folder))
    await page.get_by_role("button", name="Add it").click()
    await expect(page.get_by_role("grid", name="Tools of notes")).to_be_visible()
    await page.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    """A gateway whose questions wait until everybody has looked."""
    async with serving(
        tmp_path_factory.mktemp("gateway"),
        COUNTERSIGN_MODEL_URL=model.url,
        COUNTERSIGN_MODEL_TIER="native",
        COUNTERSIGN_APPROVAL_SECONDS="3000",
        COUNTERSIGN_SNAPSHOT_SECONDS="3600",
    ) as process:
        yield process


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def story(person: Person, model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Story]:
    folder = tmp_path_factory.mktemp("notes").resolve() / "shared"
    folder.mkdir()
    await _add_source(person, folder)
    told = await _tell(person, model)
    branched = await _branch(person, model)
    asked = await _ask(person)
    gateway = person.gateway
    places = {
        str(folder): "/home/ada/notes",
        str(gateway.home): "/home/ada/countersign",
        str(NOTES_SERVER): "/home/ada/notes.py",
        sys.executable: "/usr/bin/python3",
    }
    async with person.on_another_device(locale="en-US", timezone_id="UTC") as context:
        await make_steady(context, places)
        yield Story(person, told, branched, asked, context)


@pytest.fixture(scope="module")
def console_album() -> Album:
    return Album("console")


@pytest.fixture(scope="module")
def shell_album() -> Album:
    return Album("shell")


STEADY = {"/audit/records": "/audit/records?event=call:closed"}
"""A message and the end of its model's answer go on record in either order; calls that follow each other do not."""


async def test_every_page_of_the_console(story: Story, console_album: Album) -> None:
    paths: list[str] = json.loads((built_web() / "console" / "pages.json").read_text(encoding="utf-8"))
    for path in paths:
        # Who is signed in is led home from the page to sign in; strangers are shown it below.
        if ":" not in path and path != "/signin":
            page = await story.console(STEADY.get(path, path))
            await console_album.look(page, "page" + path.replace("/", "-"))
            await page.close()
    console_album.check()


async def test_the_consoles_pages_of_one_thing(story: Story, console_album: Album) -> None:
    ids = [story.told.rpartition("/")[2], story.branched.rpartition("/")[2]]
    for name, path in {
        "source": "/sources/notes",
        "compared": f"/audit/compare?first={ids[0]}&second={ids[1]}",
        "records-none": "/audit/records?tool=nothing",
        "approval-gone": "/approvals/apr_gone",
        "enrol-link": "/enrol#t=token",
    }.items():
        page = await story.console(path)
        await console_album.look(page, name)
        await page.close()
    calls = await story.console("/audit?range=7d")
    await calls.locator("a[data-row]").first.click()
    await expect(calls.get_by_role("heading", name="What happened")).to_be_visible()
    await console_album.look(calls, "call")
    await calls.close()
    console_album.check()


async def test_the_consoles_questions(story: Story, console_album: Album) -> None:
    for name, subject in (("consent", "Write notes/plan.md"), ("step-up", "Delete notes/todo.txt")):
        inbox = await story.console("/approvals")
        await inbox.get_by_role("listitem").filter(has_text=subject).get_by_role("link", name="Review").click()
        await expect(inbox.get_by_role("heading", level=1, name=subject)).to_be_visible()
        await expect(inbox.get_by_role("button", name="Approve").first).not_to_have_attribute("aria-disabled", "true")
        await console_album.look(inbox, name)
        await inbox.close()
    console_album.check()


async def test_the_shell(story: Story, shell_album: Album) -> None:
    shell = await story.shell()
    await shell_album.look(shell, "empty")
    await shell.close()
    shell = await story.shell(story.told)
    await expect(call_card(shell, "note", "Done")).to_be_visible()
    await shell_album.look(shell, "cards")
    await shell.close()
    shell = await story.shell(story.asked)
    await expect(approval_dock(shell)).to_be_visible()
    await shell_album.look(shell, "waiting")
    await shell.close()
    shell = await story.shell(story.branched)
    await expect(answers(shell).nth(1)).to_have_text("It is green.")
    await shell.get_by_role("button", name="Compare").click()
    await expect(shell.get_by_role("dialog", name="Compare branches")).to_be_visible()
    await shell_album.look(shell, "branches")
    await shell.close()
    shell_album.check()


async def test_the_shells_dialogs(story: Story, shell_album: Album) -> None:
    shell = await story.shell(story.told)
    await expect(call_card(shell, "note", "Done")).to_be_visible()
    for item in ("Settings", "Grants"):
        await shell.set_viewport_size(DESKTOP)
        await shell.get_by_role("button", name="account and grants").click()
        await shell.get_by_role("menuitem", name=item).click()
        dialog = shell.get_by_role("dialog", name=item)
        await expect(dialog).to_be_visible()
        await shell_album.look(shell, item.lower(), PARTS)
        await dialog.get_by_role("button", name="Close").click()
    await shell.set_viewport_size(DESKTOP)
    await shell.get_by_role("searchbox", name="Search conversations").fill("nothing like it")
    await shell_album.look(shell, "search-none", ("1280",))
    await shell.get_by_role("searchbox", name="Search conversations").fill("")
    await shell.get_by_label("File: Import conversations").set_input_files(
        {"name": "conversations.json", "mimeType": "application/json", "buffer": b"[{"}
    )
    await expect(shell.get_by_role("dialog", name="Import conversations")).to_be_visible()
    await shell_album.look(shell, "import-refused", PARTS)
    await shell.close()
    shell_album.check()


async def test_the_pages_for_people_who_are_not_signed_in(story: Story, browser: Browser) -> None:
    album = Album("stranger")
    gateway = story.person.gateway
    context = await browser.new_context(locale="en-US", timezone_id="UTC")
    await make_steady(context, {})
    page = await context.new_page()
    for name, address, heading in (
        ("sign-in", f"{gateway.console_origin}/signin", "Sign in"),
        ("enrol", f"{gateway.console_origin}/enrol#t=token", "Register your passkey"),
        ("authorize", f"{gateway.console_origin}/authorize?state=unknown", None),
        ("shell", gateway.agent_origin, "Sign in to Countersign"),
        ("callback", f"{gateway.agent_origin}/callback?code=old&state=old", "You are not signed in"),
    ):
        await page.goto(address)
        await expect(page.get_by_role("heading", name=heading).first).to_be_visible()
        await album.look(page, name)
    await context.close()
    album.check()


HIDDEN = "main button, main a { visibility: hidden; }"
ONLY_LIGHT = "html { background: white !important; } body * { background-color: white !important; }"
OTHER_FACE = "* { font-family: serif !important; }"
LOWER = "main > * { position: relative; top: 6px; }"


@pytest.mark.parametrize(
    ("fault", "look"), [(HIDDEN, "1280"), (ONLY_LIGHT, "390-dark"), (OTHER_FACE, "768"), (LOWER, "390"), ("", "1280")]
)
async def test_a_fault_of_the_styles_is_seen(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, look: str
) -> None:
    monkeypatch.setenv("COUNTERSIGN_PICTURES", str(tmp_path))
    album = Album("console", renews=False)
    page = await story.console("/grants")
    await page.evaluate(
        "(css) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(css); document.adoptedStyleSheets.push(sheet); }", fault
    )
    await album.look(page, "page-grants", (look,))
    await page.close()
    if not fault:
        album.check()
        return
    with pytest.raises(AssertionError, match=r"of it differs, from .*make pictures"):
        album.check()
    assert (tmp_path / f"console/page-grants-{look}/compared.png").is_file()


WITH_OUR_FACE = """async (encoded) => {
  const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
  document.fonts.add(await new FontFace("Pictured", bytes.buffer, { weight: "100 900" }).load());
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*:not(code, pre) { font-family: Pictured !important; }");
  document.adoptedStyleSheets.push(sheet);
}"""
"""That page is one file and has no face of its own: it is drawn with ours, not with what this machine happens to have."""

FACE = Path(__file__).parents[2] / "web" / "src" / "assets" / "fonts" / "inter-latin.woff2"


async def test_the_page_that_verifies(story: Story) -> None:
    album = Album("verifier")
    page = await story.context.new_page()
    await page.goto((built_web() / "verifier" / "index.html").as_uri())
    await page.evaluate(WITH_OUR_FACE, b64encode(FACE.read_bytes()).decode())
    await album.look(page, "empty")
    await page.get_by_label("Choose a receipt").set_input_files(FOLDER / "signed.json")
    await expect(page.get_by_role("heading", name="The receipt holds")).to_be_focused()
    # How far the focus scrolls depends on what had come by then.
    await page.evaluate("() => scrollTo(0, 0)")
    await album.look(page, "holds")
    await page.close()
    album.check()


async def test_no_picture_is_kept_that_nothing_is_compared_with(request: pytest.FixtureRequest) -> None:
    """The last of this file: it speaks of the others, where all of them ran."""
    here = {name for name in globals() if name.startswith("test_")}
    ran = {item.originalname for item in request.session.items if isinstance(item, pytest.Function) and item.path == request.path}
    if ran != here:
        return
    forgotten = forgotten_pictures()
    if Album("all").renews:
        for name in forgotten:
            (KEPT / name).unlink()
        return
    assert forgotten == [], "no test looks at these any more; `make pictures` removes them"
