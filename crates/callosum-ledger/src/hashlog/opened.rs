//! [`Hashlog`]: a hashlog that is open to be asked where entries stand.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};

use super::{
    index::{Index, IndexFault, Row, build},
    line::HashlogLine,
};
use crate::{chain::HASHLOG, lines::last_line, task_id::TaskId};
use callosum_json::Checksum;

/// Maximum number of bytes to search without an index, if one is possible.
const SEARCHED: usize = 4 * 1024 * 1024;

/// A hashlog up to the last whole line that it had when it was opened.
#[derive(Debug)]
pub(crate) struct Hashlog {
    disk: Disk,
    file: DiskFile,
    index: Option<Index>,
    /// Path of the index, whether it exists or not.
    index_path: PathBuf,
    /// The whole lines that the index does not cover.
    rest: Vec<u8>,
    /// All whole lines, once they were asked for.
    all: OnceLock<Vec<u8>>,
}

/// Possible location of a task's entry.
#[derive(Clone, Debug)]
pub(crate) enum HashlogRequest<'a> {
    /// As given by a line.
    Line(HashlogLine<'a>),
    /// As given by a row of the index.
    Row(Row),
}

impl Hashlog {
    /// Opens a hashlog and its index; `None` if there is none.
    ///
    /// If the index lacks much or does not count, it is rewritten. If that fails, as in a project
    /// that is mounted read-only, lookups take longer.
    pub(crate) fn open(disk: &Disk, path: &Path, index: &Path) -> Result<Option<Self>, DiskError> {
        let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
            return Ok(None);
        };
        let mut hashlog = Self::read(disk, file, index)?;
        let lacks_much = hashlog.rest.len() > SEARCHED;
        if lacks_much || (hashlog.index.is_none() && disk.exists(index)?) {
            let old = hashlog.index.as_ref();
            let built = build(disk, index, &hashlog.file, old, hashlog.end());
            // The index is derived, and the reader may lack write access here.
            if built.is_ok() {
                hashlog = Self::read(disk, hashlog.file, index)?;
            }
        }
        Ok(Some(hashlog))
    }

    fn read(disk: &Disk, file: DiskFile, index_path: &Path) -> Result<Self, DiskError> {
        let index = Index::open(disk, index_path, &file)?;
        let covered = index.as_ref().map_or(0, |index| index.covered);
        let mut rest = file.read_from(covered)?;
        // A line that is not finished is being written.
        let whole = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
        rest.truncate(whole);
        Ok(Self {
            disk: disk.clone(),
            file,
            index,
            index_path: index_path.to_owned(),
            rest,
            all: OnceLock::new(),
        })
    }

    /// Returns the end of the last whole line.
    pub(crate) fn end(&self) -> u64 {
        self.covered() + self.rest.len() as u64
    }

    fn covered(&self) -> u64 {
        self.index.as_ref().map_or(0, |index| index.covered)
    }

    /// Returns the first line and the last, if all between them are there too.
    pub(crate) fn ends(&self) -> Result<Option<[Vec<u8>; 2]>, DiskError> {
        let (Some(first), Some(last)) = (self.first()?, last_line(&self.file, self.end())?) else {
            return Ok(None);
        };
        let lines = memchr::memchr_iter(b'\n', &self.rest).count() as u64
            + self.index.as_ref().map_or(0, |index| index.count);
        let seq = |line: &[u8]| HashlogLine::read(line).map(|line| line.seq);
        let are_all = (seq(&first), seq(&last)) == (Some(1), Some(lines));
        Ok(are_all.then_some([first, last]))
    }

    /// Returns the hash that the first line follows; `None` if there is no line.
    pub(crate) fn follows(&self) -> Result<Option<Checksum>, DiskError> {
        let first = self.first()?;
        Ok(first.and_then(|line| HashlogLine::read(&line).map(|line| line.prev)))
    }

    /// Whether its first line follows this, and its last one is that.
    pub(crate) fn joins(&self, follows: Checksum, head: Checksum) -> Result<bool, DiskError> {
        let last = last_line(&self.file, self.file.size()?)?;
        let is_last = last.is_some_and(|line| HASHLOG.check(&line) == Ok(head));
        Ok(is_last && self.follows()? == Some(follows))
    }

    /// Returns the checksum in each line, if the lines are a chain from one hash to the other.
    pub(crate) fn checksums(
        &self,
        follows: Checksum,
        head: Checksum,
    ) -> Result<Option<Vec<Checksum>>, DiskError> {
        let (mut at, mut checksums) = (follows, Vec::new());
        for line in self.all()?.split_inclusive(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let (Ok(hash), Some(read)) = (HASHLOG.check(line), HashlogLine::read(line)) else {
                return Ok(None);
            };
            if read.prev != at {
                return Ok(None);
            }
            at = hash;
            checksums.push(read.checksum);
        }
        Ok((at == head).then_some(checksums))
    }

    fn first(&self) -> Result<Option<Vec<u8>>, DiskError> {
        let mut len = 4 * 1024;
        loop {
            let mut text = self.file.read_range(0, len)?;
            if let Some(feed) = memchr::memchr(b'\n', &text) {
                text.truncate(feed);
                return Ok(Some(text));
            }
            if text.len() < len {
                return Ok(None);
            }
            len *= 8;
        }
    }

    /// Lists the possible locations of a task's entry, the latest first.
    ///
    /// If the index turns out to be damaged, all lines are searched instead, and it is rewritten.
    pub(crate) fn places_of(&self, task_id: &TaskId) -> Result<Vec<HashlogRequest<'_>>, DiskError> {
        let Some(index) = &self.index else {
            return Ok(lines_of(&self.rest, task_id));
        };
        match index.rows_of(task_id.as_str()) {
            Ok(rows) => {
                let mut places = lines_of(&self.rest, task_id);
                places.extend(rows.into_iter().map(HashlogRequest::Row));
                Ok(places)
            }
            Err(IndexFault::Damaged) => {
                // The index is derived, and the reader may lack write access here.
                drop(build(
                    &self.disk,
                    &self.index_path,
                    &self.file,
                    None,
                    index.covered,
                ));
                Ok(lines_of(self.all()?, task_id))
            }
            Err(IndexFault::Disk(error)) => Err(error),
        }
    }

    /// All lines, in order.
    pub(crate) fn lines(&self) -> Result<impl Iterator<Item = HashlogLine<'_>>, DiskError> {
        Ok(self
            .all()?
            .split(|byte| *byte == b'\n')
            .filter_map(HashlogLine::read))
    }

    /// The ids in it that begin so.
    pub(crate) fn ids_after(&self, prefix: &str) -> Result<Vec<String>, DiskError> {
        let key = format!("\"task_id\":\"{prefix}");
        let text = self.all()?;
        let lines = memchr::memmem::find_iter(text, &key).map(|at| line_around(text, at));
        Ok(lines
            .filter_map(HashlogLine::read)
            .map(|line| line.task_id.into_owned())
            .collect())
    }

    fn all(&self) -> Result<&[u8], DiskError> {
        match (self.covered(), self.all.get()) {
            (0, _) => Ok(&self.rest),
            (_, Some(all)) => Ok(all),
            (covered, None) => {
                let mut all = self.file.read_range(0, covered as usize)?;
                all.extend_from_slice(&self.rest);
                Ok(self.all.get_or_init(|| all))
            }
        }
    }

    /// Whether an entry may be of a time between these, in microseconds since 1970.
    ///
    /// Judges only by the part that the index covers; further lines may be of any time.
    pub(crate) fn may_have(&self, since: Option<i64>, until: Option<i64>) -> bool {
        match &self.index {
            Some(index) if self.rest.is_empty() => {
                let (first, last) = index.times;
                since.is_none_or(|since| last >= since) && until.is_none_or(|until| first <= until)
            }
            _ => true,
        }
    }
}

/// Those of these lines that are a task's, the latest first.
fn lines_of<'a>(text: &'a [u8], task_id: &TaskId) -> Vec<HashlogRequest<'a>> {
    let quoted = format!("\"{task_id}\"");
    memchr::memmem::rfind_iter(text, &quoted)
        .filter_map(|at| HashlogLine::read(line_around(text, at)))
        .filter(|line| line.task_id == task_id.as_str())
        .map(HashlogRequest::Line)
        .collect()
}

/// Returns the line, without its line feed, that contains a byte.
fn line_around(text: &[u8], at: usize) -> &[u8] {
    let from = memchr::memrchr(b'\n', &text[..at]).map_or(0, |feed| feed + 1);
    let len = memchr::memchr(b'\n', &text[from..]).unwrap_or(text.len() - from);
    &text[from..from + len]
}
