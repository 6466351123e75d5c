//! From a place in a text to its line, and small readings that several manifests share.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::model::Manifest;

/// Offsets at which the lines of a text begin.
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            starts: std::iter::once(0)
                .chain(breaks.map(|(at, _)| at + 1))
                .collect(),
        }
    }

    /// The line, from 1, that holds this byte.
    pub(super) fn line_of(&self, offset: usize) -> u32 {
        self.starts.partition_point(|start| *start <= offset) as u32
    }
}

/// The lines of a text with their numbers, from 1.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (u32, &str)> {
    (1..).zip(text.lines())
}

/// Returns the tables of a TOML text; an invalid text stores the reason in the manifest.
pub(super) fn document<'i>(text: &'i str, manifest: &mut Manifest) -> Option<Spanned<DeTable<'i>>> {
    match DeTable::parse(text) {
        Ok(document) => Some(document),
        Err(error) => {
            manifest.unread = Some(error.message().to_owned());
            None
        }
    }
}

/// The value of a key, with the byte that the key begins at.
pub(super) fn entry<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<(usize, &'t DeValue<'i>)> {
    table
        .iter()
        .find(|(name, _)| name.get_ref() == key)
        .map(|(name, value)| (name.span().start, value.get_ref()))
}

/// The table below a path of keys.
pub(super) fn table<'t, 'i>(mut from: &'t DeTable<'i>, path: &[&str]) -> Option<&'t DeTable<'i>> {
    for key in path {
        from = entry(from, key)?.1.as_table()?;
    }
    Some(from)
}

/// The text in quotes (double or single) that begins `rest`, or comes first in it.
pub(super) fn first_quoted(rest: &str) -> Option<&str> {
    let open = rest.find(['"', '\''])?;
    let quote = rest[open..].chars().next()?;
    let inner = &rest[open + 1..];
    Some(&inner[..inner.find(quote)?])
}

/// Returns the words of an argument list that may span several lines: the text between the first
/// `(` after `from` and its `)`, with the byte at which each word begins. Comments (`#`) are
/// skipped.
pub(super) fn arguments(text: &str, from: usize) -> Vec<(usize, &str)> {
    let Some(open) = text[from..].find('(').map(|at| from + at + 1) else {
        return Vec::new();
    };
    let close = text[open..].find(')').map_or(text.len(), |at| open + at);
    let mut words = Vec::new();
    let mut at = open;
    for line in text[open..close].split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        let mut rest = code;
        while let Some(word) = rest.split_whitespace().next() {
            let begins = word.as_ptr() as usize - code.as_ptr() as usize;
            words.push((at + begins, word.trim_matches('"')));
            rest = &code[begins + word.len()..];
        }
        at += line.len();
    }
    words
}
