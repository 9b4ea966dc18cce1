"""`semantic_search`: passages by what they are about, an index that follows the files, nothing from outside the workspace."""

from __future__ import annotations

import os
import re
import threading
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gateway.adapters.tools.builtin import semantic
from gateway.adapters.tools.builtin.passages import PASSAGE_CHARACTERS, PASSAGES_PER_FILE, Passage, as_bytes, cut_passages
from gateway.adapters.tools.catalog import ToolCatalog
from gateway.adapters.tools.sources import ToolsConfig, open_tools
from gateway.core.errors import ModelUnavailable, ToolFailed
from gateway.core.model import ToolOutput
from gateway.runtime.ports import ToolContext
from tests.adapters.tools.conftest import make_context

SIZE = 4096
SYNONYMS = {"feline": "cat", "kitten": "cat", "automobile": "car", "vehicle": "car"}


@dataclass
class WordEmbedder:
    """Plays a sentence model: a dimension for each word, the same one for words that mean the same."""

    id: str = "words"
    asked: list[str] = field(default_factory=list[str])
    longest: int = 10_000
    is_there: bool = True

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if not self.is_there or any(len(text) > self.longest for text in texts):
            raise ModelUnavailable("the sentence model does not take these texts", "ready")
        self.asked += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * SIZE
        words: list[str] = re.findall(r"\w+", text.casefold())
        for word in words:
            vector[zlib.crc32(SYNONYMS.get(word, word).encode()) % SIZE] += 1.0
        length = sum(each * each for each in vector) ** 0.5 or 1.0
        return [each / length for each in vector]


@dataclass
class Desk:
    """A workspace with the tool over it."""

    folder: Path
    embedder: WordEmbedder
    catalog: ToolCatalog

    async def search(self, query: str, cancelled: threading.Event | None = None) -> ToolOutput:
        context = make_context() if cancelled is None else replace(make_context(), cancelled=cancelled)
        spec = self.catalog.find("semantic_search")
        assert spec is not None
        return await self.catalog.execute(spec, {"query": query}, context)

    async def found(self, query: str) -> list[str]:
        record: Any = (await self.search(query)).structured
        return [f"{each['path']}:{each['first']}-{each['last']}" for each in record["matches"]]

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    (tmp_path / "workspace").mkdir()
    embedder = WordEmbedder()
    catalog = await open_tools(ToolsConfig(tmp_path / "workspace", tmp_path / "state", embedder=embedder))
    yield Desk(tmp_path / "workspace", embedder, catalog)
    await catalog.close()


async def test_without_a_sentence_model_there_is_no_such_tool(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    catalog = await open_tools(ToolsConfig(tmp_path / "workspace", tmp_path / "state"))
    assert catalog.find("semantic_search") is None
    await catalog.close()


async def test_what_it_quotes_is_believed_no_more_than_a_file_that_was_read(desk: Desk) -> None:
    search, read = desk.catalog.find("semantic_search"), desk.catalog.find("read_file")
    assert search is not None
    assert read is not None
    assert (search.trust, search.category, search.labels) == (read.trust, read.category, read.labels)
    assert desk.catalog.facts(search, {"query": "x"}).path == ".", "a policy about paths sees the whole workspace"


@pytest.mark.requirement("002-78", "passages of a folder are found by what they are about, with the place where they stand")
async def test_a_passage_is_found_by_other_words_than_its_own(desk: Desk) -> None:
    desk.write("notes/pets.txt", "first line\n\nthe kitten sleeps\non the sofa\n\nlast line")
    desk.write("car.txt", "the automobile is red")
    assert (await desk.found("feline sleeps"))[0] == "notes/pets.txt:3-4"
    output = await desk.search("vehicle red")
    assert output.text.startswith("car.txt:1-1: the automobile is red")
    assert await desk.found("photosynthesis") == []
    assert "nothing in 2 text files" in (await desk.search("photosynthesis")).text


async def test_only_what_changed_is_read_again(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        desk.write(f"{name}.txt", f"about {name}{name}")
    await desk.search("x")
    desk.embedder.asked.clear()
    await desk.search("x")
    assert desk.embedder.asked == ["x"]
    desk.write("b.txt", "about cats")
    os.utime(desk.folder / "a.txt", (1, 1))
    (desk.folder / "c.txt").unlink()
    desk.embedder.asked.clear()
    assert await desk.found("about cats") == ["b.txt:1-1", "a.txt:1-1"]
    assert desk.embedder.asked == ["about cats", "about cats"], "the question, and the one file with other content"
    (index,) = (desk.folder.parent / "state" / "passages").iterdir()
    assert len(list(index.iterdir())) == 2


async def test_a_file_of_the_same_size_and_time_is_told_apart(desk: Desk) -> None:
    desk.write("a.txt", "about cats")
    await desk.search("x")
    seen = (desk.folder / "a.txt").stat()
    desk.write("a.txt", "about cars")
    os.utime(desk.folder / "a.txt", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    desk.embedder.asked.clear()
    await desk.search("x")
    assert desk.embedder.asked == ["x", "about cars"]


async def test_nothing_outside_the_workspace_is_read(desk: Desk) -> None:
    outside = desk.folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("the secret cat")
    (desk.folder / "link.txt").symlink_to(outside / "secret.txt")
    (desk.folder / "folder").symlink_to(outside)
    os.link(outside / "secret.txt", desk.folder / "hard.txt")
    os.mkfifo(desk.folder / "pipe.txt")
    assert await desk.found("secret cat") == []
    assert desk.embedder.asked == ["secret cat"]


async def test_what_is_no_text_is_left_out_and_not_read_twice(desk: Desk) -> None:
    (desk.folder / "image.png").write_bytes(b"cat\0cat")
    (desk.folder / "sound.raw").write_bytes(b"caf\xe9\x01 cat")
    desk.write("blank.txt", "\n \n\t\n")
    assert await desk.found("cat") == []
    assert desk.embedder.asked == ["cat"]


async def test_a_record_that_does_not_read_is_made_again(desk: Desk) -> None:
    desk.write("a.txt", "about cats")
    await desk.search("x")
    (index,) = (desk.folder.parent / "state" / "passages").iterdir()
    (record,) = index.iterdir()
    for damage in (b"", b"{", b"[]", b'{"path":"a.txt"}', b'{"path":"other"}', b"\xff" * 10, b" " * (2 << 20)):
        record.write_bytes(damage)
        assert await desk.found("about cats") == ["a.txt:1-1"]
    assert record.stat().st_mode & 0o077 == 0


async def test_vectors_of_another_model_are_not_compared(desk: Desk) -> None:
    desk.write("a.txt", "about cats")
    await desk.search("x")
    other = WordEmbedder(id="another")
    catalog = await open_tools(ToolsConfig(desk.folder, desk.folder.parent / "state", embedder=other))
    await Desk(desk.folder, other, catalog).search("x")
    await catalog.close()
    assert other.asked == ["x", "about cats"]


async def test_a_passage_with_too_many_tokens_counts_with_its_beginning(desk: Desk) -> None:
    desk.write("long.txt", "cat " + "word " * 100)
    desk.embedder.longest = 200
    assert await desk.found("cat word") == ["long.txt:1-1"]


async def test_a_model_that_is_away_fails_the_call_in_words(desk: Desk) -> None:
    desk.write("a.txt", "about cats")
    desk.embedder.is_there = False
    with pytest.raises(ToolFailed, match="does not take"):
        await desk.search("cats")


async def test_what_takes_too_long_goes_on_with_the_next_call(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("a.txt", "about cats")
    monkeypatch.setattr(semantic, "INDEXING_SECONDS", -1.0)
    output = await desk.search("cats")
    assert "0 text files are looked through so far; ask again" in output.text
    monkeypatch.setattr(semantic, "INDEXING_SECONDS", 10.0)
    assert await desk.found("cats") == ["a.txt:1-1"]


async def test_a_call_that_was_cancelled_reads_no_more(desk: Desk) -> None:
    desk.write("a.txt", "about cats")
    cancelled = threading.Event()
    cancelled.set()
    await desk.search("x", cancelled)
    assert desk.embedder.asked == ["x"]


def test_passages_are_whole_lines_with_their_numbers() -> None:
    assert list(cut_passages("one\ntwo\n\n\nfive")) == [(1, 2, "one\ntwo"), (5, 5, "five")]
    line = "x" * (PASSAGE_CHARACTERS // 2 + 1)
    assert [each[:2] for each in cut_passages(f"{line}\n{line}\n{line}")] == [(1, 1), (2, 2), (3, 3)]
    ((first, last, words),) = cut_passages("y" * 10_000)
    assert (first, last, len(words)) == (1, 1, PASSAGE_CHARACTERS)
    assert len(list(cut_passages("a\n\n" * 10_000))) == PASSAGES_PER_FILE
    assert list(cut_passages("")) == []


def test_a_vector_in_bytes_keeps_its_direction() -> None:
    vector = [0.6, -0.8, 0.0]
    assert Passage(1, 1, as_bytes(vector)).likeness(vector) == pytest.approx(1.0, abs=0.01)
    assert Passage(1, 1, as_bytes([0.8, 0.6, 0.0])).likeness(vector) == pytest.approx(0.0, abs=0.01)
    assert Passage(1, 1, as_bytes([0.0, 0.0])).likeness([1.0, 0.0]) == 0.0


async def test_a_passage_of_a_key_is_none_to_whoever_looks_for_keys_and_goes_all_the_same(desk: Desk) -> None:
    kind = "PRIVATE KEY-----"
    body = ["cat qZ0 " + "MIIEvQIBADANBgkq" * 3 for _ in range(60)]
    desk.write("key.txt", "\n".join([f"-----BEGIN {kind}", *body, f"-----END {kind}", "", "a cat is below"]))
    spec = desk.catalog.find("semantic_search")
    assert spec is not None
    context = replace(make_context(), redact=frozenset({"secrets"}))
    found = await desk.catalog.execute(spec, {"query": "cat qZ0"}, context)
    assert "MIIEvQ" not in f"{found.text}{found.structured}"
    below: Any = (await desk.catalog.execute(spec, {"query": "a cat is below"}, context)).structured
    assert below["matches"][0]["text"] == "a cat is below"


async def test_a_guess_at_what_is_redacted_is_as_near_as_any_other(desk: Desk) -> None:
    desk.write("wifi.txt", "the cat keeps the wifi password: tulip4477")
    spec = desk.catalog.find("semantic_search")
    assert spec is not None
    held, free = replace(make_context(), redact=frozenset({"secrets"})), make_context()

    async def likeness(guess: str, context: ToolContext) -> int:
        output: Any = (await desk.catalog.execute(spec, {"query": f"wifi password {guess}"}, context)).structured
        return output["matches"][0]["likeness"]

    # Whoever is held to nothing asks first: the vectors of then are not those that a guess is compared with.
    assert await likeness("tulip4477", free) > await likeness("zebra1234", free)
    assert await likeness("tulip4477", held) == await likeness("zebra1234", held)
    # And from then on both compare with what is left, instead of making the index anew in turn.
    desk.embedder.asked.clear()
    assert await likeness("tulip4477", free) == await likeness("zebra1234", free)
    assert await likeness("tulip4477", held) == await likeness("zebra1234", held)
    assert len(desk.embedder.asked) == 4


async def test_vectors_that_an_older_version_made_of_the_whole_text_are_removed(desk: Desk) -> None:
    old = desk.folder.parent / "state" / "passages" / "0123456789abcdef"
    old.mkdir(parents=True)
    (old / "a.json").write_text("{}")
    await desk.search("x")
    assert not old.exists()
