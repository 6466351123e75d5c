//! Proofs: the few hashes that lead from a record, or from a smaller tree, to a root.

use super::frontier::{Frontier, hash_node};
use callosum_json::Checksum;

/// Returns the hashes that lead from the leaf `index` to the root, the leaf's sibling first (RFC
/// 6962 §2.1.1); `None` if there is no such leaf.
pub fn prove_inclusion(leaves: &[Checksum], index: usize) -> Option<Vec<Checksum>> {
    if index >= leaves.len() {
        return None;
    }
    let mut path = Vec::new();
    let (mut part, mut index) = (leaves, index);
    while part.len() > 1 {
        let (left, right) = part.split_at(left_size(part.len()));
        if index < left.len() {
            path.push(root_of(right));
            part = left;
        } else {
            path.push(root_of(left));
            index -= left.len();
            part = right;
        }
    }
    path.reverse();
    Some(path)
}

/// Computes the root of a tree of `size` leaves in which `leaf` is at `index`, along `path`.
/// Returns `None` if the path is not as long as such a tree requires (RFC 9162 §2.1.3.2).
pub fn root_of_inclusion(
    leaf: Checksum,
    index: u64,
    size: u64,
    path: &[Checksum],
) -> Option<Checksum> {
    if index >= size {
        return None;
    }
    let (mut node, mut last) = (index, size - 1);
    let mut root = leaf;
    for hash in path {
        if last == 0 {
            return None;
        }
        if node & 1 == 1 || node == last {
            root = hash_node(*hash, root);
            let up = node.trailing_zeros();
            // On the right edge, levels without a sibling are passed over.
            (node, last) = (node >> up, last >> up);
        } else {
            root = hash_node(root, *hash);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    (last == 0).then_some(root)
}

/// Returns the hashes that prove that the first `size` leaves are the beginning of all of them (RFC
/// 6962 §2.1.2); `None` if there are not as many.
pub fn prove_consistency(leaves: &[Checksum], size: usize) -> Option<Vec<Checksum>> {
    if size > leaves.len() {
        return None;
    }
    let mut path = Vec::new();
    if size == 0 || size == leaves.len() {
        return Some(path);
    }
    let (mut part, mut size) = (leaves, size);
    let mut is_whole = true;
    while size != part.len() {
        let (left, right) = part.split_at(left_size(part.len()));
        if size <= left.len() {
            path.push(root_of(right));
            part = left;
        } else {
            path.push(root_of(left));
            size -= left.len();
            part = right;
            is_whole = false;
        }
    }
    if !is_whole {
        path.push(root_of(part));
    }
    path.reverse();
    Some(path)
}

/// Whether the tree of the first size and root is the beginning of the tree of the second, as
/// `path` has it (RFC 9162 §2.1.4.2).
pub fn is_consistent(first: (u64, Checksum), second: (u64, Checksum), path: &[Checksum]) -> bool {
    let ((first_size, first_root), (second_size, second_root)) = (first, second);
    if first_size == 0 || first_size == second_size {
        let is_same = first_size == 0 || first_root == second_root;
        return path.is_empty() && is_same && first_size <= second_size;
    }
    if first_size > second_size {
        return false;
    }
    let (mut node, mut last) = (first_size - 1, second_size - 1);
    let up = node.trailing_ones();
    (node, last) = (node >> up, last >> up);
    let mut hashes = path.iter().copied();
    // The first tree is a full subtree of the second: its root is known, so the proof omits it.
    let start = if first_size.is_power_of_two() {
        Some(first_root)
    } else {
        hashes.next()
    };
    let Some(start) = start else {
        return false;
    };
    let (mut of_first, mut of_second) = (start, start);
    for hash in hashes {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            of_first = hash_node(hash, of_first);
            of_second = hash_node(hash, of_second);
            let up = node.trailing_zeros();
            if node != 0 {
                (node, last) = (node >> up, last >> up);
            }
        } else {
            of_second = hash_node(of_second, hash);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    last == 0 && of_first == first_root && of_second == second_root
}

fn root_of(leaves: &[Checksum]) -> Checksum {
    let mut frontier = Frontier::default();
    for leaf in leaves {
        frontier.push(*leaf);
    }
    frontier.root()
}

/// The largest power of two that is smaller than a size above 1.
fn left_size(size: usize) -> usize {
    size.next_power_of_two() / 2
}
