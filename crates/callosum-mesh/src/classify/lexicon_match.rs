//! [`Lexicon`]: finds the words, phrases and file names of concepts in a prompt.
//!
//! A word that is mistyped by one letter is found, too, if it is long enough to have no near neighbor by chance.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::LazyLock,
};

use super::{
    concept::Concept,
    file_names::FILES,
    lexicon::WORDS,
    text::{Text, stem},
};

/// Most words of a phrase.
const LONGEST_PHRASE: usize = 5;

/// Shortest word in which two neighbors may be swapped.
const SWAPPED: usize = 6;
/// Shortest word in which a letter may be missing, wrong or too many. "Contact" is a letter away from "contract".
const MISTYPED: usize = 8;

/// An occurrence of a concept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LexiconMatch {
    /// The concept.
    pub(super) concept: Concept,
    /// The index of its first word.
    pub(super) word: usize,
    /// The number of its words; 0 if it is about the whole prompt.
    pub(super) length: usize,
    /// Its strength, up to 1.
    pub(super) strength: f64,
    /// The file name, if it is one.
    pub(super) file: Option<String>,
}

impl LexiconMatch {
    /// An occurrence in words.
    pub(super) fn new(concept: Concept, word: usize, length: usize, strength: f64) -> Self {
        Self {
            concept,
            word,
            length,
            strength,
            file: None,
        }
    }
}

type Meanings = Vec<(Concept, f64)>;

/// The words of all concepts, ready to be looked up.
pub(super) struct Lexicon {
    /// Phrases and words by their stems, joined by spaces.
    phrases: HashMap<String, Meanings>,
    /// The longest phrase that begins with a stem.
    longest: HashMap<String, usize>,
    /// Words of one stem by the stem without one of its letters.
    shortened: HashMap<String, BTreeSet<String>>,
    /// File names and endings.
    files: BTreeMap<&'static str, Meanings>,
}

/// The lexicon of the default categories.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

impl Lexicon {
    fn new() -> Self {
        let mut lexicon = Self {
            phrases: HashMap::new(),
            longest: HashMap::new(),
            shortened: HashMap::new(),
            files: BTreeMap::new(),
        };
        for (concept, strength, words) in WORDS {
            for phrase in words.split(',') {
                let stems: Vec<String> = phrase.split_whitespace().map(stem).collect();
                debug_assert!(stems.len() <= LONGEST_PHRASE, "{phrase}");
                lexicon.add(&stems, *concept, *strength);
            }
        }
        for (concept, strength, names) in FILES {
            for name in names.split_whitespace() {
                let meanings = lexicon.files.entry(name).or_default();
                meanings.push((*concept, *strength));
            }
        }
        lexicon
    }

    fn add(&mut self, stems: &[String], concept: Concept, strength: f64) {
        let Some(first) = stems.first() else {
            return;
        };
        let longest = self.longest.entry(first.clone()).or_default();
        *longest = stems.len().max(*longest);
        let meanings = self.phrases.entry(stems.join(" ")).or_default();
        if !meanings.iter().any(|(known, _)| *known == concept) {
            meanings.push((concept, strength));
        }
        if stems.len() == 1 && first.len() >= SWAPPED {
            for short in without_one_letter(first) {
                self.shortened
                    .entry(short)
                    .or_default()
                    .insert(first.clone());
            }
        }
    }

    /// Returns every occurrence of a concept, in the order of the words.
    pub(super) fn find(&self, text: &Text<'_>) -> Vec<LexiconMatch> {
        let stems: Vec<&str> = text
            .words
            .iter()
            .map(|word| self.corrected(&word.stem))
            .collect();
        let mut hits = Vec::new();
        let mut at = 0;
        while at < stems.len() {
            let longest = self.longest.get(stems[at]).copied().unwrap_or(1);
            let end = (at + longest).min(stems.len());
            let found = (at + 1..=end).rev().find_map(|end| {
                let is_whole = text.words[end - 1].sentence == text.words[at].sentence;
                let meanings = self.phrases.get(&stems[at..end].join(" "))?;
                is_whole.then_some((end, meanings))
            });
            let Some((end, meanings)) = found else {
                at += 1;
                continue;
            };
            for (concept, strength) in meanings {
                hits.push(LexiconMatch::new(*concept, at, end - at, *strength));
            }
            at = end;
        }
        hits
    }

    /// Returns the files of a prompt.
    pub(super) fn files(&self, text: &Text<'_>) -> Vec<LexiconMatch> {
        let mut hits = Vec::new();
        for piece in &text.pieces {
            if piece.text.len() > 256 {
                continue;
            }
            let lower = piece.text.to_lowercase();
            let name = lower.rsplit(['/', '\\']).next().unwrap_or(&lower);
            let ending = name.rfind('.').map(|dot| &name[dot..]);
            let meanings = self.files.get(name).or_else(|| self.files.get(ending?));
            for (concept, strength) in meanings.into_iter().flatten() {
                let mut hit = LexiconMatch::new(*concept, piece.word, 1, *strength);
                hit.file = Some(name.to_owned());
                hits.push(hit);
            }
        }
        hits
    }

    /// Returns the known word that a stem is, or is mistyped from.
    fn corrected<'a>(&'a self, stem: &'a str) -> &'a str {
        if stem.len() < SWAPPED || !stem.is_ascii() || self.longest.contains_key(stem) {
            return stem;
        }
        let mut candidates: BTreeSet<&str> = BTreeSet::new();
        for short in without_one_letter(stem).chain([stem.to_owned()]) {
            if let Some((known, _)) = self.phrases.get_key_value(&short) {
                candidates.insert(known);
            }
            candidates.extend(
                self.shortened
                    .get(&short)
                    .into_iter()
                    .flatten()
                    .map(String::as_str),
            );
        }
        let near = candidates.into_iter().find(|known| is_near(known, stem));
        near.unwrap_or(stem)
    }
}

/// Returns a stem without each of its letters but the first, which people rarely mistype.
fn without_one_letter(stem: &str) -> impl Iterator<Item = String> + '_ {
    (1..stem.len()).filter_map(|at| {
        let rest = stem.get(at + 1..)?;
        Some(format!("{}{rest}", stem.get(..at)?))
    })
}

/// Returns true if one typing error turns a known word into another.
fn is_near(known: &str, typed: &str) -> bool {
    let (known, typed) = (known.as_bytes(), typed.as_bytes());
    let same = known.iter().zip(typed).take_while(|(a, b)| a == b).count();
    let (known_rest, typed_rest) = (&known[same..], &typed[same..]);
    if let ([a, b, known_rest @ ..], [c, d, typed_rest @ ..]) = (known_rest, typed_rest)
        && (a, b) == (d, c)
        && known_rest == typed_rest
    {
        return known.len() >= SWAPPED;
    }
    let is_one_off = match (known_rest, typed_rest) {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([_, a @ ..], b) | (b, [_, a @ ..]) if a == b => true,
        (a, [_, b @ ..]) => a == b,
        _ => false,
    };
    is_one_off && known.len() >= MISTYPED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(prompt: &str) -> Vec<Concept> {
        LEXICON
            .find(&Text::read(prompt))
            .iter()
            .map(|hit| hit.concept)
            .collect()
    }

    #[test]
    fn a_phrase_wins_over_its_words() {
        assert_eq!(find("pivot table"), [Concept::Chart]);
        assert!(find("table").contains(&Concept::Data));
    }

    #[test]
    fn one_typing_error_in_a_long_word_is_corrected() {
        let known = "kubernetes";
        let missing = known.replacen('t', "", 1);
        let added = known.replacen('t', "tt", 1);
        let wrong = known.replacen('t', "w", 1);
        let swapped = known.replacen("er", "re", 1);
        for typed in [missing, added, wrong, swapped] {
            assert_eq!(find(&typed), [Concept::Infrastructure], "{typed}");
        }
        assert!(find("contract").is_empty() || find("contract") != find("contact"));
        assert!(find(&known.replace("be", "")).is_empty());
    }

    #[test]
    fn files_speak_by_name_or_ending() {
        let files = |prompt: &str| {
            let hits = LEXICON.files(&Text::read(prompt));
            hits.iter().map(|hit| hit.concept).collect::<Vec<_>>()
        };
        assert_eq!(
            files("see deploy/main.tf, please"),
            [Concept::Infrastructure]
        );
        assert_eq!(files("App/App.xcodeproj"), [Concept::IosBuild]);
        assert_eq!(files("(Dockerfile)"), [Concept::Infrastructure]);
        assert!(files("e.g. this. and that").is_empty());
    }
}
