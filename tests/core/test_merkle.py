"""The Merkle tree against RFC 6962's reference values."""

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


@pytest.mark.requirement("002-74", "a record is proven to be in the log without the log")
@given(st.integers(min_value=1, max_value=70), st.data())
def test_a_proof_makes_the_root_for_its_own_leaf_at_its_own_place_alone(count: int, data: st.DataObject) -> None:
    leaves = leaves_of(count)
    chosen = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=4))
    root = merkle.root_of(leaves)
    proofs = merkle.inclusion_proofs(leaves, chosen)
    assert proofs.keys() == chosen
    for index, proof in proofs.items():
        assert merkle.root_by_proof(leaves[index], index, count, proof) == root
        assert merkle.root_by_proof(merkle.leaf_hash(b"other"), index, count, proof) != root
        for wrong in (index - 1, index + 1, count):
            assert merkle.root_by_proof(leaves[index], wrong, count, proof) != root
        for longer in ((*proof, root), proof[:-1], (*proof[1:], root)):
            assert longer == proof or merkle.root_by_proof(leaves[index], index, count, longer) != root


def test_a_proof_of_the_reference_tree_is_the_reference_path() -> None:
    """RFC 9162 section 2.1.5: the path of d3 in a tree of seven leaves is c, b, l by the names of that figure."""
    hashes = [merkle.leaf_hash(leaf) for leaf in REFERENCE_LEAVES[:7]]
    c, b = hashes[2], merkle.root_of(hashes[:2])
    assert merkle.inclusion_proofs(hashes, [3])[3] == (c, b, merkle.root_of(hashes[4:]))
