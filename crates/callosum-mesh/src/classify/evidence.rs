//! Evidence of a prompt for each category: built-in rules, the user's own words, the user's examples.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Reason,
    concept::{Concept, RULES},
    emphasis::emphasis,
    examples::{self, Example, is_common, nearest},
    lexicon_match::{LEXICON, LexiconMatch},
    questions::alternatives,
    size,
    text::{Text, stem},
};
use crate::route::{Matrix, Route};

/// Weight of a word of a user's own category. More than one built-in word: the user's matrix comes first.
const OWN_WORD: f64 = 3.2;

/// Weight of an example that has all words of the prompt.
const EXAMPLE: f64 = 9.0;
/// Similarity below which an example is no evidence.
const LEAST_SIMILARITY: f64 = 0.3;

/// Each further word of a concept counts this much of the one before it, so that a long paste is bounded.
const NEXT_WORD: f64 = 0.5;
/// Highest strength of a concept in a rule of several concepts.
const MOST_OF_A_PAIR: f64 = 1.5;

/// Share of a word between a count and what is counted: in "9 Terraform repos", repositories are the topic.
const MODIFIER: f64 = 0.4;
/// Share of a word in a path.
const PATH: f64 = 0.3;
/// Share of a text for people if the request does not open with a verb of writing.
const GATED: f64 = 0.5;

/// Most characters of a reason's text.
const LONGEST_TEXT: usize = 80;

/// The evidence for each category, by key; for ordinary coding, with no key.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The sums.
    pub(super) scores: BTreeMap<Option<String>, f64>,
    /// The parts of the sums.
    pub(super) reasons: Vec<Reason>,
}

impl Evidence {
    /// Collects the evidence of a prompt.
    pub(super) fn of_prompt(matrix: &Matrix, examples: &[&Example], prompt: &str) -> Self {
        let mut evidence = Self::default();
        let text = Text::read(prompt);
        let mut hits = LEXICON.find(&text);
        hits.extend(LEXICON.files(&text));
        hits.extend(size::sizes(&text));
        hits.extend(alternatives(&text));
        hits.extend(size::prompt_length(prompt, &text));
        let weights = emphasis(&text, &hits);
        let own = own_stems(matrix);
        let is_own = |stem: &str| own.values().any(|stems| stems.contains(stem));
        hits.retain(|hit| {
            let words = text.words.iter().skip(hit.word).take(hit.length);
            !(hit.concept.is_coding() && words.into_iter().any(|word| is_own(&word.stem)))
        });
        evidence.add_rules(matrix, &text, &hits, &weights);
        evidence.add_own_words(&own, &text, &weights);
        evidence.add_examples(examples, &text);
        evidence.reasons.sort_by(|a, b| {
            let by_weight = b.weight.total_cmp(&a.weight);
            by_weight.then_with(|| {
                (a.feature, &a.text, &a.category).cmp(&(b.feature, &b.text, &b.category))
            })
        });
        evidence
    }

    fn add(&mut self, feature: &'static str, text: &str, category: Option<&str>, weight: f64) {
        if weight <= 0.0 {
            return;
        }
        let category = category.map(str::to_owned);
        *self.scores.entry(category.clone()).or_default() += weight;
        let text = text.chars().take(LONGEST_TEXT).collect();
        self.reasons.push(Reason {
            feature,
            text,
            category,
            weight,
        });
    }

    /// Adds the rules of the default categories that the matrix has, and those of ordinary coding.
    fn add_rules(
        &mut self,
        matrix: &Matrix,
        text: &Text<'_>,
        hits: &[LexiconMatch],
        weights: &[f64],
    ) {
        let concepts = strengths(text, hits, weights);
        for rule in RULES {
            if rule
                .target
                .is_some_and(|category| matrix.route(category).is_none())
            {
                continue;
            }
            let found: Option<Vec<&Strength>> =
                rule.needs.iter().map(|need| concepts.get(need)).collect();
            let Some(found) = found else {
                continue;
            };
            let different: BTreeSet<&String> = found.iter().flat_map(|it| &it.words).collect();
            if different.len() < found.len() {
                continue;
            }
            let strength = match found[..] {
                [only] => only.sum,
                _ => found
                    .iter()
                    .map(|it| it.sum.min(MOST_OF_A_PAIR))
                    .fold(MOST_OF_A_PAIR, f64::min),
            };
            let words: Vec<&str> = found.iter().map(|it| it.words[0].as_str()).collect();
            let is_file = found.iter().any(|it| it.is_file);
            let feature = match rule.needs {
                _ if rule.target.is_none() => "ordinary coding",
                _ if is_file => "file",
                [only] if only.is_size() => "size",
                [_] => "word",
                _ => "request",
            };
            self.add(
                feature,
                &words.join(" + "),
                rule.target,
                rule.weight * strength,
            );
        }
    }

    /// Adds the words of the user's own categories.
    fn add_own_words(
        &mut self,
        own: &BTreeMap<&str, BTreeSet<String>>,
        text: &Text<'_>,
        weights: &[f64],
    ) {
        let mut best: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
        for (word, weight) in text.words.iter().zip(weights) {
            let entry = best.entry(&word.stem).or_insert((*weight, &word.plain));
            if *weight > entry.0 {
                *entry = (*weight, &word.plain);
            }
        }
        for (category, stems) in own {
            let found = stems
                .iter()
                .filter_map(|stem| Some((stem, best.get(stem.as_str())?)));
            let mut found: Vec<(f64, &str)> = found
                .map(|(stem, (weight, plain))| {
                    // A word that several categories have speaks for each of them less.
                    let sharing = own.values().filter(|other| other.contains(stem)).count();
                    (weight / sharing as f64, *plain)
                })
                .collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
            let mut share = 1.0;
            for (weight, plain) in found {
                self.add("own word", plain, Some(category), OWN_WORD * weight * share);
                share *= NEXT_WORD;
            }
        }
    }

    /// Adds the nearest example of each category.
    fn add_examples(&mut self, examples: &[&Example], text: &Text<'_>) {
        let words = examples::stems(&text.words);
        for (category, (similarity, example)) in nearest(examples, &words) {
            if similarity >= LEAST_SIMILARITY {
                self.add(
                    "example",
                    &example.prompt,
                    Some(category),
                    EXAMPLE * similarity,
                );
            }
        }
    }
}

/// The strength of a concept in a prompt.
struct Strength {
    sum: f64,
    /// Its words, the strongest first.
    words: Vec<String>,
    is_file: bool,
}

/// Returns the strength of each concept: its different words by weight, each further one counting less.
fn strengths(
    text: &Text<'_>,
    hits: &[LexiconMatch],
    weights: &[f64],
) -> BTreeMap<Concept, Strength> {
    let mut words: BTreeMap<Concept, BTreeMap<String, (f64, bool)>> = BTreeMap::new();
    let is_counted = |hit: &LexiconMatch| {
        matches!(
            hit.concept,
            Concept::Texts | Concept::Projects | Concept::Large
        ) && hit.length > 2
    };
    let mut inside = vec![false; text.words.len()];
    for hit in hits.iter().filter(|hit| is_counted(hit)) {
        let last = hit.word + hit.length - 1;
        inside[hit.word + 1..last].fill(true);
    }
    let is_gated = gates_creative(text, hits, weights);
    for hit in hits {
        let mut weight = weights.get(hit.word).copied().unwrap_or(1.0);
        if inside.get(hit.word) == Some(&true) && hit.length < 3 {
            weight *= MODIFIER;
        }
        if hit.file.is_none() && text.words.get(hit.word).is_some_and(|word| word.is_path) {
            weight *= PATH;
        }
        if is_gated && hit.concept == Concept::Creative {
            weight *= GATED;
        }
        let weight = hit.strength * if hit.length == 0 { 1.0 } else { weight };
        let name = match &hit.file {
            Some(file) => file.clone(),
            None if hit.length == 0 => "length of the prompt".to_owned(),
            None => {
                let words = text.words.iter().skip(hit.word).take(hit.length);
                words
                    .map(|word| word.plain.as_str())
                    .collect::<Vec<_>>()
                    .join(" ")
            }
        };
        if weight > 0.0 {
            let known = words.entry(hit.concept).or_default();
            let entry = known.entry(name).or_insert((weight, hit.file.is_some()));
            entry.0 = entry.0.max(weight);
        }
    }
    let strength = |words: BTreeMap<String, (f64, bool)>| {
        let mut words: Vec<(String, (f64, bool))> = words.into_iter().collect();
        words.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
        let mut share = 1.0;
        let mut sum = 0.0;
        for (_, (weight, _)) in &words {
            sum += weight * share;
            share *= NEXT_WORD;
        }
        let is_file = words.first().is_some_and(|(_, (_, is_file))| *is_file);
        Strength {
            sum,
            words: words.into_iter().map(|(word, _)| word).collect(),
            is_file,
        }
    };
    words
        .into_iter()
        .map(|(concept, words)| (concept, strength(words)))
        .collect()
}

/// Returns true if the request opens with a verb that does something else to a text than to write it: "move the blog".
fn gates_creative(text: &Text<'_>, hits: &[LexiconMatch], weights: &[f64]) -> bool {
    let in_request = |hit: &&LexiconMatch| {
        hit.length > 0 && weights.get(hit.word).is_some_and(|weight| *weight >= 1.0)
    };
    let verbs = hits
        .iter()
        .filter(|hit| hit.concept.is_action())
        .filter(in_request);
    let Some(first) = verbs.map(|hit| hit.word).min() else {
        return false;
    };
    let opens = first == 0 || text.words[first - 1].sentence != text.words[first].sentence;
    let mut meanings = hits
        .iter()
        .filter(|hit| hit.word == first && hit.concept.is_action());
    opens && !meanings.any(|hit| hit.concept == Concept::Write)
}

/// Returns the stems of the user's own categories: of the key and of `about`.
///
/// A default category whose `about` was not changed has none: the built-in rules know more words for it.
fn own_stems(matrix: &Matrix) -> BTreeMap<&str, BTreeSet<String>> {
    let seed = Matrix::seed();
    let is_own = |route: &&Route| {
        let default = seed.route(&route.category);
        default.is_none_or(|default| default.about != route.about)
    };
    let mut own = BTreeMap::new();
    for route in matrix.routes.iter().filter(is_own) {
        let words = format!("{} {}", route.category, route.about);
        let words = Text::read(&words).words;
        let words = words.iter().filter(|word| !is_common(&word.plain));
        let stems: BTreeSet<String> = words.map(|word| stem(&word.plain)).collect();
        own.entry(route.category.as_str()).or_insert(stems);
    }
    own
}
