//! Trees against the vectors of RFC 6962's reference implementation, and the laws of proofs.

use proptest::prelude::*;

use super::*;
use callosum_json::Checksum;

/// The eight leaves of the test vectors of Certificate Transparency.
const LEAVES: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];

/// Their roots, for the sizes 1 to 8.
const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

fn sum(hex: &str) -> Checksum {
    hex.parse().unwrap()
}

/// Returns this many different leaves.
fn leaves(count: usize) -> Vec<Checksum> {
    (0..count)
        .map(|number| hash_leaf(&number.to_be_bytes()))
        .collect()
}

fn root(leaves: &[Checksum]) -> Checksum {
    let mut frontier = Frontier::default();
    for leaf in leaves {
        frontier.push(*leaf);
    }
    assert!(frontier.is_sound());
    frontier.root()
}

/// Something else than what a hash was.
fn flipped(hash: Checksum) -> Checksum {
    Checksum::of(hash.as_bytes())
}

/// CAL-GOV-4: the published roots, at every size.
#[test]
fn roots_are_those_of_the_published_vectors() {
    assert_eq!(
        Frontier::default().root(),
        sum("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    );
    let mut frontier = Frontier::default();
    for (leaf, root) in LEAVES.iter().zip(ROOTS) {
        frontier.push(hash_leaf(leaf));
        assert_eq!(frontier.root(), sum(root), "size {}", frontier.size());
    }
}

/// CAL-GOV-4: the published proofs.
#[test]
fn proofs_are_those_of_the_published_vectors() {
    let hashes: Vec<_> = LEAVES.iter().map(|leaf| hash_leaf(leaf)).collect();
    let path = |hexes: &[&str]| hexes.iter().map(|hex| sum(hex)).collect::<Vec<_>>();
    assert_eq!(
        prove_inclusion(&hashes, 0).unwrap(),
        path(&[
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ])
    );
    assert_eq!(
        prove_inclusion(&hashes[..3], 2).unwrap(),
        path(&["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"])
    );
    assert_eq!(
        prove_consistency(&hashes, 6).unwrap(),
        path(&[
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ])
    );
}

/// CAL-GOV-4: every leaf of every small tree is proved, and nothing else is.
#[test]
fn every_leaf_is_proved_and_no_changed_proof_is_taken() {
    for size in 1..40_usize {
        let leaves = leaves(size);
        let root = root(&leaves);
        for index in 0..size {
            let path = prove_inclusion(&leaves, index).unwrap();
            let at = |leaf, index: usize, size: usize, path: &[Checksum]| {
                root_of_inclusion(leaf, index as u64, size as u64, path)
            };
            assert_eq!(at(leaves[index], index, size, &path), Some(root));
            assert_ne!(at(flipped(leaves[index]), index, size, &path), Some(root));
            for other in (0..=size).filter(|other| *other != index) {
                assert_ne!(at(leaves[index], other, size, &path), Some(root));
            }
            for changed in 0..path.len() {
                let mut wrong = path.clone();
                wrong[changed] = flipped(wrong[changed]);
                assert_ne!(at(leaves[index], index, size, &wrong), Some(root));
                assert_ne!(at(leaves[index], index, size, &path[..changed]), Some(root));
            }
            let longer = [&path[..], &[root]].concat();
            assert_ne!(at(leaves[index], index, size, &longer), Some(root));
        }
        assert_eq!(prove_inclusion(&leaves, size), None);
    }
}

/// CAL-GOV-4: every beginning of every small tree is proved to be one, and nothing else is.
#[test]
fn every_beginning_is_proved_and_no_changed_proof_is_taken() {
    for size in 1..40_usize {
        let leaves = leaves(size);
        let whole = (size as u64, root(&leaves));
        for first in 0..=size {
            let path = prove_consistency(&leaves, first).unwrap();
            let begun = (first as u64, root(&leaves[..first]));
            assert!(is_consistent(begun, whole, &path), "{first} of {size}");
            if first == 0 {
                continue;
            }
            let other = (begun.0, flipped(begun.1));
            assert!(!is_consistent(other, whole, &path), "{first} of {size}");
            let other = (whole.0, flipped(whole.1));
            assert!(!is_consistent(begun, other, &path), "{first} of {size}");
            for changed in 0..path.len() {
                let mut wrong = path.clone();
                wrong[changed] = flipped(wrong[changed]);
                assert!(!is_consistent(begun, whole, &wrong), "{first} of {size}");
                assert!(!is_consistent(begun, whole, &path[..changed]));
            }
            if first < size {
                assert!(!is_consistent(whole, begun, &path));
            }
        }
        assert_eq!(prove_consistency(&leaves, size + 1), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// CAL-GOV-4: the same holds for larger trees, and adding gives what building gives.
    #[test]
    fn larger_trees_obey_the_same_laws(size in 1_usize..2000, part in 0.0..1.0) {
        let leaves = leaves(size);
        let index = ((size as f64) * part) as usize;
        let whole = root(&leaves);
        let path = prove_inclusion(&leaves, index).unwrap();
        prop_assert_eq!(root_of_inclusion(leaves[index], index as u64, size as u64, &path), Some(whole));
        let path = prove_consistency(&leaves, index).unwrap();
        let begun = (index as u64, root(&leaves[..index]));
        prop_assert!(is_consistent(begun, (size as u64, whole), &path));
    }

    /// CAL-GOV-4: foreign sizes and paths of any kind end in an answer.
    #[test]
    fn foreign_proofs_are_refused_without_harm(index in any::<u64>(), size in any::<u64>(), length in 0_usize..80) {
        let path = leaves(length);
        let leaf = hash_leaf(b"leaf");
        let found = root_of_inclusion(leaf, index, size, &path);
        prop_assert!(found.is_none() || index < size);
        let taken = is_consistent((index, leaf), (size, hash_leaf(b"root")), &path);
        prop_assert!(!taken || index == 0);
    }
}
