"""What can be measured about how a page looks: accessible, nothing off screen, what decides in sight, the keyboard visible."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page

_AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"

_RUN_AXE = """async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ["violations"], preload: false });
  // What is half behind a bar that sticks to an edge is scrolled free by whoever wants to press it.
  const isFault = (node) => !node.failureSummary.includes("partially obscured");
  const describe = (id, node) => `${id}: ${node.html}: ${node.failureSummary}`;
  return violations.flatMap(({ id, nodes }) => nodes.filter(isFault).map((node) => describe(id, node)));
}"""

# A colour half-way through its change belongs to no state of the page. What turns for ever has no end to go to.
_END_CHANGES = """() => document.getAnimations()
  .filter((animation) => Number.isFinite(animation.effect.getComputedTiming().endTime))
  .forEach((animation) => animation.finish())"""

_OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  // What is meant for screen readers only is one pixel large, and may lie anywhere.
  const seen = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 1;
  const scrolls = (element) => element.closest("pre, table") !== null;
  const sticksOut = (element) => {
    const { left, right } = element.getBoundingClientRect();
    return left < -1 || right > width + 1;
  };
  const elements = [...document.body.querySelectorAll("*")];
  const beyond = elements.filter((element) => seen(element) && !scrolls(element) && sticksOut(element));
  const page = document.documentElement.scrollWidth > width ? [document.documentElement] : [];
  return [...page, ...beyond].map((element) => element.outerHTML.slice(0, 200));
}"""

# A page or a part of it that has to be pushed sideways to be read. What has lines of its own (code, tables, a field) may be.
_SIDEWAYS = """() => [...document.body.querySelectorAll("*")]
  .filter((element) => element.checkVisibility() && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1)
  .filter((element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
  .filter((element) => !element.matches("pre, table, textarea, input, .cm-scroller"))
  .filter((element) => element.querySelector("table, pre") === null)
  .map((element) => element.outerHTML.slice(0, 200))"""

_CLIPPED = """() => [...document.body.querySelectorAll("button, a, h1, h2, label, summary, [role=status]")]
  .filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 1)
  .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline")
  .filter((element) => getComputedStyle(element).textOverflow !== "ellipsis")
  .map((element) => element.outerHTML.slice(0, 200))"""

_BROKEN_WORDS = """() => {
  const broken = [];
  for (const element of document.body.querySelectorAll("button, summary, label, nav a, h1, h2, h3")) {
    if (!element.checkVisibility()) continue;
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      for (const { index, 0: word } of walker.currentNode.data.matchAll(/[A-Za-z]{2,20}/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, index);
        range.setEnd(walker.currentNode, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(`${word} in ${element.outerHTML}`);
      }
    }
  }
  return broken;
}"""

# Whatever can be pressed or filled is brought to the middle, as a finger would, and has to be the thing that is there.
_BURIED = """() => {
  const buried = [];
  const scrolled = [...document.querySelectorAll("*")].filter((element) => element.scrollTop > 0);
  const places = new Map(scrolled.map((element) => [element, element.scrollTop]));
  for (const element of document.body.querySelectorAll("button, a[href], input, select, textarea, summary")) {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest("dialog:not([open])")) continue;
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const { left, top, width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) continue;
    const label = element.labels?.[0];
    const hits = [0.5, 0.15, 0.85].map((part) => document.elementFromPoint(left + width * part, top + height / 2));
    const own = (hit) => hit !== null && (element.contains(hit) || hit.contains(element) || label?.contains(hit));
    const skip = element.getAttribute("href") === "#main";
    if (!hits.some(own) && !skip) buried.push(element.outerHTML.slice(0, 200));
  }
  for (const element of document.querySelectorAll("*")) if (element.scrollTop > 0) element.scrollTop = places.get(element) ?? 0;
  return buried;
}"""

_FOCUS = """() => {
  const element = document.activeElement;
  // A field that shares a box with its buttons has its ring around the box.
  const ringed = [element, element.parentElement ?? element].some((each) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  });
  const { top, left, bottom, right } = element.getBoundingClientRect();
  const visible = ringed || getComputedStyle(element).boxShadow !== "none";
  // WCAG 2.4.11: not wholly behind something that sticks to an edge.
  const across = [0.1, 0.5, 0.9].map((part) => left + (right - left) * part);
  const down = [0.1, 0.5, 0.9].map((part) => top + (bottom - top) * part);
  const inside = across.some((x) => down.some((y) => element.contains(document.elementFromPoint(x, y))));
  return { name: element.outerHTML.slice(0, 160), visible, inside };
}"""


@cache
def _axe() -> str:
    if not _AXE.is_file():
        pytest.fail("axe-core is not installed: run `npm ci` in web/", pytrace=False)
    return _AXE.read_text(encoding="utf-8")


def is_firefox(page: Page) -> bool:
    """Whether the page is in Firefox. Its colours, its print and whether it moves are not emulated there."""
    browser = page.context.browser
    return browser is not None and browser.browser_type.name == "firefox"


async def check_appearance(page: Page, name: str) -> None:
    """Everything that holds for every page, at its size and in its colours. Leaves a picture for people.

    In Firefox it is its layout alone: axe takes some seconds to read a document, and reads the same one in either browser.
    """
    if is_firefox(page):
        await check_edges(page, name)
        return
    await page.evaluate(_END_CHANGES)
    await keep_picture(page, name)
    # Not as a script element: Trusted Types would refuse it, as they should.
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_axe())
    # A button that can be pressed since then is still on its way to its colour.
    await page.evaluate(_END_CHANGES)
    faults: list[str] = await page.evaluate(_RUN_AXE)
    assert faults == [], f"{name}:\n" + "\n".join(faults)
    await check_edges(page, name)


async def check_edges(page: Page, name: str) -> None:
    """Nothing is beyond the edge, cut off or broken within a word."""
    await page.evaluate(_END_CHANGES)
    faults: list[str] = [
        *(f"beyond the edge: {element}" for element in await page.evaluate(_OVERFLOW)),
        *(f"scrolls sideways: {element}" for element in await page.evaluate(_SIDEWAYS)),
        *(f"cut off: {element}" for element in await page.evaluate(_CLIPPED)),
        *(f"broken word: {place}" for place in await page.evaluate(_BROKEN_WORDS)),
    ]
    assert faults == [], f"{name}:\n" + "\n".join(faults)


async def check_layout(page: Page, name: str) -> None:
    """Nothing is beyond the edge or cut off, and every control can be reached: the part of the appearance that a size decides."""
    await page.evaluate(_END_CHANGES)
    faults: list[str] = [
        *(f"scrolls sideways: {element}" for element in await page.evaluate(_SIDEWAYS)),
        *(f"beyond the edge: {element}" for element in await page.evaluate(_OVERFLOW)),
        *(f"cut off: {element}" for element in await page.evaluate(_CLIPPED)),
        *(f"out of reach: {element}" for element in await page.evaluate(_BURIED)),
    ]
    assert faults == [], f"{name}:\n" + "\n".join(faults)


async def check_in_view(page: Page, *controls: Locator) -> None:
    """A person sees these whole, without scrolling."""
    size = page.viewport_size
    assert size is not None
    for control in controls:
        box = await control.bounding_box()
        assert box is not None, f"{control} is not there"
        assert box["x"] >= 0, box
        assert box["y"] >= 0, box
        assert box["x"] + box["width"] <= size["width"], box
        assert box["y"] + box["height"] <= size["height"], box


async def check_focus(page: Page, steps: int) -> None:
    """Go on with Tab; wherever the keyboard is, it can be seen."""
    for _ in range(steps):
        await page.keyboard.press("Tab")
        focus: dict[str, Any] = await page.evaluate(_FOCUS)
        if focus["name"].startswith("<body"):
            return
        assert focus["visible"], f"no sign of the keyboard on {focus['name']}"
        assert focus["inside"], f"the keyboard is out of sight on {focus['name']}"


async def keep_picture(page: Page, name: str) -> None:
    """A screenshot in `$COUNTERSIGN_PICTURES`, if that is set."""
    folder = os.environ.get("COUNTERSIGN_PICTURES")
    if folder:
        await page.screenshot(path=Path(folder) / f"{name}.png")
