//! [`Trajectory`]: the files of one agent, read since its last hand-off and added to.

use std::{collections::BTreeMap, path::PathBuf};

use callosum_host::{Disk, OpenHow};
use serde_json::Value;

use super::{
    agent::Agent,
    day_file::{DayFile, day_files},
    ends::Ends,
    file_read::FileRead,
    handoff_scope::Over,
    lean::AnyRecord,
    record::{Bad, Record, RecordForm, name_of_unread},
};
use crate::zones::{ZoneError, Zones};

/// Most days that are looked back for the last hand-off.
const MOST_DAYS: usize = 31;

/// Most bytes of files before that of the last hand-off that are read.
const MOST_BEFORE: u64 = 8 * 1024 * 1024;

/// The lines of a file that are no record and may hide a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadLines {
    /// The file, as it is named from the root.
    pub file: String,
    /// The last of the lines, counted from 1.
    pub line: usize,
    /// Names of the lines in the hand-off that covers them.
    pub(crate) names: Vec<u64>,
}

impl UnreadLines {
    /// Returns the lines after this one for which `counts` is true; `None` if there are none.
    fn behind(covered: usize, file: &str, bad: &Bad, counts: impl Fn(u64) -> bool) -> Option<Self> {
        let lines = bad.unread.iter();
        let lines = lines.filter(|(line, name)| *line > covered && counts(*name));
        let lines: Vec<&(usize, u64)> = lines.collect();
        let (line, _) = lines.last()?;
        Some(Self {
            file: file.to_owned(),
            line: *line,
            names: lines.iter().map(|(_, name)| *name).collect(),
        })
    }

    /// Returns a file that cannot be read at all.
    fn of_file(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            line: 1,
            names: vec![name_of_unread(file.as_bytes())],
        }
    }
}

/// Result of reading an agent's files.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<R = Record> {
    /// Whether there is any file.
    pub is_there: bool,
    /// The records since the last hand-off, oldest first, each with its file as it is named from the
    /// root.
    pub records: Vec<(String, R)>,
    /// The last hand-off, if one was found.
    pub handoff: Option<(String, Record)>,
    /// Positions up to which each transcript of a client has been synthesized, by its name; also
    /// before the last hand-off, as far as that is in the files that were read. The last record of
    /// a transcript counts, also if it names an earlier position: the transcript has become
    /// shorter.
    pub positions: BTreeMap<String, u64>,
    /// Lines that are no record, in the files that were read: all counted, the first of each file
    /// named.
    pub bad: Vec<(String, Bad)>,
    /// Lines since then that are no record and may hide a claim, and lines of earlier files that no hand-off covers.
    pub unread: Vec<UnreadLines>,
    /// Entries with the name of a file that are not files, so that their former content is unknown.
    pub not_files: Vec<String>,
    /// Scope of the agent's hand-offs.
    pub(crate) over: Over,
}

impl<R> Default for Read<R> {
    fn default() -> Self {
        Self {
            is_there: false,
            records: Vec::new(),
            handoff: None,
            positions: BTreeMap::new(),
            bad: Vec::new(),
            unread: Vec::new(),
            not_files: Vec::new(),
            over: Over::default(),
        }
    }
}

impl<R> Read<R> {
    /// The same with something made of each record.
    pub(crate) fn map<S>(self, make: impl Fn(R) -> S) -> Read<S> {
        let records = self.records.into_iter();
        Read {
            is_there: self.is_there,
            records: records.map(|(file, kept)| (file, make(kept))).collect(),
            handoff: self.handoff,
            positions: self.positions,
            bad: self.bad,
            unread: self.unread,
            not_files: self.not_files,
            over: self.over,
        }
    }

    /// Returns the number of lines that are no record.
    pub fn bad_lines(&self) -> usize {
        self.bad.iter().map(|(_, bad)| bad.count).sum()
    }
}

/// The files of one agent.
#[derive(Clone, Debug)]
pub struct Trajectory<'t> {
    /// The disk.
    pub disk: &'t Disk,
    /// Paths of the session's files.
    pub zones: &'t Zones,
    /// Agent that owns them.
    pub agent: Agent,
}

impl Trajectory<'_> {
    /// Returns the agent's files, newest first; of a day that has both, the compressed one last.
    fn files(&self) -> Result<Vec<DayFile>, ZoneError> {
        let all = day_files(self.disk, self.zones)?.into_iter().rev();
        Ok(all.filter(|file| file.agent == self.agent).collect())
    }

    /// Reads the agent's records since its last hand-off, across midnight.
    ///
    /// Of records that are not about claims, features or checkpoints, only the last of a file and
    /// the one with the latest time are included.
    pub fn since_handoff(&self) -> Result<Read, ZoneError> {
        let read = self.kept_since_handoff()?;
        Ok(read.map(|AnyRecord(record)| record))
    }

    /// The same, with the kept part of each record.
    pub(crate) fn kept_since_handoff<R: RecordForm>(&self) -> Result<Read<R>, ZoneError> {
        let mut read = Read::default();
        let mut days = self.files()?.into_iter().take(MOST_DAYS);
        for day in days.by_ref() {
            read.is_there = true;
            let name = self.zones.named(&day.path);
            if !day.is_file {
                read.not_files.push(name.clone());
            }
            let Some(found) = FileRead::<R>::read(self.disk, &day)? else {
                read.unread.push(UnreadLines::of_file(&name));
                let bad = Bad {
                    count: 1,
                    lines: vec![1],
                    last_unread: Some(1),
                    ..Bad::default()
                };
                read.bad.push((name, bad));
                continue;
            };
            let unread = UnreadLines::behind(found.covered(), &name, &found.bad, |_| true);
            read.unread.extend(unread);
            for (transcript, at) in found.positions {
                read.positions.entry(transcript).or_insert(at);
            }
            let since = found.since.into_iter();
            let since = since.map(|record| (name.clone(), record));
            read.records.splice(0..0, since);
            if found.bad.count > 0 {
                read.bad.push((name.clone(), found.bad));
            }
            if let Some(handoff) = found.handoffs.last() {
                read.handoff = Some((name, handoff.clone()));
                if read.over.take(&found.handoffs) {
                    self.read_uncovered(&mut read, days)?;
                }
                break;
            }
        }
        Ok(read)
    }

    /// Reads, from files before that of the last hand-off, the lines after their own last one that
    /// no later one covers, including lines that cannot be read.
    fn read_uncovered<R: RecordForm>(
        &self,
        read: &mut Read<R>,
        days: impl Iterator<Item = DayFile>,
    ) -> Result<(), ZoneError> {
        let (mut bytes_read, mut files_read) = (0_u64, 0);
        for day in days {
            let name = self.zones.named(&day.path);
            let Some(found) = FileRead::<R>::read(self.disk, &day)? else {
                let unread = UnreadLines::of_file(&name);
                let is_lacking = unread.names.iter().any(|name| read.over.lacks_line(*name));
                read.unread.extend(is_lacking.then_some(unread));
                continue;
            };
            bytes_read += found.bytes;
            files_read += 1;
            if bytes_read > MOST_BEFORE || files_read == MOST_DAYS - 1 {
                // Coverage of older files is no longer known.
                let end = format!("{}T23:59:59Z", day.day);
                read.over.before = end.parse().ok();
                return Ok(());
            }
            let lacks = |name: u64| read.over.lacks_line(name);
            let unread = UnreadLines::behind(found.covered(), &name, &found.bad, lacks);
            read.unread.extend(unread);
            let since = found.since.into_iter();
            let since = since.filter(|kept| read.over.lacks(kept));
            let since: Vec<_> = since.map(|record| (name.clone(), record)).collect();
            read.records.splice(0..0, since);
            if !read.over.take(&found.handoffs) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the file of a day.
    pub fn file_of(&self, day: &str) -> Result<PathBuf, ZoneError> {
        let folder = self.zones.real(self.disk, &self.zones.trajectories())?;
        self.zones
            .real(self.disk, &folder.join(self.agent.file_of(day)))
    }

    /// Adds records to the file of a day, each on a line of its own, and makes them durable. A torn
    /// last line is ended first. Records that are already there word for word are not added again.
    ///
    /// Returns the line of the first record, counted from 1. The caller holds the session's lock.
    pub(crate) fn append(&self, day: &str, new: &[Value]) -> Result<usize, ZoneError> {
        let path = self.file_of(day)?;
        if let Some(folder) = path.parent() {
            self.disk.create_dir_all(folder)?;
        }
        let is_new = !self.disk.exists(&path)?;
        let file = self.disk.open(&path, OpenHow::READ_WRITE_CREATE)?;
        let new: Vec<Vec<u8>> = new.iter().map(|record| record.to_string().into()).collect();
        let there = Ends::read(&file, &new)?;
        let mut added = Vec::new();
        let mut first = there.lines + 1;
        if !there.is_ended {
            added.push(b'\n');
            first += 1;
        }
        for line in new.iter().filter(|line| !there.known.contains(*line)) {
            added.extend_from_slice(line);
            added.push(b'\n');
        }
        file.write_at(&added, there.len)?;
        file.sync_data()?;
        if is_new && let Some(folder) = path.parent() {
            self.disk.sync_dir(folder)?;
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Fixture {
        _folder: tempfile::TempDir,
        disk: Disk,
        zones: Zones,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let disk = Disk::real();
            let root = disk.canonicalize(folder.path()).unwrap();
            let tree = root.clone();
            Self {
                _folder: folder,
                disk,
                zones: Zones { tree, root },
            }
        }

        fn trajectory(&self) -> Trajectory<'_> {
            Trajectory {
                disk: &self.disk,
                zones: &self.zones,
                agent: Agent::default(),
            }
        }
    }

    /// LOA-GRD-1: everything since the last hand-off counts, across midnight.
    #[test]
    fn reading_goes_back_to_the_last_hand_off_and_no_further() {
        let ground = Fixture::new();
        let trajectory = ground.trajectory();
        assert!(!trajectory.since_handoff().unwrap().is_there);
        let record = |n: u8, phase: &str| json!({"phase": phase, "n": n});
        trajectory
            .append(
                "2026-01-01",
                &[
                    record(1, "cite"),
                    record(2, "session_handoff"),
                    record(3, "cite"),
                ],
            )
            .unwrap();
        trajectory.append("2026-01-02", &[record(4, "x")]).unwrap();
        let other = Trajectory {
            agent: Agent::new("implementing").unwrap(),
            ..trajectory.clone()
        };
        assert!(!other.since_handoff().unwrap().is_there);
        let read = trajectory.since_handoff().unwrap();
        let numbers: Vec<_> = read
            .records
            .iter()
            .map(|(_, r)| r.members["n"].clone())
            .collect();
        assert_eq!(numbers, [3, 4]);
        assert_eq!(read.handoff.unwrap().1.members["n"], 2);
    }

    /// LOA-TRJ-1: of an agent's thoughts, a long trajectory keeps two records in memory, whose
    /// times are known.
    #[test]
    fn records_that_claim_nothing_are_not_held() {
        let ground = Fixture::new();
        let trajectory = ground.trajectory();
        let think = |n: usize| json!({"ts": format!("2026-01-01T00:{:02}:00Z", n % 60), "phase": "think", "n": n});
        let mut all: Vec<Value> = (0..5000).map(think).collect();
        all.insert(2000, json!({"phase": "cite", "claim": "x"}));
        all.insert(4000, json!({"phase": "ghost", "feature": "SSO"}));
        trajectory.append("2026-01-01", &all).unwrap();
        let read = trajectory.since_handoff().unwrap();
        let records = read.records.iter();
        let known: Vec<(&str, &str)> = records.map(|(_, r)| (r.phase(), r.ts())).collect();
        assert_eq!(
            known,
            [
                ("think", "2026-01-01T00:59:00Z"),
                ("cite", ""),
                ("ghost", ""),
                ("think", "2026-01-01T00:19:00Z"),
            ]
        );
        let lines: Vec<usize> = read.records.iter().map(|(_, r)| r.line).collect();
        assert_eq!(lines[1..], [2001, 4001, 5002]);
    }

    #[test]
    fn a_torn_line_is_ended_and_a_record_is_added_once() {
        let ground = Fixture::new();
        let trajectory = ground.trajectory();
        let path = trajectory.file_of("2026-01-01").unwrap();
        ground.disk.create_dir_all(path.parent().unwrap()).unwrap();
        ground
            .disk
            .replace(&path, b"{\"phase\":\"a\"}\n{\"torn", 0o644)
            .unwrap();
        let record = json!({"phase": "b"});
        assert_eq!(
            trajectory
                .append("2026-01-01", std::slice::from_ref(&record))
                .unwrap(),
            3
        );
        trajectory.append("2026-01-01", &[record]).unwrap();
        let text = String::from_utf8(ground.disk.read(&path).unwrap()).unwrap();
        let ended = "{\"phase\":\"a\"}\n{\"torn\n{\"phase\":\"b\"}\n";
        assert_eq!(text, ended);
        let read = trajectory.since_handoff().unwrap();
        assert_eq!((read.bad_lines(), read.unread), (1, Vec::new()));
    }
}
