"""Proofs that are made of kept subtrees are those that are made of every leaf."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256

import pytest

from gateway.core import merkle, merkle_tiles
from gateway.core.merkle_tiles import TiledTree, TileMaker

LEAVES = [sha256(b"%d" % number).digest() for number in range(700)]


class Kept:
    """Leaves, and the tiles of the first so many of them."""

    def __init__(self, made: int, chance: random.Random) -> None:
        self.tiles: dict[tuple[int, int], bytes] = {}
        maker, done = TileMaker(0, self.read), 0
        while done < made:
            if chance.random() < 0.3:
                # As after a restart.
                maker = TileMaker(done, self.read)
            count = min(chance.randint(1, 9), made - done)
            self.tiles |= {(tile.level, tile.number): tile.hash for tile in maker.add(LEAVES[done : done + count])}
            done += count

    def read(self, level: int, first: int, count: int) -> Sequence[bytes]:
        if level == 0:
            return LEAVES[first : first + count]
        numbers = range(first, first + count)
        return [self.tiles[level, number] for number in numbers if (level, number) in self.tiles]


@pytest.mark.parametrize("size", [*range(1, 36), 63, 64, 65, 255, 256, 257, 300, 700])
def test_roots_and_proofs_are_the_same_with_and_without_tiles(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merkle_tiles, "WIDTH", 4)
    chance = random.Random(size)
    for made in {0, size // 2, max(size - 3, 0), size}:
        kept = Kept(made, chance)
        tree = TiledTree(size, kept.read)
        assert tree.root(0, size) == merkle.root_of(LEAVES[:size])
        assert tree.frontier() == merkle.grow(merkle.Frontier(), LEAVES[:size])
        chosen = chance.sample(range(size), min(5, size))
        assert merkle.prove_inclusion(TiledTree(size, kept.read), chosen) == merkle.inclusion_proofs(LEAVES[:size], chosen)
        old = chance.randint(1, size)
        assert merkle.prove_consistency(TiledTree(size, kept.read), old) == merkle.consistency_proof(LEAVES[:size], old)


def test_a_proof_in_a_long_tree_reads_few_hashes() -> None:
    size, read = 3 * 256 * 256 + 17, 0

    def hashes(level: int, first: int, count: int) -> Sequence[bytes]:
        nonlocal read
        read += count
        return [sha256(b"%d %d" % (level, number)).digest() for number in range(first, first + count)]

    tree = TiledTree(size, hashes)
    merkle.prove_inclusion(tree, [5, size // 2, size - 1])
    assert read < 10 * 256


def test_an_empty_tree_has_the_empty_root() -> None:
    assert TiledTree(0, Kept(0, random.Random(1)).read).root(0, 0) == merkle.EMPTY_ROOT
