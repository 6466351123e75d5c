//! [`formulate`]: an intent from a sentence, by rules, without a model (Seed CCOS §1).
//!
//! The goal is the first sentence. The rest of the text adds constraints, under these keys:
//!
//! | key | phrases |
//! |---|---|
//! | `without` | "without …", "do not …", "don't …", "never …" |
//! | `only` | "only in …", "only change …" and the like |
//! | `deadline` | "by", "before" or "until" and a date, a weekday, "today", "tomorrow", "tonight" or "end of …" |
//! | `budget` | "under", "below", "at most", "up to", "max" and an amount: `$5`, `5 USD`, `20k tokens` |
//! | `paths` | words that name a file or folder, as the caller finds them |
//!
//! "prefer …", "preferably …" and "ideally …" are preferences; "so that …" and "until …" are success criteria. A phrase
//! ends at a comma, a semicolon, the end of the sentence, or the next phrase. The text decides nothing else: it is data.

use super::intent::{
    LONGEST_GOAL, LONGEST_NAME, LONGEST_REQUEST, LONGEST_TERM, MOST_TERMS, NewIntent, Terms,
};

/// The most characters of a name that is derived from a goal.
const DERIVED_NAME: usize = 60;

/// The kind of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phrase {
    Constraint(&'static str),
    Preference,
    Criterion,
}

/// Reads an intent from a text; `is_path` returns true for a word that names a file or folder.
///
/// A text without words gives an intent without a goal, which the graph refuses. Costs one pass over the first 8,000
/// characters; the rest is dropped.
pub fn formulate(text: &str, is_path: impl Fn(&str) -> bool) -> NewIntent {
    let request = cut(text.trim(), LONGEST_REQUEST);
    let sentences = sentences(&request);
    let mut new = NewIntent::of_goal(goal_of(&sentences));
    new.name = name_of(&new.goal);
    for sentence in &sentences {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        read_phrases(&words, &mut new);
        read_budget(&words, &mut new.constraints);
        read_paths(&words, &is_path, &mut new.constraints);
    }
    if request != new.goal {
        new.original_request = Some(request);
    }
    new
}

/// Returns a short name for a goal: its first words.
pub(super) fn name_of(goal: &str) -> String {
    let mut name = String::new();
    for word in goal.split_whitespace() {
        let chars = name.chars().count() + 1 + word.chars().count();
        if !name.is_empty() && chars > DERIVED_NAME {
            // Half a phrase is worse than none.
            if let Some((whole, _)) = name.rsplit_once(", ") {
                name.truncate(whole.len());
            }
            break;
        }
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
    }
    let name = name.trim_end_matches(['.', ',', ';', ':', '!', '?', '-']);
    cut(name, LONGEST_NAME)
}

/// Returns the first sentence, on one line, cut to a length that the graph accepts.
fn goal_of(sentences: &[&str]) -> String {
    let first = sentences.first().copied().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    cut(&words.join(" "), LONGEST_GOAL)
}

/// Splits a text into sentences.
///
/// One ends at `.`, `!` or `?` before white space, unless the next word is in lower case, as after "e.g.", and at an empty
/// line. Text between backticks is not split.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut is_code = false;
    let bytes = text.as_bytes();
    for (at, character) in text.char_indices() {
        let after = at + character.len_utf8();
        let rest = &text[after..];
        let is_end = match character {
            '`' => {
                is_code = !is_code;
                false
            }
            '.' | '!' | '?' if !is_code => {
                let next = rest.trim_start().chars().next();
                let is_spaced = rest.chars().next().is_none_or(char::is_whitespace);
                is_spaced && !next.is_some_and(char::is_lowercase)
            }
            '\n' => {
                let is_blank = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
                // A backtick that is never closed must not swallow the rest of the text.
                is_code &= !is_blank;
                is_blank
            }
            _ => false,
        };
        if is_end && at >= start {
            let end = if bytes[at] == b'.' { at } else { after };
            push(&mut sentences, &text[start..end]);
            start = after;
        }
    }
    push(&mut sentences, &text[start..]);
    sentences
}

fn push<'t>(sentences: &mut Vec<&'t str>, sentence: &'t str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        sentences.push(sentence);
    }
}

/// Reads phrases that begin with a marker such as "without".
fn read_phrases(words: &[&str], new: &mut NewIntent) {
    let mut at = 0;
    while at < words.len() {
        let Some((phrase, taken)) = marker(words, at) else {
            at += 1;
            continue;
        };
        let (text, end) = rest_of_phrase(words, at + taken);
        if !text.is_empty() {
            match phrase {
                Phrase::Constraint(key) => add(&mut new.constraints, key, &text),
                Phrase::Preference => add(&mut new.preferences, "prefer", &text),
                Phrase::Criterion if new.success_criteria.len() < MOST_TERMS => {
                    new.success_criteria.push(cut(&text, LONGEST_TERM));
                }
                Phrase::Criterion => {}
            }
        }
        at = end.max(at + 1);
    }
}

/// Returns the kind of the phrase that begins at a word, and the number of words of its marker.
fn marker(words: &[&str], at: usize) -> Option<(Phrase, usize)> {
    let word = |offset: usize| {
        words
            .get(at + offset)
            .map(|word| bare(word))
            .unwrap_or_default()
    };
    let (first, second, third) = (word(0), word(1), word(2));
    let is_first = at == 0 || ends_phrase(words[at - 1]);
    match (first.as_str(), second.as_str()) {
        ("without" | "don't" | "never", _) => Some((Phrase::Constraint("without"), 1)),
        ("do", "not") => Some((Phrase::Constraint("without"), 2)),
        ("only", next) if is_first || LIMITS.contains(&next) => {
            Some((Phrase::Constraint("only"), 1))
        }
        ("by" | "before" | "until", next) if is_date(next, &third) => {
            Some((Phrase::Constraint("deadline"), 1))
        }
        ("so" | "such", "that") => Some((Phrase::Criterion, 2)),
        ("until", next) if !next.is_empty() => Some((Phrase::Criterion, 1)),
        ("prefer" | "preferably" | "ideally", _) => Some((Phrase::Preference, 1)),
        _ => None,
    }
}

/// Words after "only" that make it a limit, rather than a part of a description as in "the only test".
const LIMITS: [&str; 22] = [
    "in", "within", "inside", "under", "below", "for", "on", "to", "with", "when", "if", "use",
    "using", "change", "touch", "edit", "modify", "read", "write", "add", "remove", "run",
];

/// Returns the text of a phrase from a word on, and the number of the word behind it.
fn rest_of_phrase(words: &[&str], from: usize) -> (String, usize) {
    let mut text = Vec::new();
    let mut at = from;
    while let Some(word) = words.get(at) {
        let is_next = at > from && (marker(words, at).is_some() || amount(words, at).is_some());
        if is_next {
            break;
        }
        text.push(*word);
        at += 1;
        if ends_phrase(word) {
            break;
        }
    }
    while text
        .last()
        .is_some_and(|word| matches!(*word, "and" | "but" | "or"))
    {
        text.pop();
    }
    let text = text.join(" ");
    let text = text.trim_end_matches([',', ';', '.', '!', '?', ':']).trim();
    (text.to_owned(), at)
}

fn ends_phrase(word: &str) -> bool {
    word.ends_with([',', ';', ':']) || word == "-" || word == "\u{2013}" || word == "\u{2014}"
}

/// Returns true if a word begins a date: `2026-12-01`, a weekday, a month, "tomorrow", or "end of".
fn is_date(word: &str, next: &str) -> bool {
    const NAMES: [&str; 24] = [
        "today",
        "tonight",
        "tomorrow",
        "noon",
        "midnight",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "eod",
    ];
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = word.splitn(3, '-');
    let is_iso = parts
        .next()
        .is_some_and(|year| year.len() == 4 && digits(year))
        && parts
            .next()
            .is_some_and(|month| month.len() == 2 && digits(month))
        && parts
            .next()
            .is_none_or(|day| day.get(..2).is_some_and(digits));
    let is_end = word == "end" && next == "of";
    let is_next = matches!(word, "next" | "this")
        && (NAMES.contains(&next) || matches!(next, "week" | "month" | "year"));
    let is_hour = word.contains(':') && word.split(':').all(digits);
    is_iso || is_end || is_next || is_hour || NAMES.contains(&word)
}

/// Reads amounts such as "under $5" and "at most 20k tokens".
fn read_budget(words: &[&str], constraints: &mut Terms) {
    for at in 0..words.len() {
        if let Some(amount) = amount(words, at) {
            add(constraints, "budget", &amount);
        }
    }
}

/// Returns the amount that follows a word such as "under", as `5 USD` or `20000 tokens`.
fn amount(words: &[&str], at: usize) -> Option<String> {
    let word = |offset: usize| {
        words
            .get(at + offset)
            .map(|word| bare(word))
            .unwrap_or_default()
    };
    let taken = match (word(0).as_str(), word(1).as_str()) {
        ("at", "most") | ("up", "to") | ("less" | "more", "than") => 2,
        ("under" | "below" | "within" | "max" | "maximum", _) => 1,
        _ => return None,
    };
    if word(0) == "more" {
        return None;
    }
    let (number, unit) = (word(taken), word(taken + 1));
    if let Some(dollars) = number.strip_prefix('$') {
        return Some(format!("{} USD", decimal(dollars)?));
    }
    let number = decimal(&number)?;
    match unit.as_str() {
        "usd" | "dollar" | "dollars" => Some(format!("{number} USD")),
        "token" | "tokens" => Some(format!("{number} tokens")),
        _ => None,
    }
}

/// Reads `5`, `0.50`, `20,000` or `20k`.
fn decimal(text: &str) -> Option<String> {
    let text = text.replace(',', "");
    let (digits, thousands) = match text.strip_suffix('k') {
        Some(digits) => (digits, true),
        None => (text.as_str(), false),
    };
    let is_number = digits.len() <= 12
        && digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(|byte| *byte == b'.').count() <= 1;
    if !is_number {
        return None;
    }
    match thousands {
        true if digits.contains('.') => None,
        true => Some(format!("{digits}000")),
        false => Some(digits.to_owned()),
    }
}

/// Reads words that name files or folders.
///
/// A word counts if it has a slash or a dot, is between backticks, or follows "in", "within", "inside", "under" or "of": a
/// folder may be called like any word.
fn read_paths(words: &[&str], is_path: &impl Fn(&str) -> bool, constraints: &mut Terms) {
    let mut before = String::new();
    for word in words {
        let is_quoted = word.starts_with(['`', '"', '\'']);
        let path = word.trim_matches(|edge: char| {
            matches!(
                edge,
                '`' | '"' | '\'' | ',' | ';' | ':' | '!' | '?' | '(' | ')'
            )
        });
        let path = path.trim_end_matches('.');
        let is_placed = matches!(before.as_str(), "in" | "within" | "inside" | "under" | "of");
        let may_be = is_quoted || is_placed || path.contains(['/', '.']);
        before = bare(word);
        if may_be && !path.is_empty() && path.chars().count() <= LONGEST_TERM && is_path(path) {
            add(constraints, "paths", path.trim_end_matches('/'));
        }
    }
}

/// Returns a word in lower case, without the punctuation around it.
fn bare(word: &str) -> String {
    let edges = |edge: char| {
        matches!(
            edge,
            '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '\'' | '`'
        )
    };
    word.trim_matches(edges)
        .to_lowercase()
        .replace('\u{2019}', "'")
}

/// Adds a value unless it is there, or there are too many.
fn add(terms: &mut Terms, key: &str, value: &str) {
    let count: usize = terms.values().map(Vec::len).sum();
    let value = cut(value, LONGEST_TERM);
    if count >= MOST_TERMS || value.is_empty() {
        return;
    }
    let values = terms.entry(key.to_owned()).or_default();
    if !values.contains(&value) {
        values.push(value);
    }
}

/// Returns the first characters of a text.
fn cut(text: &str, most: usize) -> String {
    text.chars()
        .take(most)
        .collect::<String>()
        .trim_end()
        .to_owned()
}
