//! Diagnosis of a hashlog: its lines against those computed from the entries.
//!
//! Start with [`Compared`], which checks during the reading of a ledger whether its hashlog is
//! right, to the byte. Only if it is not, [`diagnose`] determines the change: a function of both
//! texts.

use std::collections::HashMap;

use callosum_host::DiskError;

use super::VerifyFinding;
use crate::{
    chain::HASHLOG,
    derived_files::Window,
    hashlog::{self, HashlogLine},
    inventory::StockFile,
    task_id::TaskId,
};
use callosum_json::Checksum;

/// A hashlog during the comparison with the entries of its ledger, one after the other.
pub(super) struct Compared<'a> {
    file: Window<&'a StockFile>,
    len: u64,
    /// Start of the next entry's line.
    at: u64,
    number: u64,
    head: Checksum,
    line: Vec<u8>,
    is_alike: bool,
}

impl<'a> Compared<'a> {
    /// One whose first line should follow this.
    pub(super) fn new(file: &'a StockFile, follows: Checksum) -> Self {
        Self {
            len: file.len(),
            file: Window::new(file),
            at: 0,
            number: 0,
            head: follows,
            line: Vec::new(),
            is_alike: true,
        }
    }

    /// Compares the next line with the next entry.
    pub(super) fn push(
        &mut self,
        offset: u64,
        entry: &[u8],
        checksum: Checksum,
    ) -> Result<(), DiskError> {
        if !self.is_alike {
            return Ok(());
        }
        self.number += 1;
        self.line.clear();
        let (number, head) = (self.number, self.head);
        self.head = hashlog::write_line(&mut self.line, number, offset, entry, checksum, head);
        self.is_alike = self.file.get(self.at, self.line.len())? == self.line;
        self.at += self.line.len() as u64;
        Ok(())
    }

    /// Whether it had the line of each entry, and no other.
    pub(super) fn is_right(&self) -> bool {
        self.is_alike && self.at == self.len
    }
}

/// The first wrong line of a hashlog.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Differing {
    pub(super) fault: VerifyFinding,
    /// The line's number, from 1.
    pub(super) number: u64,
    pub(super) task_id: Option<TaskId>,
    pub(super) detail: String,
}

/// Determines how a hashlog differs from the expected one; `None` if they are equal.
///
/// A line is identified by the checksum of its entry: it may have been renumbered and rehashed at
/// its new place.
pub(super) fn diagnose(expected: &[u8], found: &[u8]) -> Option<Differing> {
    let (should, has) = (lines(expected), lines(found));
    let longest = should.len().max(has.len());
    let at = (0..longest).find(|at| should.get(*at) != has.get(*at))?;
    let wanted = should.get(at).map(|line| ParsedLine::parse(line));
    let differing = |fault, of: Option<&ParsedLine<'_>>, detail: &str| {
        Some(Differing {
            fault,
            number: at as u64 + 1,
            task_id: of.and_then(ParsedLine::task_id),
            detail: detail.to_owned(),
        })
    };
    let Some(line) = has.get(at) else {
        let detail = format!("it has {at} lines for {} entries", should.len());
        return differing(VerifyFinding::Behind, wanted.as_ref(), &detail);
    };
    // Its unwritten part may be zeros.
    let zeros = line.iter().rev().take_while(|byte| **byte == 0).count();
    let written = &line[..line.len() - zeros];
    let is_cut = !line.ends_with(b"\n")
        && should
            .get(at)
            .is_some_and(|wanted| wanted.starts_with(written));
    if is_cut {
        return differing(
            VerifyFinding::Torn,
            wanted.as_ref(),
            "the line is incomplete",
        );
    }
    let places = |lines: &[&[u8]]| -> HashMap<Checksum, usize> {
        let from_last = lines.iter().enumerate().rev();
        from_last
            .filter_map(|(at, line)| Some((ParsedLine::parse(line).read?.checksum, at)))
            .collect()
    };
    let (places_wanted, places_here) = (places(&should), places(&has[at..]));
    let here = ParsedLine::parse(line);
    let place_wanted = here.entry().and_then(|entry| places_wanted.get(&entry));
    let of_here = Some(&here);
    let Some(wanted) = wanted else {
        return match place_wanted {
            Some(_) => differing(VerifyFinding::Duplicated, of_here, AGAIN),
            None => differing(VerifyFinding::Inserted, of_here, STRANGE),
        };
    };
    let comes_later = wanted
        .entry()
        .is_some_and(|entry| places_here.get(&entry).is_some_and(|later| *later > 0));
    match (place_wanted, comes_later) {
        (Some(place), _) if *place == at => {
            let detail = if here.hash.is_some() {
                "it does not match its entry, or does not follow the line before"
            } else {
                "its bytes do not match its hash"
            };
            differing(VerifyFinding::Edited, of_here, detail)
        }
        (Some(place), _) if *place < at => differing(VerifyFinding::Duplicated, of_here, AGAIN),
        (Some(_), true) => {
            let detail = format!("the line of entry {} is further down", at + 1);
            differing(VerifyFinding::Reordered, of_here, &detail)
        }
        (Some(_), false) => {
            let detail = format!("the line of entry {} is missing", at + 1);
            differing(VerifyFinding::Deleted, Some(&wanted), &detail)
        }
        (None, true) => differing(VerifyFinding::Inserted, of_here, STRANGE),
        (None, false) => {
            let is_known = |line: &&[u8]| {
                let entry = ParsedLine::parse(line).entry();
                entry.is_some_and(|entry| places_wanted.contains_key(&entry))
            };
            if has.len() > 1 && here.hash.is_some() && !has.iter().any(is_known) {
                let detail = "none of its lines belongs to any of the entries";
                return differing(VerifyFinding::Rewritten, of_here, detail);
            }
            if here.is_of_another_log(&wanted) {
                return differing(
                    VerifyFinding::Spliced,
                    of_here,
                    "it is a line of another hashlog",
                );
            }
            let detail = match (&here.read, here.hash) {
                (None, _) => {
                    return differing(VerifyFinding::Unreadable, None, "it is not a hashlog line");
                }
                (Some(_), None) => "its bytes do not match its hash",
                (Some(_), Some(_)) => "it does not match its entry",
            };
            differing(VerifyFinding::Edited, of_here, detail)
        }
    }
}

const AGAIN: &str = "duplicate line of this entry";
const STRANGE: &str = "it belongs to none of the entries";

/// The lines, each with its line feed.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// A line, as far as it can be read.
struct ParsedLine<'a> {
    read: Option<HashlogLine<'a>>,
    /// Its hash, if that is right.
    hash: Option<Checksum>,
}

impl<'a> ParsedLine<'a> {
    fn parse(line: &'a [u8]) -> Self {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Self {
            read: HashlogLine::read(line),
            hash: HASHLOG.check(line).ok(),
        }
    }

    fn task_id(&self) -> Option<TaskId> {
        self.read.as_ref()?.task_id.parse().ok()
    }

    /// The checksum of the entry that it is of.
    fn entry(&self) -> Option<Checksum> {
        self.read.as_ref().map(|read| read.checksum)
    }

    /// Whether it is right in itself and follows another line than the one in its place, or differs
    /// in more than one field: an editor of a line leaves the rest of it.
    fn is_of_another_log(&self, wanted: &Self) -> bool {
        let (Some(here), Some(wanted), Some(_)) = (&self.read, &wanted.read, self.hash) else {
            return false;
        };
        let others = [
            here.task_id != wanted.task_id,
            here.executor != wanted.executor,
            here.timestamp != wanted.timestamp,
            here.length != wanted.length,
            here.checksum != wanted.checksum,
        ];
        here.prev != wanted.prev || others.into_iter().filter(|other| *other).count() > 1
    }
}
