//! Which records a query means, by the words that they share with it.

use std::collections::HashMap;

/// The texts that share a word with the query, best first; of equals, in their order.
///
/// A word that few texts have tells more than one that many have; what stands once in a text counts
/// most, each further time less. A word also means those that begin with it.
pub(super) fn ranked(texts: &[String], query: &str) -> Vec<usize> {
    let asked = words(query);
    let all: Vec<HashMap<String, usize>> = texts
        .iter()
        .map(|text| {
            let mut counts = HashMap::new();
            for word in words(text) {
                *counts.entry(word).or_insert(0) += 1;
            }
            counts
        })
        .collect();
    let count = |text: &HashMap<String, usize>, asked: &str| -> usize {
        let means = |word: &str| word == asked || (asked.len() >= 4 && word.starts_with(asked));
        text.iter()
            .filter(|(word, _)| means(word))
            .map(|(_, count)| count)
            .sum()
    };
    let mut scored: Vec<(u64, usize)> = all
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let score: f64 = asked
                .iter()
                .map(|word| {
                    let times = count(text, word) as f64;
                    let with = all.iter().filter(|text| count(text, word) > 0).count() as f64;
                    let rare = (1.0 + (all.len() as f64 - with + 0.5) / (with + 0.5)).ln();
                    rare * times * 2.2 / (times + 1.2)
                })
                .sum();
            ((score * 1000.0) as u64, index)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by_key(|(score, index)| (u64::MAX - score, *index));
    scored.into_iter().map(|(_, index)| index).collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_tell_more_and_nothing_shared_is_nothing_found() {
        let texts = [
            "use a pool for sockets",
            "use a token cache",
            "use tokens, tokens",
        ]
        .map(str::to_owned);
        assert_eq!(ranked(&texts, "Token"), [2, 1]);
        assert_eq!(ranked(&texts, "use sockets"), [0, 1, 2]);
        assert_eq!(ranked(&texts, "none such"), [0_usize; 0]);
        assert_eq!(ranked(&texts, ""), [0_usize; 0]);
    }
}
