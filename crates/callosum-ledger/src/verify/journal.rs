//! The journal's chain, and its entries against the bytes of the ledger file.

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};

use super::{Fault, Problem, Stock};
use crate::{
    chain::ChainFault,
    checksum::Checksum,
    journal::{Begins, DayFile, Record, RecordFault},
    lines::Lines,
    paths::LedgerPaths,
    position::Begun,
};

pub(super) struct JournalCheck {
    pub(super) records: u64,
    /// Entries that the active ledger should have.
    pub(super) entries: u64,
    /// Whether the ledger file has these entries where they should be.
    pub(super) is_like_ledger: bool,
    pub(super) problem: Option<Problem>,
}

struct Walk<'a> {
    heads: Vec<Checksum>,
    entries: u64,
    ledger: Option<Window<'a>>,
    ledger_at: u64,
    begun: Option<Begun>,
    is_like_ledger: bool,
}

/// Walks the chain to its end or to the first record that is wrong.
pub(super) fn check(
    disk: &Disk,
    paths: &LedgerPaths,
    stock: &Stock,
) -> Result<JournalCheck, DiskError> {
    let ledger = disk.open_if_there(&paths.ledger, OpenHow::READ)?;
    let mut walk = Walk {
        heads: Vec::new(),
        entries: 0,
        ledger: ledger.as_ref().map(Window::new),
        ledger_at: 0,
        begun: None,
        is_like_ledger: true,
    };
    for (index, (day, len)) in stock.days.iter().enumerate() {
        let is_last = index + 1 == stock.days.len();
        let problem = walk.day(disk, day, *len, is_last)?;
        if problem.is_some() {
            return Ok(walk.done(problem));
        }
    }
    if walk.begun.is_none() && stock.ledger.is_some() {
        let problem = Problem {
            path: paths.audit.clone(),
            fault: Fault::Missing,
            number: 0,
            task_id: None,
            detail: "no record tells that the ledger was begun".to_owned(),
        };
        return Ok(walk.done(Some(problem)));
    }
    // The tail is overwritten by the next append: it was taken while nobody wrote.
    if let Some(begun) = &walk.begun {
        let end = walk.ledger_at + begun.tail.len() as u64;
        walk.is_like_ledger &=
            stock.ledger == Some(end) && stock.ledger_end.ends_with(begun.tail.as_bytes());
    }
    Ok(walk.done(None))
}

impl Walk<'_> {
    fn done(self, problem: Option<Problem>) -> JournalCheck {
        JournalCheck {
            records: self.heads.len() as u64,
            entries: self.entries,
            is_like_ledger: self.is_like_ledger,
            problem,
        }
    }

    fn day(
        &mut self,
        disk: &Disk,
        day: &DayFile,
        len: u64,
        is_last: bool,
    ) -> Result<Option<Problem>, DiskError> {
        let file = disk.open(&day.path, OpenHow::READ)?;
        let mut lines = Lines::new(&file, 0, len);
        while let Some(line) = lines.next()? {
            let end = line.end();
            let record = match Record::read(line.bytes) {
                Ok(record) if line.is_whole => record,
                Ok(_) => return Ok(Some(self.problem(day, Fault::Torn, "it is not finished"))),
                Err(fault) => {
                    let is_end = is_last && end == len;
                    return Ok(Some(self.bad_line(day, &fault, is_end && !line.is_whole)));
                }
            };
            if let Some((fault, detail)) = self.misplaced(&record) {
                let fault = match fault {
                    Fault::Missing if comes_later(&mut lines, self.next_seq())? => Fault::Reordered,
                    fault => fault,
                };
                return Ok(Some(self.problem(day, fault, &detail)));
            }
            self.heads.push(record.hash);
            if let Err(detail) = self.follow(&record)? {
                return Ok(Some(self.problem(day, Fault::Unreadable, &detail)));
            }
        }
        Ok(None)
    }

    fn next_seq(&self) -> u64 {
        self.heads.len() as u64 + 1
    }

    /// Why a record that is right in itself is not the next one.
    fn misplaced(&self, record: &Record<'_>) -> Option<(Fault, String)> {
        let expected = self.next_seq();
        let head = self.heads.last().copied().unwrap_or(Checksum::ZERO);
        if record.head.seq > expected {
            let last = record.head.seq - 1;
            return Some((
                Fault::Missing,
                format!("records {expected} to {last} are not where they should be"),
            ));
        }
        if record.head.seq < expected {
            let earlier = (record.head.seq as usize).checked_sub(1);
            let is_same = earlier.is_some_and(|index| self.heads[index] == record.hash);
            return Some(if is_same {
                (
                    Fault::Duplicated,
                    format!("record {} is here again", record.head.seq),
                )
            } else {
                (
                    Fault::Inserted,
                    format!("another record {} is here", record.head.seq),
                )
            });
        }
        (record.prev != head).then(|| {
            let detail = "it does not follow from the record before, but from another";
            (Fault::Inserted, detail.to_owned())
        })
    }

    /// Holds what a record says of the ledger against the file.
    fn follow(&mut self, record: &Record<'_>) -> Result<Result<(), String>, DiskError> {
        match record.begins() {
            Ok(None) => {}
            Ok(Some(Begins { begun, .. })) => {
                self.entries = 0;
                self.is_like_ledger = self.is_at(0, begun.head.as_bytes())?;
                self.ledger_at = begun.head.len() as u64;
                self.begun = Some(begun);
            }
            Err(detail) => return Ok(Err(detail)),
        }
        if !record.stores() {
            return Ok(Ok(()));
        }
        let Some(entry) = record.entry else {
            return Ok(Err("it stores an entry and carries none".to_owned()));
        };
        let lead: &[u8] = if self.entries > 0 {
            b",\n    "
        } else {
            b"\n    "
        };
        let entry = entry.as_bytes();
        let at = self.ledger_at;
        self.is_like_ledger = self.is_like_ledger
            && self.is_at(at, lead)?
            && self.is_at(at + lead.len() as u64, entry)?;
        self.ledger_at += (lead.len() + entry.len()) as u64;
        self.entries += 1;
        Ok(Ok(()))
    }

    fn is_at(&mut self, offset: u64, bytes: &[u8]) -> Result<bool, DiskError> {
        match &mut self.ledger {
            Some(ledger) => Ok(ledger.get(offset, bytes.len())? == bytes),
            None => Ok(false),
        }
    }

    fn bad_line(&self, day: &DayFile, fault: &RecordFault, is_torn: bool) -> Problem {
        let kind = match fault {
            _ if is_torn => Fault::Torn,
            RecordFault::Chain(ChainFault::Edited { .. } | ChainFault::NotChained) => Fault::Edited,
            RecordFault::Fields(_) | RecordFault::Prev => Fault::Unreadable,
        };
        self.problem(day, kind, &fault.to_string())
    }

    fn problem(&self, day: &DayFile, fault: Fault, detail: &str) -> Problem {
        Problem {
            path: day.path.clone(),
            fault,
            number: self.next_seq(),
            task_id: None,
            detail: detail.to_owned(),
        }
    }
}

fn comes_later(lines: &mut Lines<'_>, seq: u64) -> Result<bool, DiskError> {
    while let Some(line) = lines.next()? {
        if Record::read(line.bytes).is_ok_and(|record| record.head.seq == seq) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A part of a file in memory, which moves on as later parts are asked for.
struct Window<'f> {
    file: &'f DiskFile,
    from: u64,
    bytes: Vec<u8>,
    filled: usize,
}

impl<'f> Window<'f> {
    const SIZE: usize = 256 * 1024;

    fn new(file: &'f DiskFile) -> Self {
        Self {
            file,
            from: 0,
            bytes: vec![0; Self::SIZE],
            filled: 0,
        }
    }

    /// The bytes at an offset; fewer where the file ends.
    fn get(&mut self, offset: u64, len: usize) -> Result<&[u8], DiskError> {
        let is_inside =
            offset >= self.from && offset + len as u64 <= self.from + self.filled as u64;
        if !is_inside {
            if self.bytes.len() < len {
                self.bytes.resize(len, 0);
            }
            self.from = offset;
            self.filled = self.file.read_at(&mut self.bytes, offset)?;
        }
        let at = (offset - self.from) as usize;
        Ok(&self.bytes[at.min(self.filled)..(at + len).min(self.filled)])
    }
}
