//! [`embed`]: a deterministic embedding of short texts, without a model.
//!
//! Words, pairs of words and letter triples are hashed into signed buckets. The first word has a share of its own, so
//! that two sentences with different verbs are never similar enough, however long the rest is.

/// Name of this embedder. A corpus names the embedder of its vectors; a change of the numbers below changes the name.
pub const EMBEDDER: &str = "hashed-ngrams-64-1";

/// Numbers of a vector.
pub const DIMENSIONS: usize = 64;

/// Weight of the first word against the rest, which has the weight 1. Different first words give at most
/// `1 / (1 + 0.6²)`, which is 0.74, if their own buckets do not meet.
const FIRST_WORD: f32 = 0.6;

/// Dimensions that hold the first word alone.
const FIRST_WORD_DIMENSIONS: usize = 16;

/// A vector of length 1, or of zeros for a text without words.
pub type Vector = [f32; DIMENSIONS];

/// Returns the vector of a text. Costs a few microseconds per 100 letters.
pub fn embed(text: &str) -> Vector {
    let lower = text.to_ascii_lowercase();
    let mut first = [0.0_f32; FIRST_WORD_DIMENSIONS];
    let mut rest = [0.0_f32; DIMENSIONS - FIRST_WORD_DIMENSIONS];
    let mut previous: Option<&str> = None;
    for word in lower.split_whitespace() {
        if previous.is_none() {
            let hash = hash(&[b"first", word.as_bytes()]);
            for part in 0..4 {
                add(&mut first, hash.rotate_right(part * 16), 1.0);
            }
        } else {
            add(&mut rest, hash(&[b"word", word.as_bytes()]), 1.0);
        }
        if let Some(previous) = previous {
            add(
                &mut rest,
                hash(&[b"pair", previous.as_bytes(), word.as_bytes()]),
                0.7,
            );
            let padded = format!(" {word} ");
            for triple in padded.as_bytes().windows(3) {
                add(&mut rest, hash(&[b"triple", triple]), 0.5);
            }
        }
        previous = Some(word);
    }
    normalize(&mut first);
    normalize(&mut rest);
    let mut vector = [0.0; DIMENSIONS];
    for (index, value) in first.into_iter().enumerate() {
        vector[index] = value * FIRST_WORD;
    }
    vector[FIRST_WORD_DIMENSIONS..].copy_from_slice(&rest);
    normalize(&mut vector);
    vector
}

/// Returns the cosine of two vectors, from -1 to 1.
pub fn similarity(one: &Vector, other: &Vector) -> f64 {
    let sum: f32 = one.iter().zip(other).map(|(one, other)| one * other).sum();
    f64::from(sum)
}

/// Adds a feature to the bucket of its hash, with the sign of its highest bit.
fn add(buckets: &mut [f32], hash: u64, weight: f32) {
    let bucket = (hash % buckets.len() as u64) as usize;
    buckets[bucket] += if hash >> 63 == 0 { weight } else { -weight };
}

/// Scales a vector to length 1.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in vector {
            *value /= length;
        }
    }
}

/// Returns the FNV-1a hash of the parts, with its bits mixed once more.
fn hash(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.iter().copied().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-VOICE-1: the same text has similarity 1, and another verb or object falls below the threshold.
    #[test]
    fn another_verb_or_object_is_not_similar_enough() {
        let one = embed("See uncommitted changes");
        assert!((similarity(&one, &one) - 1.0).abs() < 1e-5);
        for other in [
            "Run uncommitted changes",
            "Check uncommitted changes",
            "See the full output",
            "See nothing",
            "See",
            "",
        ] {
            let found = similarity(&one, &embed(other));
            assert!(found < 0.90, "{other}: {found}");
        }
    }

    /// CAKE-VOICE-1: two different verbs are never similar enough, by the share of the first word alone.
    #[test]
    fn verbs_are_never_similar() {
        let verbs = ["Run", "Check", "Fix", "Try", "See"];
        for one in verbs {
            for other in verbs.into_iter().filter(|other| *other != one) {
                let [left, right] = [one, other].map(|verb| embed(&format!("{verb} FILE:LINE")));
                assert!(similarity(&left, &right) < 0.90, "{one} and {other}");
            }
        }
    }
}
