//! Prints hits.

use std::fmt::Write as _;

use callosum_redact::quote;
use callosum_redact::terminal_escape::on_one_line;
use callosum_search::{Query, SearchHit, TREE};

use crate::find::FoundOutput;

/// Number of lines that are shown of a passage, unless it is shown as a whole.
const SHOWN_LINES: usize = 3;

/// Characters of a line that are shown at most.
const SHOWN_WIDTH: usize = 160;

/// Returns a passage as text for an agent: where it is, what it is, and its lines as a quote.
pub fn passage(found: &SearchHit, ask: &Query, whole: bool) -> String {
    let title = match title(found) {
        title if title.is_empty() => title,
        title => format!(" {}", quote::inline(&title)),
    };
    let head = format!("{}  {}{title}", quote::neutral(&place(found)), found.kind);
    format!("{head}\n{}", quote::lines(&lines(found, ask, whole)))
}

/// The lines of a passage, each with its number: all, or the most telling ones.
pub fn lines(found: &SearchHit, ask: &Query, whole: bool) -> String {
    if !whole {
        return telling_lines(found, ask);
    }
    let mut all = String::new();
    for (line, number) in found.text.lines().zip(found.first..) {
        let _ = writeln!(all, "{number:>6}  {line}");
    }
    all
}

/// Returns the place of a hit in the form of a citation; outside the tree, with its collection
/// before it.
pub fn place(found: &SearchHit) -> String {
    let place = on_one_line(&found.place);
    if found.collection != TREE {
        return format!("{} {place}", found.collection);
    }
    if found.first == found.last {
        return format!("{place}:{}", found.first);
    }
    format!("{place}:{}-{}", found.first, found.last)
}

/// Returns the line above a passage.
pub fn title(found: &SearchHit) -> String {
    let shorten = |text: &str| -> String { on_one_line(text).chars().take(80).collect() };
    match &found.container {
        Some(container) if !found.name.is_empty() => {
            format!("{} in {}", shorten(&found.name), shorten(container))
        }
        _ => shorten(&found.name),
    }
}

/// The lines that have most of what was asked for, in their order.
fn telling_lines(found: &SearchHit, ask: &Query) -> String {
    let words: Vec<&str> = ask
        .units
        .iter()
        .flat_map(|unit| [&unit.whole].into_iter().chain(&unit.parts))
        .map(String::as_str)
        .collect();
    let points = |line: &str| {
        let line = line.to_lowercase();
        words.iter().filter(|word| line.contains(**word)).count()
    };
    let lines = found.text.lines().zip(found.first..);
    let mut lines: Vec<(usize, u32, &str)> = lines
        .filter(|(line, _)| !line.trim().is_empty())
        .map(|(line, number)| (points(line), number, line))
        .collect();
    lines.sort_by_key(|(points, number, _)| (std::cmp::Reverse(*points), *number));
    lines.truncate(SHOWN_LINES);
    lines.sort_by_key(|(_, number, _)| *number);
    let mut all = String::new();
    for (_, number, line) in lines {
        let line: String = line.chars().take(SHOWN_WIDTH).collect();
        let _ = writeln!(all, "{number:>6}  {line}");
    }
    all
}

impl From<SearchHit> for FoundOutput {
    fn from(found: SearchHit) -> Self {
        Self {
            collection: found.collection,
            path: found.place,
            first_line: found.first,
            last_line: found.last,
            kind: found.kind,
            name: found.name,
            container: found.container,
            score: found.score,
            text: found.text,
        }
    }
}
