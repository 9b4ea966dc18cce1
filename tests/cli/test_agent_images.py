"""Images from files, attached in the terminal and shown to a model that sees."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.inference.scripted import Reply
from gateway.cli.terminal.images import MAX_IMAGE, UnusableImageFile, read_image, why_unseen
from tests.core.test_images import SECRET, chunk, png
from tests.harness.terminal import AgentCommand, agent_command

SEES = {"COUNTERSIGN_MODEL_VISION": "true"}


def photo(home: Path, name: str = "photo of us.png") -> Path:
    """An image with a place in its metadata."""
    path = home / name
    path.write_bytes(png(2, 2, chunk(b"tEXt", SECRET)))
    return path


def images_in(asked: Any) -> list[bytes]:
    parts = [part for message in asked["messages"] if isinstance(message["content"], list) for part in message["content"]]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [b64decode(url.partition("base64,")[2]) for url in urls]


def seeing(at: AgentCommand) -> None:
    at.extra = {**at.extra, **SEES}


@pytest.mark.requirement("002-54", "an image is attached with the question and shown without its metadata")
async def test_an_image_is_shown_to_a_model_that_sees_without_its_metadata(tmp_path: Path) -> None:
    async with agent_command(tmp_path, Reply("Two beans.")) as at:
        seeing(at)
        path = photo(tmp_path)
        code, out, err = await at.run("--image", str(path), "--single", "what is on it?")
        assert (code, out) == (0, "Two beans.\n"), err
        assert images_in(at.backend.asked[-1]) == [png()]
        told = orjson.dumps(at.backend.asked[-1]["messages"])
        assert b'\\"data\\"' not in told
    assert 'read_attachment(name: "photo of us.png")' in err
    assert SECRET not in err.encode()


async def test_an_image_is_attached_at_the_prompt(tmp_path: Path) -> None:
    async with agent_command(tmp_path, Reply("Two beans.")) as at:
        seeing(at)
        typed = f'/image\n/image nowhere.png\n/image "{photo(tmp_path)}"\nwhat is on it?\n'
        code, out, err = await at.run(given=typed.encode())
        assert (code, out) == (0, "agent> Two beans.\n"), err
        assert [images_in(asked) for asked in at.backend.asked] == [[png()]]
    assert "Which image? `/image FILE`" in err
    assert re.search(r"`nowhere\.png` cannot be read: No such file", err)


async def test_a_model_that_does_not_see_is_shown_none_and_asked_nothing(tmp_path: Path) -> None:
    async with agent_command(tmp_path, Reply("I made it up.")) as at:
        code, out, err = await at.run("--image", str(photo(tmp_path)), "--single", "what is on it?")
        assert (code, out, at.backend.asked) == (1, "", []), err
        assert "scripted sees no images. Choose a model that does" in err
        code, out, err = await at.run(given=f"/image {photo(tmp_path, 'b.png')}\n".encode())
        assert (code, out, at.backend.asked) == (0, "", []), err
        assert "scripted sees no images" in err


async def test_an_image_that_the_gateway_refuses_asks_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(png()[:20])
    async with agent_command(tmp_path, Reply("I made it up.")) as at:
        seeing(at)
        code, out, err = await at.run("--image", str(broken), "--single", "what is on it?")
        assert (code, out, at.backend.asked) == (1, "", []), err


async def test_a_file_that_is_no_image_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"text")
    async with agent_command(tmp_path) as at:
        code, _, err = await at.run("--image", str(tmp_path / "a.png"), "--single", "what is on it?")
    assert (code, "is no PNG, JPEG or WebP image" in err) == (2, True), err


def test_a_large_image_is_refused_with_its_size(tmp_path: Path) -> None:
    large = tmp_path / "large.png"
    large.write_bytes(png() + bytes(MAX_IMAGE))
    with pytest.raises(UnusableImageFile, match="more than 120 KB"):
        read_image(large)
    with pytest.raises(UnusableImageFile, match="that is no path"):
        read_image(Path("a\0.png"))


@pytest.mark.parametrize(("tier", "sees"), [("native", True), ("single", False), ("chained", False)])
def test_a_model_that_is_led_step_by_step_is_shown_none(tier: str, *, sees: bool) -> None:
    assert (why_unseen({"displayName": "m", "seesImages": True, "tier": tier}) == "") is sees
