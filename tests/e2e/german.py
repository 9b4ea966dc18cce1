"""What stands on a page that should be German: none of the catalogue's English texts, and no English sentence besides."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from playwright.async_api import Page, expect

_CATALOGUES = Path(__file__).parents[2] / "web" / "src" / "language" / "de"

_HOLE = re.compile(r"\{\d+\}<?|>|\{[^{}]*\|[^{}]*\}")

# What a page says, element by element: its own text nodes, joined, and what is only read out. Texts that no page translates are
# marked: what came from outside, code, and what is signed. A text area has what a person writes, such as rules.
_SAID = """() => {
  const foreign = "[translate=no], code, pre, kbd, [lang]:not(html), [data-foreign]";
  const said = [];
  for (const element of document.body.querySelectorAll("*")) {
    if (!element.checkVisibility() || element.closest(foreign) || element.matches("script, style, textarea")) continue;
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data);
    said.push(own.join(" "));
    for (const name of ["aria-label", "title", "placeholder", "alt"]) said.push(element.getAttribute(name) ?? "");
    // What the styles write in front of a cell on a narrow page; counters and keywords have no quotation marks.
    said.push(/^"(.*)"$/.exec(getComputedStyle(element, "::before").content)?.[1] ?? "");
  }
  return [...new Set(said.map((text) => text.replace(/\\s+/g, " ").trim()))].filter((text) => text !== "");
}"""

_ENGLISH_WORD = re.compile(r"\b(the|of|is|are|your|with|and|this|has|have|by|no|not|to|from|it|you)\b")


@cache
def _english() -> list[re.Pattern[str]]:
    """Every English text that is another one in German and has enough words of its own to be known by them."""
    patterns: list[re.Pattern[str]] = []
    for file in _CATALOGUES.glob("*.json"):
        catalogue: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
        for english, german in catalogue.items():
            words = _HOLE.split(english)
            if german == english or (len(words) > 1 and sum(map(len, words)) < 12):
                continue
            patterns.append(re.compile(r"\s*" + ".*".join(re.escape(part.strip()) for part in words) + r"\s*:?\s*"))
    return patterns


async def check_german(page: Page, *foreign: str) -> None:
    """Nothing on this page is English, except what matches one of `foreign`: names, and the gateway's own sentences."""
    await expect(page.locator("html")).to_have_attribute("lang", "de")
    said: list[str] = await page.evaluate(_SAID)
    assert said != []
    patterns = _english()
    spoken = [text for text in said if not any(re.fullmatch(each, text) for each in foreign)]
    left = [text for text in spoken if _ENGLISH_WORD.search(text) or any(each.fullmatch(text) for each in patterns)]
    assert left == [], f"English on {page.url}:\n" + "\n".join(left)
