"""The Merkle tree against RFC 6962's reference values, and its proofs against every way to be wrong (002-72)."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import merkle
from gateway.core.merkle import Frontier

# The eight reference leaves and roots of certificate-transparency's merkle_tree_test, used by every implementation since.
REFERENCE_LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
REFERENCE_ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


def leaves_of(count: int) -> list[bytes]:
    return [merkle.leaf_hash(str(number).encode()) for number in range(count)]


def test_roots_are_those_of_the_reference_implementation() -> None:
    hashes = [merkle.leaf_hash(leaf) for leaf in REFERENCE_LEAVES]
    assert [merkle.root_of(hashes[:size]).hex() for size in range(1, 9)] == list(REFERENCE_ROOTS)
    assert merkle.root_of([]) == sha256(b"").digest()


def test_a_leaf_and_a_node_of_the_same_bytes_hash_apart() -> None:
    left, right = leaves_of(2)
    assert merkle.leaf_hash(left + right) != merkle.node_hash(left, right)


@given(st.lists(st.integers(min_value=0, max_value=40), max_size=12))
def test_growing_in_any_batches_gives_the_same_frontier(batches: list[int]) -> None:
    leaves = leaves_of(sum(batches))
    frontier = Frontier()
    start = 0
    for count in batches:
        frontier = merkle.grow(frontier, leaves[start : start + count])
        start += count
    assert frontier == merkle.grow(Frontier(), leaves)
    assert len(frontier.nodes) == frontier.size.bit_count()


@pytest.mark.parametrize("size", range(1, 67))
def test_every_leaf_is_proven_in_every_small_tree(size: int) -> None:
    leaves = leaves_of(size)
    root = merkle.root_of(leaves)
    for index in range(size):
        path = merkle.prove_inclusion(leaves, index)
        assert merkle.includes(root, size, index, leaves[index], path)


@pytest.mark.parametrize("size", range(1, 67))
def test_every_prefix_is_proven_in_every_small_tree(size: int) -> None:
    leaves = leaves_of(size)
    root = merkle.root_of(leaves)
    for before in range(size + 1):
        path = merkle.prove_consistency(leaves, before)
        assert merkle.continues(merkle.root_of(leaves[:before]), before, root, size, path)


@given(size=st.integers(min_value=2, max_value=300), data=st.data())
def test_an_inclusion_proof_proves_nothing_else(size: int, data: st.DataObject) -> None:
    leaves = leaves_of(size)
    root = merkle.root_of(leaves)
    index = data.draw(st.integers(min_value=0, max_value=size - 1))
    other = data.draw(st.integers(min_value=0, max_value=size - 1).filter(lambda number: number != index))
    path = merkle.prove_inclusion(leaves, index)
    assert not merkle.includes(root, size, other, leaves[index], path)
    assert not merkle.includes(root, size, index, leaves[other], path)
    assert not merkle.includes(leaves[0], size, index, leaves[index], path)
    assert not merkle.includes(root, size, index, leaves[index], (*path, leaves[0]))
    assert not merkle.includes(root, size, index, leaves[index], path[:-1])
    assert not merkle.includes(root, size, size, leaves[index], path)
    assert not merkle.includes(root, size, -1, leaves[index], path)


@given(size=st.integers(min_value=2, max_value=300), data=st.data())
def test_a_consistency_proof_fails_for_an_edited_past(size: int, data: st.DataObject) -> None:
    leaves = leaves_of(size)
    before = data.draw(st.integers(min_value=1, max_value=size - 1))
    edited = data.draw(st.integers(min_value=0, max_value=before - 1))
    old_root = merkle.root_of(leaves[:before])
    rewritten = list(leaves)
    rewritten[edited] = merkle.leaf_hash(b"another story")
    root = merkle.root_of(rewritten)
    assert not merkle.continues(old_root, before, root, size, merkle.prove_consistency(rewritten, before))
    assert not merkle.continues(old_root, before, root, size, merkle.prove_consistency(leaves, before))


def test_a_proof_that_is_too_short_or_too_long_is_no_proof() -> None:
    leaves = leaves_of(7)
    root, old = merkle.root_of(leaves), merkle.root_of(leaves[:3])
    path = merkle.prove_consistency(leaves, 3)
    assert not merkle.continues(old, 3, root, 7, path[:-1])
    assert not merkle.continues(old, 3, root, 7, (*path, leaves[0]))
    assert not merkle.continues(old, 3, root, 7, ())
    assert not merkle.continues(old, 7, root, 7, ())
    assert not merkle.continues(old, 8, root, 7, path)
    assert not merkle.continues(root, 7, root, 7, path)
    assert not merkle.continues(old, 0, root, 7, ())
