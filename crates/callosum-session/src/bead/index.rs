//! Index of the bead files, so that a folder of ten thousand need not be parsed for every query.
//!
//! Derived and disposable. A row counts only while its file has the recorded size, mtime and inode
//! number. A file that changed within the last two seconds is not indexed: it could change again
//! without a difference in any of them.

use std::{collections::HashMap, fmt::Write as _, time::UNIX_EPOCH};

use callosum_host::disk::FileStat;
use jiff::Timestamp;

use super::{document::Sheet, lint::faults, view::Bead};
use crate::timestamp::in_order;

/// The first line of the index; another version is not read.
const HEAD: &str = "callosum-beads/4";

/// Nanoseconds within which a file may change twice and look the same.
const TOO_FRESH: i128 = 2_000_000_000;

/// Fields of a bead that queries over all beads need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its id, from its file's name.
    pub id: String,
    /// Task to do.
    pub title: String,
    /// Its status.
    pub status: String,
    /// 0 comes first.
    pub priority: i64,
    /// When it was made, as written.
    pub created: String,
    /// Beads that must be closed first.
    pub needs: Vec<String>,
    /// Whether something in words keeps it back.
    pub is_blocked: bool,
    /// Time of the newest of its decisions, as written; empty if there is none.
    pub decided: String,
    /// Time of the last hand-off in it, as written; empty if there was none.
    pub ended: String,
    /// Whether there are decisions in it that do not count.
    pub has_uncounted: bool,
    /// Whether something in it is not understood.
    pub is_odd: bool,
}

impl Row {
    /// Returns the row of a bead whose file has this id.
    pub(super) fn of(id: &str, sheet: &Sheet) -> Self {
        let bead = Bead::of(sheet.members());
        Self {
            id: id.to_owned(),
            title: bead.title.clone(),
            status: bead.status.clone(),
            priority: bead.priority,
            created: bead.created.clone(),
            needs: bead.needs.clone(),
            is_blocked: !bead.blockers.is_empty(),
            decided: newest(bead.decisions.iter().map(|made| &made.ts)),
            ended: newest(bead.handoffs.iter()),
            has_uncounted: !bead.uncounted.is_empty(),
            is_odd: !faults(id, sheet).is_empty(),
        }
    }

    /// Returns the bead as far as the row knows it.
    pub(super) fn bead(&self) -> Bead {
        Bead {
            id: self.id.clone(),
            title: self.title.clone(),
            status: self.status.clone(),
            priority: self.priority,
            created: self.created.clone(),
            needs: self.needs.clone(),
            ..Bead::default()
        }
    }
}

/// Returns the last of some times.
fn newest<'t>(times: impl Iterator<Item = &'t String>) -> String {
    let last = times.max_by(|a, b| in_order(a).cmp(in_order(b)));
    last.cloned().unwrap_or_default()
}

/// Metadata that changes when the file's content does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    len: u64,
    modified: i128,
    inode: u64,
}

impl Mark {
    pub(crate) fn of(stat: &FileStat) -> Self {
        let since = stat.modified.duration_since(UNIX_EPOCH);
        Self {
            len: stat.len,
            modified: since.map_or(-1, |since| i128::try_from(since.as_nanos()).unwrap_or(-1)),
            inode: stat.id.map_or(0, |id| id.inode),
        }
    }

    /// It on one line.
    pub(crate) fn line(&self) -> String {
        let Self {
            len,
            modified,
            inode,
        } = self;
        format!("{len} {modified} {inode}\n")
    }

    /// Whether the file could change again and keep this mark.
    fn is_fresh(&self, now: Timestamp) -> bool {
        self.modified < 0 || now.as_nanosecond() - self.modified < TOO_FRESH
    }
}

/// The rows of a folder, by id.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pub(super) rows: HashMap<String, (Mark, Row)>,
}

impl Index {
    /// Parses an index and skips anything malformed.
    pub(super) fn read(text: &str) -> Self {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Self::default();
        }
        let rows = lines
            .filter_map(row)
            .map(|(mark, row)| (row.id.clone(), (mark, row)));
        Self {
            rows: rows.collect(),
        }
    }

    /// Returns the index as it is stored, without rows whose files changed just now.
    pub(super) fn written<'r>(
        rows: impl Iterator<Item = &'r (Mark, Row)>,
        now: Timestamp,
    ) -> String {
        let mut text = format!("{HEAD}\n");
        for (mark, row) in rows.filter(|(mark, _)| !mark.is_fresh(now)) {
            let Mark {
                len,
                modified,
                inode,
            } = mark;
            let _ = writeln!(
                text,
                "{}\t{len}\t{modified}\t{inode}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                row.id,
                row.priority,
                u8::from(row.is_blocked),
                escaped(&row.status),
                escaped(&row.created),
                escaped(&row.title),
                escaped(&row.needs.join(" ")),
                escaped(&row.decided),
                escaped(&row.ended),
                u8::from(row.has_uncounted),
                u8::from(row.is_odd),
            );
        }
        text
    }
}

fn row(line: &str) -> Option<(Mark, Row)> {
    let mut cells = line.split('\t');
    let mut next = || cells.next();
    let id = next()?.to_owned();
    let mark = Mark {
        len: next()?.parse().ok()?,
        modified: next()?.parse().ok()?,
        inode: next()?.parse().ok()?,
    };
    let row = Row {
        id,
        priority: next()?.parse().ok()?,
        is_blocked: next()? == "1",
        status: unescaped(next()?),
        created: unescaped(next()?),
        title: unescaped(next()?),
        needs: unescaped(next()?)
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        decided: unescaped(next()?),
        ended: unescaped(next()?),
        has_uncounted: next()? == "1",
        is_odd: next()? == "1",
    };
    Some((mark, row))
}

fn escaped(text: &str) -> String {
    if !text.contains(['\\', '\t', '\n', '\r']) {
        return text.to_owned();
    }
    text.replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_row_is_read_as_it_was_written(title in any::<String>(), status in "[a-z\t\n\\\\]{0,9}", age in 0_i128..5_000_000_000) {
            let now = Timestamp::UNIX_EPOCH + jiff::Span::new().hours(9);
            let mark = Mark { len: 7, modified: now.as_nanosecond() - age, inode: 3 };
            let row = Row { id: "bd-1".to_owned(), title, status, needs: vec!["bd-2".to_owned()],
                decided: "2026-01-02".to_owned(), has_uncounted: true, is_odd: true, ..Row::default() };
            let text = Index::written([(mark, row.clone())].iter(), now);
            let read = Index::read(&text);
            let expected = (age >= TOO_FRESH).then_some((mark, row));
            prop_assert_eq!(read.rows.get("bd-1"), expected.as_ref());
        }
    }
}
