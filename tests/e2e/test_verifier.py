"""verify.html: opened from the disk, without a network, by somebody who was handed a receipt or an exported log."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from playwright.async_api import Browser, Page, expect

from tests.audit_vectors import FOLDER, take
from tests.e2e.appearance import check_appearance, check_focus, check_in_view
from tests.e2e.conftest import built_web
from tests.e2e.german import check_german
from tests.e2e.person import DESKTOP, PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")

DROP = """(text) => {
  const held = new DataTransfer();
  held.items.add(new File([text], "receipt.json"));
  for (const type of ["dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: held, bubbles: true, cancelable: true }));
  }
}"""


@dataclass
class Reader:
    """The page on one device, with every address that it asked for and every complaint of the browser."""

    name: str
    page: Page
    folder: Path
    asked: list[str] = field(default_factory=list[str])
    complaints: list[str] = field(default_factory=list[str])

    async def give(self, raw: bytes) -> None:
        """Choose a file of these bytes, and wait for the verdict."""
        (self.folder / "given").write_bytes(raw)
        await self.page.get_by_label("Choose a receipt").set_input_files(self.folder / "given")

    async def expect_verdict(self, text: str) -> None:
        await expect(self.page.get_by_role("heading", level=2, name=text, exact=True)).to_be_visible(timeout=60_000)


@pytest_asyncio.fixture(params=["desktop-light", "phone-dark"], loop_scope="session")
async def reader(browser: Browser, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Reader]:
    name: str = request.param
    size, colours = (DESKTOP, "light") if name == "desktop-light" else (PHONE, "dark")
    context = await browser.new_context(viewport=size, color_scheme=colours, offline=True)
    (tmp_path / "verify.html").write_bytes((built_web() / "verifier" / "index.html").read_bytes())
    made = Reader(name, await context.new_page(), tmp_path)
    made.page.on("request", lambda asked: made.asked.append(asked.url))
    made.page.on("console", lambda said: made.complaints.append(said.text))
    made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
    await made.page.goto((tmp_path / "verify.html").as_uri())
    yield made
    assert made.complaints == []
    # Of a page from the disk Firefox tells no request at all.
    assert {address.partition(":")[0] for address in made.asked} <= {"file"}
    await context.close()


@pytest.mark.requirement("002-73", "a second program, one file without a network, checks what was handed over")
async def test_a_receipt_and_a_log_hold_and_changed_ones_name_the_first_bad_place(reader: Reader) -> None:
    page = reader.page
    await check_appearance(page, f"{reader.name}-verifier-empty")
    signed = (FOLDER / "signed.json").read_bytes()
    await reader.give(signed)
    await reader.expect_verdict("The receipt holds")
    verdict = page.get_by_role("heading", name="The receipt holds")
    await expect(verdict).to_be_focused()
    await check_in_view(page, verdict)
    parts = page.get_by_role("list").filter(has_text="Form").get_by_role("listitem")
    assert [(await each.inner_text()).split("\n")[0] for each in await parts.all()] == ["✓ holds"] * 10
    record = page.locator("summary", has_text="call:intended")
    await expect(record).to_contain_text("was about to run, which was put on record first")
    await record.click()
    await expect(page.get_by_text('"arguments"').last).to_be_visible()
    await check_appearance(page, f"{reader.name}-verifier-holds")
    await reader.give(take([["set", ["records", 3, "body", "tool"], "note"]], signed))
    await reader.expect_verdict("The receipt does not hold")
    await expect(page.locator("#fault")).to_have_text("First wrong at records[3]: this record is not under the checkpoint")
    await expect(page.get_by_text("✗ fails")).to_have_count(1)
    await expect(page.get_by_text("– not reached")).to_have_count(5)
    await check_appearance(page, f"{reader.name}-verifier-fails")
    log = (FOLDER / "log.jsonl").read_bytes()
    await reader.give(log)
    await reader.expect_verdict("The log holds")
    listed = page.locator("summary", has_text="#")
    await expect(listed).to_have_count(log.count(b'{"type":"leaf"'))
    await expect(listed.first).to_contain_text("The gateway started")
    await listed.first.click()
    await expect(page.get_by_text('"event": "gateway:started"').first).to_be_visible()
    await reader.give(log[: len(log) // 2])
    await reader.expect_verdict("The log does not hold")
    await expect(page.locator("#fault")).to_contain_text("the file was cut off inside this line")
    # What no gateway wrote: half a character, a megabyte without an end, controls that turn the reading direction.
    for raw, told in (
        (b"\xff\xfe", "this is not UTF-8"),
        (b"[" * 1_000_000, "this is no JSON"),
        (b'{"type":"leaf"' + b"x" * 1_000_000, "cut off inside this line"),
        (take([["set", ["key"], "\u202egnorw"]], signed), "this is no key"),
        (b"", "this is no JSON"),
    ):
        await reader.give(raw)
        await expect(page.locator("#fault")).to_contain_text(told)
        neither = page.get_by_role("heading", name="This is neither a receipt nor an exported log")
        await expect(neither).to_have_count(int(raw[:2] != b'{"'))
        assert "\u202e" not in await page.locator("main").inner_text()


async def test_the_page_is_german_for_whoever_reads_german_and_can_be_had_in_english(browser: Browser, tmp_path: Path) -> None:
    context = await browser.new_context(viewport=PHONE, locale="de-DE", offline=True)
    page = await context.new_page()
    (tmp_path / "verify.html").write_bytes((built_web() / "verifier" / "index.html").read_bytes())
    await page.goto((tmp_path / "verify.html").as_uri())
    await expect(page).to_have_title("Einen Beleg oder ein Protokoll prüfen")
    await page.get_by_text("Was Sie von anderswo haben").click()
    await check_german(page)
    chooser = page.get_by_label("Wählen Sie einen Beleg")
    signed = (FOLDER / "signed.json").read_bytes()
    (tmp_path / "given").write_bytes(signed)
    await chooser.set_input_files(tmp_path / "given")
    await expect(page.get_by_role("heading", level=2, name="Der Beleg stimmt", exact=True)).to_be_visible()
    await check_german(page)
    await check_appearance(page, "verifier-german")
    (tmp_path / "given").write_bytes(take([["set", ["records", 3, "body", "tool"], "note"]], signed))
    await chooser.set_input_files(tmp_path / "given")
    await expect(page.locator("#fault")).to_have_text(
        "Zuerst falsch bei records[3]: dieser Eintrag steht nicht unter dem Prüfpunkt"
    )
    await check_german(page)
    (tmp_path / "given").write_bytes((FOLDER / "log.jsonl").read_bytes())
    await chooser.set_input_files(tmp_path / "given")
    await expect(page.get_by_role("heading", level=2, name="Das Protokoll stimmt", exact=True)).to_be_visible()
    await check_german(page)
    await page.get_by_role("button", name="English").click()
    await expect(page).to_have_title("Check a receipt or a log")
    await page.get_by_role("button", name="Deutsch").click()
    await expect(page).to_have_title("Einen Beleg oder ein Protokoll prüfen")
    await context.close()


async def test_what_was_kept_elsewhere_is_compared_and_a_file_may_be_dropped(reader: Reader) -> None:
    page, whole = reader.page, json.loads((FOLDER / "signed.json").read_text())
    await check_focus(page, 4)
    await page.get_by_text("What you have from elsewhere").click()
    await page.get_by_label("Key, as").fill(whole["key"])
    await page.get_by_label("Checkpoint, as").fill(whole["checkpoint"].strip())
    await page.evaluate(DROP, (FOLDER / "signed.json").read_text())
    await reader.expect_verdict("The receipt holds")
    await expect(page.get_by_text("it is the same log")).to_be_visible()
    await check_appearance(page, f"{reader.name}-verifier-kept")
    earlier = next(line for line in (FOLDER / "log.jsonl").read_text().splitlines() if line.startswith('{"type":"checkpoint"'))
    await page.get_by_label("Checkpoint, as").fill(json.loads(earlier)["note"])
    await page.evaluate(DROP, (FOLDER / "signed.json").read_text())
    await expect(page.locator("#fault")).to_contain_text("stands on another checkpoint than the one that was given")
    await page.get_by_label("Key, as").fill("other+" + whole["key"].partition("+")[2])
    await page.evaluate(DROP, (FOLDER / "signed.json").read_text())
    await expect(page.locator("#fault")).to_contain_text("another key than the one that was given")


async def test_case_190_a_time_stamp_is_checked_with_the_certificates_of_its_authority(reader: Reader) -> None:
    page, whole = reader.page, (FOLDER / "anchored.json").read_bytes()
    await reader.give(whole)
    await reader.expect_verdict("The receipt holds")
    await expect(page.get_by_text("not checked: which authority signed that")).to_be_visible()
    await page.get_by_text("What you have from elsewhere").click()
    authority = page.get_by_label("A time-stamping authority's certificates")
    await authority.set_input_files(FOLDER / "authority.pem")
    await reader.give(whole)
    await reader.expect_verdict("The receipt holds")
    await expect(page.get_by_text("by the authority that you gave")).to_be_visible()
    await check_appearance(page, f"{reader.name}-verifier-authority")
    der = x509.load_pem_x509_certificate((FOLDER / "authority.pem").read_bytes()).public_bytes(Encoding.DER)
    (reader.folder / "authority.der").write_bytes(der)
    await authority.set_input_files(reader.folder / "authority.der")
    await reader.give((FOLDER / "anchored.jsonl").read_bytes())
    await reader.expect_verdict("The log holds")
    await expect(page.get_by_text("by the authority that you gave")).to_be_visible()
    # Left out, of another authority, and what is no certificate at all.
    await reader.give(take([["remove", ["anchors", 2]]], whole))
    await expect(page.locator("#fault")).to_contain_text("no anchor is a time stamp, and an authority was given")
    await authority.set_input_files(FOLDER / "stranger.pem")
    await reader.give(whole)
    await expect(page.locator("#fault")).to_contain_text("its certificate does not go back to one that was given")
    await authority.set_input_files(FOLDER / "signed.json")
    await reader.give(whole)
    await reader.expect_verdict("The check could not be made: the authority's file holds no certificates in PEM or DER")


async def test_the_page_runs_nothing_but_its_own_script(reader: Reader) -> None:
    """Its policy holds for a script that somebody gets into the page, and for what would tell others about the file."""
    page = reader.page
    await page.evaluate(
        """() => {
          window.told = [];
          document.addEventListener("securitypolicyviolation", (event) => told.push(event.effectiveDirective));
          const script = document.createElement("script");
          try { script.textContent = "window.owned = true"; document.body.append(script); } catch { /* Trusted Types */ }
          fetch("https://example.org/").catch(() => {});
          new Image().src = "https://example.org/";
        }"""
    )
    await page.wait_for_function("told.includes('connect-src') && told.includes('img-src')")
    assert await page.evaluate("window.owned === undefined")
    reader.complaints.clear()
    reader.asked = [address for address in reader.asked if address.startswith("file:")]


async def test_the_page_is_one_file_that_names_no_address() -> None:
    page = (built_web() / "verifier" / "index.html").read_text()
    assert " src=" not in page
    assert " href=" not in page
    assert page.count("<script") == 1
