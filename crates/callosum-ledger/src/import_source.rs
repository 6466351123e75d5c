//! [`ImportSource`]: a ledger file that entries are taken from, every one of them checked.
//!
//! One in our own layout is read line by line, as often as it is asked; of any other layout the
//! whole file is held in memory.

use std::{borrow::Cow, collections::HashMap, ops::Range, path::PathBuf};

use callosum_host::DiskFile;
use serde::Deserialize;

use crate::{
    create_error::CreateError,
    entry::{Entry, EntryError, checksum_at_head, is_sealed, seal},
    event::{AuditEvent, Event},
    journal::EntryRef,
    ledger_file::{
        LedgerFile, LedgerFileError, LedgerVersion, NotToWrite, OWN_TAIL, begun_like, own_entry,
        own_head_len, refuse_to_write,
    },
    lines::Lines,
    open_error::OpenError,
    position::Begun,
    task_id::TaskId,
};
use callosum_json::{Checksum, canonical::DuplicateKeys};

/// A ledger file whose every checksum is right, and in which no task has two entries.
#[derive(Debug)]
pub(crate) struct ImportSource {
    /// Text around its entries, in our own layout.
    pub(crate) begun: Begun,
    /// The checksums of its entries by their tasks.
    pub(crate) by_task: HashMap<TaskId, Checksum>,
    /// The checksums of its entries, in order.
    pub(crate) checksums: Vec<Checksum>,
    path: PathBuf,
    layout: Layout,
}

#[derive(Debug)]
enum Layout {
    Own {
        file: DiskFile,
        /// Start of the first line of entries, and end of the last.
        from: u64,
        end: u64,
    },
    Any {
        bytes: Vec<u8>,
        entries: Vec<Range<usize>>,
    },
}

/// An entry of such a file, in our own layout.
#[derive(Debug)]
pub(crate) struct TakenEntry<'a> {
    pub(crate) task_id: TaskId,
    pub(crate) linked_tasks: Vec<TaskId>,
    pub(crate) sealed: EntryRef<'a>,
    executor: String,
}

impl TakenEntry<'_> {
    /// The event of an entry that is taken in.
    pub(crate) fn event(&self) -> AuditEvent {
        AuditEvent {
            event: Event::Adopted,
            task_id: Some(self.task_id.clone()),
            executor: Some(self.executor.clone()),
            hash: Some(self.sealed.checksum),
            status: Some("adopted".to_owned()),
            details: serde_json::Map::new(),
        }
    }
}

/// The head of a ledger in our own layout takes less.
const HEAD: usize = 64 * 1024;

impl ImportSource {
    /// Reads and checks a whole ledger file.
    pub(crate) fn open(file: DiskFile) -> Result<Self, CreateError> {
        let mut taken = Self {
            begun: Begun {
                head: String::new(),
                tail: String::new(),
            },
            by_task: HashMap::new(),
            checksums: Vec::new(),
            path: file.path().to_owned(),
            layout: Layout::Any {
                bytes: Vec::new(),
                entries: Vec::new(),
            },
        };
        let Some(file) = taken.read_own_layout(file)? else {
            return Ok(taken);
        };
        taken.by_task.clear();
        taken.checksums.clear();
        let bytes = file.read_all()?;
        taken.refuse_newer(&bytes)?;
        let entries = LedgerFile::parse(&bytes)
            .map_err(|source| taken.not_a_ledger(source))?
            .entries;
        taken.begun = begun_like(&bytes).map_err(|source| taken.not_a_ledger(source))?;
        for (index, at) in entries.iter().enumerate() {
            let number = index + 1;
            let canonical = Canonical::read(&bytes[at.clone()]);
            let canonical = canonical.map_err(|source| taken.bad_entry(number, source))?;
            taken.note(number, canonical.entry.task_id, canonical.checksum)?;
        }
        taken.layout = Layout::Any { bytes, entries };
        Ok(taken)
    }

    /// Reads a ledger of our own line by line. Returns the file if its layout differs or anything
    /// is wrong; the full read then reports the fault.
    fn read_own_layout(&mut self, file: DiskFile) -> Result<Option<DiskFile>, CreateError> {
        let size = file.size()?;
        let start = file.read_range(0, HEAD)?;
        let Some(head) = own_head_len(&start) else {
            return Ok(Some(file));
        };
        let closed = [&start[..head], b"]}"].concat();
        self.refuse_newer(&closed)?;
        let Ok(begun) = begun_like(&closed) else {
            return Ok(Some(file));
        };
        let tail = OWN_TAIL.len() as u64;
        if size < tail || file.read_range(size - tail, OWN_TAIL.len())? != OWN_TAIL.as_bytes() {
            return Ok(Some(file));
        }
        let (from, end) = (head as u64, size - tail);
        let mut lines = Lines::new(&file, from, end);
        // The rest of the line on which the array begins.
        lines.next()?;
        let mut goes_on = true;
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            let Some(stored) = own_entry(line.bytes, &mut goes_on) else {
                return Ok(Some(file));
            };
            match Canonical::read(stored) {
                Ok(canonical) if canonical.json.as_bytes() == stored => {
                    let Canonical {
                        entry, checksum, ..
                    } = canonical;
                    if self.note(number, entry.task_id, checksum).is_err() {
                        return Ok(Some(file));
                    }
                }
                _ => return Ok(Some(file)),
            }
        }
        if goes_on && number > 0 {
            return Ok(Some(file));
        }
        self.begun = begun;
        self.layout = Layout::Own { file, from, end };
        Ok(None)
    }

    fn note(
        &mut self,
        number: usize,
        task_id: TaskId,
        checksum: Checksum,
    ) -> Result<(), CreateError> {
        self.checksums.push(checksum);
        match self.by_task.insert(task_id, checksum) {
            None => Ok(()),
            Some(_) => Err(CreateError::Duplicate {
                path: self.path.clone(),
                number,
            }),
        }
    }

    /// Counts its entries.
    pub(crate) fn len(&self) -> usize {
        self.checksums.len()
    }

    /// Passes each entry with its number, from 1. Fails if the file has changed since the check.
    pub(crate) fn each<E: From<CreateError>>(
        &self,
        mut take: impl FnMut(usize, &TakenEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.layout {
            Layout::Any { bytes, entries } => {
                for (index, at) in entries.iter().enumerate() {
                    let number = index + 1;
                    let canonical = Canonical::read(&bytes[at.clone()])
                        .map_err(|source| self.bad_entry(number, source))?;
                    take(number, &canonical.taken())?;
                }
            }
            Layout::Own { file, from, end } => {
                let mut lines = Lines::new(file, *from, *end);
                lines.next().map_err(CreateError::from)?;
                let mut number = 0;
                while let Some(line) = lines.next().map_err(CreateError::from)? {
                    number += 1;
                    let entry = self.own(number, line.bytes)?;
                    take(number, &entry)?;
                }
            }
        }
        Ok(())
    }

    /// The entry on a line that was checked before.
    fn own<'b>(&self, number: usize, line: &'b [u8]) -> Result<TakenEntry<'b>, CreateError> {
        #[derive(Deserialize)]
        struct Named<'n> {
            task_id: TaskId,
            #[serde(borrow)]
            executor: Cow<'n, str>,
            #[serde(default)]
            linked_tasks: Vec<TaskId>,
        }
        let changed = || {
            let reason = "it changed during the read".to_owned();
            self.bad_entry(number, EntryError::Schema { reason })
        };
        let stored = own_entry(line, &mut true).filter(|stored| is_sealed(stored));
        let json = stored.and_then(|stored| std::str::from_utf8(stored).ok());
        let json = json.ok_or_else(changed)?;
        let checksum = checksum_at_head(json.as_bytes());
        let checksum = checksum
            .filter(|checksum| self.checksums.get(number - 1) == Some(checksum))
            .ok_or_else(changed)?;
        let named: Named<'_> = serde_json::from_str(json).map_err(|_| changed())?;
        Ok(TakenEntry {
            task_id: named.task_id,
            executor: named.executor.into_owned(),
            linked_tasks: named.linked_tasks,
            sealed: EntryRef { json, checksum },
        })
    }

    fn refuse_newer(&self, bytes: &[u8]) -> Result<(), CreateError> {
        match refuse_to_write(bytes) {
            Err(NotToWrite::Newer(found)) => Err(CreateError::Open(OpenError::Newer {
                path: self.path.clone(),
                found,
                supported: LedgerVersion::OURS,
            })),
            _ => Ok(()),
        }
    }

    fn not_a_ledger(&self, source: LedgerFileError) -> CreateError {
        CreateError::NotALedger {
            path: self.path.clone(),
            source,
        }
    }

    fn bad_entry(&self, number: usize, source: EntryError) -> CreateError {
        CreateError::BadEntry {
            path: self.path.clone(),
            number,
            source,
        }
    }
}

/// An entry that was checked, and its text in our own layout.
struct Canonical {
    entry: Entry,
    json: String,
    checksum: Checksum,
}

impl Canonical {
    /// Reads an entry, checks its checksum if it has one, and converts it to our own layout.
    fn read(bytes: &[u8]) -> Result<Self, EntryError> {
        let entry = Entry::read(bytes)?;
        entry.check()?;
        let (checksum, json) = seal(bytes, DuplicateKeys::LastWins)?;
        if is_sealed(json.as_bytes()) {
            Ok(Self {
                entry,
                json,
                checksum,
            })
        } else {
            Err(EntryError::Schema {
                reason: "it has a field that sorts before `checksum`".to_owned(),
            })
        }
    }

    fn taken(&self) -> TakenEntry<'_> {
        TakenEntry {
            task_id: self.entry.task_id.clone(),
            executor: self.entry.executor.clone(),
            linked_tasks: self.entry.linked_tasks.clone(),
            sealed: EntryRef {
                json: &self.json,
                checksum: self.checksum,
            },
        }
    }
}
