//! Secrets with characters in them that nobody sees: who copies them out of a page takes those along, and who reads them
//! takes them out again.

use std::ops::Range;

use super::{find_as_written, kind::Kind};
use crate::terminal_escape::is_unseen;

/// Where secrets stand in a text, read without what nobody sees; that goes with them.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut seen = String::with_capacity(text.len());
    // Of each byte that is seen, where it stands.
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
