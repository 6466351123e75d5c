//! [`Example`]: prompts that the user labeled, and the distance of another prompt from them.
//!
//! The distance is the cosine of the prompts' words, each weighted by how few examples have it (TF-IDF).

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::LazyLock,
};

use super::text::{Text, Word};

/// A prompt and the category that the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The prompt.
    pub prompt: String,
    /// Its category: a key of the matrix. An example of any other category is ignored.
    pub category: String,
}

/// Words that every prompt may have.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = "a an the and or of to in on at by for from with without into is are be been was were it its this \
                      that these those we i you our my your me us they their please can could would should will do \
                      does did have has had need want make use get some any all as so if then than there here what \
                      which how why when who not no dont just also new";
    words.split_whitespace().collect()
});

/// Returns true for a word that says nothing about the task.
pub(super) fn is_common(word: &str) -> bool {
    word.len() < 2 || COMMON.contains(word)
}

/// Returns the stems of a text without common words.
pub(super) fn stems(words: &[Word]) -> BTreeSet<&str> {
    let words = words.iter().filter(|word| !is_common(&word.plain));
    words.map(|word| word.stem.as_str()).collect()
}

/// Returns the similarity of a prompt, from 0 to 1, and the nearest example, for each category with an example that
/// shares a word with it.
pub(super) fn nearest<'a>(
    examples: &[&'a Example],
    prompt: &BTreeSet<&str>,
) -> BTreeMap<&'a str, (f64, &'a Example)> {
    let texts: Vec<Text<'a>> = examples
        .iter()
        .map(|example| Text::read(&example.prompt))
        .collect();
    let sets: Vec<BTreeSet<&str>> = texts.iter().map(|text| stems(&text.words)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in sets.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let rarity = |word: &str| {
        let count = counts.get(word).copied().unwrap_or(0) as f64;
        (1.0 + (examples.len() as f64 + 1.0) / (count + 1.0)).ln()
    };
    let norm = |set: &BTreeSet<&str>| {
        let squares = set.iter().map(|word| rarity(word).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let prompt_norm = norm(prompt);
    let mut best: BTreeMap<&str, (f64, &Example)> = BTreeMap::new();
    for (example, set) in examples.iter().zip(&sets) {
        let shared = set.iter().filter(|word| prompt.contains(*word));
        let product: f64 = shared.map(|word| rarity(word).powi(2)).sum();
        if product <= 0.0 {
            continue;
        }
        let similarity = (product / (norm(set) * prompt_norm)).min(1.0);
        let entry = best
            .entry(&example.category)
            .or_insert((similarity, example));
        if similarity > entry.0 {
            *entry = (similarity, example);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_example_shares_the_rare_words() {
        let example = |prompt: &str, category: &str| Example {
            prompt: prompt.to_owned(),
            category: category.to_owned(),
        };
        let examples = [
            example("update the invoice template for Austria", "billing"),
            example("update the onboarding checklist", "people"),
        ];
        let text = Text::read("update the invoices for Norway");
        let near = nearest(&examples.iter().collect::<Vec<_>>(), &stems(&text.words));
        assert!(near["billing"].0 > near["people"].0);
        assert!(near["billing"].0 < 1.0);
    }
}
