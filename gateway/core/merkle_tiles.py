"""Hashes of subtrees that are kept, so that a proof in a long log reads some hundred of them and not every leaf.

A tile is a full subtree of 256 leaves, or of 256 tiles of the level below: level 1 has one for 256 leaves, level 2 for 65,536,
level 3 for 16.8 million (as c2sp.org/tlog-tiles divides a tree). Tiles say nothing by themselves: what is made of them has to
lead to a root that is signed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from gateway.core.merkle import EMPTY_ROOT, Frontier, grow, node_hash, root_of

WIDTH: Final = 256
"""Hashes under a tile."""

LEVELS: Final = 3
"""Of tiles. Beyond 16.8 million leaves the highest has some dozens for every thousand million."""

HashReader = Callable[[int, int, int], Sequence[bytes]]
"""Of that level the hashes from the first number on, at most so many; fewer where there are no more. Level 0 are the leaves."""


class Tile(NamedTuple):
    """The root of a full subtree: of that level, the how manieth."""

    level: int
    number: int
    hash: bytes


class TileMaker:
    """Makes tiles of leaf hashes that come one after the other."""

    def __init__(self, size: int, read: HashReader) -> None:
        """`size` leaves were there before, whose tiles were made."""
        self._made = [size // WIDTH**level for level in range(LEVELS + 1)]
        self._begun = [[*read(level, made - made % WIDTH, made % WIDTH)] for level, made in enumerate(self._made)]

    def add(self, leaves: Iterable[bytes]) -> Iterator[Tile]:
        """The tiles that these complete."""
        for leaf in leaves:
            made = leaf
            for level in range(LEVELS):
                self._begun[level].append(made)
                self._made[level] += 1
                if len(self._begun[level]) < WIDTH:
                    break
                made = root_of(self._begun[level])
                self._begun[level].clear()
                yield Tile(level + 1, self._made[level + 1], made)
                if level + 1 == LEVELS:
                    self._made[LEVELS] += 1


class TiledTree:
    """A tree of `size` leaves, by its tiles as far as there are any, and by its leaves. It remembers what it has read."""

    def __init__(self, size: int, read: HashReader) -> None:
        self._size = size
        self._read = read
        self._groups: dict[tuple[int, int], Sequence[Sequence[bytes]]] = {}

    @property
    def size(self) -> int:
        """How many leaves it has."""
        return self._size

    def root(self, start: int, end: int) -> bytes:
        """The root over these leaves; `start` is where RFC 6962 begins a subtree."""
        smallest_first = reversed(self._peaks(start, end) or [EMPTY_ROOT])
        root = next(smallest_first)
        for left in smallest_first:
            root = node_hash(left, root)
        return root

    def frontier(self) -> Frontier:
        """What appending needs."""
        return Frontier(self._size, tuple(self._peaks(0, self._size)))

    def _peaks(self, start: int, end: int) -> list[bytes]:
        """The roots of the full subtrees of these leaves, largest first."""
        peaks: list[bytes] = []
        while start < end:
            level = next(level for level in range(LEVELS, -1, -1) if WIDTH**level <= end - start)
            width = WIDTH**level
            count = (end - start) // width
            first = start // width
            if first // WIDTH == (first + count - 1) // WIDTH:
                peaks += self._peaks_within(level, first, count)
            else:
                peaks += grow(Frontier(), self._hashes(level, first, count)).nodes
            start += count * width
        return peaks

    def _peaks_within(self, level: int, first: int, count: int) -> Iterable[bytes]:
        """The same of hashes of one level that are under one tile."""
        group, place = divmod(first, WIDTH)
        heights = self._group(level, group)
        if len(heights[0]) < place + count:
            # Some are missing: whatever is made of the others leads to no root that is signed.
            return grow(Frontier(), heights[0][place:]).nodes
        return self._pick(heights, place, count)

    def _pick(self, heights: Sequence[Sequence[bytes]], place: int, count: int) -> Iterator[bytes]:
        for height in range(count.bit_length() - 1, -1, -1):
            if count >> height & 1:
                yield heights[height][place >> height]
                place += 1 << height

    def _hashes(self, level: int, first: int, count: int) -> list[bytes]:
        found: list[bytes] = []
        for group in range(first // WIDTH, (first + count - 1) // WIDTH + 1):
            begin = group * WIDTH
            held = self._group(level, group)[0]
            found += held[max(first - begin, 0) : first + count - begin]
        return found

    def _group(self, level: int, group: int) -> Sequence[Sequence[bytes]]:
        """The hashes of that level under one tile, as far as the tree goes, and above them those of every full subtree."""
        held = self._groups.get((level, group))
        if held is None:
            first = group * WIDTH
            count = min(WIDTH, self._size // WIDTH**level - first)
            row = [*self._read(level, first, count)]
            if level:
                row += [self._make(level, number) for number in range(first + len(row), first + count)]
            self._groups[level, group] = held = [row]
            while len(row) > 1:
                # node_hash, without the call: there are some thousand in a proof.
                row = [sha256(b"\x01" + left + right).digest() for left, right in zip(row[::2], row[1::2], strict=False)]
                held.append(row)
        return held

    def _make(self, level: int, number: int) -> bytes:
        """A tile that was not made yet."""
        # Of a log without tiles every leaf is read, and is not remembered.
        under = self._read(0, number * WIDTH, WIDTH) if level == 1 else self._group(level - 1, number)[0]
        return root_of(under)
