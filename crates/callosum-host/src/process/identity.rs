//! [`Identity`]: a process, distinct from all others that had its number before or will have it.

use std::path::{Path, PathBuf};

use crate::Disk;

/// Programs that run others, and that are skipped when looking for the one that started this
/// process.
const SHELLS: [&str; 14] = [
    "sh", "ash", "bash", "csh", "dash", "env", "fish", "ksh", "nice", "nohup", "setsid", "tcsh",
    "timeout", "zsh",
];

/// Maximum number of ancestors to examine.
const MOST: usize = 32;

/// A process of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its number.
    pub pid: u32,
    /// When it began, in the system's ticks since it started.
    pub started: u64,
    /// In which space of numbers it has this one; containers have their own.
    pub space: u64,
}

/// The system's information about a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) name: String,
    pub(super) parent: u32,
    /// In the system's ticks since it started.
    pub(super) started: u64,
    /// Whether it has ended, and only its status is not yet collected.
    pub(super) has_ended: bool,
}

impl Identity {
    /// The processes above this one, nearest first, without shells and the like. Empty where the system does
    /// not say (off Linux).
    pub fn ancestors() -> Vec<Self> {
        let mut found = Vec::new();
        let Some(space) = own_space() else {
            return found;
        };
        let mut pid = std::process::id();
        for _ in 0..MOST {
            let Some(status) = status(pid) else { break };
            pid = status.parent;
            let Some(above) = self::status(pid) else {
                break;
            };
            if !SHELLS.contains(&above.name.as_str()) {
                found.push(Self {
                    pid,
                    started: above.started,
                    space,
                });
            }
        }
        found
    }

    /// Whether it is known to have ended. Of a process in another space of numbers nothing is known, nor
    /// where the system does not say.
    pub fn has_ended(&self) -> bool {
        if own_space() != Some(self.space) {
            return false;
        }
        match Disk::real().read_if_there(&line_of(self.pid)) {
            Ok(None) => true,
            Ok(Some(line)) => read(&String::from_utf8_lossy(&line))
                .is_some_and(|now| now.started != self.started || now.has_ended),
            Err(_) => false,
        }
    }
}

/// The space in which this process has its number.
fn own_space() -> Option<u64> {
    let link = rustix::fs::readlink("/proc/self/ns/pid", Vec::new()).ok()?;
    let link = link.to_str().ok()?;
    link.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Returns the path of the system's information about a process.
fn line_of(pid: u32) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join("stat")
}

/// All processes that the system shows, each with its number.
#[cfg(target_os = "linux")]
pub(super) fn all() -> Vec<(u32, Status)> {
    let listed = Disk::real()
        .list_dir(Path::new("/proc"))
        .unwrap_or_default();
    let pids = listed
        .iter()
        .filter_map(|entry| entry.name.to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, status(pid)?))).collect()
}

fn status(pid: u32) -> Option<Status> {
    let bytes = Disk::real().read(&line_of(pid)).ok()?;
    read(&String::from_utf8_lossy(&bytes))
}

/// Reads a process's line: the name is in parentheses and may hold some; the state is the third
/// value, the parent the fourth, the start the 22nd.
fn read(line: &str) -> Option<Status> {
    let (before, after) = line.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut values = after.split_ascii_whitespace();
    let state = values.next()?;
    Some(Status {
        name: name.to_owned(),
        parent: values.next()?.parse().ok()?,
        started: values.nth(17)?.parse().ok()?,
        has_ended: matches!(state, "Z" | "X" | "x"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_any_name() {
        let line = "42 (a) b (c)) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 9\n";
        let expected = Status {
            name: "a) b (c)".to_owned(),
            parent: 7,
            started: 98_765,
            has_ended: false,
        };
        assert_eq!(read(line), Some(expected));
        assert!(read(&line.replace(" S ", " Z ")).unwrap().has_ended);
        assert_eq!(read("42 (a) S"), None);
        assert_eq!(read(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a test starts a process to see it end"
    )]
    fn a_process_that_was_killed_has_ended() {
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .unwrap();
        let known = status(child.id()).unwrap();
        let identity = Identity {
            pid: child.id(),
            started: known.started,
            space: own_space().unwrap(),
        };
        assert!(!identity.has_ended());
        let later = Identity {
            started: known.started + 1,
            ..identity
        };
        assert!(later.has_ended(), "its number is another's now");
        let elsewhere = Identity {
            space: 1,
            ..identity
        };
        child.kill().unwrap();
        // Its status is not yet collected.
        while !identity.has_ended() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(identity.has_ended());
        assert!(!elsewhere.has_ended(), "nothing is known of it");
        assert!(!Identity::ancestors().is_empty());
    }
}
