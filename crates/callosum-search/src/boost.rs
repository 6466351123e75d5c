//! [`Boost`]: the weight of a passage among others that have the same words.

use super::{query::Query, row::Row};

/// Weight of a passage of a test among others: a search for a thing wants it before its tests.
const OF_A_TEST: f64 = 0.6;

/// Weight of a passage of a license among others: it has words of every kind, and is hardly ever
/// meant.
const OF_A_LICENCE: f64 = 0.4;

/// The weights of passages for one query.
pub(super) struct Boost {
    /// Whether tests are asked for.
    wants_tests: bool,
    /// Whether licenses are asked for.
    wants_licences: bool,
}

impl Boost {
    pub(super) fn asked_for(ask: &Query) -> Self {
        let words = ask.words();
        Self {
            wants_tests: words.iter().any(|word| is_about_tests(word)),
            wants_licences: words.iter().any(|word| is_about_licences(word)),
        }
    }

    /// The share of what ranks give it that a passage keeps.
    pub(super) fn of(&self, row: &Row) -> f64 {
        if !self.wants_tests && is_of_a_test(row) {
            OF_A_TEST
        } else if !self.wants_licences && is_about_licences(&row.place) {
            OF_A_LICENCE
        } else {
            1.0
        }
    }
}

/// Whether a passage is what was typed, by its name as it is declared: `WalkBuilder`, or `Walk::next` and `walk.next` where
/// `Walk` contains it or `walk` is a part of its place.
pub(super) fn is_declared(typed: &str, row: &Row) -> bool {
    let mut names = typed
        .rsplit([':', '.', '#'])
        .filter(|name| !name.is_empty());
    let is_it = names.next().is_some_and(|name| name == row.name);
    is_it
        && names.next().is_none_or(|within| {
            row.container.as_deref() == Some(within)
                || row.place.split(['/', '.']).any(|part| part == within)
        })
}

/// Returns the sort key of a declaration of the typed name; the lowest comes first. Public declarations come before
/// private ones, tests last, and top-level declarations before members, unless the query names a container.
pub(super) fn precedence(ask: &Query, row: &Row) -> (bool, bool, bool) {
    let is_qualified = ask.typed.contains([':', '.', '#']);
    let is_test = !Boost::asked_for(ask).wants_tests && is_of_a_test(row);
    let is_member = !is_qualified && row.container.is_some();
    (is_test, !row.public, is_member)
}

/// Whether a passage is of a test: by its file, its container or its own name.
fn is_of_a_test(row: &Row) -> bool {
    let within = row.container.iter().map(String::as_str);
    let mut names = row.place.split('/').chain(within);
    names.any(is_about_tests) || row.name.starts_with("test_")
}

/// Whether a word, or a part of a path, is about tests.
fn is_about_tests(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default();
    matches!(
        stem,
        "test" | "tests" | "testing" | "spec" | "specs" | "__tests__" | "fixtures"
    ) || stem.starts_with("test_")
        || stem.ends_with("_test")
        || part.contains(".test.")
        || part.contains(".spec.")
}

/// Whether a word, or a file's path, is about a license.
fn is_about_licences(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    ["license", "licence", "copying", "copyright", "unlicense"]
        .iter()
        .any(|start| name.starts_with(start))
}
