"""Screenshots against kept ones: what a person would notice counts, how a browser smooths the edges of letters does not.

Both are made small first, so that a letter is a grey patch: another version of Chromium, another way to smooth edges or a letter
half a pixel further change such a patch by little, and a missing button, a line that moved or another face by much.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps

SCALE = 4
"""A picture is kept at a quarter of its size."""

REACH = 6
"""What is judged at once is a square of so many small pixels to each side of its middle: about as large as a button."""

LOUD = 44
"""By how much of 255 a small pixel has to differ to be one of those that are counted."""

MANY = 10
"""So many of them in one square are a difference."""

TINT = 6
"""By how much of 255 the mean of a square may differ: a shade of a surface, whose pixels all differ by little."""

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Difference:
    """Where a picture is not what was kept, in pixels of the page."""

    box: Box
    share: float
    """Of the whole picture, from 0 to 1."""
    size: str = ""
    """Set where one is larger than the other."""

    def __str__(self) -> str:
        left, top, right, bottom = self.box
        where = f"{self.share:.1%} of it differs, from ({left}, {top}) to ({right}, {bottom})"
        return f"{self.size}; {where}" if self.size else where


def read(raw: bytes) -> Image.Image:
    """A picture of a file of any format."""
    with Image.open(io.BytesIO(raw)) as opened:
        return opened.convert("RGB")


def shrink(screenshot: Image.Image) -> Image.Image:
    """What is kept of a screenshot."""
    return screenshot.reduce(SCALE)


def write(picture: Image.Image) -> bytes:
    """As it lies in the repository."""
    out = io.BytesIO()
    # In 64 steps, because smooth edges compress badly, and without loss, because no colour must run over the edge of a surface.
    steps = ImageOps.posterize(ImageChops.add(picture, Image.new("RGB", picture.size, (2, 2, 2))), 6)
    steps.save(out, "WEBP", lossless=True, method=6)
    return out.getvalue()


def compare(kept: Image.Image, seen: Image.Image) -> Difference | None:
    """What differs between two small pictures, if anything does that a person would notice."""
    common = _common(kept, seen)
    bad = _bad(kept.crop(common), seen.crop(common))
    box = bad.getbbox()
    if kept.size != seen.size:
        sizes = " and is ".join(f"{width * SCALE} x {height * SCALE}" for width, height in (kept.size, seen.size))
        return Difference(_on_page(box or common), _share(bad), f"it was {sizes} pixels large")
    return None if box is None else Difference(_on_page(box), _share(bad))


def _bad(kept: Image.Image, seen: Image.Image) -> Image.Image:
    """White wherever the square around a pixel is not what it was."""
    loud = _above(_strongest(ImageChops.difference(kept, seen)), LOUD)
    # The mean of a square of zeros and 255 says how many of its pixels are loud.
    many = _above(loud.filter(ImageFilter.BoxBlur(REACH)), 255 * MANY // (2 * REACH + 1) ** 2 - 1)
    means = ImageChops.difference(*(picture.filter(ImageFilter.BoxBlur(REACH)) for picture in (kept, seen)))
    return ImageChops.lighter(many, _above(_strongest(means), TINT))


def _above(picture: Image.Image, bound: int) -> Image.Image:
    """White where a pixel is above the bound, black elsewhere."""
    return ImageChops.subtract(picture, Image.new("L", picture.size, bound), scale=1 / 255)


def _strongest(difference: Image.Image) -> Image.Image:
    red, green, blue = difference.split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def _share(bad: Image.Image) -> float:
    return bad.histogram()[255] / (bad.width * bad.height)


def _common(kept: Image.Image, seen: Image.Image) -> Box:
    return 0, 0, min(kept.width, seen.width), min(kept.height, seen.height)


def _on_page(box: Box) -> Box:
    left, top, right, bottom = (side * SCALE for side in box)
    return left, top, right, bottom


def side_by_side(kept: Image.Image, seen: Image.Image, difference: Difference) -> Image.Image:
    """The kept one, the new one with a frame around what differs, and the difference by itself, brightened."""
    width, height = max(kept.width, seen.width), max(kept.height, seen.height)
    sheet = Image.new("RGB", (3 * width + 16, height), (128, 128, 128))
    framed = seen.copy()
    left, top, right, bottom = (side // SCALE for side in difference.box)
    ImageDraw.Draw(framed).rectangle((left, top, right - 1, bottom - 1), outline=(255, 0, 0))
    common = _common(kept, seen)
    apart = ImageChops.difference(kept.crop(common), seen.crop(common))
    apart = ImageChops.add(apart, apart, scale=0.5)
    for place, picture in enumerate((kept, framed, apart)):
        sheet.paste(picture, (place * (width + 8), 0))
    return sheet
