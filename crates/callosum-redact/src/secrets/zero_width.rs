//! Secrets that contain invisible characters: text copied out of a page may include them, and the
//! reader of the secret removes them again.

use std::ops::Range;

use super::{find_as_written, kind::Kind};
use crate::terminal_escape::is_unseen;

/// Returns the positions of secrets in a text, read without invisible characters, which belong to
/// the match.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut seen = String::with_capacity(text.len());
    // The position of each visible byte.
    let mut places = Vec::with_capacity(text.len());
    for (at, character) in text.char_indices().filter(|(_, c)| !is_unseen(*c)) {
        seen.push(character);
        places.extend(at..at + character.len_utf8());
    }
    let found = find_as_written(&seen).into_iter();
    let found = found.filter(|(at, _)| !at.is_empty());
    let found = found.map(|(at, kind)| (places[at.start]..places[at.end - 1] + 1, kind));
    found.collect()
}
