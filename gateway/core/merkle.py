"""The Merkle tree of RFC 6962 section 2.1 (unchanged in RFC 9162): append-only, with proofs of length log n.

A `Frontier` is the whole state that appending needs: one hash per full subtree, at most 53 of them. Proofs are made from the
leaf hashes and checked without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

HASH_SIZE = 32

EMPTY_ROOT = sha256(b"").digest()
"""The root of a tree without leaves."""


def leaf_hash(body: bytes) -> bytes:
    """Hash of one entry. The prefix keeps leaves and nodes apart, so that a node cannot be passed off as a leaf."""
    return sha256(b"\x00" + body).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of two subtrees."""
    return sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Frontier:
    """A tree's right edge: `nodes` are the roots of its full subtrees, largest first, one for each bit set in `size`."""

    size: int = 0
    nodes: tuple[bytes, ...] = ()

    def root(self) -> bytes:
        """The root of the tree of this size."""
        if not self.nodes:
            return EMPTY_ROOT
        root = self.nodes[-1]
        for left in reversed(self.nodes[:-1]):
            root = node_hash(left, root)
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


def prove_inclusion(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """The audit path of leaf `index` in the tree over `leaves` (RFC 6962 section 2.1.1), nearest sibling first."""
    path: list[bytes] = []
    start, end = 0, len(leaves)
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(root_of(leaves[middle:end]))
            end = middle
        else:
            path.append(root_of(leaves[start:middle]))
            start = middle
    return tuple(reversed(path))


def includes(root: bytes, size: int, index: int, leaf: bytes, path: Sequence[bytes]) -> bool:
    """Whether the path proves that `leaf` stands at `index` in the tree of that root and size (RFC 9162 section 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    position, last, node = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if position & 1 or position == last:
            node = node_hash(sibling, node)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            node = node_hash(node, sibling)
        position >>= 1
        last >>= 1
    return last == 0 and node == root


def prove_consistency(leaves: Sequence[bytes], before: int) -> tuple[bytes, ...]:
    """Proof that the tree over `leaves` continues its own first `before` leaves (RFC 6962 section 2.1.2)."""
    if not 0 < before < len(leaves):
        return ()
    path: list[bytes] = []
    start, end, old = 0, len(leaves), before
    whole = True
    while old != end - start:
        middle = _split(end - start)
        if old <= middle:
            path.append(root_of(leaves[start + middle : end]))
            end = start + middle
        else:
            path.append(root_of(leaves[start : start + middle]))
            start += middle
            old -= middle
            whole = False
    if not whole:
        path.append(root_of(leaves[start:end]))
    return tuple(reversed(path))


def continues(before_root: bytes, before: int, root: bytes, size: int, path: Sequence[bytes]) -> bool:
    """Whether the path proves that the tree (`root`, `size`) starts with the tree (`before_root`, `before`).

    RFC 9162 section 2.1.4.2. The empty tree is the start of every tree, without proof.
    """
    if not 0 <= before <= size:
        return False
    if before == 0:
        return not path and before_root == EMPTY_ROOT
    if before == size:
        return not path and before_root == root
    # A tree of 2^k leaves is itself a node of the larger one: the proof leaves it out.
    hashes = [before_root, *path] if before & (before - 1) == 0 else list(path)
    if not hashes:
        return False
    position, last = before - 1, size - 1
    while position & 1:
        position >>= 1
        last >>= 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old = node_hash(sibling, old)
            new = node_hash(sibling, new)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        position >>= 1
        last >>= 1
    return last == 0 and old == before_root and new == root


def _split(size: int) -> int:
    """The largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1
