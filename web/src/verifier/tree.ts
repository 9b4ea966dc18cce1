/** The Merkle tree of RFC 6962 section 2.1: leaves and nodes are hashed apart, and a tree only grows to the right. */

import { type Bytes, equalBytes, hash } from "./bytes.ts";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export function hashLeaf(body: Uint8Array): Bytes {
  return hash(LEAF, body);
}

function hashNode(left: Uint8Array, right: Uint8Array): Bytes {
  return hash(NODE, left, right);
}

/** A tree that grows: of each full subtree its root, the largest first. */
export class Tree {
  size = 0;
  private readonly nodes: Bytes[] = [];

  add(leaf: Bytes): void {
    let node = leaf;
    // Each trailing one bit of the size is a full subtree that the new leaf makes a larger one of.
    for (let full = this.size; full % 2 === 1; full = Math.floor(full / 2)) {
      const left = this.nodes.pop();
      if (left !== undefined) node = hashNode(left, node);
    }
    this.nodes.push(node);
    this.size++;
  }

  root(): Bytes {
    const [smallest, ...larger] = this.nodes.toReversed();
    return smallest === undefined ? hash() : larger.reduce((root, left) => hashNode(left, root), smallest);
  }
}

/** Whether a tree goes on from an older one by a proof (RFC 9162 section 2.1.4.2). */
export function isConsistent(
  old: { readonly size: number; readonly root: Bytes },
  { size, root }: { readonly size: number; readonly root: Bytes },
  proof: readonly Bytes[],
): boolean {
  if (old.size === 0 || old.size > size) return false;
  if (old.size === size) return proof.length === 0 && equalBytes(old.root, root);
  // A full subtree is itself the first hash of the path, and is not repeated in the proof.
  const full = 2 ** Math.round(Math.log2(old.size)) === old.size;
  const [first, ...rest] = full ? [old.root, ...proof] : proof;
  if (first === undefined) return false;
  let place = old.size - 1;
  let last = size - 1;
  while (place % 2 === 1) {
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  let was = first;
  let now = first;
  for (const sibling of rest) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      was = hashNode(sibling, was);
      now = hashNode(sibling, now);
      while (place !== 0 && place % 2 === 0) {
        place /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      now = hashNode(now, sibling);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && equalBytes(was, old.root) && equalBytes(now, root);
}

/**
 * The root that a leaf hash has at this place of a tree of this size (RFC 9162 section 2.1.3.2), or null where the proof is not
 * as long as it has to be.
 */
export function rootByProof(leaf: Bytes, index: number, size: number, proof: readonly Bytes[]): Bytes | null {
  if (!(index >= 0 && index < size)) return null;
  let node = leaf;
  let place = index;
  let last = size - 1;
  for (const sibling of proof) {
    if (last === 0) return null;
    if (place % 2 === 1 || place === last) {
      node = hashNode(sibling, node);
      while (place !== 0 && place % 2 === 0) {
        place /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      node = hashNode(node, sibling);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? node : null;
}
