"""The files of `loop/`, which both languages run on: found in one place, and refused where they do not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from gateway import shipped
from gateway.agent.limits import LoopLimits
from gateway.agent.mistakes import LoopMistakes
from gateway.agent.vocabulary import LoopVocabulary, any_of
from gateway.agent.wish_words import LoopWishWords
from gateway.core.errors import Misconfigured
from gateway.shipped import loop_fields, read_loop_file, shipped_folder

WHOLE = {name: read_loop_file(name) for name in ("limits", "mistakes", "vocabulary", "wishes")}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty package in the place of this one, with a `loop` beside it that a test fills."""
    package = tmp_path / "checkout" / "gateway"
    package.mkdir(parents=True)
    (package.parent / "loop").mkdir()

    def files(_: str) -> Path:
        return package

    monkeypatch.setattr(shipped.resources, "files", files)
    return package


def write_limits(folder: Path, numbers: object) -> None:
    (folder / "limits.json").write_bytes(orjson.dumps(numbers))


def test_a_file_lies_inside_an_installed_package_and_else_beside_it(package: Path) -> None:
    write_limits(package.parent / "loop", {"repairs": 1})
    assert read_loop_file("limits") == {"repairs": 1}
    (package / "loop").mkdir()
    write_limits(package / "loop", {"repairs": 2})
    assert read_loop_file("limits") == {"repairs": 2}


def test_a_folder_that_is_not_there_is_named(package: Path) -> None:
    with pytest.raises(Misconfigured, match="no `migrations` folder"):
        shipped_folder("migrations")


@pytest.mark.parametrize("written", [None, "{"], ids=["missing", "no JSON"])
def test_a_file_that_cannot_be_read_is_named(package: Path, written: str | None) -> None:
    if written is not None:
        (package.parent / "loop" / "limits.json").write_text(written)
    with pytest.raises(Misconfigured, match=r"`limits\.json`.*cannot be read"):
        read_loop_file("limits")


@pytest.mark.parametrize(
    ("name", "reader", "member"),
    [
        ("limits", LoopLimits, "repairs"),
        ("mistakes", LoopMistakes, "correction"),
        ("vocabulary", LoopVocabulary, "cues"),
        ("wishes", LoopWishWords, "imperatives"),
    ],
    ids=["limits", "mistakes", "vocabulary", "wishes"],
)
def test_a_missing_and_an_unknown_member_are_refused(
    package: Path, name: str, reader: Callable[..., object], member: str
) -> None:
    whole = WHOLE[name]
    missing = {each: value for each, value in whole.items() if each != member}
    for members, told in ((missing, member), ({**whole, "newMember": 1}, "new_member")):
        (package.parent / "loop" / f"{name}.json").write_bytes(orjson.dumps(members))
        with pytest.raises(TypeError, match=told):
            reader(**loop_fields(name))


def test_alternatives_that_begin_alike_do_not_hide_each_other() -> None:
    assert any_of(["may", "the same", "mayor", "$"]) == r"the same|mayor|may|\$"
