//! Ranks records by the words that they share with a query.

/// Most words of a query that are looked at.
const MOST_WORDS: usize = 64;

/// Returns the texts that share a word with the query, best first; equals stay in their order.
///
/// A word that few texts have weighs more than one that many have; the first occurrence in a text
/// counts most, each further one less. A word also matches those that begin with it. Only the
/// counts of the query's words are kept of a text.
pub(super) fn ranked(texts: impl Iterator<Item = String>, query: &str) -> Vec<usize> {
    let mut asked = words(query);
    asked.truncate(MOST_WORDS);
    let mut number = 0_usize;
    // The number of texts that have each word, and the words of each text that has any.
    let mut with = vec![0_usize; asked.len()];
    let mut found: Vec<(usize, Vec<(usize, u32)>)> = Vec::new();
    for text in texts {
        let counts = counted(&text, &asked);
        for (word, _) in &counts {
            with[*word] += 1;
        }
        if !counts.is_empty() {
            found.push((number, counts));
        }
        number += 1;
    }
    let mut scored: Vec<(u64, usize)> = found
        .into_iter()
        .map(|(index, counts)| {
            let score: f64 = counts
                .into_iter()
                .map(|(word, times)| {
                    let (times, with) = (f64::from(times), with[word] as f64);
                    let rare = (1.0 + (number as f64 - with + 0.5) / (with + 0.5)).ln();
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

/// Returns the words that occur in a text, with their counts.
fn counted(text: &str, asked: &[String]) -> Vec<(usize, u32)> {
    let mut counts = vec![0_u32; asked.len()];
    for word in words(text) {
        for (asked, count) in asked.iter().zip(&mut counts) {
            let is_meant = word == *asked || (asked.len() >= 4 && word.starts_with(asked.as_str()));
            *count += u32::from(is_meant);
        }
    }
    let counts = counts.into_iter().enumerate();
    counts.filter(|(_, count)| *count > 0).collect()
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
        let ranked = |query| ranked(texts.iter().cloned(), query);
        assert_eq!(ranked("Token"), [2, 1]);
        assert_eq!(ranked("use sockets"), [0, 1, 2]);
        assert_eq!(ranked("none such"), [0_usize; 0]);
        assert_eq!(ranked(""), [0_usize; 0]);
    }
}
