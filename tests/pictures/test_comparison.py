"""What the comparison of pictures notices, and what it takes for the same: a page of text, a card and two buttons, drawn here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

from tests.pictures.comparison import Difference, compare, read, shrink, side_by_side, write

GREY, WHITE, INK, GREEN, RED = (243, 244, 243), (255, 255, 255), (20, 30, 26), (11, 94, 76), (160, 28, 16)

LINES = (
    "Calls that the agent proposed and that run only",
    "if you approve them. Each is decided separately.",
    "Write notes/plan.md",
)


def draw(
    *,
    card: int = 0,
    row: int = 28,
    primary: tuple[int, int, int] = GREEN,
    second: bool = True,
    ground: tuple[int, int, int] = GREY,
    ink: tuple[int, int, int] = INK,
    face: float = 16,
) -> Image.Image:
    """A page of 640 by 400 pixels, as a browser would draw it. What is given is how it differs from the right one."""
    picture = Image.new("RGB", (640, 400), ground)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(face)
    pen.rounded_rectangle((40, 60 + card, 600, 320 + card), 8, fill=WHITE if ground == GREY else ground, outline=(210, 214, 212))
    for place, line in enumerate(LINES):
        pen.text((60, 80 + card + place * row), line, fill=ink, font=font)
    pen.rounded_rectangle((60, 240 + card, 180, 284 + card), 6, fill=primary)
    pen.text((84, 252 + card), "Approve", fill=WHITE, font=font)
    if second:
        pen.rounded_rectangle((200, 240 + card, 300, 284 + card), 6, outline=(120, 130, 126))
        pen.text((228, 252 + card), "Deny", fill=ink, font=font)
    return picture


KEPT = read(write(shrink(draw())))


@pytest.mark.parametrize(
    "seen",
    [
        draw(second=False),
        draw(card=4),
        draw(card=-4),
        draw(row=31),
        draw(primary=RED),
        draw(primary=(30, 70, 140)),
        draw(face=18),
        draw(ground=(20, 24, 22), ink=WHITE),
        draw(ground=(235, 236, 243)),
    ],
    ids=["a button is missing", "lower", "higher", "rows", "red", "blue", "letters", "dark", "shade"],
)
def test_what_a_person_would_notice_is_a_difference(seen: Image.Image) -> None:
    difference = compare(KEPT, shrink(seen))
    assert difference is not None
    assert difference.share > 0.005


def _subpixels(picture: Image.Image) -> Image.Image:
    """Each colour a third of a pixel from the next, as the stripes of a screen are."""
    red, green, blue = picture.split()
    aside = Image.merge("RGB", (ImageChops.offset(red, 1, 0), green, ImageChops.offset(blue, -1, 0)))
    return Image.blend(picture, aside, 1 / 3)


def _bolder(picture: Image.Image) -> Image.Image:
    return Image.blend(picture, picture.filter(ImageFilter.MinFilter(3)), 0.1)


def _half_a_pixel_further(picture: Image.Image) -> Image.Image:
    return Image.blend(picture, ImageChops.offset(picture, 1, 0), 0.5)


def _as_it_is(picture: Image.Image) -> Image.Image:
    return picture


@pytest.mark.parametrize("change", [_as_it_is, _subpixels, _bolder, _half_a_pixel_further])
def test_how_a_browser_smooths_edges_is_none(change: Callable[[Image.Image], Image.Image]) -> None:
    assert compare(KEPT, shrink(change(draw()))) is None


def test_the_box_is_where_the_button_was_in_pixels_of_the_page() -> None:
    difference = compare(KEPT, shrink(draw(second=False)))
    assert difference is not None
    left, top, right, bottom = difference.box
    assert 160 <= left < 220
    assert 200 <= top < 260
    assert 280 < right <= 340
    assert 264 < bottom <= 324
    assert "% of it differs, from (" in str(difference)


def test_a_picture_of_another_size_is_different_whatever_it_shows() -> None:
    difference = compare(KEPT, shrink(draw().crop((0, 0, 640, 380))))
    assert difference is not None
    assert str(difference).startswith("it was 640 x 400 and is 640 x 380 pixels large")


def test_the_kept_one_the_new_one_and_their_difference_are_side_by_side() -> None:
    seen = shrink(draw(second=False))
    sheet = side_by_side(KEPT, seen, Difference((200, 240, 300, 284), 0.1))
    assert sheet.size == (3 * 160 + 16, 100)
    assert sheet.crop((0, 0, 160, 100)).tobytes() == KEPT.tobytes()
    assert sheet.getpixel((168 + 50, 60)) == (255, 0, 0)
    assert sheet.getpixel((336 + 2, 2)) != sheet.getpixel((336 + 60, 62))
