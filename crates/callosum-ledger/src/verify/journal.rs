//! The journal's chain, and its entries against the bytes of the ledger file.

use std::{collections::HashSet, path::PathBuf};

use callosum_host::{Disk, DiskError, OpenHow};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Problem, VerifyFinding,
    chain::{self, ChainContext, Link},
    checkpoint_check::{Recorded, Signed},
};
use crate::{
    chain::ChainFault,
    derived_files::Window,
    entry::checksum_at_head,
    event::Event,
    hashlog::HashlogLine,
    inventory::{FileInventory, StockFile},
    journal::{Archived, Begins, DayFile, Record, RecordFault, day_of},
    lines::{Line, Lines},
    paths::LedgerPaths,
    position::{Begun, Position},
    task_id::TaskId,
    watermark,
};
use callosum_json::Checksum;

pub(super) struct JournalCheck {
    pub(super) records: u64,
    /// Entries that the active ledger should have.
    pub(super) entries: u64,
    /// Whether the ledger file has these entries where they should be.
    pub(super) is_like_ledger: bool,
    /// Number of the record that stores each of them.
    pub(super) recorded_by: Vec<u64>,
    /// Checkpoints that it records.
    pub(super) recorded: Vec<Recorded>,
    /// Its files, and the number of each one's first record.
    pub(super) files: Vec<(PathBuf, u64)>,
    /// Hash that the active hashlog's first line follows.
    pub(super) hashlog_from: Checksum,
    /// Whether a recovery began the active ledger.
    pub(super) recovered: bool,
    /// The ledgers that were archived, in order.
    pub(super) archives: Vec<ArchivedCheck>,
    pub(super) problem: Option<Problem>,
    /// Faults that do not break the chain: a task that has two entries, a watermark that disagrees.
    pub(super) other_problems: Vec<Problem>,
}

/// The journal's statement about an archive.
pub(super) struct ArchivedCheck {
    pub(super) archived: Archived,
    /// Checksums of its entries, in order; `None` if it is older than the journal.
    pub(super) checksums: Option<Vec<Checksum>>,
}

struct Walk<'a> {
    heads: Vec<Checksum>,
    entries: u64,
    ledger: Option<Window<&'a StockFile>>,
    ledger_at: u64,
    begun: Option<Begun>,
    is_like_ledger: bool,
    recorded_by: Vec<u64>,
    recorded: Vec<Recorded>,
    files: Vec<(PathBuf, u64)>,
    hashlog_from: Checksum,
    recovered: bool,
    /// The checksums of the entries since the ledger was begun.
    checksums: Vec<Checksum>,
    archives: Vec<ArchivedCheck>,
    /// The highest id that was given out, and the day file that is read.
    ids: Position,
    tasks: Tasks,
    mark: Option<Position>,
    other_problems: Vec<Problem>,
}

/// The tasks that have an entry, by a hash of their ids.
#[derive(Default)]
struct Tasks {
    active: HashSet<u128>,
    archived: HashSet<u128>,
}

impl Tasks {
    /// Whether a task has no entry yet; it has one from now on.
    fn take(&mut self, id: &str) -> bool {
        let mut key = [0; 16];
        key.copy_from_slice(&Checksum::of(id.as_bytes()).as_bytes()[..16]);
        let key = u128::from_le_bytes(key);
        !self.archived.contains(&key) && self.active.insert(key)
    }

    /// Another ledger is begun; what the one before held is archived, or replaced.
    fn begin(&mut self, is_archived: bool) {
        let before = std::mem::take(&mut self.active);
        if is_archived {
            self.archived.extend(before);
        }
    }
}

/// Walks the chain to its end or to the first record that is wrong.
pub(super) fn check(
    disk: &Disk,
    paths: &LedgerPaths,
    stock: &FileInventory,
) -> Result<JournalCheck, DiskError> {
    let mut walk = Walk {
        heads: Vec::new(),
        entries: 0,
        ledger: stock.ledger.as_ref().map(Window::new),
        ledger_at: 0,
        begun: None,
        is_like_ledger: true,
        recorded_by: Vec::new(),
        recorded: Vec::new(),
        files: Vec::new(),
        hashlog_from: Checksum::ZERO,
        recovered: false,
        checksums: Vec::new(),
        archives: Vec::new(),
        ids: Position::start(),
        tasks: Tasks::default(),
        mark: watermark::stated(disk, paths)?,
        other_problems: Vec::new(),
    };
    for (index, (day, len)) in stock.days.iter().enumerate() {
        let is_last = index + 1 == stock.days.len();
        let problem = walk.day(disk, paths, day, *len, is_last)?;
        if problem.is_some() {
            return Ok(walk.done(problem));
        }
    }
    if walk.begun.is_none() && stock.ledger.is_some() {
        let problem = Problem {
            path: paths.audit.clone(),
            fault: VerifyFinding::Missing,
            number: 0,
            task_id: None,
            detail: "no record shows that the ledger was started".to_owned(),
        };
        return Ok(walk.done(Some(problem)));
    }
    // The next append overwrites the tail, which was read while no process wrote.
    if let Some(begun) = &walk.begun {
        let end = walk.ledger_at + begun.tail.len() as u64;
        let tail = begun.tail.as_bytes();
        let ledger = stock.ledger.as_ref();
        walk.is_like_ledger &=
            ledger.is_some_and(|ledger| ledger.len() == end && ledger.end().ends_with(tail));
    }
    Ok(walk.done(None))
}

impl Walk<'_> {
    fn done(self, problem: Option<Problem>) -> JournalCheck {
        JournalCheck {
            records: self.heads.len() as u64,
            entries: self.entries,
            is_like_ledger: self.is_like_ledger,
            recorded_by: self.recorded_by,
            recorded: self.recorded,
            files: self.files,
            hashlog_from: self.hashlog_from,
            recovered: self.recovered,
            archives: self.archives,
            problem,
            other_problems: self.other_problems,
        }
    }

    fn day(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        day: &DayFile,
        len: u64,
        is_last: bool,
    ) -> Result<Option<Problem>, DiskError> {
        self.files.push((day.path.clone(), self.next_seq()));
        self.ids.day = Some(day.day);
        let file = disk.open(&day.path, OpenHow::READ)?;
        let mut lines = Lines::new(&file, 0, len);
        while let Some(line) = lines.next()? {
            let end = line.end();
            let record = match Record::read(line.bytes) {
                Ok(record) if line.is_whole => record,
                Ok(_) => {
                    return Ok(Some(self.problem(
                        day,
                        VerifyFinding::Torn,
                        "it is incomplete",
                    )));
                }
                Err(fault) => {
                    let is_end = is_last && end == len;
                    return Ok(Some(self.bad_line(day, &fault, is_end && !line.is_whole)));
                }
            };
            let head = self.heads.last().copied().unwrap_or(Checksum::ZERO);
            if record.head.seq != self.next_seq() || record.prev != head {
                let detail = "it is not the next record";
                return Ok(Some(self.problem(day, VerifyFinding::Inserted, detail)));
            }
            self.heads.push(record.hash);
            self.recorded.extend(recorded(&record));
            if let Err(detail) = self.follow(&record)? {
                return Ok(Some(self.problem(day, VerifyFinding::Unreadable, &detail)));
            }
            self.note_task(day, &record);
            self.note_day(day, &record);
            let mark = self.mark.take_if(|mark| mark.seq == record.head.seq);
            if mark.is_some_and(|mark| !self.bears_out(&mark, end)) {
                self.other_problems.push(Problem {
                    path: paths.watermark(),
                    fault: VerifyFinding::Edited,
                    number: 0,
                    task_id: None,
                    detail: format!(
                        "it disagrees with the audit journal up to record {}; you may delete it, \
                         and it is rebuilt",
                        record.head.seq
                    ),
                });
            }
        }
        Ok(None)
    }

    /// Keeps in mind whose record it is, and names a task that has a second entry.
    fn note_task(&mut self, day: &DayFile, record: &Record<'_>) {
        let Some(id) = record.head.task_id.as_deref() else {
            return;
        };
        let task_id: Option<TaskId> = id.parse().ok();
        if let Some(task_id) = &task_id {
            self.ids.note_id(task_id);
        }
        if record.stores() && !self.tasks.take(id) {
            self.other_problems.push(Problem {
                path: day.path.clone(),
                fault: VerifyFinding::Duplicated,
                number: record.head.seq,
                task_id,
                detail: "it stores an entry of a task that already has one".to_owned(),
            });
        }
    }

    /// Names a file whose name was changed to an earlier day's. One that waited outside of the
    /// journal may be of a clock that was wrong.
    fn note_day(&mut self, day: &DayFile, record: &Record<'_>) {
        let has_waited = || {
            let details = record.head.details.as_deref().map_or("", RawValue::get);
            details.contains("\"buffered\"")
        };
        let is_named = |problem: &Problem| problem.path == day.path && problem.number == 0;
        // The record that ends a file is of the day that begins.
        if day_of(record.head.timestamp) > day.day
            && record.head.event != Event::DayEnd.as_str()
            && !self.other_problems.iter().any(is_named)
            && !has_waited()
        {
            self.other_problems.push(Problem {
                path: day.path.clone(),
                fault: VerifyFinding::Edited,
                number: 0,
                task_id: None,
                detail: format!(
                    "record {} in it is of a later day: the file was renamed",
                    record.head.seq
                ),
            });
        }
    }

    /// Whether a position agrees with the journal up to the record that ends at `end`.
    fn bears_out(&self, mark: &Position, end: u64) -> bool {
        let Some(view) = &mark.view else {
            return self.begun.is_none();
        };
        let archives = self.archives.iter().map(|listed| &listed.archived);
        (mark.day, mark.offset, Some(mark.head)) == (self.ids.day, end, self.heads.last().copied())
            && mark.last_id == self.ids.last_id
            && mark.archives.iter().eq(archives)
            && Some(&view.begun) == self.begun.as_ref()
            && (view.follows, view.entries) == (self.hashlog_from, self.entries)
            && view.ledger_end == self.ledger_at
    }

    fn next_seq(&self) -> u64 {
        self.heads.len() as u64 + 1
    }

    /// Compares a record's statement about the ledger with the file.
    fn follow(&mut self, record: &Record<'_>) -> Result<Result<(), String>, DiskError> {
        match record.begins() {
            Ok(None) => {}
            Ok(Some(Begins {
                begun,
                hashlog,
                archived,
                adopted,
                last_id,
                is_recovery,
                ..
            })) => {
                self.recovered = is_recovery;
                self.tasks.begin(archived.is_some());
                if let Some(id) = &last_id {
                    self.ids.note_id(id);
                }
                let checksums = std::mem::take(&mut self.checksums);
                if let Some(mut archived) = archived {
                    archived.follows = self.hashlog_from;
                    if archived.entries != self.entries {
                        let stated = archived.entries;
                        return Ok(Err(format!(
                            "it states that {stated} entries were archived, but there were {}",
                            self.entries
                        )));
                    }
                    self.archives.push(ArchivedCheck {
                        archived,
                        checksums: Some(checksums),
                    });
                }
                let listed = |archived| ArchivedCheck {
                    archived,
                    checksums: None,
                };
                self.archives.extend(adopted.into_iter().map(listed));
                self.hashlog_from = hashlog;
                self.entries = 0;
                self.recorded_by.clear();
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
            return Ok(Err("it stores an entry but contains none".to_owned()));
        };
        let lead: &[u8] = if self.entries > 0 {
            b",\n    "
        } else {
            b"\n    "
        };
        let entry = entry.as_bytes();
        self.checksums.extend(checksum_at_head(entry));
        let at = self.ledger_at;
        self.is_like_ledger = self.is_like_ledger
            && self.is_at(at, lead)?
            && self.is_at(at + lead.len() as u64, entry)?;
        self.ledger_at += (lead.len() + entry.len()) as u64;
        self.entries += 1;
        self.recorded_by.push(record.head.seq);
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
            _ if is_torn => VerifyFinding::Torn,
            RecordFault::Chain(ChainFault::Edited { .. } | ChainFault::NotChained) => {
                VerifyFinding::Edited
            }
            RecordFault::Fields(_) | RecordFault::Prev => VerifyFinding::Unreadable,
        };
        self.problem(day, kind, &fault.to_string())
    }

    fn problem(&self, day: &DayFile, fault: VerifyFinding, detail: &str) -> Problem {
        Problem {
            path: day.path.clone(),
            fault,
            number: self.next_seq(),
            task_id: None,
            detail: detail.to_owned(),
        }
    }
}

/// Returns the checkpoint that a record is about, if it is about one.
fn recorded(record: &Record<'_>) -> Option<Recorded> {
    #[derive(Deserialize)]
    struct Details {
        size: u64,
        root: Checksum,
        key: Option<String>,
    }
    if record.head.event != Event::Checkpoint.as_str() {
        return None;
    }
    let details = record.head.details.as_deref()?.get();
    let Details { size, root, key } = serde_json::from_str(details).ok()?;
    Some(Recorded {
        size,
        root,
        key: key.and_then(|key| key.parse().ok()),
        is_anew: record.head.status.as_deref() == Some("begun_anew"),
    })
}

/// Finds the first bad record of a journal whose chain does not hold, and diagnoses it.
pub(super) fn diagnose(
    disk: &Disk,
    stock: &FileInventory,
    signed: &Signed,
) -> Result<Option<Problem>, DiskError> {
    let (mut links, mut places) = (Vec::new(), Vec::new());
    for (day, len) in &stock.days {
        let file = disk.open(&day.path, OpenHow::READ)?;
        let mut lines = Lines::new(&file, 0, *len);
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            links.push(link(&line));
            places.push((&day.path, number));
        }
    }
    let context = ChainContext {
        proven: signed.proven,
        has_other_begin: signed.has_other_begin,
        entries: indexed(stock)?,
    };
    Ok(chain::diagnose(&links, &context).map(|found| {
        let (path, line) = places[found.index];
        Problem {
            path: path.clone(),
            fault: found.fault,
            number: found.index as u64 + 1,
            task_id: links[found.index].task_id.clone(),
            detail: format!("line {line}: {}", found.detail),
        }
    }))
}

/// Returns a line's statements about itself, as far as they are readable.
fn link(line: &Line<'_>) -> Link {
    /// Fields that a line may have kept, regardless of other damage.
    #[derive(Deserialize)]
    struct Left {
        seq: Option<u64>,
        prev: Option<Checksum>,
        task_id: Option<TaskId>,
    }
    if let Ok(record) = Record::read(line.bytes) {
        let task_id = record.head.task_id.as_deref();
        return Link {
            seq: Some(record.head.seq),
            prev: Some(record.prev),
            hash: line.is_whole.then_some(record.hash),
            is_whole: line.is_whole,
            task_id: task_id.and_then(|id| id.parse().ok()),
            stores: record
                .entry
                .and_then(|entry| checksum_at_head(entry.as_bytes())),
        };
    }
    let left = serde_json::from_slice(line.bytes).ok();
    let looks_like_one = line.bytes.starts_with(b"{\"timestamp\":");
    Link {
        // An unreadable line counts as a record if it begins like one.
        seq: left
            .as_ref()
            .and_then(|left: &Left| left.seq)
            .or(looks_like_one.then_some(0)),
        prev: left.as_ref().and_then(|left| left.prev),
        is_whole: line.is_whole,
        task_id: left.and_then(|left| left.task_id),
        ..Link::default()
    }
}

/// The checksums that the hashlog has.
fn indexed(stock: &FileInventory) -> Result<HashSet<Checksum>, DiskError> {
    let mut entries = HashSet::new();
    if let Some(hashlog) = &stock.hashlog {
        let mut lines = Lines::new(hashlog.file(), 0, hashlog.len());
        while let Some(line) = lines.next()? {
            entries.extend(HashlogLine::read(line.bytes).map(|line| line.checksum));
        }
    }
    Ok(entries)
}
