//! Sizes and counts in a prompt: "120k lines", "all three drafts", "30 repos", "15 %".

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::{
    concept::Concept,
    lexicon_match::LexiconMatch,
    text::{Piece, Text, Word, stem},
};

/// Tokens of a large review, by which the default category is named ("more than 100,000 tokens"), halved: numbers in
/// prompts are rounded.
const LARGE_TOKENS: f64 = 50_000.0;

/// Tokens of a line of code, roughly.
const TOKENS_OF_A_LINE: f64 = 12.0;

/// Units of size, and how many tokens one is, roughly.
const UNITS: [(f64, &str); 12] = [
    (1.0, "token tok"),
    (1.3, "word"),
    (TOKENS_OF_A_LINE, "line loc sloc"),
    (600.0, "page slide"),
    (1_200.0, "file module source chapter"),
    (250.0, "kb kib kilobyte"),
    (250_000.0, "mb mib megabyte meg"),
    (250_000_000.0, "gb gib gigabyte gig"),
    (400.0, "commit message email ticket issue comment"),
    (3_000.0, "pr document doc transcript crate"),
    (100_000.0, "book"),
    (250_000_000_000.0, "tb tib terabyte"),
];

/// Texts that are merged if there are several.
const TEXTS: &str = "proposal draft report note document doc paper interview transcript opinion thread approach \
                     plan option summary rfc article finding perspective response answer output version attempt \
                     spec brief essay memo comment retro suggestion viewpoint analysis analyse source writeup \
                     variant hypothesis postmortem guide outcome checklist roadmap fix argument angle idea call \
                     insight expert review strategy path candidate recommendation evaluation meeting minute \
                     explanation lens conclusion position account solution theory critique audit investigation \
                     assessment";

/// Projects that are scanned if there are several.
const PROJECTS: &str = "repo repository service project package crate app application microservice codebase workspace \
                        product subproject";

/// Texts that have no plural.
const UNCOUNTED: &str = "feedback input research correspondence";

/// Words of completeness, and what is large when it is complete.
const COMPLETE: &str = "whole entire full complete total";
const EVERY: &str = "all every";
const LARGE_WHEN_COMPLETE: &str = "repo repository codebase base project tree history directory folder source src book \
                                   manual spec specification crate file module doc documentation page chapter \
                                   transcript log thread archive corpus backend monorepo handbook commit chat";
const LARGE_WHEN_EVERY: &str =
    "file module page chapter doc document commit folder directory source test book log";

/// Endings of documents.
const DOCUMENTS: [&str; 8] = [
    ".md", ".txt", ".pdf", ".docx", ".adoc", ".rst", ".org", ".odt",
];

/// A count of anything that is a lot to read.
const A_LOT: f64 = 1_000.0;

/// Words of a count above one that are no digits.
const SEVERAL: &str = "both two three four five six seven eight nine ten eleven twelve dozen several multiple various \
                       many all these those few couple hundred different each every conflicting competing separate \
                       scattered parallel independent rival opposing";

/// Words between a count and what is counted.
const REACH: usize = 4;

/// Returns the sizes and counts of a prompt.
pub(super) fn sizes(text: &Text<'_>) -> Vec<LexiconMatch> {
    let mut hits = Vec::new();
    for piece in &text.pieces {
        if is_formula(piece.text) {
            hits.push(LexiconMatch::new(
                Concept::Mathematics,
                piece.word,
                piece.words,
                1.0,
            ));
        }
        let Some((number, unit)) = amount(piece) else {
            continue;
        };
        if is_version(piece.text) {
            hits.push(LexiconMatch::new(
                Concept::Version,
                piece.word,
                piece.words,
                0.7,
            ));
        }
        // The size of a diff, as in "+12k/-9k".
        if piece.text.starts_with('+') && number * TOKENS_OF_A_LINE >= LARGE_TOKENS {
            hits.push(LexiconMatch::new(
                Concept::Large,
                piece.word,
                piece.words,
                1.0,
            ));
        }
        if is_figure(piece.text) {
            hits.push(LexiconMatch::new(Concept::Figure, piece.word, 1, 1.0));
        }
        // "Chapters 1-38": the unit is before the range.
        let before = piece
            .word
            .checked_sub(1)
            .and_then(|before| text.words.get(before));
        let range = range_length(piece.text).zip(before.and_then(|word| tokens_of(&word.stem)));
        if range.is_some_and(|(count, tokens)| count * tokens >= LARGE_TOKENS / 2.0) {
            hits.push(LexiconMatch::new(
                Concept::Large,
                piece.word - 1,
                piece.words + 1,
                1.0,
            ));
        }
        let unit_is_none = unit.is_none();
        let own_unit = unit.map(|unit| (stem(&unit), 1));
        let next = (piece.words..piece.words + 2)
            .filter_map(|ahead| Some((text.words.get(piece.word + ahead)?, ahead)));
        let next = next.map(|(word, ahead)| (word.stem.clone(), ahead + 1));
        let measured = own_unit
            .into_iter()
            .chain(next)
            .find_map(|(unit, length)| Some((tokens_of(&unit)?, length)));
        if let Some((_, length)) = measured.filter(|(tokens, _)| number * tokens >= LARGE_TOKENS) {
            hits.push(LexiconMatch::new(Concept::Large, piece.word, length, 1.0));
        }
        let counts = text.words.iter().skip(piece.word + piece.words).take(2);
        if number >= A_LOT
            && unit_is_none
            && counts.into_iter().any(|word| word.plain.ends_with('s'))
        {
            hits.push(LexiconMatch::new(
                Concept::Large,
                piece.word,
                piece.words,
                0.6,
            ));
        }
        if number >= 2.0 {
            counted(text, piece.word, 1.0, &mut hits);
        }
    }
    for (at, word) in text.words.iter().enumerate() {
        if COUNTS.contains(word.plain.as_str()) {
            counted(text, at, 1.0, &mut hits);
        }
    }
    plurals(&text.words, &mut hits);
    complete(&text.words, &mut hits);
    documents(text, &mut hits);
    hits
}

/// Adds "the full driver source", "every page": all of something that is large.
fn complete(words: &[Word], hits: &mut Vec<LexiconMatch>) {
    for (at, word) in words.iter().enumerate() {
        let nouns = if COMPLETES.contains(word.plain.as_str()) {
            &LARGE_NOUNS
        } else if EVERY.split(' ').any(|it| it == word.plain) {
            &EVERY_NOUNS
        } else {
            continue;
        };
        let ahead = words.iter().enumerate().skip(at + 1).take(REACH);
        let ahead =
            ahead.take_while(|(_, next)| next.sentence == word.sentence && !next.opens_clause);
        let mut ahead = ahead.filter(|(_, next)| nouns.contains(&next.stem));
        if let Some((index, _)) = ahead.next() {
            hits.push(LexiconMatch::new(Concept::Large, at, index + 1 - at, 0.8));
        }
    }
}

/// Adds two or more documents that are named.
fn documents(text: &Text<'_>, hits: &mut Vec<LexiconMatch>) {
    let is_document = |piece: &&Piece<'_>| {
        let name = piece.text.to_ascii_lowercase();
        DOCUMENTS.iter().any(|ending| name.ends_with(ending))
    };
    let mut found = text.pieces.iter().filter(is_document);
    if let (Some(first), Some(second)) = (found.next(), found.next())
        && first.text != second.text
    {
        let mut hit = LexiconMatch::new(Concept::Texts, first.word, first.words, 1.0);
        hit.file = Some(first.text.to_owned());
        hits.push(hit);
    }
}

/// Adds what is counted by the word at `at`: several texts or several projects.
fn counted(text: &Text<'_>, at: usize, strength: f64, hits: &mut Vec<LexiconMatch>) {
    let sentence = text.words.get(at).map(|word| word.sentence);
    let ahead = text.words.iter().enumerate().skip(at + 1).take(REACH);
    for (index, word) in ahead {
        if Some(word.sentence) != sentence || word.opens_clause {
            break;
        }
        if let Some(concept) = plural_of(word) {
            hits.push(LexiconMatch::new(concept, at, index + 1 - at, strength));
            break;
        }
    }
}

/// Adds plurals without a count, which speak half as loud.
fn plurals(words: &[Word], hits: &mut Vec<LexiconMatch>) {
    for (at, word) in words.iter().enumerate() {
        if let Some(concept) = plural_of(word) {
            hits.push(LexiconMatch::new(concept, at, 1, 0.4));
        }
    }
}

/// The concepts of plurals, by stem.
static PLURALS: LazyLock<HashMap<String, Concept>> = LazyLock::new(|| {
    let by_stem = |list: &'static str, concept| {
        list.split_whitespace()
            .map(move |word| (stem(word), concept))
    };
    by_stem(PROJECTS, Concept::Projects)
        .chain(by_stem(TEXTS, Concept::Texts))
        .collect()
});

/// Tokens of a unit, by stem.
static TOKENS: LazyLock<HashMap<String, f64>> = LazyLock::new(|| {
    let units = UNITS.iter();
    units
        .flat_map(|(tokens, names)| names.split_whitespace().map(|name| (stem(name), *tokens)))
        .collect()
});

/// The words of [`SEVERAL`].
static COUNTS: LazyLock<HashSet<&str>> = LazyLock::new(|| SEVERAL.split_whitespace().collect());

/// The words of [`COMPLETE`].
static COMPLETES: LazyLock<HashSet<&str>> = LazyLock::new(|| COMPLETE.split_whitespace().collect());

/// The stems of [`LARGE_WHEN_COMPLETE`].
static LARGE_NOUNS: LazyLock<HashSet<String>> =
    LazyLock::new(|| LARGE_WHEN_COMPLETE.split_whitespace().map(stem).collect());

/// The stems of [`LARGE_WHEN_EVERY`].
static EVERY_NOUNS: LazyLock<HashSet<String>> =
    LazyLock::new(|| LARGE_WHEN_EVERY.split_whitespace().map(stem).collect());

/// Returns the concept of a plural.
fn plural_of(word: &Word) -> Option<Concept> {
    if UNCOUNTED.split_whitespace().any(|it| it == word.plain) {
        return Some(Concept::Texts);
    }
    if !word.plain.ends_with('s') {
        return None;
    }
    PLURALS.get(&word.stem).copied()
}

fn tokens_of(unit: &str) -> Option<f64> {
    TOKENS.get(unit).copied()
}

/// Returns how many numbers a range such as `1-38` has.
fn range_length(piece: &str) -> Option<f64> {
    let (first, last) = piece.split_once(['-', '–'])?;
    let (first, last): (f64, f64) = (first.parse().ok()?, last.parse().ok()?);
    (last > first).then_some(last - first + 1.0)
}

/// Returns true for a version: `1.2`, `v2.0.1`, `3.x`.
fn is_version(piece: &str) -> bool {
    let number = piece.trim_start_matches('v');
    let mut parts = number.split('.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let begins = parts.next().is_some_and(is_number);
    let rest: Vec<&str> = parts.take(4).collect();
    begins && !rest.is_empty() && rest.iter().all(|part| is_number(part) || *part == "x")
}

/// Returns true for `x^2`, `√n` and the like, but not for a regular expression.
fn is_formula(piece: &str) -> bool {
    let mut letters = piece.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let is_power =
            letter == '^' && before.is_alphanumeric() && (next.is_alphanumeric() || next == '(');
        if is_power || matches!(letter, '∫' | '∑' | '√' | '∞' | '≤' | '≥' | 'π' | 'λ')
        {
            return true;
        }
        before = letter;
    }
    false
}

/// Returns true for a percentage or an amount of money.
fn is_figure(piece: &str) -> bool {
    piece.starts_with(['$', '€', '£']) || piece.ends_with(['%', '€'])
}

/// Reads the number that a piece begins with, and the unit that is attached to it: `120k`, `300-page`, `2GB`, `$1,200`.
fn amount(piece: &Piece<'_>) -> Option<(f64, Option<String>)> {
    let text = piece
        .text
        .trim_start_matches(['$', '€', '£', '.', '/', '+', 'v']);
    let digits =
        text.find(|letter: char| !letter.is_ascii_digit() && letter != ',' && letter != '.');
    let (digits, rest) = text.split_at(digits.unwrap_or(text.len()));
    let number: f64 = digits.replace(',', "").parse().ok()?;
    let rest = rest.trim_start_matches(['-', '+', '_']).to_lowercase();
    let rest: String = rest
        .chars()
        .take_while(|letter| letter.is_alphabetic())
        .collect();
    let scaled = |factor: f64, unit: &str| {
        let unit = unit.trim_start_matches('-');
        Some((number * factor, (!unit.is_empty()).then(|| unit.to_owned())))
    };
    match rest.as_str() {
        "k" => scaled(1e3, ""),
        "m" => scaled(1e6, ""),
        "b" => scaled(1e9, ""),
        "kloc" => scaled(1e3, "loc"),
        "mloc" => scaled(1e6, "loc"),
        other => scaled(1.0, other),
    }
}

/// Returns the hit of a prompt that is itself large.
pub(super) fn prompt_length(prompt: &str, text: &Text<'_>) -> Option<LexiconMatch> {
    let tokens = prompt.len() as f64 / 4.0;
    (tokens >= LARGE_TOKENS && !text.words.is_empty())
        .then(|| LexiconMatch::new(Concept::Large, 0, 0, 0.6))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concepts(prompt: &str) -> Vec<Concept> {
        let mut found: Vec<Concept> = sizes(&Text::read(prompt))
            .iter()
            .map(|hit| hit.concept)
            .collect();
        found.dedup();
        found
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        for large in [
            "120k lines",
            "a 300-page manual",
            "2 GB of it",
            "1,200 files",
            "500k tokens",
            "1.2M LOC",
        ] {
            assert_eq!(concepts(large)[0], Concept::Large, "{large}");
        }
        for small in [
            "20 lines",
            "a 3-page memo",
            "4 files",
            "12 KB",
            "v1.2",
            "100",
        ] {
            assert!(!concepts(small).contains(&Concept::Large), "{small}");
        }
    }

    #[test]
    fn counts_are_of_texts_or_projects() {
        assert_eq!(concepts("these three rough drafts")[0], Concept::Texts);
        assert_eq!(concepts("in all 14 of our services")[0], Concept::Projects);
        assert!(concepts("one draft").is_empty());
        assert_eq!(concepts("5% of $3,000"), [Concept::Figure]);
    }
}
