//! Writes to `NOTES.md` concurrently with other writers, who do not know about the lock.
//!
//! The file is exchanged instead of replaced, so that text that others wrote since it was read can
//! be found afterwards: start with [`LockedSession::edit_notes`]. The file that was exchanged away
//! is kept for a while, since a writer that has it open may still write to it:
//! [`LockedSession::take_late`].

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use callosum_host::{
    DiskError,
    disk::{EntryKind, OpenHow},
};
use callosum_redact::secrets::mask;
use sha2::{Digest as _, Sha256};

use super::{session::LockedSession, session_error::SessionError};
use crate::{
    notes::{Notes, TEMPLATE},
    zones::ZoneError,
};

/// Number of times that the file may change under a write before the rest is left to
/// [`LockedSession::take_late`].
const MOST_ROUNDS: usize = 4;

/// Time to wait for a writer that empties the file to rewrite it.
const SETTLING: Duration = Duration::from_millis(200);

/// Pause between two looks during that time.
const PAUSE: Duration = Duration::from_millis(5);

/// Time after the exchange during which a writer may still write to the old file that it has open.
const LATEST: Duration = Duration::from_mins(1);

/// Longest time by which a file timestamp may lag behind the system clock.
const COARSE: Duration = Duration::from_millis(50);

/// Time for which each of them is kept, regardless of their number.
const RECENT: Duration = Duration::from_secs(2);

/// Most older ones that are kept.
const MOST_KEPT: usize = 8;

/// Result of one exchange.
enum Exchanged {
    /// The new content is written, and no one else had written.
    Alone,
    /// The new content is written; another program had written these bytes, which are kept under
    /// this name.
    Beside(Vec<u8>, PathBuf),
    /// The file came or went during the exchange, and nothing was written.
    Moved,
}

impl LockedSession<'_> {
    /// Writes the result of an edit of the notes, or of their absence. Returns whether no one else
    /// wrote at the same time.
    ///
    /// Text that others appended at the same time is appended to the result. If someone rewrote the
    /// file, the edit is made again, on that. The edit must change nothing if it is made already.
    /// On a file system that cannot exchange files, text written between the last look and the
    /// rename is lost.
    pub(crate) fn edit_notes(
        &self,
        edit: impl Fn(Option<Notes>) -> Notes,
    ) -> Result<bool, SessionError> {
        let session = &self.session;
        let path = session.zones.real(session.disk, &session.zones.notes())?;
        let mut read = session.notes()?;
        let mut made = edit(read.clone()).bytes().to_vec();
        let mut there = read.take().map(|notes| notes.bytes().to_vec());
        if there.as_deref() != Some(&made) {
            self.keep_version(&path, there.as_deref())?;
        }
        let mut taken = Vec::new();
        let mut appended = Vec::new();
        let mut is_alone = true;
        let (mut is_written, mut is_ours_there) = (false, false);
        for _ in 0..MOST_ROUNDS {
            if there.as_deref() == Some(&made) {
                is_written = true;
                break;
            }
            match self.exchange_notes(&path, there.as_deref(), &made)? {
                Exchanged::Alone => {
                    is_written = true;
                    break;
                }
                // Someone empties it to rewrite it: `take_late` finds what comes then.
                Exchanged::Beside(found, _) if found.is_empty() => return Ok(false),
                Exchanged::Beside(found, kept) => {
                    is_alone = false;
                    let ours = made.clone();
                    let expected = there.take().unwrap_or_default();
                    is_ours_there = true;
                    if let Some(tail) = found.strip_prefix(expected.as_slice()) {
                        made = joined(made, &expected, tail);
                        appended.push(tail.to_vec());
                    } else {
                        made = edit(Some(Notes::read(found.clone()))).bytes().to_vec();
                        for tail in &appended {
                            if !contains(&made, tail) {
                                made = joined(made, b"", tail);
                            }
                        }
                    }
                    there = Some(ours);
                    taken.push((kept, found));
                }
                Exchanged::Moved => {
                    is_alone = false;
                    is_ours_there = false;
                    thread::sleep(PAUSE);
                    let now = session.notes()?;
                    made = edit(now.clone()).bytes().to_vec();
                    for tail in &appended {
                        if !contains(&made, tail) {
                            made = joined(made, b"", tail);
                        }
                    }
                    there = now.map(|notes| notes.bytes().to_vec());
                }
            }
        }
        if !is_written {
            if !is_ours_there {
                return Err(SessionError::Unsettled {
                    file: session.zones.named(&path),
                });
            }
            // The last is not taken up yet, and is found by `take_late`.
            taken.pop();
        }
        for (kept, found) in taken {
            self.keep(&kept, &found)?;
        }
        Ok(is_alone)
    }

    /// Takes up what others wrote into files that were exchanged away: appended text is appended to
    /// the notes. Returns the files that were rewritten, which are left as they are.
    pub(super) fn take_late(&self) -> Result<Vec<PathBuf>, SessionError> {
        let session = &self.session;
        let disk = session.disk;
        let own = session.zones.real(disk, &session.zones.own())?;
        let now = SystemTime::from(session.clock.now());
        let is_within = |since: SystemTime, most: Duration| {
            // One that seems to be of later was just now.
            now.duration_since(since).map_or(true, |age| age <= most)
        };
        let mut rewritten = Vec::new();
        let mut clean = Vec::new();
        let mut late = Vec::new();
        for entry in disk.list_dir(&own)? {
            let Some(name) = entry.name.to_str().and_then(Name::read) else {
                continue;
            };
            let path = own.join(&entry.name);
            let Some(stat) = disk.stat(&path)? else {
                continue;
            };
            let since = name.exchanged.max(stat.modified);
            if stat.len == name.len as u64 && stat.modified + COARSE < name.exchanged {
                clean.push((since, path));
                continue;
            }
            let Some(bytes) = disk.read_if_there(&path)? else {
                continue;
            };
            let base = bytes.get(..name.len).filter(|base| hash(base) == name.old);
            match base {
                Some(base) if base.len() == bytes.len() => clean.push((since, path)),
                // A process was killed before it exchanged them.
                _ if hash(&bytes) == name.new => drop(disk.remove_file(&path)?),
                Some(base) => {
                    let tail = base.len();
                    late.push((since, path, bytes, tail));
                }
                // One that is empty is still to be filled.
                None if bytes.is_empty() && !is_within(since, LATEST) => {
                    disk.remove_file(&path)?;
                }
                None if !bytes.is_empty() && !is_within(stat.modified, SETTLING) => {
                    rewritten.push(path);
                }
                None => {}
            }
        }
        late.sort();
        self.append_late(&late)?;
        clean.sort();
        for (at, (since, path)) in clean.iter().rev().enumerate() {
            if !is_within(*since, LATEST) || at >= MOST_KEPT && !is_within(*since, RECENT) {
                disk.remove_file(path)?;
            }
        }
        Ok(rewritten)
    }

    /// Appends the text of these files after the part that is already taken up.
    fn append_late(
        &self,
        late: &[(SystemTime, PathBuf, Vec<u8>, usize)],
    ) -> Result<(), SessionError> {
        if late.is_empty() {
            return Ok(());
        }
        let appended = self.edit_notes(|notes| {
            let notes = notes.unwrap_or_else(|| Notes::read(TEMPLATE.into()));
            let made = late
                .iter()
                .fold(notes.bytes().to_vec(), |made, (_, _, bytes, tail)| {
                    joined(made, &bytes[..*tail], &bytes[*tail..])
                });
            Notes::read(made)
        });
        match appended {
            Ok(_) => late
                .iter()
                .try_for_each(|(_, path, bytes, _)| self.keep(path, bytes)),
            // Nothing can be appended to what is there now: it is taken up once it is healed.
            Err(
                SessionError::NotFile { .. }
                | SessionError::TooLarge { .. }
                | SessionError::Foreign { .. }
                | SessionError::Zone(ZoneError::Outside { .. }),
            ) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Writes new bytes to the notes, if they still have the expected ones.
    fn exchange_notes(
        &self,
        path: &Path,
        there: Option<&[u8]>,
        made: &[u8],
    ) -> Result<Exchanged, SessionError> {
        let session = &self.session;
        let disk = session.disk;
        let folder = path.parent().unwrap_or(path);
        let Some(there) = there else {
            disk.create_dir_all(folder)?;
            let is_ours = disk.create(path, made, 0o644)?;
            return Ok(if is_ours {
                Exchanged::Alone
            } else {
                Exchanged::Moved
            });
        };
        let own = session.zones.real(disk, &session.zones.own())?;
        let kept = own.join(self.name_of(there, made).to_string());
        let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
            return Ok(Exchanged::Moved);
        };
        let mut new = disk.new_file(&kept, file.mode()?.unwrap_or(0o644))?;
        drop(file);
        new.push(made)?;
        new.replace()?;
        match disk.exchange(&kept, path) {
            Ok(()) => {}
            Err(error) if error.is_absent() => {
                disk.remove_file(&kept)?;
                return Ok(Exchanged::Moved);
            }
            Err(error) if cannot_exchange(&error) => {
                disk.remove_file(&kept)?;
                if disk.read_if_there(path)?.as_deref() != Some(there) {
                    return Ok(Exchanged::Moved);
                }
                disk.rewrite(path, made, 0o644)?;
                return Ok(Exchanged::Alone);
            }
            Err(error) => {
                disk.remove_file(&kept)?;
                return Err(error.into());
            }
        }
        disk.sync_dir(folder)?;
        if disk
            .stat(&kept)?
            .is_none_or(|stat| stat.kind != EntryKind::File)
        {
            disk.exchange(&kept, path)?;
            disk.remove_file(&kept)?;
            return Err(SessionError::NotFile {
                file: session.zones.named(path),
            });
        }
        let found = self.settled(&kept, there)?;
        if found != there {
            return Ok(Exchanged::Beside(found, kept));
        }
        if holds_secret(&found) {
            disk.remove_file(&kept)?;
        }
        Ok(Exchanged::Alone)
    }

    /// Returns the content of a file once it is no longer only a prefix of the earlier content.
    fn settled(&self, path: &Path, before: &[u8]) -> Result<Vec<u8>, SessionError> {
        let started = Instant::now();
        loop {
            let found = self.session.disk.read(path)?;
            let is_cut = found.len() < before.len() && before.starts_with(&found);
            if !is_cut || started.elapsed() > SETTLING {
                return Ok(found);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Keeps a file that was exchanged away and whose bytes are taken up. One that holds a secret
    /// is removed at once.
    fn keep(&self, path: &Path, bytes: &[u8]) -> Result<(), SessionError> {
        let disk = self.session.disk;
        if holds_secret(bytes) && disk.read_if_there(path)?.as_deref() == Some(bytes) {
            disk.remove_file(path)?;
        } else {
            let name = self.name_of(bytes, b"").to_string();
            disk.rename(path, &path.with_file_name(name))?;
        }
        Ok(())
    }

    fn name_of(&self, old: &[u8], new: &[u8]) -> Name {
        Name {
            exchanged: SystemTime::from(self.session.clock.now()),
            len: old.len(),
            old: hash(old),
            new: hash(new),
        }
    }

    /// Renames a file that was rewritten after it was exchanged away to an unused name next to the
    /// notes.
    pub(super) fn set_late_aside(&self, late: &Path) -> Result<Option<String>, SessionError> {
        let session = &self.session;
        let notes = session.zones.real(session.disk, &session.zones.notes())?;
        for number in 1_u32.. {
            let aside = notes.with_file_name(format!("NOTES.md.late-{number}"));
            match session.disk.hard_link(late, &aside) {
                Ok(()) => {
                    session.disk.remove_file(late)?;
                    return Ok(Some(session.zones.named(&aside)));
                }
                Err(error) if error.is_taken() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

/// Whether a file is one that was exchanged away, by its name.
pub(super) fn is_exchanged(name: &str) -> bool {
    Name::read(name).is_some()
}

/// Name of an exchanged file: its time, the part that is taken up, and its content before the
/// exchange.
struct Name {
    exchanged: SystemTime,
    len: usize,
    old: String,
    new: String,
}

impl Name {
    fn read(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix("notes-")?.strip_suffix(".md")?.split('-');
        let since = Duration::from_millis(parts.next()?.parse().ok()?);
        let name = Self {
            exchanged: SystemTime::UNIX_EPOCH.checked_add(since)?,
            len: parts.next()?.parse().ok()?,
            old: parts.next()?.to_owned(),
            new: parts.next()?.to_owned(),
        };
        parts.next().is_none().then_some(name)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let since = self.exchanged.duration_since(SystemTime::UNIX_EPOCH);
        let since = since.map_or(0, |since| since.as_millis());
        write!(f, "notes-{since}-{}-{}-{}.md", self.len, self.old, self.new)
    }
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest[..16].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns bytes with text that someone appended to others: on a line of its own, unless it
/// continues the last one.
fn joined(mut bytes: Vec<u8>, before: &[u8], tail: &[u8]) -> Vec<u8> {
    let last = before
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or(before);
    let goes_on = !last.is_empty() && bytes.ends_with(last);
    if !bytes.is_empty() && !bytes.ends_with(b"\n") && !goes_on {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(tail);
    bytes
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

fn holds_secret(bytes: &[u8]) -> bool {
    !mask(&String::from_utf8_lossy(bytes)).found.is_empty()
}

/// Whether two files have no way to be exchanged here.
fn cannot_exchange(error: &DiskError) -> bool {
    error.is_unsupported() || error.source.kind() == std::io::ErrorKind::CrossesDevices
}
