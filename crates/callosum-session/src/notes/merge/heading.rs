//! [`restored`]: puts back a heading that one side removed while the text below it is still there.
//!
//! Without `### Decision Log` no entry is read, and additions of the other side below it would have
//! no place. The text that is still in order below the previous heading shows its old position.

use crate::notes::document::{ACTIVE, CONTINUITY, IDENTIFIERS, LOG, Notes, QUESTIONS};

/// Returns the side with each heading of ours that it lacks and `base` has, inserted before the
/// first text that is below it in both, and messages about that. `None` if no heading is missing,
/// or nothing below it is left.
pub(super) fn restored(base: &[u8], side: &[u8]) -> Option<(Vec<u8>, Vec<String>)> {
    let base = Notes::read(base.to_vec());
    let mut side = Notes::read(side.to_vec());
    let mut messages = Vec::new();
    for title in [CONTINUITY, ACTIVE, IDENTIFIERS, LOG, QUESTIONS] {
        if side.outline.titled(title).next().is_some() {
            continue;
        }
        let Some(heading) = base.outline.titled(title).next() else {
            continue;
        };
        let is_in_place = |line: &usize| is_below_what_was_above(&base, heading, &side, *line);
        let Some(line) = first_below(&base, heading, &side).filter(is_in_place) else {
            continue;
        };
        let own = base.outline.headings[heading].line;
        let end = own + 1;
        let blank = (end..base.outline.lines.len()).take_while(|line| base.is_blank_line(*line));
        let text = base.line_start(own)..base.line_start(end + blank.count());
        let at = side.line_start(line);
        let text = String::from_utf8_lossy(&base.bytes[text]).into_owned();
        side = side.spliced(at..at, &text);
        messages.push(format!(
            "the heading `{title}` was restored above the entries that one side left below it"
        ));
    }
    (!messages.is_empty()).then_some((side.bytes, messages))
}

/// Returns the first line of the side that is below this heading in `base`: a heading, if headings
/// lie below it, or else a line that the side has once.
fn first_below(base: &Notes, heading: usize, side: &Notes) -> Option<usize> {
    let text = |notes: &Notes, line: usize| {
        let found = &notes.outline.lines[line];
        let text = notes.bytes[found.at.clone()].trim_ascii_end().to_vec();
        (found.is_text && !text.is_empty()).then_some(text)
    };
    let headings = &base.outline.headings;
    let body = base.outline.body(heading);
    let deeper = headings[heading + 1..].iter().map(|below| below.line);
    let deeper: Vec<usize> = deeper.take_while(|line| *line < body.end).collect();
    let lines = if deeper.is_empty() {
        body.collect()
    } else {
        deeper
    };
    let of_base: Vec<Vec<u8>> = lines
        .into_iter()
        .filter_map(|line| text(base, line))
        .collect();
    let all = 0..side.outline.lines.len();
    let mut there =
        all.filter(|line| text(side, *line).is_some_and(|text| of_base.contains(&text)));
    let first = there.next()?;
    let again = there.any(|line| text(side, line) == text(side, first));
    (!again).then_some(first)
}

/// Whether the line's section is one that comes before this heading in `base`.
fn is_below_what_was_above(base: &Notes, heading: usize, side: &Notes, line: usize) -> bool {
    let own = &base.outline.headings[heading];
    let above = side.outline.headings.iter().rev();
    let mut above = above.filter(|above| above.line < line && above.level <= own.level);
    above.next().is_none_or(|above| {
        let before = &base.outline.headings[..heading];
        before.iter().any(|known| known.title == above.title)
    })
}
