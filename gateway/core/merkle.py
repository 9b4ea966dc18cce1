"""The Merkle tree of RFC 6962 section 2.1 (unchanged in RFC 9162): append-only.

A `Frontier` is the whole state that appending needs: one hash per full subtree, at most 53 of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

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
