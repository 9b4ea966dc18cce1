"""The Merkle tree of RFC 6962 section 2.1 (unchanged in RFC 9162): append-only.

A `Frontier` is the whole state that appending needs: one hash per full subtree, at most 53 of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, Protocol

EMPTY_ROOT = sha256(b"").digest()
"""The root of a tree without leaves."""


def leaf_hash(body: bytes) -> bytes:
    """Hash of one entry. The prefix keeps leaves and nodes apart, so that a node cannot be presented as a leaf."""
    return sha256(b"\x00" + body).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of two subtrees."""
    return sha256(b"\x01" + left + right).digest()


class Frontier(NamedTuple):
    """A tree's right edge: `nodes` are the roots of its full subtrees, largest first, one for each bit set in `size`."""

    size: int = 0
    nodes: tuple[bytes, ...] = ()

    def root(self) -> bytes:
        """The root of the tree of this size."""
        if not self.nodes:
            return EMPTY_ROOT
        smallest_first = reversed(self.nodes)
        root = next(smallest_first)
        for left in smallest_first:
            # node_hash, without the call: a log of one caller has a root for each record.
            root = sha256(b"\x01" + left + root).digest()
        return root


def grow(frontier: Frontier, leaves: Iterable[bytes]) -> Frontier:
    """The frontier after appending these leaf hashes, in order."""
    nodes = list(frontier.nodes)
    size = frontier.size
    for leaf in leaves:
        node = leaf
        # Each trailing one bit of the size is a full subtree that the new leaf completes into a larger one.
        full = size
        while full & 1:
            node = sha256(b"\x01" + nodes.pop() + node).digest()
            full >>= 1
        nodes.append(node)
        size += 1
    return Frontier(size, tuple(nodes))


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over these leaf hashes."""
    return grow(Frontier(), leaves).root()


class Subtrees(Protocol):
    """A tree of `size` leaves, of which any subtree that a proof is made of gives its root."""

    @property
    def size(self) -> int: ...

    def root(self, start: int, end: int) -> bytes:
        """The root over the leaves from `start` to before `end`, as RFC 6962 divides the tree."""
        ...


class LeafHashes:
    """A tree whose leaf hashes are all at hand."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._leaves = leaves

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self._leaves)

    def root(self, start: int, end: int) -> bytes:
        """The root over these leaves."""
        return self._leaves[start] if end - start == 1 else root_of(self._leaves[start:end])


def inclusion_proofs(leaves: Sequence[bytes], indices: Collection[int]) -> Mapping[int, tuple[bytes, ...]]:
    """For each of the indices, the hashes with which its leaf makes the root over these leaf hashes, lowest first (RFC 6962
    section 2.1.1). Every leaf is hashed once, however many proofs are asked for."""
    return prove_inclusion(LeafHashes(leaves), indices)


def prove_inclusion(tree: Subtrees, indices: Collection[int]) -> Mapping[int, tuple[bytes, ...]]:
    """The same for any tree. Only the subtrees beside the ways to these leaves are asked for their roots."""
    proofs: dict[int, list[bytes]] = {index: [] for index in indices}

    def descend(start: int, end: int) -> bytes:
        inside = [index for index in proofs if start <= index < end]
        if not inside or end - start == 1:
            return tree.root(start, end)
        # The largest power of two that is smaller than the number of leaves.
        middle = start + (1 << (end - start - 1).bit_length() - 1)
        left, right = descend(start, middle), descend(middle, end)
        for index in inside:
            proofs[index].append(right if index < middle else left)
        return node_hash(left, right)

    if proofs:
        descend(0, tree.size)
    return {index: tuple(proof) for index, proof in proofs.items()}


def consistency_proof(leaves: Sequence[bytes], old: int) -> tuple[bytes, ...]:
    """The hashes that show that the tree over the first `old` of these leaf hashes is the beginning of the tree over all of them
    (RFC 9162 section 2.1.4.1). Empty where there is nothing to show."""
    return prove_consistency(LeafHashes(leaves), old)


def prove_consistency(tree: Subtrees, old: int) -> tuple[bytes, ...]:
    """The same for any tree."""
    proof: list[bytes] = []

    def descend(start: int, end: int, size: int, *, known: bool) -> None:
        if size == end - start:
            if not known:
                proof.append(tree.root(start, end))
            return
        half = 1 << (end - start - 1).bit_length() - 1
        if size <= half:
            descend(start, start + half, size, known=known)
            proof.append(tree.root(start + half, end))
        else:
            descend(start + half, end, size - half, known=False)
            proof.append(tree.root(start, start + half))

    if 0 < old < tree.size:
        descend(0, tree.size, old, known=True)
    return tuple(proof)


def root_by_proof(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """The root that a leaf hash at this index of a tree of this size has by a proof (RFC 9162 section 2.1.3.2); None where the
    proof is not as long as it has to be."""
    if not 0 <= index < size:
        return None
    node, place, last = leaf, index, size - 1
    for sibling in proof:
        if last == 0:
            return None
        if place & 1 or place == last:
            node = node_hash(sibling, node)
            while place and not place & 1:
                place >>= 1
                last >>= 1
        else:
            node = node_hash(node, sibling)
        place >>= 1
        last >>= 1
    return node if last == 0 else None


def is_consistent(old: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the tree of this size and root goes on from the one of the older size and root by a proof (RFC 9162 section
    2.1.4.2)."""
    if not 0 < old <= size:
        return False
    if old == size:
        return not proof and old_root == root
    # A tree of full height is itself the first hash of the path, and is not repeated in the proof.
    path = [*proof] if old & (old - 1) else [old_root, *proof]
    if not path:
        return False
    place, last = old - 1, size - 1
    while place & 1:
        place >>= 1
        last >>= 1
    was = now = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            was, now = node_hash(sibling, was), node_hash(sibling, now)
            while place and not place & 1:
                place >>= 1
                last >>= 1
        else:
            now = node_hash(now, sibling)
        place >>= 1
        last >>= 1
    return last == 0 and was == old_root and now == root
