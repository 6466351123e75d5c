//! [`Frontier`]: the right edge of a tree, which is all that adding to it needs.

use serde::{Deserialize, Serialize};

use callosum_json::Checksum;

/// The hash of a record: leaves and inner nodes are hashed apart (RFC 6962 §2.1).
pub fn hash_leaf(record: &[u8]) -> Checksum {
    Checksum::of_parts(&[&[0], record])
}

/// The hash of an inner node.
pub(super) fn hash_node(left: Checksum, right: Checksum) -> Checksum {
    Checksum::of_parts(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// A tree that grows at its right end, known by the roots of its full subtrees alone.
///
/// Adding a leaf costs one or two hashes on average, the root at most as many as the size has
/// binary digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frontier {
    size: u64,
    /// The roots of the full subtrees, the largest first: one for each 1 in the binary size.
    full: Vec<Checksum>,
}

impl Frontier {
    /// Returns the number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf by its hash.
    pub fn push(&mut self, leaf: Checksum) {
        let mut hash = leaf;
        for _ in 0..self.size.trailing_ones() {
            let left = self.full.pop().expect("one subtree for each 1 in the size");
            hash = hash_node(left, hash);
        }
        self.full.push(hash);
        self.size += 1;
    }

    /// The root of the whole tree; of no leaves, the hash of nothing.
    pub fn root(&self) -> Checksum {
        let mut from_right = self.full.iter().rev().copied();
        let Some(last) = from_right.next() else {
            return Checksum::of(b"");
        };
        from_right.fold(last, |right, left| hash_node(left, right))
    }

    /// Whether it has as many subtrees as its size asks for, which one read from a file may not.
    pub fn is_sound(&self) -> bool {
        self.full.len() == self.size.count_ones() as usize
    }
}
