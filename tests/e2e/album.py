"""Takes pictures of a page in every size and colour, and holds them against those in the repository.

What wanders from run to run (times, ids, addresses, folders) is replaced in the page before it is drawn, so that a picture is the
same on every machine, and a place of varying length does not move what stands beside it.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.async_api import BrowserContext, Page

from tests.pictures.comparison import Difference, compare, read, shrink, side_by_side, write

KEPT = Path(__file__).parents[1] / "pictures" / "kept"

LIGHT: Mapping[str, Any] = {"color_scheme": "light", "forced_colors": "none", "reduced_motion": "no-preference"}

LOOKS: Mapping[str, tuple[tuple[int, int], Mapping[str, Any]]] = {
    "390": ((390, 844), LIGHT),
    "390-dark": ((390, 844), {**LIGHT, "color_scheme": "dark"}),
    "768": ((768, 1024), LIGHT),
    "1280": ((1280, 800), LIGHT),
    "1280-dark": ((1280, 800), {**LIGHT, "color_scheme": "dark"}),
    "1280-forced": ((1280, 800), {**LIGHT, "forced_colors": "active", "reduced_motion": "reduce"}),
    "1920": ((1920, 1080), LIGHT),
    # A window of 1280 by 800 at 200 %, and one of 1280 by 1024 at 400 %.
    "zoom-200": ((640, 400), LIGHT),
    "zoom-400": ((320, 256), LIGHT),
}
"""Sizes in CSS pixels and what people have set, which a page is looked at with."""

_ATTEMPTS = 30
"""So often a picture is taken before it counts as different: something may still be on its way."""

_LOADED = """() => {
  const rings = [...document.querySelectorAll('[role="status"] > [aria-hidden="true"]')];
  if (rings.some((ring) => ring.checkVisibility())) return false;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode.data.trim() === "…") return false;
  return document.fonts.status === "loaded";
}"""
"""No ring turns, and no number is still to come."""

# In front of every script of the page. A frame is drawn after its mutations were answered, so no picture has what is replaced.
_STEADY = """([rules, style]) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets.push(sheet);
  const compiled = rules.map(([pattern, text]) => [new RegExp(pattern, "g"), text]);
  const steady = (text) => compiled.reduce((said, [pattern, other]) => said.replace(pattern, other), text);
  const settle = (node) => {
    // A policy knows the page's own scripts by the digest of their text.
    if (node.parentElement?.closest("script, style")) return;
    const text = node.parentElement?.closest("time") ? "12:34" : steady(node.data);
    if (text !== node.data) node.data = text;
  };
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    if (root.nodeType === Node.TEXT_NODE) settle(root);
    while (walker.nextNode()) settle(walker.currentNode);
  };
  const watch = (changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === "characterData") settle(target);
      else for (const node of addedNodes) visit(node);
    }
  };
  new MutationObserver(watch).observe(document, { subtree: true, childList: true, characterData: true });
}"""

# The hour decides where a bar of a chart stands. The policy of the pages allows no style element, so this is a sheet of a script.
_STYLE = """
figure svg[role="img"] { visibility: hidden !important; }
input[value^="cnv_"] { text-indent: -99em !important; } /* Forced colours take no colour that hides. */
* { caret-color: transparent !important; }
"""


LOOKED_AT: set[str] = set()
"""Every picture that was compared or kept since the tests began, by its place below `KEPT`."""


def forgotten_pictures() -> list[str]:
    """Those that are kept and that no test compares any more."""
    return sorted({str(place.relative_to(KEPT)) for place in KEPT.rglob("*.webp")} - LOOKED_AT)


@dataclass
class Album:
    """The kept pictures of one part of the product. Faults are collected, so that one run shows them all."""

    part: str
    renews: bool = field(default_factory=lambda: os.environ.get("COUNTERSIGN_RENEW_PICTURES") == "1")
    """Whether pictures that differ are kept instead of reported."""
    faults: list[str] = field(default_factory=list[str])

    async def look(self, page: Page, name: str, looks: Sequence[str] = tuple(LOOKS)) -> None:
        """At one page in several looks."""
        for look in looks:
            (width, height), media = LOOKS[look]
            await page.set_viewport_size({"width": width, "height": height})
            await page.emulate_media(**media)
            await page.wait_for_function(_LOADED)
            await self._check(page, f"{self.part}/{name}-{look}")

    def check(self) -> None:
        """What was looked at is as it was kept."""
        faults, self.faults = self.faults, []
        assert not faults, "\n\n".join(faults)

    async def _check(self, page: Page, name: str) -> None:
        place = KEPT / f"{name}.webp"
        LOOKED_AT.add(f"{name}.webp")
        if not place.is_file():
            await self._keep_new(page, place, name)
            return
        kept = read(place.read_bytes())
        raw, seen = b"", kept
        difference = None
        # Where one page is wrong much is: the rest of it is not waited for.
        for _ in range(3 if self.faults else _ATTEMPTS):
            raw = await _screenshot(page, name)
            seen = shrink(read(raw))
            difference = compare(kept, seen)
            if difference is None:
                return
        assert difference is not None
        if self.renews:
            _write(place, write(seen))
            return
        folder = _leave(name, {"new.png": raw, "compared.png": _png(side_by_side(kept, seen, difference))})
        self.faults.append(_describe(name, difference, folder))

    async def _keep_new(self, page: Page, place: Path, name: str) -> None:
        raw = await _when_still(page, name)
        if self.renews:
            _write(place, write(shrink(read(raw))))
            return
        folder = _leave(name, {"new.png": raw})
        self.faults.append(
            f"{name}: no picture is kept of it. Look at {folder / 'new.png'}; if it is right, run `make pictures`."
        )


async def make_steady(context: BrowserContext, places: Mapping[str, str]) -> None:
    """From now on the pages of this context show the same in every run. `places` has words of this run with others for them."""
    rules = [(_escape(word), other) for word, other in sorted(places.items(), key=lambda each: -len(each[0]))]
    rules += _WANDERING
    await context.add_init_script(f"({_STEADY})({json.dumps([rules, _STYLE])})")


_DAY = r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_MONTH = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"

_WANDERING = [
    (rf"({_DAY},? )?\b{_MONTH} \d{{1,2}}(, \d{{4}})?(, \d{{1,2}}:\d\d(:\d\d)?(\s[AP]M)?)?", "Jan 2, 2026"),
    (r"\b(apr|cnv|conv|ses|call|grt|dev|key|cli|usr|req|trn|prs)_[\w-]+", r"$1_01abc"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b", "0123456789abcdef"),
    (r"\b\d{1,2}:\d\d(:\d\d)?( [AP]M)?\b", "12:34"),
    (r"\b(19|20)\d\d-\d\d-\d\d\b", "2026-01-02"),
    (r"(localhost|127\.0\.0\.1):\d+", "$1:8080"),
    (r"\b\d+([.,]\d+)? (ms|s|seconds?|minutes?|min|hours?|kB|KB|MB|GB|B|bytes)\b", "7 $2"),
]


def _escape(word: str) -> str:
    return "".join(f"\\{char}" if char in r"\.*+?^${}()|[]/" else char for char in word)


async def _screenshot(page: Page, name: str) -> bytes:
    """What is in the window, without what blinks or moves."""
    raw = await page.screenshot(animations="disabled", scale="css")
    if "COUNTERSIGN_PICTURES" in os.environ:
        _leave(name, {"new.png": raw})
    return raw


async def _when_still(page: Page, name: str) -> bytes:
    """As it is when three pictures in a row are the same."""
    last = [b"", await _screenshot(page, name)]
    for _ in range(_ATTEMPTS):
        if len(last) > 2 and len(set(last)) == 1:
            break
        last = [*last[-2:], await _screenshot(page, name)]
    return last[-1]


def _png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _leave(name: str, files: Mapping[str, bytes]) -> Path:
    """For people: in `$COUNTERSIGN_PICTURES`, else in the system's folder of temporary files."""
    root = Path(os.environ.get("COUNTERSIGN_PICTURES") or Path(tempfile.gettempdir()) / "countersign-pictures")
    folder = root / name
    for file, raw in files.items():
        _write(folder / file, raw)
    return folder


def _write(place: Path, raw: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(raw)


def _describe(name: str, difference: Difference, folder: Path) -> str:
    return (
        f"{name}: {difference}. The new picture is {folder / 'new.png'}; the kept one, the new one and their difference are"
        f" beside each other in {folder / 'compared.png'}. If the new one is right, run `make pictures`."
    )
