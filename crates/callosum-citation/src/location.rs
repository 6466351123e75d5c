//! [`Location`]: the text between brackets, a path and its lines, in each written form.

use std::ops::Range;

/// Optional prefix of a path that starts at the root.
const ROOT_PREFIX: &str = "${PROJECT_ROOT}/";

/// Separators of places in one pair of brackets.
const SEPARATORS: [&str; 3] = [",", ";", " and "];

/// One place between brackets.
pub(super) struct Location<'t> {
    pub(super) path: &'t str,
    pub(super) first_line: u32,
    pub(super) last_line: u32,
    pub(super) at: Range<usize>,
}

impl<'t> Location<'t> {
    /// Parses `path:lines`, and `path#L4` and `path, line 4` as models write it; a column may
    /// follow the line, as compilers write it.
    pub(super) fn read(text: &'t str, at: Range<usize>) -> Option<Self> {
        let whole = &text[at.clone()];
        let (path, (first_line, last_line)) = with_columns(whole)
            .or_else(|| {
                let (path, last) = whole.rsplit_once(':')?;
                Some((path, lines(last)?))
            })
            .or_else(|| {
                let (path, last) = whole.rsplit_once('#')?;
                Some((path, lines(last.starts_with('L').then_some(last)?)?))
            })
            .or_else(|| {
                let (path, last) = whole.rsplit_once(" line")?;
                let last = last.strip_prefix('s').unwrap_or(last);
                Some((path.trim_end_matches(','), lines(last.strip_prefix(' ')?)?))
            })?;
        let path = path.strip_prefix(ROOT_PREFIX).unwrap_or(path);
        (!path.is_empty()).then_some(Self {
            path,
            first_line,
            last_line,
            at,
        })
    }

    pub(super) fn speaks_for_itself(&self) -> bool {
        self.path.contains(['/', '.'])
            && !self.path.contains(char::is_whitespace)
            && !self.path.contains("://")
            && self
                .path
                .contains(|c: char| !c.is_ascii_digit() && c != '.')
    }
}

/// Returns the places of brackets that hold several; empty if any part could be something else.
pub(super) fn several(text: &str, inner: Range<usize>) -> Option<Vec<Location<'_>>> {
    let mut places: Vec<Location<'_>> = Vec::new();
    for at in parts(text, inner) {
        let place = match (Location::read(text, at.clone()), places.last()) {
            (Some(place), _) if place.speaks_for_itself() => place,
            (None, Some(before)) => {
                let (first_line, last_line) = lines(&text[at.clone()])?;
                Location {
                    path: before.path,
                    first_line,
                    last_line,
                    at,
                }
            }
            _ => return None,
        };
        places.push(place);
    }
    (places.len() > 1).then_some(places)
}

/// Returns the parts between separators, without the blanks around them.
fn parts(text: &str, inner: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut rest = inner;
    loop {
        let words = &text[rest.clone()];
        let places = SEPARATORS.iter();
        let next = places.filter_map(|separator| Some((words.find(separator)?, separator.len())));
        let (end, skipped) = next.min().unwrap_or((words.len(), 0));
        let part = &words[..end];
        let start = rest.start + part.len() - part.trim_start().len();
        parts.push(start..start + part.trim().len());
        if skipped == 0 {
            return parts;
        }
        rest.start += end + skipped;
    }
}

/// `3`, `3-5`, or with a dash that is longer; with an `L` before each number, or without.
fn lines(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once(['-', '–']).unwrap_or((text, text));
    let number = |text: &str| line_number(text.strip_prefix('L').unwrap_or(text));
    Some((number(first)?, number(last)?))
}

/// Returns the path and the lines of `path:11:5`, `path:11:5-9` and `path:11:5-12:9`.
fn with_columns(text: &str) -> Option<(&str, (u32, u32))> {
    let (before, last) = text.rsplit_once(':')?;
    let (path, middle) = before.rsplit_once(':')?;
    if let Some(line) = line_number(middle) {
        lines(last)?;
        return Some((path, (line, line)));
    }
    let (column, last_line) = middle.split_once('-')?;
    let (path, first_line) = path.rsplit_once(':')?;
    line_number(column).and(line_number(last))?;
    Some((path, (line_number(first_line)?, line_number(last_line)?)))
}

/// A number too large for any file is a line that is not there, not a reason to see no citation.
fn line_number(digits: &str) -> Option<u32> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u32::MAX))
}
