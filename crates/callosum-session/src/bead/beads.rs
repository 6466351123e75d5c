//! [`Beads`]: the folder of beads.

use std::{collections::HashSet, path::PathBuf, thread};

use callosum_host::{Disk, OpenHow, disk::EntryKind};
use jiff::Timestamp;

use super::{
    document::{LARGEST, Sheet, SheetError},
    id::BeadId,
    index::{Index, Mark, Row},
    lint::{circles, faults},
    ready::is_closed,
    view::Bead,
};
use crate::{
    merge::first_mark,
    zones::{ZoneError, Zones},
};

/// The folder of beads of a project.
#[derive(Clone, Copy, Debug)]
pub struct Beads<'b> {
    /// The disk.
    pub disk: &'b Disk,
    /// Paths of the session's files.
    pub zones: &'b Zones,
}

/// All beads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Those that were understood, by id.
    pub rows: Vec<Row>,
    /// Those that were not.
    pub unread: Vec<Unread>,
}

/// A bead's file that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file, from the root.
    pub file: String,
    /// Cause, on one line.
    pub problem: String,
}

/// Something odd about a bead that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// The file, from the root.
    pub file: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// Description of the oddity.
    pub what: String,
}

/// Error while reading a bead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("{}", _0)]
    Sheet(#[from] SheetError),
    #[error("it is larger than {} MiB", LARGEST >> 20)]
    TooLarge,
    #[error("it is not a regular file")]
    NotFile,
    #[error("an unfinished merge (line {line})")]
    Merge { line: usize },
    #[error("it is not UTF-8 (line {line})")]
    NotUtf8 { line: usize },
    #[error(transparent)]
    Zone(#[from] ZoneError),
}

impl Beads<'_> {
    /// Returns the file of a bead, whether it is there or not.
    pub fn path(&self, id: &BeadId) -> Result<PathBuf, ZoneError> {
        self.zones
            .real(self.disk, &self.zones.beads().join(id.file()))
    }

    /// Reads a bead's file; `None` if there is none.
    pub(crate) fn sheet(&self, id: &BeadId) -> Result<Option<Sheet>, ReadError> {
        let path = self.path(id)?;
        self.sheet_at(&path)
    }

    fn sheet_at(&self, path: &std::path::Path) -> Result<Option<Sheet>, ReadError> {
        let stat = self.disk.stat(path).map_err(ZoneError::from)?;
        let Some(stat) = stat else {
            return Ok(None);
        };
        if stat.kind != EntryKind::File {
            return Err(ReadError::NotFile);
        }
        if stat.len > LARGEST {
            return Err(ReadError::TooLarge);
        }
        let file = self
            .disk
            .open(path, OpenHow::READ)
            .map_err(ZoneError::from)?;
        let bytes = file.read_all().map_err(ZoneError::from)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let read = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = read.split(|byte| *byte == b'\n').count();
            ReadError::NotUtf8 { line }
        })?;
        match (Sheet::read(&text), first_mark(text.as_bytes())) {
            (Err(_), Some(line)) => Err(ReadError::Merge { line }),
            (sheet, _) => Ok(Some(sheet?)),
        }
    }

    /// Returns the line, counted from 1, of the first mark of a merge in a file that was not
    /// understood.
    pub(crate) fn first_mark(&self, unread: &Unread) -> Result<Option<usize>, ZoneError> {
        let path = self
            .zones
            .real(self.disk, &self.zones.root.join(&unread.file));
        let path = match path {
            Err(ZoneError::Outside { .. }) => return Ok(None),
            path => path?,
        };
        let stat = self.disk.stat(&path)?;
        if stat.is_none_or(|stat| stat.kind != EntryKind::File || stat.len > LARGEST) {
            return Ok(None);
        }
        let bytes = self.disk.read_if_there(&path)?;
        Ok(bytes.as_deref().and_then(first_mark))
    }

    /// Lists every bead. Reads what changed since the last time; the rest comes from the index.
    ///
    /// `now` is the time of day: files that changed in the last two seconds are not indexed. A
    /// failure to write the index, such as on a read-only disk, is not an error.
    pub fn list(&self, now: Timestamp) -> Result<Listing, ZoneError> {
        let folder = self.zones.real(self.disk, &self.zones.beads())?;
        let mut ids = Vec::new();
        let mut listing = Listing::default();
        for entry in self.disk.list_dir(&folder)? {
            let id = entry.name.to_str().and_then(BeadId::of_file);
            let Some(id) = id else { continue };
            if entry.kind == EntryKind::File {
                ids.push(id);
                continue;
            }
            let problem = match entry.kind {
                EntryKind::Link => "it is a link: a bead must be a regular file",
                _ => "it is not a regular file",
            };
            listing.unread.push(Unread {
                file: format!(".beads/{}", id.file()),
                problem: problem.to_owned(),
            });
        }
        let kept = self.zones.own().join("beads.index");
        let index = match self.zones.real(self.disk, &kept) {
            Ok(path) => self.disk.read_if_there(&path).ok().flatten(),
            Err(_) => None,
        };
        let mut index = Index::read(&String::from_utf8_lossy(&index.unwrap_or_default()));
        let mut rows = Vec::with_capacity(ids.len());
        let mut changed = Vec::new();
        let known = index.rows.len();
        for id in ids {
            let path = folder.join(id.file());
            let Some(stat) = self.disk.stat(&path)? else {
                continue;
            };
            let mark = Mark::of(&stat);
            match index.rows.remove(id.as_str()) {
                Some((kept, row)) if kept == mark => rows.push((mark, row)),
                _ => changed.push((id, path, mark)),
            }
        }
        let is_same = changed.is_empty() && rows.len() == known;
        for (id, mark, row) in self.read_all(&changed) {
            match row {
                Ok(Some(row)) => rows.push((mark, row)),
                Ok(None) => {}
                Err(error) => listing.unread.push(Unread {
                    file: format!(".beads/{}", id.file()),
                    problem: error.to_string(),
                }),
            }
        }
        if !is_same {
            // The index is derived: the next caller derives it again.
            drop(self.remember(&Index::written(rows.iter(), now)));
        }
        listing.rows = rows.into_iter().map(|(_, row)| row).collect();
        listing.rows.sort_by(|a, b| a.id.cmp(&b.id));
        listing.unread.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(listing)
    }

    /// Returns the open beads of a listing, each with its id. Wanted beads are read whole; the
    /// others have only what the listing holds: title, status, priority, needs. A bead that changed
    /// since the listing and can no longer be parsed is left out.
    pub fn open(
        &self,
        listing: &Listing,
        is_wanted: impl Fn(&Row) -> bool,
    ) -> Result<Vec<(String, Bead)>, ZoneError> {
        let mut open = Vec::new();
        for row in listing.rows.iter().filter(|row| !is_closed(&row.status)) {
            let id = BeadId::new(&row.id).filter(|_| is_wanted(row));
            let Some(id) = id else {
                open.push((row.id.clone(), row.bead()));
                continue;
            };
            match self.sheet(&id) {
                Ok(Some(sheet)) => open.push((id.to_string(), Bead::of(sheet.members()))),
                Err(ReadError::Zone(error)) => return Err(error),
                Ok(None) | Err(_) => {}
            }
        }
        Ok(open)
    }

    /// Returns oddities of beads that could be parsed, by file. Reads only the beads that have any.
    pub fn oddities(&self, listing: &Listing) -> Result<Vec<Oddity>, ZoneError> {
        let circles = circles(&listing.rows);
        let mut odd = Vec::new();
        let begins_circle: HashSet<&str> = circles.iter().map(|circle| circle[0]).collect();
        let rows = listing.rows.iter();
        for row in rows.filter(|row| row.is_odd || begins_circle.contains(row.id.as_str())) {
            let Some(id) = BeadId::new(&row.id) else {
                continue;
            };
            let sheet = match self.sheet(&id) {
                Ok(Some(sheet)) => sheet,
                Err(ReadError::Zone(error)) => return Err(error),
                // It has changed since it was listed.
                Ok(None) | Err(_) => continue,
            };
            let mut found = faults(id.as_str(), &sheet);
            for circle in circles.iter().filter(|circle| circle[0] == row.id) {
                let keys = ["depends_on", "dependencies", "blockers"];
                let line = keys.iter().find_map(|key| sheet.line_of(key));
                let what = match circle.as_slice() {
                    [_] => "it needs itself, so it is never ready".to_owned(),
                    [_, others @ ..] => format!(
                        "it needs itself through {}: none of them is ever ready",
                        others.join(", ")
                    ),
                    [] => continue,
                };
                found.push((line.unwrap_or(1), what));
            }
            odd.extend(found.into_iter().map(|(line, what)| Oddity {
                file: format!(".beads/{}", id.file()),
                line,
                what,
            }));
        }
        Ok(odd)
    }

    /// Returns the decisions of beads that are not closed which do not count. Reads the beads that
    /// have some.
    pub(crate) fn uncounted(&self, listing: &Listing) -> Result<Vec<Oddity>, ZoneError> {
        let rows = listing.rows.iter();
        let rows = rows.filter(|row| row.has_uncounted && !is_closed(&row.status));
        let mut odd = Vec::new();
        for id in rows.filter_map(|row| BeadId::new(&row.id)) {
            let sheet = match self.sheet(&id) {
                Ok(Some(sheet)) => sheet,
                Err(ReadError::Zone(error)) => return Err(error),
                Ok(None) | Err(_) => continue,
            };
            let line = sheet.line_of("decisions").unwrap_or(1);
            let uncounted = Bead::of(sheet.members()).uncounted.into_iter();
            odd.extend(uncounted.map(|what| Oddity {
                file: format!(".beads/{}", id.file()),
                line,
                what,
            }));
        }
        Ok(odd)
    }

    fn remember(&self, index: &str) -> Result<(), ZoneError> {
        let own = self.zones.create_own(self.disk)?;
        self.disk
            .replace(&own.join("beads.index"), index.as_bytes(), 0o644)?;
        Ok(())
    }

    /// Reads files on every core.
    fn read_all(
        &self,
        files: &[(BeadId, PathBuf, Mark)],
    ) -> Vec<(BeadId, Mark, Result<Option<Row>, ReadError>)> {
        let read = |part: &[(BeadId, PathBuf, Mark)]| -> Vec<_> {
            let rows = part.iter().map(|(id, path, mark)| {
                let sheet = self.sheet_at(path);
                let row = sheet.map(|sheet| sheet.map(|sheet| Row::of(id.as_str(), &sheet)));
                (id.clone(), *mark, row)
            });
            rows.collect()
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        if files.len() < FEW || cores == 1 {
            return read(files);
        }
        let parts = files.chunks(files.len().div_ceil(cores));
        thread::scope(|scope| {
            let start = |part| {
                let builder = thread::Builder::new();
                (part, builder.spawn_scoped(scope, move || read(part)))
            };
            let parts: Vec<_> = parts.map(start).collect();
            parts
                .into_iter()
                .flat_map(|(part, reading)| match reading {
                    Ok(reading) => reading.join().expect("reading does not panic"),
                    // The system gives no thread.
                    Err(_) => read(part),
                })
                .collect()
        })
    }
}

/// So few files are read without starting threads.
const FEW: usize = 64;

#[cfg(test)]
mod tests {
    use callosum_host::Clock;

    use super::*;

    /// LOA-BEAD-1: a folder with files of other tools, broken beads and links is still listed, and
    /// an index row never outlives its file.
    #[test]
    fn a_folder_is_listed_and_what_changed_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = disk.canonicalize(folder.path()).unwrap();
        let zones = Zones {
            tree: root.clone(),
            root: root.clone(),
        };
        let beads = Beads {
            disk: &disk,
            zones: &zones,
        };
        let now = Clock::system().now() + jiff::Span::new().hours(1);
        assert_eq!(beads.list(now).unwrap(), Listing::default());
        let write = |name: &str, text: &str| {
            disk.create_dir_all(&root.join(".beads")).unwrap();
            disk.replace(&root.join(".beads").join(name), text.as_bytes(), 0o644)
                .unwrap();
        };
        write("bd-1.yaml", "id: bd-1\ntitle: one\npriority: 1\n");
        write("bd-2.yaml", "id: bd-2\na: 1\na: 2\n");
        write("config.yaml", "x: 1\n");
        std::os::unix::fs::symlink("bd-1.yaml", root.join(".beads/bd-3.yaml")).unwrap();
        for _ in 0..2 {
            let listing = beads.list(now).unwrap();
            assert_eq!(listing.rows.len(), 1);
            assert_eq!(listing.rows[0].title, "one");
            assert_eq!(listing.unread[0].file, ".beads/bd-2.yaml");
            assert_eq!(beads.oddities(&listing).unwrap(), []);
        }
        let index = disk
            .read(&root.join("loa-grimoire/.session/beads.index"))
            .unwrap();
        assert!(String::from_utf8(index).unwrap().contains("bd-1\t"));
        write("bd-1.yaml", "id: bd-1\ntitle: two\npriority: 1\n");
        assert_eq!(beads.list(now).unwrap().rows[0].title, "two");
        write("bd-1.yaml", "id: bd-1\nstatus: wip\nnext_steps: [one]\n");
        for _ in 0..2 {
            let listing = beads.list(now).unwrap();
            let odd = beads.oddities(&listing).unwrap();
            assert_eq!((odd.len(), odd[0].line), (1, 2));
            // What is not wanted whole is not read.
            let steps = |wanted: bool| {
                beads.open(&listing, |_| wanted).unwrap()[0]
                    .1
                    .next_steps
                    .len()
            };
            assert_eq!([steps(false), steps(true)], [0, 1]);
        }
        disk.remove_file(&root.join(".beads/bd-1.yaml")).unwrap();
        assert_eq!(beads.list(now).unwrap().rows, []);
    }
}
