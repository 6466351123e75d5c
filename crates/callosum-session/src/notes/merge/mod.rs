//! [`merged`]: one document made of those of two branches, by their common base.
//!
//! Git's own result is used if it merges cleanly. If both changed the same lines, the document is
//! split into its elements: entries, rows, questions, fields, lines. What one side changed or
//! removed and the other left as it was takes effect; additions of both are kept; what both changed
//! differently is reported, and the preferred side is used.

mod heading;
mod three_way;
mod validate;

use self::{
    heading::restored,
    three_way::Merge,
    validate::{is_sound, is_true},
};
use super::{document::Notes, outline::whole_lines};
use crate::merge::{conflict_markers::lines, diff3::reduced};

/// Side that is used for values that both changed differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConflictSide {
    Ours,
    Theirs,
}

/// Result of a merge of both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MergeResult {
    pub(crate) bytes: Vec<u8>,
    /// Values that both sides changed differently.
    pub(crate) conflicts: Vec<String>,
    /// Values that exclude each other; no person was needed to choose one.
    pub(crate) notices: Vec<String>,
}

/// Merges both documents. Without a base, everything counts as added by both, and nothing is
/// removed. `None` if the result would not read as intended.
pub(crate) fn merged(
    base: Option<&[u8]>,
    ours: &[u8],
    theirs: &[u8],
    lean: ConflictSide,
) -> Option<MergeResult> {
    let is_crlf = [base.unwrap_or(ours), ours, theirs].map(|bytes| {
        let first = bytes.iter().position(|byte| *byte == b'\n');
        first.is_some_and(|first| bytes[..first].ends_with(b"\r"))
    });
    if is_crlf != [is_crlf[1]; 3] {
        let [was, ours, theirs] = [base.unwrap_or_default(), ours, theirs].map(with_lf);
        let mut made = merged(base.map(|_| &*was), &ours, &theirs, lean)?;
        if if is_crlf[1] == is_crlf[0] {
            is_crlf[2]
        } else {
            is_crlf[1]
        } {
            made.bytes = lines(&made.bytes)
                .into_iter()
                .flat_map(|line| match line.strip_suffix(b"\n") {
                    Some(line) => [line, b"\r\n"].concat(),
                    None => line.to_vec(),
                })
                .collect();
        }
        return Some(made);
    }
    let was = base.unwrap_or_default();
    let by_lines = base.and_then(|base| {
        let all = [base, ours, theirs].map(paragraphs);
        let (left, is_settled) = reduced(&all[0], &all[1], &all[2]);
        let [was, own, new] = left.map(|lines| lines.concat());
        let made = if is_settled {
            Some(MergeResult {
                bytes: own,
                ..MergeResult::default()
            })
        } else {
            by_pieces(&was, &own, &new, lean)
        };
        made.filter(|made| is_sound(made, base, ours, theirs) && is_true(made, base, ours, theirs))
    });
    let is_settled = |made: &MergeResult| made.conflicts.is_empty();
    if by_lines.as_ref().is_some_and(is_settled) {
        return by_lines;
    }
    let with_headings = [ours, theirs].map(|side| restored(was, side));
    let notices = with_headings
        .iter()
        .flatten()
        .flat_map(|(_, notices)| notices);
    let notices: Vec<String> = notices.cloned().collect();
    let [own, new] = [(&with_headings[0], ours), (&with_headings[1], theirs)]
        .map(|(restored, side)| restored.as_ref().map_or(side, |(bytes, _)| bytes));
    let of = |own: &[u8], new: &[u8]| {
        let made = by_pieces(was, own, new, lean);
        made.filter(|made| is_true(made, was, own, new))
    };
    let mut by_pieces = of(own, new).map(|mut made| {
        made.notices.extend(notices.iter().cloned());
        made
    });
    if by_pieces.is_none() && !notices.is_empty() {
        by_pieces = of(ours, theirs);
    }
    // A merge by lines alone may separate lines that belong together, and may report more conflicts
    // than needed.
    match (by_lines, by_pieces) {
        (Some(by_lines), Some(made)) => {
            let asks_less = made.conflicts.len() < by_lines.conflicts.len();
            let is_better = asks_less && is_sound(&made, was, own, new);
            Some(if is_better { made } else { by_lines })
        }
        (Some(by_lines), None) => Some(by_lines),
        (None, made) => made,
    }
}

/// Returns the lines, those of a comment or a code block as one, each with the blank ones after it:
/// additions after a blank line and before it are at one place.
fn paragraphs(bytes: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    let (mut start, mut end) = (0, 0);
    for line in whole_lines(bytes) {
        if end > start && !line.trim_ascii().is_empty() {
            all.push(&bytes[start..end]);
            start = end;
        }
        end += line.len();
    }
    all.push(&bytes[start..end]);
    all
}

fn with_lf(bytes: &[u8]) -> Vec<u8> {
    let lines = lines(bytes).into_iter();
    lines
        .flat_map(|line| match line.strip_suffix(b"\r\n") {
            Some(line) => [line, b"\n"].concat(),
            None => line.to_vec(),
        })
        .collect()
}

/// Merges both by their sections and the elements of each.
pub(crate) fn by_pieces(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    lean: ConflictSide,
) -> Option<MergeResult> {
    let read = |bytes: &[u8]| Notes::read(bytes.to_vec());
    let all = [base, ours, theirs].map(read);
    let eol = all[1].eol();
    let unclosed = all[1..].iter().map(|notes| notes.outline.unclosed.len());
    let unclosed = unclosed.max().unwrap_or(0);
    let sections = all.map(|notes| notes.sections());
    let mut merge = Merge::new(lean);
    let made = merge.sections([&sections[0], &sections[1], &sections[2]]);
    let wanted = made.iter().filter(|(section, _)| section.entry.is_some());
    let wanted = wanted.count();
    let mut bytes: Vec<u8> = Vec::new();
    let mut is_behind_entry = false;
    for (section, is_joined) in made {
        let is_entry = section.decision().is_some();
        let is_tight = is_joined && is_entry && is_behind_entry && !bytes.ends_with(b"\n\n");
        if is_tight && !bytes.ends_with(b"\r\n\r\n") {
            ended(&mut bytes, eol);
            bytes.extend_from_slice(eol.as_bytes());
        }
        for token in section.tokens {
            for text in [token.text, token.blanks] {
                if !text.is_empty() {
                    ended(&mut bytes, eol);
                    bytes.extend_from_slice(&text);
                }
            }
        }
        is_behind_entry = is_entry;
    }
    let there = read(&bytes);
    let is_open = there.outline.unclosed.len() > unclosed;
    let there = there.sections().into_iter();
    let there = there.filter(|section| section.entry.is_some()).count();
    (there == wanted && !is_open && !merge.is_unread).then_some(MergeResult {
        bytes,
        conflicts: merge.conflicts,
        notices: merge.notices,
    })
}

/// Ends a last line that has no end.
fn ended(bytes: &mut Vec<u8>, eol: &str) {
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.extend_from_slice(eol.as_bytes());
    }
}

#[cfg(test)]
mod tests;
